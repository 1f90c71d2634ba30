/// What is needed to go on with a download that failed or was cancelled.
///
/// It is there when the server can be asked for the rest: the request was a GET without a content coding, its response
/// has a strong validator and says `Accept-Ranges: bytes`, and part of it has come. What has come is in a file beside
/// the destination, which stays until the download is complete or somebody removes it.
///
/// It holds no field of the request and no credential, and may be written down.
///
/// - Source: the URL Loading System's resume data (ULS-TASK-08); RFC 9110 §13.1.5, §14.
public struct ResumeData: Sendable, Hashable, Codable {
    /// The URL of the first request, without user information.
    public let url: String
    /// Where the body is to go. Absolute.
    public let destination: String
    /// The file with what has come.
    public let partPath: String
    /// How many bytes of it count.
    public let offset: UInt64
    /// The length of the whole, when it is known.
    public let length: UInt64?
    /// What the server is asked to compare, as `If-Range`.
    public let validator: String

    /// Resume data of its parts, as they were written down. They are checked when it is used.
    public init(
        url: String, destination: String, partPath: String, offset: UInt64, length: UInt64?, validator: String
    ) {
        self.url = url
        self.destination = destination
        self.partPath = partPath
        self.offset = offset
        self.length = length
        self.validator = validator
    }

    /// What makes it useless, files aside; nil when nothing does.
    var problem: String? {
        if offset == 0 { return "nothing has come" }
        if let length, offset > length { return "more has come than there is" }
        // RFC 9110 §13.1.5
        if validator.isEmpty || validator.hasPrefix("W/") || !validator.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
            return "the validator is none that can be compared"
        }
        return nil
    }
}
