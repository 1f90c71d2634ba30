import TrawlCache
import TrawlPlatform
import TrawlStore

/// A coordinator's use of a cache of the program's own.
final class ProgramCache: Sendable {
    let cache: any DownloadCache
    let rules: CacheRules
    let decisions: (any FetchDecisions)?
    let decisionTimeout: Duration
    let politeness: HostPoliteness
    /// URLs that are validated with nobody waiting (RFC 5861 §3), at most so many.
    private let validations = Guarded(Set<String>())
    private static let mostValidations = 64

    init(_ cache: any DownloadCache, _ configuration: Configuration) {
        self.cache = cache
        decisions = configuration.decisions
        decisionTimeout = configuration.decisionTimeout
        politeness = configuration.politeness
        var key = cache.secret ?? []
        if key.count < 16 { key = (0..<32).map { _ in .random(in: 0...255) } }
        let secrets = SecretTags(key: key)
        rules = CacheRules(tag: { secrets.tag(of: $0) })
    }

    /// Whether a validation of a URL is to begin now.
    func beginsValidation(of url: String) -> Bool {
        validations.withLock { $0.count < Self.mostValidations && $0.insert(url).inserted }
    }

    func endValidation(of url: String) {
        validations.withLock { _ = $0.remove(url) }
    }
}
