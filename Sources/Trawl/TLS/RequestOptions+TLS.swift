extension RequestOptions {
    /// How TLS is set up. Fetches with equal values share connections; others never do.
    ///
    /// ``identity`` belongs to the origin of the request's URL and ``verification`` to its host: a redirect elsewhere
    /// goes without the one and fully verified.
    ///
    /// What is not given is nil: a fetch with an empty path, empty ``caData`` or an empty list of ciphers fails with
    /// ``FetchError/Code/badRequest``.
    public struct TLS: Sendable, Hashable, Codable {
        /// How far the server's certificate is checked. Default ``Verification/full``.
        public var verification = Verification.full
        /// The oldest version accepted. Default 1.2.
        public var minimum = Version.tls1_2
        /// The newest version offered; nil is the newest there is.
        public var maximum: Version?
        /// A PEM file of trusted certificates in place of the system's.
        public var caFile: String?
        /// A directory of trusted certificates in place of the system's, as `openssl rehash` makes it.
        public var caDirectory: String?
        /// Trusted certificates in PEM form, in place of the system's. Wins over ``caFile``.
        public var caData: [UInt8]?
        /// The client certificate for the origin of the request's URL; nil is none.
        public var identity: ClientIdentity?
        /// Client certificates by host, or `host:port` (which wins; hosts in lower case): for every hop that goes
        /// there.
        public var identities: [String: ClientIdentity] = [:]
        /// The only public keys accepted: digests by SHA-256 of `SubjectPublicKeyInfo`, in base64. Empty is any.
        ///
        /// Checked on every hop and at every level of ``verification``.
        public var pins: [String] = []
        /// A file with the only public key accepted, PEM or DER, in place of ``pins``.
        public var pinFile: String?
        /// Ciphers up to TLS 1.2, in OpenSSL's notation; nil is OpenSSL's default.
        public var ciphers: String?
        /// Ciphers of TLS 1.3; nil is OpenSSL's default.
        public var ciphers13: String?
        /// When ``FetchDecisions/trust(_:)`` is asked. Default ``TrustQuestion/never``.
        public var question = TrustQuestion.never
        /// Whether ``FetchDecisions/identity(for:)`` is asked at each https hop for which neither ``identity`` nor
        /// ``identities`` has a client certificate. Default false.
        public var asksForIdentity = false

        /// Verified by the system's trust, TLS 1.2 and newer.
        public init() {}

        /// Reads what was written down; the rest is as by default.
        public init(from decoder: any Decoder) throws {
            self.init()
            let stored = try decoder.container(keyedBy: CodingKeys.self)
            try stored.read(.verification, into: &verification)
            try stored.read(.minimum, into: &minimum)
            try stored.read(.maximum, into: &maximum)
            try stored.read(.caFile, into: &caFile)
            try stored.read(.caDirectory, into: &caDirectory)
            try stored.read(.caData, into: &caData)
            try stored.read(.identity, into: &identity)
            try stored.read(.identities, into: &identities)
            try stored.read(.pins, into: &pins)
            try stored.read(.pinFile, into: &pinFile)
            try stored.read(.ciphers, into: &ciphers)
            try stored.read(.ciphers13, into: &ciphers13)
            try stored.read(.question, into: &question)
            try stored.read(.asksForIdentity, into: &asksForIdentity)
        }

        /// How far the server's certificate is checked.
        public enum Verification: String, Sendable, Hashable, Codable {
            /// It is valid, leads to a trusted root, and names the host.
            case full
            /// It is valid and leads to a trusted root, whomever it names.
            case chainOnly
            /// Not at all: whoever is on the way may read and change everything.
            case none
        }

        /// When a program is asked whether a server is to be trusted.
        public enum TrustQuestion: String, Sendable, Hashable, Codable {
            /// The rules decide.
            case never
            /// When they would refuse.
            case unlessVerified
            /// At every certificate that was not accepted before.
            case always
        }

        /// A TLS version.
        public enum Version: String, Sendable, Hashable, Codable {
            /// TLS 1.0, out of use since RFC 8996.
            case tls1_0
            /// TLS 1.1, out of use since RFC 8996.
            case tls1_1
            /// TLS 1.2.
            case tls1_2
            /// TLS 1.3.
            case tls1_3
        }
    }
}
