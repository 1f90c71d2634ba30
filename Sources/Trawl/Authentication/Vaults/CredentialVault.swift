import TrawlHTTP
import TrawlSession

/// Where credentials are kept for good: a keyring, a helper program, a sealed file. The program chooses it.
///
/// Asked for fetches whose ``RequestOptions/Authentication/usesVault`` is on, after what was given, the session and
/// netrc. Called on no particular thread, for several fetches at once; what blocks belongs on a thread of the vault's
/// own.
///
/// Items of requests that name a user name that user (``VaultItem/user``): what is kept for another is of no use there.
/// Items of other requests are for whatever user there is.
public protocol CredentialVault: Sendable {
    /// The credentials of a protection space, or nil when there are none or the vault is not to be had.
    func credential(for item: VaultItem) async -> Credential?
    /// Keeps credentials that worked, in place of others of their space; of those of that user alone, when the item
    /// names one.
    func save(_ credential: Credential, for item: VaultItem) async
    /// Forgets the credentials of a space, or of one user there; nothing when there are none.
    func remove(_ item: VaultItem) async
    /// What is kept, without the credentials; empty where the vault cannot tell.
    func items() async -> [VaultItem]
}

/// A vault of this library: it says what went wrong, which ``CredentialVault/save(_:for:)`` cannot.
protocol AnsweringVault: CredentialVault {
    /// As `save`.
    ///
    /// - Returns: Why the credentials are not kept, without anything secret; nil when they are.
    func keep(_ credential: Credential, for item: VaultItem) async -> String?
}

/// What credentials in a vault are for.
public struct VaultItem: Sendable, Hashable, Codable {
    /// Whether they are a proxy's.
    public var isProxy: Bool
    /// `http` or `https`; how a proxy is spoken to.
    public var scheme: String
    /// The host, in lower case and ASCII form.
    public var host: String
    /// The port.
    public var port: Int
    /// The realm; nil for any.
    public var realm: String?
    /// The user; nil for any. The session's credentials do not look at it.
    public var user: String?

    /// An item of its parts.
    public init(
        scheme: String, host: String, port: Int, realm: String? = nil, isProxy: Bool = false, user: String? = nil
    ) {
        self.isProxy = isProxy
        self.user = user
        self.scheme = scheme
        self.host = host
        self.port = port
        self.realm = realm
    }

    init(_ space: ProtectionSpace, user: String? = nil) {
        self.init(
            scheme: space.origin.scheme, host: space.origin.host, port: Int(space.origin.port), realm: space.realmText,
            isProxy: space.side == .proxy, user: user)
    }
}
