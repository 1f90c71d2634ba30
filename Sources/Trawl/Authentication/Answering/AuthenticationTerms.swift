import TrawlHTTP
import TrawlSession

/// What fetches of the same options have in common when they are asked who they are. Never changed once made.
struct AuthenticationTerms: Sendable {
    /// Who could be asked, as the coordinator was set up.
    struct Askable: Sendable {
        var program = false
        /// A person, for proxies; and for servers.
        var person = false
        var personForServers = false
        var vault = false

        init(_ configuration: Configuration) {
            program = configuration.decisions != nil
            person = configuration.prompt != nil
            personForServers = configuration.prompt?.asksForServers ?? false
            vault = configuration.vault != nil
        }
    }

    /// With everybody who could be asked; whether a fetch may ask is its own business.
    private let policy: SearchPolicy
    /// Whether there is a vault, which proxies' credentials are looked for in without being told so.
    private let hasVault: Bool
    /// Whether a person may be asked for proxies, as far as the options go.
    private let asksPersonForProxies: Bool
    /// Credentials of the request.
    let explicit: Credentials?
    /// The netrc file, read.
    let netrc: Netrc?
    /// Whether a challenge that cannot be answered is the answer.
    let delivers: Bool
    /// Whether the program may be asked, as far as the options go.
    private let asks: Bool
    /// Whether challenges are answered at all.
    let isOn: Bool
    /// Whether credentials of the session may be sent ahead.
    let readsSession: Bool
    /// Whether credentials of the request or its URL are sent without being asked for.
    private let sendsOwnAhead: Bool

    init(_ options: RequestOptions.Authentication, _ askable: Askable, netrc: Netrc?) {
        var policy = SearchPolicy()
        policy.rules.allowed = SchemeSet(rawValue: options.schemes.rawValue)
        policy.rules.allowsSecretInClear = options.allowsClearText
        policy.rules.hashes = Set(DigestAlgorithm.Hash.allCases)
        policy.sources = [.explicit, .url]
        if options.usesSession { policy.sources.insert(.session) }
        if netrc != nil { policy.sources.insert(.netrc) }
        if options.usesVault, askable.vault { policy.sources.insert(.vault) }
        if options.asks, askable.program { policy.sources.insert(.decision) }
        if options.asks, askable.personForServers { policy.sources.insert(.prompt) }
        policy.sendsAhead = options.sendsAhead
        policy.maxAttempts = max(1, options.maxAttempts)
        self.policy = policy
        hasVault = askable.vault
        asksPersonForProxies = options.asks && askable.person
        explicit = options.credential?.credentials
        self.netrc = netrc
        asks = options.asks
        delivers = options.whenRefused == .delivers
        isOn = !policy.rules.allowed.isEmpty
        readsSession = options.usesSession && options.sendsAhead
        var isToken = false
        if case .bearer? = explicit?.kind { isToken = true }
        sendsOwnAhead = isToken || policy.rules.allowed == .basic
    }

    /// How a fetch looks for credentials.
    func policy(for fetch: RunningFetch) -> SearchPolicy {
        var policy = policy
        if asks, fetch.engine.decisions != nil { policy.sources.insert(.decision) }
        if !fetch.asksProgram { policy.sources.subtract([.decision, .prompt]) }
        return policy
    }

    /// How a fetch looks for credentials of its proxy: those given with it, the session's, the vault's (ASI-AUTH-11),
    /// and who may be asked.
    func policy(for fetch: RunningFetch, through way: HopWay) -> SearchPolicy {
        var policy = policy(for: fetch)
        policy.rules.allowed = way.terms.schemes
        // How a proxy is spoken to was chosen with it, and one in clear has mostly nothing but Basic.
        policy.rules.allowsSecretInClear = true
        policy.sources.subtract([.url, .netrc])
        if hasVault { policy.sources.insert(.vault) }
        if asksPersonForProxies, fetch.asksProgram { policy.sources.insert(.prompt) }
        // Whoever can change a script that comes in clear would name a proxy of his own.
        policy.basicAhead = way.isByScript ? .never : way.terms.sendsAhead ? .always : .whenAlone
        return policy
    }

    /// The credentials in a URL the caller gave; nil when there are none.
    ///
    /// A user without a password is looked for where one may be found. Where nobody could know it, it is empty, as with
    /// curl.
    func url(of target: TargetURI, _ policy: SearchPolicy) -> Credentials? {
        guard let user = target.user else { return nil }
        let isLookedFor = !policy.sources.isDisjoint(with: CredentialSource.knowsPasswords)
        if target.password == nil, isLookedFor { return nil }
        return Credentials(user: user, password: target.password ?? "")
    }

    /// Whether something may go out with a request for a URL before anybody asks.
    func maySendOwnAhead(for target: TargetURI) -> Bool {
        sendsOwnAhead && (explicit != nil || target.user != nil)
    }
}
