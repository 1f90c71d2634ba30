import TrawlHTTP
import TrawlSession

/// A server or proxy wants to know who asks: what a program or person is asked about.
public struct AuthenticationChallenge: Sendable, Hashable {
    /// Whether a proxy asks; else the server does.
    public let isProxy: Bool
    /// `http` or `https`: how server or proxy is spoken to.
    public let scheme: String
    /// Its host, in lower case and ASCII form.
    public let host: String
    /// Its port.
    public let port: Int
    /// What is protected, in the server's words: nothing to be trusted. Nil when it does not say.
    public let realm: String?
    /// The scheme that would be used, as in `Basic`.
    public let authenticationScheme: String
    /// Whether nobody on the way can read the password: the connection is encrypted, or the password is not sent.
    public let isSecure: Bool
    /// The user that the request, its URL or the proxy's URL names; nil when nobody is named. What is known of that
    /// user has been refused, or there is only the name.
    public let user: String?
    /// How many credentials the fetch has had refused, by whatever scheme.
    public let previousFailures: Int
    /// The URL of the hop, without user information.
    public let url: String
    /// The response that challenges.
    public let response: Response.ResponseHead

    init(
        _ candidate: ChallengeCandidate, user: String?, failures: Int, url: String, _ response: Response.ResponseHead
    ) {
        let space = candidate.space
        isProxy = space.side == .proxy
        scheme = space.origin.scheme
        host = space.origin.host
        port = Int(space.origin.port)
        realm = space.realmText
        authenticationScheme = space.scheme.name
        isSecure = space.receivesSecurely
        self.user = user
        previousFailures = failures
        self.url = url
        self.response = response
    }
}

/// What a program says to a challenge.
public enum CredentialDecision: Sendable, Hashable {
    /// These credentials.
    case use(Credential)
    /// As if nobody had been asked.
    case useStored
    /// Not for this protection space; perhaps for the next the server offers.
    case reject
    /// No more questions: the fetch fails, and with it those that wait for the same answer.
    case cancel
}
