package import TrawlHTTP

/// What a server answered, error statuses included.
public struct Response: Sendable {
    /// Status, version, reason and field lines of the final response.
    public let head: ResponseHead
    /// The body, unless it went to a file or a stream or was dropped.
    public let body: ResponseBody
    /// The path of the file that was written; nil when none was.
    public let file: String?
    /// The URL the response is from, with its fragment and without user information.
    public let url: String
    /// The URL that was asked for first.
    public let originalURL: String
    /// The redirects that led here, in order.
    public let redirects: [RedirectHop]
    /// Interim responses (1xx) of the last hop, in order.
    public let interim: [ResponseHead]
    /// Fields that came after the body.
    public let trailers: Fields
    /// Names of the content codings the body came in, the first applied first.
    public let contentCodings: [String]
    /// The announced length of the body on the wire, or nil.
    public let expectedLength: UInt64?
    /// The length of the body as it was delivered, after decoding.
    public let receivedLength: UInt64
    /// What each hop took, in order; redirects come first.
    public let metrics: [HopReport]

    /// The status code.
    public var status: Int { head.status }
    /// The header section.
    public var fields: Fields { head.fields }
    /// Whether the status is 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(status) }

    /// Status line and header section of a response.
    public struct ResponseHead: Sendable, Hashable {
        /// 100 to 999.
        public let status: Int
        /// As in `HTTP/1.1`.
        public let version: String
        /// The reason phrase; empty in HTTP/2.
        public let reason: String
        /// The field lines, in order.
        public let fields: Fields

        /// The public form of a head.
        package init(_ head: TrawlHTTP.ResponseHead) {
            status = Int(head.status)
            version = head.version.text
            reason = head.reason
            fields = Fields(head.fields)
        }
    }

    /// A redirect that was followed.
    public struct RedirectHop: Sendable, Hashable {
        /// Where it came from.
        public let url: String
        /// Its status.
        public let status: Int
        /// Where it led.
        public let location: String
        /// Its whole head.
        public let head: ResponseHead
    }

    /// Whether and how far a response's own codings were compressed, as ASIHTTPRequest's flag told.
    public var isCompressed: Bool { !contentCodings.isEmpty }

    /// Throws when the status is not one of success.
    ///
    /// A response of status 404 is a response; this turns it into an error for programs that want one.
    public func validate() throws(StatusError) {
        if !isSuccess { throw StatusError(status: status, reason: head.reason) }
    }

    /// A status other than 200 to 299, from ``validate()``.
    public struct StatusError: Error, Sendable, Hashable {
        /// The status code.
        public let status: Int
        /// The reason phrase.
        public let reason: String
    }
}
