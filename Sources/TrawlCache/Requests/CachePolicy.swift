package import TrawlHTTP

/// What a caller wants of the cache for one request.
package struct CachePolicy: Sendable, Hashable {
    /// Choices that combine. Values and meaning are those of the classic download cache.
    package struct Options: OptionSet, Sendable, Hashable {
        /// The bits.
        package let rawValue: UInt8
        /// Options of their bits; unknown bits are kept and mean nothing.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Stored responses are not used; nothing conditional is sent.
        package static let doNotRead = Options(rawValue: 1)
        /// Nothing is stored, updated or freshened.
        package static let doNotWrite = Options(rawValue: 2)
        /// Fresh responses are used, stale ones validated. What happens when nothing else is chosen.
        package static let askServerIfModifiedWhenStale = Options(rawValue: 4)
        /// Stored responses are validated even when fresh.
        package static let askServerIfModified = Options(rawValue: 8)
        /// A stored response is used however old it is.
        package static let onlyLoadIfNotCached = Options(rawValue: 16)
        /// The network is never used; a stored response is used however old it is.
        package static let doNotLoad = Options(rawValue: 32)
        /// When the origin cannot be reached, a stored response is used however old it is.
        package static let fallbackToCacheIfLoadFails = Options(rawValue: 64)

        /// Whether the choices go together: asking always and asking when stale exclude each other.
        package var isValid: Bool {
            !(contains(.askServerIfModified) && contains(.askServerIfModifiedWhenStale))
        }

        /// The options with contradictions settled: asking always wins over asking when stale.
        package var settled: Options {
            isValid ? self : subtracting(.askServerIfModifiedWhenStale)
        }
    }

    /// What a request that goes out tells the caches on its way.
    package enum Reload: UInt8, Sendable, Hashable {
        /// Nothing of ours.
        case none
        /// `Cache-Control: max-age=0`: caches validate.
        case validate
        /// `Cache-Control: no-cache`: caches fetch or validate (RFC 9111 §5.2.1.4).
        case endToEnd

        /// Says so by lines of which the request has none by itself, each for itself.
        ///
        /// - Parameters:
        ///   - fields: Take the lines.
        ///   - request: The fields of the request as its caller gave them.
        /// - Source: The Fetch standard, HTTP-network-or-cache fetch, on cache modes.
        package func tell(in fields: inout FieldLines, of request: FieldLines) {
            if self == .none { return }
            if !request.contains("Cache-Control") {
                fields.add("Cache-Control", self == .validate ? "max-age=0" : "no-cache")
            }
            // For caches of HTTP/1.0 (RFC 9111 §5.4).
            if self == .endToEnd, !request.contains("Pragma") { fields.add("Pragma", "no-cache") }
        }

        /// Says so in the fields of a request that no cache of ours has to do with.
        package func tellByItself(in fields: inout FieldLines) {
            if self == .none { return }
            let request = fields
            tell(in: &fields, of: request)
        }
    }

    /// The combinable choices; empty is asking when stale.
    package var options: Options = []
    /// What other caches are told, as far as the request does not speak to them by itself.
    package var reload: Reload = .none
    /// Off: `Cache-Control` of responses and requests, `Pragma` and `Expires` are not looked at: everything is stored,
    /// and everything stored counts as fresh.
    package var respectsCacheControl = true
    /// Whether a response without explicit lifetime may be fresh for a tenth of the age of its `Last-Modified`.
    package var usesHeuristics = true
    /// Seconds a response stored by this request is fresh from its arrival, in place of what it says itself; negative:
    /// stale at once.
    package var secondsToCache: Int64?
    /// Whether the fallback on failure also disregards `must-revalidate` and `no-cache`.
    package var forcesFallback = false
    /// Whether a 200 that came in answer to a question counts as a 304 when its strong entity tag is the stored one.
    package var stopsAtEqualTag = false

    /// The protocol's rules.
    package init() {}

    /// A policy of its options.
    package init(_ options: Options, reload: Reload = .none) {
        self.options = options
        self.reload = reload
    }

    /// This policy with nothing left open.
    package func resolved() -> CachePolicy {
        var policy = self
        policy.options = policy.options.settled
        if policy.options.isDisjoint(with: [.askServerIfModified, .onlyLoadIfNotCached, .doNotLoad]) {
            policy.options.insert(.askServerIfModifiedWhenStale)
        }
        return policy
    }
}

extension CachePolicy {
    /// The protocol's rules.
    package static let useProtocolCachePolicy = CachePolicy([.askServerIfModifiedWhenStale])
}
