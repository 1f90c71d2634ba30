import TrawlHTTP

/// The caching fields of a response, read in one pass.
struct ResponseReading {
    /// What `Expires` says.
    enum Expiry {
        case absent
        /// There, but not a date: already expired (RFC 9111 §5.3).
        case invalid
        case at(WallTime)
    }

    /// The kind of entity tag.
    enum Tag { case none, weak, strong }

    var control = CacheControl()
    var hasControl = false
    var date: WallTime?
    var expiry = Expiry.absent
    var age: Int64?
    var lastModified: WallTime?
    var tag = Tag.none
    var isCoded = false
    private var hasAge = false
    private var pragmaNoCache = false

    /// - Parameter now: When the response came; decides the century of two-digit years.
    init(_ fields: FieldLines, now: WallTime) {
        fields.forEach { name, value in read(name, value, now) }
        // HTTP/1.0's only directive counts when there is no other (RFC 9111 §5.4).
        if pragmaNoCache, !hasControl { control.flags.insert(.noCache) }
    }

    private mutating func read(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ now: WallTime) {
        switch KnownField(name) {
        case .cacheControl:
            hasControl = true
            control.read(value)
        case .pragma: if CacheControl.holdsNoCache(value) { pragmaNoCache = true }
        case .date: if date == nil { date = HTTPDate.parse(value, now: now) }
        case .expires:
            // More than one make the response stale (RFC 9111 §4.2.1 leaves the choice).
            if case .absent = expiry, let time = HTTPDate.parse(value, now: now) {
                expiry = .at(time)
            } else {
                expiry = .invalid
            }
        case .age:
            // Of several values the first counts; one that is not a number of seconds is ignored (RFC 9111 §5.1).
            if !hasAge {
                let first = FieldSyntax.trimmed(value.part(0, value.firstIndex(of: .comma) ?? value.count))
                age = CacheControl.deltaSeconds(first)
            }
            hasAge = true
        case .lastModified: if lastModified == nil { lastModified = HTTPDate.parse(value, now: now) }
        case .etag:
            // An empty line is no tag (`withTag`).
            if tag == .none, !FieldSyntax.trimmed(value).isEmpty { tag = EntityTag.isWeak(value) ? .weak : .strong }
        case .contentEncoding: value.forEachMember { if !$0.isIdentity { isCoded = true } }
        default: break
        }
    }

    /// Whether the response says itself how long it is fresh, rightly or not.
    var hasExplicitLifetime: Bool {
        if control.maxAge != .absent { return true }
        if case .absent = expiry { return false }
        return true
    }

    /// How long the response stays fresh after it was generated, in milliseconds, and whether that is a guess.
    ///
    /// `s-maxage` is for shared caches and is not read.
    ///
    /// - Source: RFC 9111 §4.2.1, §4.2.2.
    func lifetime(status: UInt16, arrival: WallTime) -> (milliseconds: Int64, isGuess: Bool) {
        switch control.maxAge {
        case .value(let seconds): return (seconds * 1000, false)
        // What is there and makes no sense means stale (RFC 9111 §4.2.1).
        case .invalid: return (0, false)
        case .absent: break
        }
        switch expiry {
        case .at(let time): return (max(0, time.milliseconds(since: date ?? arrival.wholeSeconds)), false)
        case .invalid: return (0, false)
        case .absent: break
        }
        guard let lastModified, StatusRules.isHeuristicallyCacheable(status) || control.flags.contains(.isPublic)
        else { return (0, false) }
        // A tenth of the time since it changed, at most a day (RFC 9111 §4.2.2).
        let sinceChange = (date ?? arrival).milliseconds(since: lastModified)
        return (min(max(0, sinceChange / 10), 86_400_000), true)
    }

    /// The age on arrival in milliseconds.
    ///
    /// - Source: RFC 9111 §4.2.3.
    func initialAge(requestTime: WallTime, responseTime: WallTime) -> Int64 {
        // `Date` has no parts of seconds, so those of the arrival are left out too.
        let apparent = date.map { max(0, responseTime.wholeSeconds.milliseconds(since: $0)) } ?? 0
        let delay = max(0, responseTime.milliseconds(since: requestTime))
        let corrected = ((age ?? 0) * 1000).addingClamping(delay)
        return max(apparent, corrected)
    }
}

extension WallTime {
    var wholeSeconds: WallTime { WallTime(seconds: seconds) }
}

/// What the status code means for a cache.
enum StatusRules {
    /// Statuses whose responses may be stored and reused without an explicit lifetime (RFC 9110 §15.1, RFC 7725 §3).
    static func isHeuristicallyCacheable(_ status: UInt16) -> Bool {
        switch status {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 451, 501: true
        default: false
        }
    }

    /// Statuses whose answers a caller may give a lifetime of its own: those above, and redirects, which pass for
    /// answers.
    static func isLasting(_ status: UInt16) -> Bool {
        isHeuristicallyCacheable(status) || status == 302 || status == 303 || status == 307
    }

    /// Statuses whose caching rules are followed here, for `must-understand` (RFC 9111 §5.2.2.3): those of RFC 9110
    /// §15, and 451 (RFC 7725 §3).
    static func isUnderstood(_ status: UInt16) -> Bool {
        switch status {
        case 200...206, 300...305, 307, 308, 400...417, 421, 422, 426, 451, 500...505: true
        default: false
        }
    }

    /// Final statuses that say nothing about the resource, only about the request's conditions, its range or a proxy; and
    /// those of RFC 6585, about its rate, its fields or the network, which no cache may store.
    static func isNeverStored(_ status: UInt16) -> Bool {
        switch status {
        case ..<200, 304, 407, 412, 416, 428, 429, 431, 511: true
        default: false
        }
    }

    /// The errors for which a stale response may stand in (RFC 5861 §4).
    static func isFailure(_ status: UInt16) -> Bool {
        status == 500 || status >= 502 && status <= 504
    }

    static func isSuccess(_ status: UInt16) -> Bool { status >= 200 && status < 300 }
}
