import ArgumentParser
import Trawl

/// Where responses are kept, and what may answer.
struct CacheArguments: ParsableArguments {
    @Option(
        name: .customLong("store"), parsing: .unconditional,
        help: ArgumentHelp(
            "Keep cache and cookies in this directory. Default: trawl in $XDG_CACHE_HOME or ~/.cache.",
            valueName: "directory"),
        completion: .directory)
    var store: String?

    @Flag(name: .customLong("no-cache"), help: "Neither use nor keep responses of earlier fetches.")
    var noCache = false

    @Option(
        name: .customLong("cache-policy"), parsing: .unconditional,
        help: ArgumentHelp(
            "What may answer: default, no-cache, reload, no-store, force-cache or only-if-cached.", valueName: "name"),
        completion: .list(CacheMode.allCases.map(\.rawValue)))
    var policyName: String?

    @Option(
        name: .customLong("cache-ttl"), parsing: .unconditional,
        help: ArgumentHelp(
            "Take what this run fetches for fresh so long, whatever it says.", valueName: "seconds"))
    var lifetimeText: String?

    @Option(
        name: .customLong("cache-size"), parsing: .unconditional,
        help: ArgumentHelp(
            "Let the cache take so many bytes; k, M, G and T are known. Default 1G.", valueName: "bytes"))
    var sizeText: String?

    func validate() throws {
        if let store, store.isEmpty { throw ValidationError("--store: the directory's name is empty") }
        try OptionText.check(policyName, "--cache-policy <name>", "one of \(CacheMode.names)") {
            CacheMode(rawValue: $0) != nil
        }
        try OptionText.checkSeconds(lifetimeText, "--cache-ttl <seconds>")
        try OptionText.checkBytes(sizeText, "--cache-size <bytes>")
    }

    /// What all requests have in common.
    func apply(to options: inout RequestOptions) {
        options.caching.storesDownloads = true
        if let mode = policyName.flatMap(CacheMode.init(rawValue:)) { options.caching.policy = mode.policy }
        if let lifetime = lifetimeText.flatMap({ SecondsArgument(argument: $0) }) {
            options.caching.lifetime = lifetime.duration
        }
    }

    /// Where it is.
    func apply(to configuration: inout Configuration) {
        if let store { configuration.store = .directory(store) }
        if noCache { configuration.cache.isOn = false }
        if let size = sizeText.flatMap({ ByteCountArgument(argument: $0) }) {
            configuration.cache.byteBudget = size.bytes
        }
    }
}
