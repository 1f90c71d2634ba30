package import TrawlHTTP

/// How many cookies are kept and sent.
///
/// - Source: RFC 6265bis §6.1 asks for at least 50 of a domain and 3,000 in all.
package struct CookieLimits: Sendable, Hashable {
    /// Cookies of one domain. One more, and a tenth of them goes, since looking for the ones to throw away takes a look
    /// at all.
    package var perDomain: Int
    /// Bytes of the records of one domain's cookies, which are looked at for each request to it, whatever of them is
    /// sent: by default more than four times what one field can have. A tenth goes likewise.
    package var bytesPerDomain: Int
    /// Cookies in all. For the same reason a tenth more may be there for a while.
    package var total: Int
    /// When there are too many in all, domains with more than this lose theirs first.
    package var crowded: Int
    /// Bytes of one `Cookie` field; cookies beyond are left out, those with the shortest paths first.
    ///
    /// By default 56 KiB: nghttp2, by which libcurl speaks HTTP/2, sends no more than 64 KiB of names and values in a
    /// head, and fails the request (`nghttp2_option_set_max_send_header_block_length`). The rest is for the URL and the
    /// other fields. A host whose cookies came to fill all of it could not be asked for anything until they end.
    package var fieldLength: Int

    /// Limits, each at least 1.
    package init(
        perDomain: Int = 180, bytesPerDomain: Int = 262_144, total: Int = 3000, crowded: Int = 50,
        fieldLength: Int = 57_344
    ) {
        self.perDomain = max(1, perDomain)
        self.bytesPerDomain = max(1, bytesPerDomain)
        self.total = max(1, total)
        self.crowded = max(1, crowded)
        self.fieldLength = max(1, fieldLength)
    }

    /// How many a domain keeps that has more than `perDomain`.
    package var lowWater: Int { perDomain - perDomain / 10 }
    /// How many bytes a domain keeps that has more than `bytesPerDomain`.
    package var lowWaterBytes: Int { bytesPerDomain - bytesPerDomain / 10 }

    /// The number of cookies in all above which some are thrown away, until `total` are left.
    package var highWater: Int { total.addingReportingOverflow(total / 10).partialValue }
}

/// A cookie that may have to go, as far as that decision is concerned.
package struct EvictionCandidate: Sendable, Hashable {
    /// What the store finds it by.
    package var place: Int
    /// Bytes of its record.
    package var length: Int
    /// Whether its time is over.
    package var isExpired: Bool
    /// Whether it is for secure connections.
    package var isSecure: Bool
    /// Whether its domain has more cookies than it should; `CookieRules.excess` knows.
    var isCrowded = false
    /// When it was last sent or set.
    package var lastAccess: WallTime
    /// When it was made, and its order among those of that time.
    package var creation: WallTime
    /// Its order among those of the same creation time.
    package var order: UInt64

    /// What counts of a cookie.
    package init(_ cookie: CookieView, place: Int, at now: WallTime) {
        self.place = place
        length = cookie.record.count
        isExpired = cookie.isExpired(at: now)
        isSecure = cookie.flags.contains(.secure)
        lastAccess = cookie.lastAccess
        creation = cookie.creation
        order = cookie.order
    }

    /// What goes first has the lowest (RFC 6265bis §5.7).
    private var rank: Int {
        if isExpired { return 0 }
        if isCrowded { return isSecure ? 2 : 1 }
        return 3
    }

    fileprivate func goesBefore(_ other: EvictionCandidate) -> Bool {
        (rank, lastAccess.milliseconds, creation.milliseconds, order)
            < (other.rank, other.lastAccess.milliseconds, other.creation.milliseconds, other.order)
    }
}

extension CookieRules {
    /// The places of those that have to go of one domain that has too many cookies, or too many bytes of them: all
    /// whose time is over, and as many others as it takes, in the order in which they go.
    ///
    /// Such a domain has more than it should, however few cookies its bytes are in: those that are not secure go first.
    package static func excess(ofDomain candidates: [EvictionCandidate], _ limits: CookieLimits) -> [Int] {
        excess(crowded(candidates), keeping: limits.lowWater, bytes: limits.lowWaterBytes)
    }

    /// The places of those that have to go when there are too many in all, likewise: first of domains with more than
    /// `crowded`.
    ///
    /// - Parameter domains: The cookies of each.
    package static func excess(ofAll domains: [[EvictionCandidate]], _ limits: CookieLimits) -> [Int] {
        excess(domains.flatMap { $0.count > limits.crowded ? crowded($0) : $0 }, keeping: limits.total)
    }

    private static func crowded(_ candidates: [EvictionCandidate]) -> [EvictionCandidate] {
        candidates.map { candidate in
            var candidate = candidate
            candidate.isCrowded = true
            return candidate
        }
    }

    /// The places of those that have to go so that no more than `count` are left, of no more than so many bytes.
    static func excess(
        _ candidates: [EvictionCandidate], keeping count: Int, bytes: Int = .max
    ) -> [Int] {
        let sorted = candidates.sorted { $0.goesBefore($1) }
        let expired = sorted.prefix { $0.isExpired }.count
        var gone = max(expired, sorted.count - count)
        var left = sorted.dropFirst(gone).reduce(0) { $0 + $1.length }
        while left > bytes, gone < sorted.count {
            left -= sorted[gone].length
            gone += 1
        }
        return sorted.prefix(gone).map(\.place)
    }
}
