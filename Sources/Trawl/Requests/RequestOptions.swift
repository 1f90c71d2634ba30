/// How a fetch is made, beside what is asked for.
public struct RequestOptions: Sendable, Hashable, Codable {
    /// What is followed, and how far.
    public var redirects = Redirects()
    /// How long things may take.
    public var timeLimits = TimeLimits()
    /// Whether it is tried again after a failure that may pass. Default: no.
    public var retry = Retry()
    /// Whether the fetch waits for the network when there is none, in place of failing: when no route leads outside,
    /// and its host has no route or its name is not found. Hosts of this machine itself never wait. What a response was
    /// begun of is not waited for. Default false.
    ///
    /// - Source: the URL Loading System's `waitsForConnectivity`.
    public var waitsForConnectivity = false
    /// How much may come.
    public var sizeLimits = SizeLimits()
    /// What connections look like. Fetches with equal values share connections and their set-up.
    public var transport = Transport()
    /// Which proxies are used; nil is the coordinator's choice, ``Configuration/proxy``.
    public var proxy: ProxyPolicy?
    /// Whom is trusted, and who we are.
    public var tls = TLS()
    /// Whether and how stored responses are used.
    public var caching = Caching()
    /// Whether and how cookies are kept and sent.
    public var cookies = Cookies()
    /// Who the fetch is made as.
    public var authentication = Authentication()
    /// Whether compressed responses are asked for, by a generated `Accept-Encoding`. A request with `Range` asks for
    /// `identity` instead, since parts of what is compressed cannot be decoded. Default true.
    public var acceptsCompressedResponses = true
    /// What happens to content codings of a response. Default ``ContentDecoding/streaming``.
    public var contentDecoding = ContentDecoding.streaming
    /// The charset of a response's text when neither its first bytes nor its type name one. Default ISO-8859-1.
    public var defaultCharset = "ISO-8859-1"
    /// The `User-Agent` of this request; nil is the coordinator's. A field line set by hand wins over both.
    public var userAgent: String?
    /// Names of generated field lines that are left out: `User-Agent`, `Accept`, `Accept-Encoding`, and `Expect`, with
    /// which bodies over 1 MiB wait for the server's word. `Host` and `Content-Length` always go out. Default none.
    public var omittedFields: [String] = []
    /// Whether GET may carry a body; otherwise such a request is refused. HEAD never may. Default false.
    public var allowsBodyOnGET = false
    /// Whether GET, HEAD and DELETE with a body become POST, as ASIHTTPRequest did. Default false.
    public var upgradesMethodForBody = false
    /// Whether a connection of an earlier fetch may be used. Default true.
    public var reusesConnection = true
    /// Whether the connection may be used again afterwards. Default true.
    public var keepsConnection = true

    /// Whether limits of bandwidth do not hold for this request; what it takes is not counted against others either.
    /// Default false.
    public var isExemptFromBandwidthLimits = false

    /// The group whose limit of bandwidth holds for this request too, ``Coordinator/setBandwidthLimit(_:ofShare:)``: a
    /// session of a program that runs several, for one. Default none.
    public var bandwidthShare: String?

    /// The defaults of this library.
    public init() {}

    /// Reads what was written down; the rest is as by default.
    public init(from decoder: any Decoder) throws {
        self.init()
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        try stored.read(.redirects, into: &redirects)
        try stored.read(.timeLimits, into: &timeLimits)
        try stored.read(.retry, into: &retry)
        try stored.read(.waitsForConnectivity, into: &waitsForConnectivity)
        try stored.read(.sizeLimits, into: &sizeLimits)
        try stored.read(.transport, into: &transport)
        try stored.read(.proxy, into: &proxy)
        try stored.read(.tls, into: &tls)
        try stored.read(.caching, into: &caching)
        try stored.read(.cookies, into: &cookies)
        try stored.read(.authentication, into: &authentication)
        try stored.read(.acceptsCompressedResponses, into: &acceptsCompressedResponses)
        try stored.read(.contentDecoding, into: &contentDecoding)
        try stored.read(.defaultCharset, into: &defaultCharset)
        try stored.read(.userAgent, into: &userAgent)
        try stored.read(.omittedFields, into: &omittedFields)
        try stored.read(.allowsBodyOnGET, into: &allowsBodyOnGET)
        try stored.read(.upgradesMethodForBody, into: &upgradesMethodForBody)
        try stored.read(.reusesConnection, into: &reusesConnection)
        try stored.read(.keepsConnection, into: &keepsConnection)
        try stored.read(.isExemptFromBandwidthLimits, into: &isExemptFromBandwidthLimits)
        try stored.read(.bandwidthShare, into: &bandwidthShare)
    }

    /// The defaults of this library: inactivity 60 s, 20 redirects.
    public static let `default` = RequestOptions()

    /// As ASIHTTPRequest: inactivity 10 s, 5 redirects that turn every method to GET.
    public static let asi: RequestOptions = {
        var options = RequestOptions()
        options.timeLimits.inactivity = .seconds(10)
        options.redirects.limit = 5
        options.redirects.mode = .classic
        return options
    }()
}

extension RequestOptions {
    /// Which redirects are followed.
    public struct Redirects: Sendable, Hashable, Codable {
        /// How methods change. Default ``Mode/standard``.
        public var mode = Mode.standard
        /// How many are followed; one more fails with ``FetchError/Code/tooManyRedirects``. Default 20.
        public var limit = 20
        /// Whether `https` may lead to `http`. Default false.
        public var allowsDowngrade = false

        /// Up to 20, by RFC 9110, never from `https` to `http`.
        public init() {}

        /// Reads what was written down; the rest is as by default.
        public init(from decoder: any Decoder) throws {
            self.init()
            let stored = try decoder.container(keyedBy: CodingKeys.self)
            try stored.read(.mode, into: &mode)
            try stored.read(.limit, into: &limit)
            try stored.read(.allowsDowngrade, into: &allowsDowngrade)
        }

        /// How a redirect changes the request.
        public enum Mode: String, Sendable, Hashable, Codable {
            /// Nothing is followed: the 3xx response is the answer, with its body.
            case manual
            /// RFC 9110: 301 and 302 turn POST into GET, 303 everything but HEAD, 307 and 308 nothing.
            case standard
            /// ASIHTTPRequest's: 301, 302 and 303 turn every method into GET.
            case classic
            /// 301 and 302 keep method and body too.
            case preserve
        }
    }

    /// How long a fetch and its parts may take. Zero is no limit; a fetch with a negative one fails with ``FetchError/Code/badRequest``.
    public struct TimeLimits: Sendable, Hashable, Codable {
        /// Until a connection stands, TLS included. Default 30 s.
        public var connect = Duration.seconds(30)
        /// Without a byte in either direction; half as long again before the first byte of the request's body has gone.
        /// Default 60 s.
        public var inactivity = Duration.seconds(60)
        /// From when a request has gone out, its body included, to the first byte of the response; an interim response
        /// begins it anew. Time in which the fetch waits for bandwidth does not count. Default none.
        public var firstByte = Duration.zero
        /// The whole fetch: waiting, redirects and retries included. Default 7 days.
        public var resource = Duration.seconds(7 * 24 * 3600)
        /// The fetch once its turn has come: from when a worker gets its first hop, redirects and what they wait for
        /// included. Waiting for that, because others are in front of it, does not count. An attempt that is made
        /// because one failed (``RequestOptions/retry``) has it for itself. Default none.
        public var exchange = Duration.zero

        /// Waiting for the network, all waits together, with ``RequestOptions/waitsForConnectivity``. Default: as long
        /// as ``resource`` allows.
        public var connectivity = Duration.zero

        /// The defaults.
        public init() {}

        /// Reads what was written down; the rest is as by default.
        public init(from decoder: any Decoder) throws {
            self.init()
            let stored = try decoder.container(keyedBy: CodingKeys.self)
            try stored.read(.connect, into: &connect)
            try stored.read(.inactivity, into: &inactivity)
            try stored.read(.firstByte, into: &firstByte)
            try stored.read(.resource, into: &resource)
            try stored.read(.exchange, into: &exchange)
            try stored.read(.connectivity, into: &connectivity)
        }
    }

    /// How much a response may bring before the fetch fails with ``FetchError/Code/tooLarge``.
    public struct SizeLimits: Sendable, Hashable, Codable {
        /// Bytes of a header section. Default 300 KiB, which is also where libcurl 7.88 stops (and at 100 KiB a line),
        /// so a larger value has no effect there.
        public var headBytes = 300 << 10
        /// Field lines of a header section. Default 500.
        public var headFields = 500
        /// Bytes of a decoded body that is delivered, wherever it goes; nil is no limit, and 0 allows none.
        public var bodyBytes: UInt64?
        /// Bytes of a body kept in memory. Default 1 GiB.
        public var memoryBytes: UInt64 = 1 << 30
        /// Content codings applied one over the other, br once at most. Default 3.
        public var codingLayers = 3
        /// Decoded bytes for one encoded byte, beyond the first 8 MiB; 0 is no limit. Default 250.
        public var codingRatio = 250

        /// The defaults.
        public init() {}

        /// Reads what was written down; the rest is as by default.
        public init(from decoder: any Decoder) throws {
            self.init()
            let stored = try decoder.container(keyedBy: CodingKeys.self)
            try stored.read(.headBytes, into: &headBytes)
            try stored.read(.headFields, into: &headFields)
            try stored.read(.bodyBytes, into: &bodyBytes)
            try stored.read(.memoryBytes, into: &memoryBytes)
            try stored.read(.codingLayers, into: &codingLayers)
            try stored.read(.codingRatio, into: &codingRatio)
        }
    }

    /// What happens to content codings (gzip, deflate, br).
    public enum ContentDecoding: String, Sendable, Hashable, Codable {
        /// Undone as the body arrives; the encoded form is not kept.
        case streaming
        /// Kept as received; ``ResponseBody/decoded()`` undoes them at each reading.
        case onRead
        /// Left alone.
        case off
    }

    /// What connections look like.
    public struct Transport: Sendable, Hashable, Codable {
        /// The version asked for. Default ``Version/http1_1``.
        public var version = Version.http1_1
        /// The address family used. Default ``AddressFamily/any``.
        public var addressFamily = AddressFamily.any
        /// How long an idle connection is kept, in whole seconds, unless the server names another time by
        /// `Keep-Alive: timeout`, of an hour at most. Default 60 s; a fetch with a negative one fails with
        /// ``FetchError/Code/badRequest``.
        public var idleLifetime = Duration.seconds(60)
        /// Bytes read from a connection at a time, 1 KiB to 512 KiB; nil, the default, is 16 to 512 KiB, the more the
        /// fewer fetches a worker may have in flight. HTTP/2 and limits of bandwidth have lengths of their own.
        ///
        /// - Source: ASIHTTPRequest's buffer (ASI-RSP-02), `CURLOPT_BUFFERSIZE`.
        public var receiveBuffer: Int?
        /// `host:port:address[,address]` entries that replace name resolution, as in curl's `--resolve`.
        public var resolve: [String] = []
        /// `host:port:host:port` entries that replace the place connected to, as in curl's `--connect-to`.
        public var connectTo: [String] = []
        /// Whether the certificate of an `https` proxy is checked. Default true.
        public var verifiesProxy = true
        /// A PEM file of certificates trusted for `https` proxies in place of the system's; a fetch with an empty path
        /// fails with ``FetchError/Code/badRequest``.
        public var proxyCAFile: String?
        /// The local interface or address used, as in curl's `--interface`.
        public var interface: String?
        /// Whether `http` is allowed. Default true.
        public var allowsHTTP = true
        /// Whether `https` is allowed. Default true.
        public var allowsHTTPS = true

        /// The defaults.
        public init() {}

        /// Reads what was written down; the rest is as by default.
        public init(from decoder: any Decoder) throws {
            self.init()
            let stored = try decoder.container(keyedBy: CodingKeys.self)
            try stored.read(.version, into: &version)
            try stored.read(.addressFamily, into: &addressFamily)
            try stored.read(.idleLifetime, into: &idleLifetime)
            try stored.read(.receiveBuffer, into: &receiveBuffer)
            try stored.read(.resolve, into: &resolve)
            try stored.read(.connectTo, into: &connectTo)
            try stored.read(.verifiesProxy, into: &verifiesProxy)
            try stored.read(.proxyCAFile, into: &proxyCAFile)
            try stored.read(.interface, into: &interface)
            try stored.read(.allowsHTTP, into: &allowsHTTP)
            try stored.read(.allowsHTTPS, into: &allowsHTTPS)
        }

        /// A protocol version to ask for.
        public enum Version: String, Sendable, Hashable, Codable {
            /// HTTP/1.0; the connection is not kept unless the server says so.
            case http1_0
            /// HTTP/1.1.
            case http1_1
            /// HTTP/2 over TLS when the server agrees, else HTTP/1.1.
            case http2
            /// HTTP/2 without asking, in clear too. A connection serves one request: libcurl 7.88 fails the next.
            case http2PriorKnowledge
        }

        /// An address family.
        public enum AddressFamily: String, Sendable, Hashable, Codable {
            /// Both; the faster answer wins.
            case any
            /// IPv4 only.
            case ipv4
            /// IPv6 only.
            case ipv6
        }
    }
}
