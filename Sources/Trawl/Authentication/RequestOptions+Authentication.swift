import TrawlSession

extension RequestOptions {
    /// Who the fetch is made as, and when that is said.
    ///
    /// A request whose `Authorization` was written by hand is left alone: it goes out as it is, and what comes is the
    /// answer.
    public struct Authentication: Sendable, Hashable {
        /// Credentials of this request; they belong to the origin of its URL. Not encoded.
        ///
        /// A token is sent at once. A password is sent when it is asked for, or at once when ``schemes`` is
        /// ``Schemes/basic`` alone.
        public var credential: Credential?
        /// The schemes that may be answered, the strongest offered first. Default ``Schemes/any``.
        public var schemes = Schemes.any
        /// Whether a password or token may be sent as it is over `http`, as Basic and Bearer do. Default false.
        public var allowsClearText = false
        /// Whether what worked before in this session is sent before it is asked for again. Default true.
        public var sendsAhead = true
        /// Whether what worked is kept for the session, and used from there. Default true.
        public var usesSession = true
        /// Whether the coordinator's vault is asked. Default false.
        public var usesVault = false
        /// Whether the program and a person may be asked. Default true.
        public var asks = true
        /// A netrc file to look in. Default ``NetrcFile/none``.
        public var netrc = NetrcFile.none
        /// How many credentials may be refused before the fetch gives up. Default 5.
        public var maxAttempts = 5
        /// What becomes of a fetch whose credentials were refused, or that has none where somebody was asked for some.
        /// Default ``Refusal/fails``.
        public var whenRefused = Refusal.fails

        /// The defaults.
        public init() {}
    }
}

extension RequestOptions.Authentication {
    /// Schemes of authentication.
    public struct Schemes: OptionSet, Sendable, Hashable, Codable {
        /// A bit for each.
        public let rawValue: UInt8

        /// The schemes of those bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        private init(_ set: SchemeSet) { rawValue = set.rawValue }

        /// User and password as they are (RFC 7617).
        public static let basic = Schemes(SchemeSet.basic)
        /// A token as it is (RFC 6750).
        public static let bearer = Schemes(SchemeSet.bearer)
        /// A digest of the password (RFC 7616).
        public static let digest = Schemes(SchemeSet.digest)
        /// Microsoft's, bound to a connection; its hashes are as good as the password.
        public static let ntlm = Schemes(SchemeSet.ntlm)
        /// Kerberos (RFC 4559).
        public static let negotiate = Schemes(SchemeSet.negotiate)
        /// All but ``ntlm``, which has to be asked for by name.
        public static let any = Schemes(SchemeSet.any)
    }

    /// A netrc file.
    public enum NetrcFile: Sendable, Hashable, Codable {
        /// None is read.
        case none
        /// This one; when it cannot be read, or is a pipe, the fetch fails.
        case file(String)
        /// This one if it is there.
        case optional(String)
    }

    /// What becomes of a fetch that found no credentials a server takes.
    public enum Refusal: String, Sendable, Hashable, Codable {
        /// It fails with ``FetchError/Code/authentication``. Where nobody had anything to do with credentials, the 401
        /// is the answer all the same.
        case fails
        /// The 401 or 407 is the answer.
        case delivers
    }
}

extension RequestOptions.Authentication: Codable {
    // All but the credential: what is encoded goes to places no secret belongs in.
    private enum CodingKeys: String, CodingKey {
        case schemes, allowsClearText, sendsAhead, usesSession, usesVault, asks, netrc, maxAttempts, whenRefused
    }

    /// Reads what was written down; the rest is as by default.
    public init(from decoder: any Decoder) throws {
        self.init()
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        try stored.read(.schemes, into: &schemes)
        try stored.read(.allowsClearText, into: &allowsClearText)
        try stored.read(.sendsAhead, into: &sendsAhead)
        try stored.read(.usesSession, into: &usesSession)
        try stored.read(.usesVault, into: &usesVault)
        try stored.read(.asks, into: &asks)
        try stored.read(.netrc, into: &netrc)
        try stored.read(.maxAttempts, into: &maxAttempts)
        try stored.read(.whenRefused, into: &whenRefused)
    }
}

extension Request {
    /// Sets `Authorization` to Basic with a user and password (RFC 7617), in place of whatever it was.
    ///
    /// A field written like this is sent with this request and to its origin alone, and a 401 is the answer.
    ///
    /// - Throws: ``FetchError/Code/badRequest`` for a user with a colon, and for control characters (RFC 7617 §2).
    public mutating func setAuthorization(user: String, password: String) throws(FetchError) {
        try setAuthorization { () throws(CredentialsFault) in
            try BasicScheme.fieldValue(Credentials(user: user, password: password))
        }
    }

    /// Sets `Authorization` to `Bearer` with a token (RFC 6750), in place of whatever it was.
    ///
    /// - Throws: ``FetchError/Code/badRequest`` for a token that is empty, or has anything but visible ASCII in it, a
    ///   comma or a quote.
    public mutating func setAuthorization(bearer token: String) throws(FetchError) {
        try setAuthorization { () throws(CredentialsFault) in
            try BearerScheme.fieldValue(Credentials(bearer: token))
        }
    }

    /// Sets `Authorization` to `Token token="…"`, in place of whatever it was.
    ///
    /// - Throws: ``FetchError/Code/badRequest`` for such a token as ``setAuthorization(bearer:)`` refuses.
    /// - Source: AFHTTPClient's `setAuthorizationHeaderWithToken:`.
    public mutating func setAuthorization(token: String) throws(FetchError) {
        try setAuthorization { () throws(CredentialsFault) in try BearerScheme.tokenFieldValue(Secret(token)) }
    }

    /// Removes `Authorization`.
    public mutating func clearAuthorization() { fields["Authorization"] = nil }

    private mutating func setAuthorization(_ value: () throws(CredentialsFault) -> [UInt8]) throws(FetchError) {
        do throws(CredentialsFault) {
            fields["Authorization"] = String(decoding: try value(), as: UTF8.self)
        } catch {
            throw FetchError(.badRequest, error.explanation)
        }
    }
}
