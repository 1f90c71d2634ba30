/// What a worker does and leaves alone on a hop, each of it a yes or no.
package struct LeaseOptions: OptionSet, Sendable, Hashable {
    /// The bits, as they are in a frame.
    package let rawValue: UInt32
    /// Options of their bits.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The body of a response other than 2xx goes to a file sink too; else it is kept in memory.
    package static let savesErrorBodies = LeaseOptions(rawValue: 1)
    /// An empty body still makes a file.
    package static let createsEmptyFile = LeaseOptions(rawValue: 2)
    /// The body of a redirect that can be followed is dropped.
    package static let dropsRedirectBodies = LeaseOptions(rawValue: 4)
    /// A file is synced before it is renamed.
    package static let syncsFile = LeaseOptions(rawValue: 8)
    /// A connection of an earlier hop may be used.
    package static let mayReuseConnection = LeaseOptions(rawValue: 16)
    /// The connection may be used by a later hop.
    package static let mayKeepConnection = LeaseOptions(rawValue: 32)
    /// The last part of a file sink's path gives way to the name a response of 2xx suggests.
    package static let namesFromDisposition = LeaseOptions(rawValue: 64)
    /// The head of a redirect whose body is dropped is told, and the transfer rests until it is known what becomes of it.
    package static let asksAboutRedirects = LeaseOptions(rawValue: 128)
    /// Cookies of the response are stored, by the profile's terms.
    package static let storesCookies = LeaseOptions(rawValue: 256)
    /// The head of a challenge (401, 407) is told, and the transfer rests until it is known what becomes of its body.
    package static let asksAboutChallenges = LeaseOptions(rawValue: 512)
    /// The head of a response of 400 or more is told, and the transfer rests until it is known what becomes of its body:
    /// the request may be made again.
    package static let asksAboutFailures = LeaseOptions(rawValue: 1024)
    /// A body kept in memory that is too long for a frame asks for room first.
    package static let metersBody = LeaseOptions(rawValue: 2048)
    /// The request goes out once at most: one that may be repeated, since its connection ended without a byte of
    /// response, is given up in place of that.
    package static let sendsOnce = LeaseOptions(rawValue: 8192)
    /// The body of a response of 400 or more is dropped, wherever others go.
    package static let dropsErrorBodies = LeaseOptions(rawValue: 16_384)
    /// The body of a response of a failure that may pass is dropped, wherever others go; see `ResponseHead.mayPass`.
    package static let dropsPassingErrors = LeaseOptions(rawValue: 32_768)

    static let all = LeaseOptions(rawValue: 0xEFFF)

    /// Whether all of these are among them. By the bits, since a set's own way is generic and this is asked of each hop.
    package func contains(_ options: LeaseOptions) -> Bool { rawValue & options.rawValue == options.rawValue }

    /// Puts these in, or takes them out.
    package mutating func set(_ options: LeaseOptions, _ isOn: Bool) {
        self = LeaseOptions(rawValue: isOn ? rawValue | options.rawValue : rawValue & ~options.rawValue)
    }
}
