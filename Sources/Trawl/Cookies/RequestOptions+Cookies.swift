extension RequestOptions {
    /// Whether and how cookies are kept and sent.
    ///
    /// - Source: RFC 6265bis.
    public struct Cookies: Sendable, Hashable, Codable {
        /// Where cookies of responses go and those of requests come from. Default ``Jar/shared``.
        public var jar = Jar.shared
        /// Which cookies are taken. Default nil: the coordinator's.
        public var accepts: AcceptPolicy?
        /// The URL of the document that the request belongs to, for ``AcceptPolicy/onlyFromMainDocument``. Default nil:
        /// the request is for the document itself.
        public var mainDocumentURL: String?
        /// Cookies of the request's own, sent whatever the jar holds, and before what it holds; a stored one of the
        /// same name is left out. They are not sent after a redirect.
        public var manual: [RequestCookie] = []
        /// Whether ``manual`` cookies, and those of a `Cookie` field line of the request, are sent again after redirects
        /// that do not leave the origin, as curl does. Default false.
        public var repeatsManual = false

        /// The coordinator's jar, nothing by hand.
        public init() {}

        /// Reads what was written down; the rest is as by default.
        public init(from decoder: any Decoder) throws {
            self.init()
            let stored = try decoder.container(keyedBy: CodingKeys.self)
            try stored.read(.jar, into: &jar)
            try stored.read(.accepts, into: &accepts)
            try stored.read(.mainDocumentURL, into: &mainDocumentURL)
            try stored.read(.manual, into: &manual)
            try stored.read(.repeatsManual, into: &repeatsManual)
        }

        /// A cookie jar.
        public enum Jar: Sendable, Hashable, Codable {
            /// That of the store, which all programs share that use it. Without a store it is in memory.
            case shared
            /// One of that name in the store, 1 to 255 bytes; another name is ``FetchError/Code/badRequest``. Without a
            /// store it is in memory.
            case named(String)
            /// One of that name in the coordinator's memory, gone with it.
            case memory(String)
            /// None: nothing is kept, and only ``RequestOptions/Cookies/manual`` cookies are sent.
            case none
        }

        /// Which cookies are taken. What is sent does not depend on it.
        public enum AcceptPolicy: String, Sendable, Hashable, Codable {
            /// All that the rules allow.
            case always
            /// None.
            case never
            /// Those from the site of ``RequestOptions/Cookies/mainDocumentURL``.
            case onlyFromMainDocument
        }
    }
}

extension Configuration {
    /// How cookies are kept.
    public struct Cookies: Sendable, Hashable {
        /// Whether requests use the shared jar unless they say otherwise. Default true.
        public var isOn = true
        /// What requests that do not say accept. Default ``RequestOptions/Cookies/AcceptPolicy/onlyFromMainDocument``.
        public var accepts = RequestOptions.Cookies.AcceptPolicy.onlyFromMainDocument
        /// Whether cookies without a time end with the coordinator. Default true; the command keeps them, since each
        /// run of it is a coordinator of its own.
        public var endsSessionCookies = true

        /// The defaults.
        public init() {}
    }
}
