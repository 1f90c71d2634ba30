/// How many bytes may pass in a second, over all workers together.
///
/// What is on the wire counts, in both directions: bytes of TCP's streams, coded and encrypted as they are, handshakes
/// of TLS and what is sent again among them, and 66 bytes for each segment. How close the average of ten seconds comes
/// to it depends on the rate: see `docs/bandwidth.md`.
public struct BandwidthLimit: Sendable, Hashable, Codable {
    /// Bytes a second that are received; 0 is no limit. Without ``upload`` what is sent counts here too.
    public var download: UInt64
    /// Bytes a second that are sent, 0 being no limit; nil lets ``download`` be for both directions together.
    public var upload: UInt64?
    /// The time whose bytes may pass at once after nothing did. Default 20 ms; more than a second is taken for one. A
    /// negative one is an error (``FetchError/Code/badRequest``), and none where nothing can be thrown
    /// (``Coordinator/setBandwidthLimit(_:)``).
    public var burst = Duration.milliseconds(20)

    /// A limit for both directions together.
    ///
    /// - Parameter bytesPerSecond: 0 is no limit.
    public init(_ bytesPerSecond: UInt64) {
        download = bytesPerSecond
    }

    /// A limit for each direction.
    ///
    /// - Parameters:
    ///   - download: Bytes a second that are received; 0 is no limit.
    ///   - upload: Bytes a second that are sent; 0 is no limit.
    public init(download: UInt64, upload: UInt64) {
        self.download = download
        self.upload = upload
    }

    /// Reads what was written down; the rest is as by default.
    public init(from decoder: any Decoder) throws {
        self = .none
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        try stored.read(.download, into: &download)
        try stored.read(.upload, into: &upload)
        try stored.read(.burst, into: &burst)
    }

    /// No limit.
    public static let none = BandwidthLimit(0)
    /// ASIHTTPRequest's limit for mobile networks: 14,800 bytes a second.
    public static let mobile = BandwidthLimit(14_800)

    /// What is wrong with it, or nil.
    var problem: String? { burst < .zero ? "the burst of a limit of bandwidth is negative" : nil }

    /// Whether nothing is limited.
    public var isUnlimited: Bool { download == 0 && (upload ?? 0) == 0 }
}
