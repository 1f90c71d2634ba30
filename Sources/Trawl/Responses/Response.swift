import TrawlCoding
package import TrawlHTTP
import TrawlPlatform

/// What a server answered, error statuses included.
public struct Response: Sendable {
    /// All of it, made once and shared by copies.
    private let content: Content
    /// What its body takes of a memory that is bounded.
    var memory: HeldMemory?

    init(_ content: Content) { self.content = content }

    /// Status, version, reason and field lines of the final response.
    public var head: ResponseHead { ResponseHead(content.head) }
    /// The body, unless it went to a file or a stream or was dropped.
    public var body: ResponseBody { content.body }
    /// The path of the file that was written; nil when none was.
    public var file: String? { content.file }
    /// The body in a file that its receiver has to name; nil when there is no such file.
    package var unnamed: UnnamedBody? { content.unnamed }
    /// The URL the response is from, with its fragment and without user information.
    public var url: String { content.url }
    /// The URL that was asked for first.
    public var originalURL: String { content.originalURL }
    /// The redirects that led here, in order.
    public var redirects: [RedirectHop] { content.redirects }
    /// Interim responses (1xx) of all exchanges that led here, in order: of redirects, challenges and attempts that failed,
    /// too. The first 64 of them that have no more than 64 KiB of field lines together.
    public var interim: [ResponseHead] { content.interim }
    /// Fields that came after the body.
    public var trailers: Fields { content.trailers }
    /// Names of the content codings the body came in, the first applied first, whatever became of them then.
    ///
    /// In lower case, and without `identity`, which is none (RFC 9110 §12.5.3).
    public var contentCodings: [String] {
        ContentCoding.list(content.head.fields.values("Content-Encoding")).filter { $0 != .identity }.map(\.name)
    }
    /// The announced length of the body on the wire, or nil.
    public var expectedLength: UInt64? { content.head.contentLength }
    /// The length of the body as it was delivered, after decoding.
    public var receivedLength: UInt64 { content.receivedLength }
    /// Where the final response came from.
    public var source: Source { content.source }
    /// How many attempts failed before the one that led to this response (``RequestOptions/retry``).
    public var retryCount: Int { content.retryCount }
    /// What each hop took, in order: redirects come first, those of attempts that failed before those of later ones.
    /// Of more than a thousand hops the first and the latest are kept.
    public var metrics: [HopReport] { content.metrics.all }
    /// Who the final request was made as towards the server; nil for nobody.
    public var authentication: AuthenticationReport? { content.authentication }
    /// Who it was made as towards the proxy; nil for nobody.
    public var proxyAuthentication: AuthenticationReport? { content.proxyAuthentication }
    /// The head in the form the rules use.
    var packageHead: TrawlHTTP.ResponseHead { content.head }
    /// When it came from its server, as far as is known.
    var receivedAt: WallTime { content.receivedAt }
    /// For ``text()``.
    var defaultCharset: String { content.defaultCharset }

    /// The status code.
    public var status: Int { Int(content.head.status) }
    /// The header section.
    public var fields: Fields { Fields(content.head.fields) }
    /// Whether the status is 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(status) }

    /// What a response is made of.
    final class Content: Sendable {
        let head: TrawlHTTP.ResponseHead
        let body: ResponseBody
        let file: String?
        let url: String
        let originalURL: String
        let redirects: [RedirectHop]
        let interim: [ResponseHead]
        let trailers: Fields
        let receivedLength: UInt64
        let source: Source
        let metrics: HopReports
        let defaultCharset: String
        let authentication: AuthenticationReport?
        let proxyAuthentication: AuthenticationReport?
        let retryCount: Int
        let unnamed: UnnamedBody?
        let receivedAt: WallTime

        /// - Parameter receivedAt: When it came; nil is now, and for what was stored so long ago as its `Age`, made for
        ///   it now, says.
        init(
            head: TrawlHTTP.ResponseHead, body: ResponseBody, file: String?, url: String, originalURL: String,
            redirects: [RedirectHop], interim: [ResponseHead], trailers: Fields, receivedLength: UInt64,
            source: Source, metrics: HopReports, defaultCharset: String,
            authentication: AuthenticationReport? = nil, proxyAuthentication: AuthenticationReport? = nil,
            retryCount: Int = 0, unnamed: UnnamedBody? = nil, receivedAt: WallTime? = nil
        ) {
            let isStored = source != .network && source != .generated
            let age = isStored ? head.fields.first("Age").flatMap { Int64($0) } ?? 0 : 0
            self.receivedAt =
                receivedAt ?? WallClock.time().advanced(byMilliseconds: -max(0, age).multipliedClamping(by: 1000))
            self.unnamed = unnamed
            self.retryCount = retryCount
            self.authentication = authentication
            self.proxyAuthentication = proxyAuthentication
            self.head = head
            self.body = body
            self.file = file
            self.url = url
            self.originalURL = originalURL
            self.redirects = redirects
            self.interim = interim
            self.trailers = trailers
            self.receivedLength = receivedLength
            self.source = source
            self.metrics = metrics
            self.defaultCharset = defaultCharset
        }
    }

    /// Status line and header section of a response.
    public struct ResponseHead: Sendable, Hashable {
        /// 100 to 999.
        public let status: Int
        /// As in `HTTP/1.1`.
        public let version: String
        /// The reason phrase; empty in HTTP/2. Of ISO-8859-1 where it is not UTF-8.
        public var reason: String { TrawlHTTP.ResponseHead.text(ofReason: phrase) }
        /// The field lines, in order.
        public private(set) var fields: Fields

        /// The public form of a head.
        package init(_ head: TrawlHTTP.ResponseHead) {
            status = Int(head.status)
            version = head.version.text
            phrase = head.reason
            fields = Fields(head.fields)
        }

        /// The same without its fields.
        var withoutFields: ResponseHead {
            var head = self
            head.fields = [:]
            return head
        }

        /// The reason phrase, one character for each byte that came.
        package let phrase: String
        /// The reason phrase in the bytes that came.
        package var reasonBytes: [UInt8] { TrawlHTTP.ResponseHead.bytes(ofReason: phrase) }
    }

    /// A redirect that was followed.
    public struct RedirectHop: Sendable, Hashable {
        /// Where it came from.
        public let url: String
        /// Its status.
        public let status: Int
        /// Where it led.
        public let location: String
        /// Its head; without its fields where those of the fetch's redirects before it have left no room: 1 MiB is
        /// kept.
        public let head: ResponseHead
    }

    /// Where a response came from.
    public enum Source: String, Sendable, Hashable, Codable {
        /// The server, or a cache on the way to it.
        case network
        /// The cache, without asking.
        case cache
        /// The cache, after the server said that what is stored is still good.
        case revalidated
        /// The cache, although what is stored is stale: the policy or the server allows it, or the load failed.
        case stale
        /// Nobody: a 504 that stands for a response that is not stored and could not be asked for.
        case generated
    }

    /// Whether the body came from the cache, validated or not.
    public var isFromCache: Bool { source != .network && source != .generated }

    /// Whether the body came in a content coding, whatever became of it then, as ASIHTTPRequest's flag told.
    public var isCompressed: Bool { !contentCodings.isEmpty }

    /// Throws when the status is not one of success.
    ///
    /// A response of status 404 is a response; this turns it into an error for programs that want one.
    ///
    /// - Throws: ``StatusError`` for a status other than 200 to 299.
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
