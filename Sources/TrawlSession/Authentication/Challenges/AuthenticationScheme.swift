import TrawlHTTP

/// An authentication scheme this package knows by name.
///
/// - Source: RFC 9110 §11.1; the registry of schemes, RFC 9110 §16.4.1.
package enum AuthenticationScheme: UInt8, Sendable, Hashable, CaseIterable {
    /// User and password as they are, RFC 7617.
    case basic = 1
    /// A token that whoever holds it may use, RFC 6750.
    case bearer = 2
    /// A digest of the password, RFC 7616.
    case digest = 3
    /// Bound to one connection; left to the transfer library.
    case ntlm = 4
    /// Kerberos by SPNEGO, RFC 4559; left to the transfer library.
    case negotiate = 5

    /// The scheme as it is written in a field.
    package var name: String {
        switch self {
        case .basic: "Basic"
        case .bearer: "Bearer"
        case .digest: "Digest"
        case .ntlm: "NTLM"
        case .negotiate: "Negotiate"
        }
    }

    /// The scheme of that name, in whatever case (RFC 9110 §11.1), or nil.
    package init?(name: String) {
        guard let scheme = Self.allCases.first(where: { FieldSyntax.equalIgnoringCase($0.name, name) }) else {
            return nil
        }
        self = scheme
    }

    /// Whether what is sent is the secret itself, so that who reads it can use it.
    package var sendsSecret: Bool { self == .basic || self == .bearer }
}
