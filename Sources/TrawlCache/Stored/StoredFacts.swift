package import TrawlHTTP

/// What the rules need to know of a stored response on a plain hit, worked out when it was stored.
///
/// Of fixed size, and the first part of a record, so that a hit parses no field.
package struct StoredFacts: Sendable, Hashable {
    /// Properties that hold or do not.
    package struct Flags: OptionSet, Sendable, Hashable {
        /// The bits, as records have them.
        package let rawValue: UInt32
        /// Flags of their bits.
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Must be validated before each use (RFC 9111 §5.2.2.4).
        package static let noCache = Flags(rawValue: 1)
        /// Must not be used stale (RFC 9111 §5.2.2.2).
        package static let mustRevalidate = Flags(rawValue: 2)
        /// Does not change while fresh (RFC 8246 §2).
        package static let immutable = Flags(rawValue: 4)
        /// May answer requests with other credentials (RFC 9111 §3.5).
        package static let openToAll = Flags(rawValue: 8)
        /// The lifetime is a guess (RFC 9111 §4.2.2).
        package static let heuristic = Flags(rawValue: 16)
        /// Has a strong entity tag.
        package static let strongTag = Flags(rawValue: 32)
        /// Has a weak entity tag.
        package static let weakTag = Flags(rawValue: 64)
        /// Has `Last-Modified`, as a valid date.
        package static let lastModified = Flags(rawValue: 128)
        /// `Last-Modified` lies so long before `Date` that it is strong (RFC 9110 §8.8.2.2).
        package static let strongDate = Flags(rawValue: 256)
        /// Has a content coding.
        package static let coded = Flags(rawValue: 512)
        /// Came for a request with credentials.
        package static let credentials = Flags(rawValue: 1024)
        /// All of the body is stored.
        package static let complete = Flags(rawValue: 2048)
        /// The stored part runs up to the end.
        package static let reachesEnd = Flags(rawValue: 4096)
        /// The length of the whole is known.
        package static let totalKnown = Flags(rawValue: 8192)
        /// The lifetime was given by the request that stored it.
        package static let overridden = Flags(rawValue: 16_384)

        /// Came with its content coding for a request that said nothing of codings: that is how the origin has it.
        package static let codedUnasked = Flags(rawValue: 32_768)

        static let tags: Flags = [.strongTag, .weakTag]
        static let validators: Flags = [.strongTag, .weakTag, .lastModified]
        static let strongValidators: Flags = [.strongTag, .strongDate]
        static let neverStale: Flags = [.noCache, .mustRevalidate]
    }

    /// The status code.
    package var status: UInt16
    /// The version of the response's message.
    package var version: HTTPVersion
    /// Properties.
    package var flags: Flags
    /// When the request was sent that brought or last validated it.
    package var requestTime: WallTime
    /// When the answer came.
    package var responseTime: WallTime
    /// `Date`, or when the answer came.
    package var date: WallTime
    /// `Last-Modified`; zero without it.
    package var lastModified: WallTime
    /// Its age on arrival, in milliseconds (`corrected_initial_age`, RFC 9111 §4.2.3).
    package var initialAge: Int64
    /// How long it is fresh, counted from generation, in milliseconds.
    package var lifetime: Int64
    /// How long after that it may be used while it is validated in the background (RFC 5861 §3), in milliseconds.
    package var staleWhileRevalidate: Int64
    /// How long after that it may be used when the origin fails (RFC 5861 §4), in milliseconds.
    package var staleIfError: Int64
    /// Stands for the credentials of the request it came for; zeros without.
    package var credentials: SecretTag
    /// Which bytes are stored.
    package var body: BodyExtent

    /// Stands for the credentials of the request it came for; nil without.
    var ownCredentials: SecretTag? { flags.contains(.credentials) ? credentials : nil }

    /// The current age in milliseconds.
    ///
    /// - Source: RFC 9111 §4.2.3. A clock that went back counts as one that stood still.
    package func age(at now: WallTime) -> Int64 {
        initialAge.addingClamping(max(0, now.milliseconds(since: responseTime)))
    }

    /// Whether the answer came at a time that is still to come: the clock was wrong then, or is now, and nobody knows
    /// how old the response is. What a clock is set right by now and then, up to a minute, does not count.
    ///
    /// - Source: RFC 9111 §4.2.3 takes `now` to be after `response_time`.
    package func isAhead(of now: WallTime) -> Bool {
        responseTime.milliseconds(since: now) > 60_000
    }

    /// Whether the response is fresh, whatever a request or a policy may say.
    ///
    /// - Source: RFC 9111 §4.2.
    package func isFresh(at now: WallTime) -> Bool {
        lifetime > age(at: now) && !isAhead(of: now)
    }

    /// Whether this response is newer than another one under the same key (RFC 9111 §4).
    package func isNewer(than other: StoredFacts) -> Bool {
        date != other.date ? date > other.date : responseTime > other.responseTime
    }

    /// Whether this response was asked for after another one under the same key that is not newer either. One of a
    /// time that is still to come tells nothing.
    func isLater(than other: StoredFacts, at now: WallTime) -> Bool {
        requestTime > other.requestTime && !other.isNewer(than: self) && !isAhead(of: now)
    }
}
