import TrawlHTTP

/// What a caller asks for: a value that can be kept, compared, stored and sent again.
///
/// A coordinator takes a copy when the fetch starts; later changes have no effect on it.
///
/// Printed or reflected it shows neither user information and query of its URL nor values of field lines and cookies.
/// Encoded it holds all of them, since it is to be sent again: the URL with its user and password, every field line,
/// `Authorization` and `Cookie` among them, ``RequestOptions/Cookies/manual`` cookies and the body. Who keeps it keeps
/// secrets. Left out are ``RequestOptions/Authentication/credential``, users and passwords of proxies, and passphrases
/// of client certificates. What is read lacks options that are newer than it: they are as by default.
public struct Request: Sendable, Hashable, Codable {
    /// The target, an absolute `http` or `https` URL.
    ///
    /// User information in it is used for authentication only and never sent, logged or stored; it is encoded with the
    /// request.
    public var url: String
    /// The method; when nil, GET, or POST once there is a body.
    public var method: Method?
    /// The caller's field lines, sent as given. They replace what would be generated (User-Agent, Accept, …).
    ///
    /// `Content-Length`, `Transfer-Encoding` and `Connection` belong to the transfer; see ``RequestOptions``. `Host` may
    /// be there once.
    public var fields: Fields
    /// What is sent along.
    public var body: Body
    /// Limits, redirects, versions, TLS: how the fetch is made.
    public var options: RequestOptions

    /// A request for `url`, GET unless a method or later a body says otherwise.
    public init(
        _ method: Method? = nil, _ url: String, fields: Fields = [:], body: Body = .none,
        options: RequestOptions = .default
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.options = options
    }

    /// A request for `url`.
    public init(_ url: String, fields: Fields = [:], body: Body = .none, options: RequestOptions = .default) {
        self.init(nil, url, fields: fields, body: body, options: options)
    }

    /// Reads what was written down; all but the URL is as by default where it was not.
    public init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        self.init(try stored.decode(String.self, forKey: .url))
        try stored.read(.method, into: &method)
        try stored.read(.fields, into: &fields)
        try stored.read(.body, into: &body)
        try stored.read(.options, into: &options)
    }

    /// Adds bytes to a body that is built piece by piece; empty pieces change nothing.
    ///
    /// - Throws: ``FetchError/Code/badRequest`` when the body was set as a whole: the two styles exclude each other.
    public mutating func append(_ bytes: some Sequence<UInt8>) throws(FetchError) {
        switch body {
        case .none:
            let piece = Array(bytes)
            if !piece.isEmpty { body = .pieces(piece) }
        case .pieces(var gathered):
            body = .none
            gathered.append(contentsOf: bytes)
            body = .pieces(gathered)
        case .bytes:
            throw FetchError(.badRequest, "the body was set as a whole; it cannot be appended to")
        }
    }

    /// The method the request will be sent with: that which is set, or POST in its place by
    /// ``RequestOptions/upgradesMethodForBody``; where none is, GET, or POST once there is a body.
    public var effectiveMethod: Method {
        guard let method else { return body.isEmpty ? .get : .post }
        guard options.upgradesMethodForBody, !body.isEmpty else { return method }
        return method == .get || method == .head || method == .delete ? .post : method
    }
}

extension Request: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method and the URL, without user information and query.
    public var description: String { "\(effectiveMethod.name.terminalSafe) \(Self.shown(url))" }
    /// The method and the URL, without user information and query.
    public var debugDescription: String { description }
    /// A mirror that shows no secret: of field lines the names alone, of the body how long it is.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": effectiveMethod, "url": Self.shown(url), "fields": fields, "bodyLength": body.bytes.count,
                "options": options,
            ])
    }

    /// A text that may be a URL, without what may be secret in it. It need not be one that can be requested.
    static func shown(_ url: String) -> String {
        let text = UserInformation.removed(from: url)
        guard let end = text.utf8.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            return text.terminalSafe
        }
        return String(text[..<end]).terminalSafe + String(UnicodeScalar(text.utf8[end])) + "…"
    }
}

extension Request {
    /// A request method: any token, compared with its case.
    ///
    /// - Source: RFC 9110 §9.
    public struct Method: Sendable, Hashable, Codable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The token as sent. A name that is not a token makes the fetch fail with ``FetchError/Code/badRequest``.
        public var name: String

        /// The method of that name.
        public init(_ name: String) { self.name = name }
        /// The method of that name.
        public init(stringLiteral name: String) { self.name = name }
        /// The method's name.
        public var description: String { name }

        /// Transfer a representation of the target.
        public static let get = Method("GET")
        /// As GET, without the body.
        public static let head = Method("HEAD")
        /// Process the body as the target sees fit.
        public static let post = Method("POST")
        /// Replace the target's representation.
        public static let put = Method("PUT")
        /// Remove the target.
        public static let delete = Method("DELETE")
        /// Change the target in part (RFC 5789).
        public static let patch = Method("PATCH")
        /// Describe the communication options.
        public static let options = Method("OPTIONS")

        /// Reads the name.
        public init(from decoder: any Decoder) throws { name = try String(from: decoder) }
        /// Writes the name.
        public func encode(to encoder: any Encoder) throws { try name.encode(to: encoder) }
    }

    /// The body of a request, held in memory. Its length is always announced.
    ///
    /// One without a byte is none, however it was given.
    public enum Body: Sendable, Hashable, Codable {
        /// No body. POST, PUT and PATCH then announce a length of zero (RFC 9110 §8.6).
        case none
        /// These bytes, given as a whole.
        case bytes([UInt8])
        /// Bytes gathered by ``Request/append(_:)``.
        case pieces([UInt8])

        /// The UTF-8 bytes of a text.
        public static func text(_ text: String) -> Body { .bytes(Array(text.utf8)) }

        /// The bytes to send.
        public var bytes: [UInt8] {
            switch self {
            case .none: []
            case .bytes(let bytes), .pieces(let bytes): bytes
            }
        }

        /// Whether there is nothing to send.
        public var isEmpty: Bool {
            switch self {
            case .none: true
            case .bytes(let bytes), .pieces(let bytes): bytes.isEmpty
            }
        }
    }
}
