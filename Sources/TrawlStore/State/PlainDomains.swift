import TrawlPlatform

/// Domains that have no secure cookie, nor have those above and below them, so that a new one there can hide none (RFC
/// 6265bis §5.7, "leave secure cookies alone"). Most have none, and to find that out takes longer than to store a
/// cookie.
///
/// What is known holds as long as the topic `secureCookies` has the same count. That is looked at, and rises, within
/// write transactions only, and of those there is one at a time in all processes: so it is enough that it rises before
/// the commit.
final class PlainDomains: Sendable {
    private struct Known {
        var domains: Set<[UInt8]> = []
        /// How often a secure cookie had come.
        var count: UInt64 = 0
    }

    private static let most = 4096

    private let known = Guarded(Known())

    /// Whether a domain is known to be one.
    ///
    /// - Parameters:
    ///   - domain: What the keys of its cookies begin with.
    ///   - count: How often a secure cookie has come; nil when that cannot be known.
    func contains(_ domain: [UInt8], at count: UInt64?) -> Bool {
        known.withLock { $0.count == count && $0.domains.contains(domain) }
    }

    /// Keeps in mind that a domain is one.
    func insert(_ domain: [UInt8], at count: UInt64?) {
        guard let count else { return }
        known.withLock { known in
            if known.count != count || known.domains.count >= Self.most { known = Known(count: count) }
            known.domains.insert(domain)
        }
    }

    /// Forgets all: counts begin anew.
    func removeAll() { known.withLock { $0 = Known() } }
}
