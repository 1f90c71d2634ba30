import TrawlHTTP
import TrawlSession

/// What worked in this session: credentials by origin, and the nonces of Digest with their counts.
///
/// Bound to the supervisor thread, which alone hands out counts.
struct SessionCredentials {
    /// Entries that are kept of one server or proxy. One that names another realm each time has no more.
    private static let mostEntries = 32
    /// About how many bytes the credentials of all servers may take, and as many those of all proxies.
    private static let mostBytes = 16 << 20
    /// Nonces that are remembered of one user in one space. A server that gives a new one to each request has many.
    private static let mostNonces = 64

    private struct Exchange: Hashable {
        let space: ProtectionSpace
        let kind: Credentials.Kind
    }

    /// What servers take; callers' threads are told whether there is anything, for what they answer from the cache.
    private var servers = RecentTable<Origin, [SessionEntry]>(limit: Self.mostBytes)
    /// What proxies take.
    private var proxies = RecentTable<Origin, [SessionEntry]>(limit: Self.mostBytes)
    /// What the vault was given last, by space.
    private var saved = RecentTable<ProtectionSpace, Credentials.Kind>(limit: Self.mostBytes)
    /// How often what is kept has changed.
    private(set) var changes: UInt64 = 0 {
        didSet { state.tell(changes) }
    }
    private let state: CredentialState
    /// The latest nonce last.
    private var digests = RecentTable<Exchange, [DigestSession]>(limit: Self.mostBytes)
    // Not before the first challenge of Digest: a library is loaded for it.
    private lazy var hashes = DigestHashes.libcrypto

    /// Nothing yet.
    ///
    /// - Parameter state: Told whether anything is kept for servers.
    init(_ state: CredentialState) { self.state = state }

    /// Whether nothing is kept for servers, or for proxies.
    func isEmpty(_ side: AuthenticationSide) -> Bool { side == .server ? servers.isEmpty : proxies.isEmpty }

    /// What is kept for a server or proxy.
    func entries(of origin: Origin, _ side: AuthenticationSide) -> [SessionEntry] {
        (side == .server ? servers[origin] : proxies[origin]) ?? []
    }

    /// The same for a hop to it, so that what hops use stays.
    mutating func use(_ origin: Origin, _ side: AuthenticationSide) -> [SessionEntry] {
        (side == .server ? servers.use(origin) : proxies.use(origin)) ?? []
    }

    /// All that is kept.
    var all: [SessionEntry] { (servers.values + proxies.values).flatMap { $0 } }

    /// What is kept for a space.
    func entry(for space: ProtectionSpace) -> SessionEntry? {
        entries(of: space.origin, space.side).first { $0.space == space }
    }

    /// Keeps credentials that worked, in place of others of their space.
    mutating func keep(_ entry: SessionEntry) {
        // For the session: how long its source keeps them is told by that.
        var entry = SessionEntry(
            space: entry.space, credentials: Credentials(entry.credentials.kind, persistence: .session),
            scope: entry.scope, named: entry.named)
        var list = entries(of: entry.space.origin, entry.space.side)
        if let place = list.firstIndex(where: { $0.space == entry.space }) {
            let known = list.remove(at: place)
            if known.credentials.provesSame(as: entry.credentials) {
                if var scope = known.scope, let other = entry.scope {
                    scope.widen(to: other)
                    entry.scope = scope
                } else {
                    entry.scope = entry.scope ?? known.scope
                }
            }
            // What works again is no news to those that wait.
            if entry == known { return }
        }
        list.append(entry)
        if list.count > Self.mostEntries { list.removeFirst() }
        set(list, of: entry.space)
    }

    /// Takes down that credentials are given to the vault.
    ///
    /// - Returns: Whether they are others than it was given last for their space. What it was given and somebody removed
    ///   is not to come back, and to write the same for each request takes time.
    mutating func noteSaved(_ entry: SessionEntry) -> Bool {
        if saved.use(entry.space) == entry.credentials.kind { return false }
        saved.set(entry.credentials.kind, for: entry.space, size: entry.size)
        return true
    }

    /// Forgets credentials that were refused, if they still are what is there.
    mutating func forget(_ entry: SessionEntry) {
        remove(entry.space) { $0.provesSame(as: entry.credentials) }
    }

    /// Forgets the credentials of a space.
    /// - Returns: Whether there were any.
    @discardableResult
    mutating func remove(_ space: ProtectionSpace, where fits: (Credentials) -> Bool = { _ in true }) -> Bool {
        var list = entries(of: space.origin, space.side)
        guard let place = list.firstIndex(where: { $0.space == space && fits($0.credentials) }) else { return false }
        list.remove(at: place)
        set(list, of: space)
        return true
    }

    private mutating func set(_ list: [SessionEntry], of space: ProtectionSpace) {
        changes += 1
        let size = list.reduce(0) { $0 + $1.size }
        switch (space.side, list.isEmpty) {
        case (.server, false): servers.set(list, for: space.origin, size: size)
        case (.server, true): servers.remove(space.origin)
        case (.proxy, false): proxies.set(list, for: space.origin, size: size)
        case (.proxy, true): proxies.remove(space.origin)
        }
        state.set(isKept: !servers.isEmpty)
    }

    /// The coordinator ends.
    func end() { state.end() }

    /// Forgets all credentials. Nonces stay: their counts must not be handed out again.
    mutating func removeAll() {
        changes += 1
        servers.removeAll()
        proxies.removeAll()
        saved.removeAll()
        state.set(isKept: false)
    }

    /// The challenge of Digest that a proposal answers: its own, or that of the nonce it is sent ahead with. Nil when
    /// that is not there any more.
    func challenge(of proposal: CredentialSearch.Proposal) -> DigestChallenge? {
        if let challenge = proposal.digest { return challenge }
        guard let space = proposal.space else { return nil }
        return digests[Exchange(space: space, kind: proposal.credentials.kind)]?.last?.challenge
    }

    /// Proves a request by Digest, with the next count of the nonce.
    ///
    /// - Parameter proposal: Answers a challenge, or is sent ahead with the nonce that is there.
    mutating func prove(
        _ request: DigestRequest, by proposal: CredentialSearch.Proposal
    ) throws(CredentialsFault) -> DigestProof {
        guard let space = proposal.space else { throw .kind }
        let exchange = Exchange(space: space, kind: proposal.credentials.kind)
        var sessions = digests.remove(exchange) ?? []
        defer { remember(sessions, of: exchange) }
        if let challenge = proposal.digest {
            // A nonce that many are given, or that comes again, has one counter.
            if let place = sessions.indices.first(where: { sessions[$0].resume(challenge.nonce) }) {
                sessions.append(sessions.remove(at: place))
            } else {
                if sessions.count == Self.mostNonces { sessions.removeFirst() }
                var random = SystemRandomNumberGenerator()
                sessions.append(
                    try DigestSession(
                        challenge, proposal.credentials, random: (random.next(), random.next()), hashes: hashes))
            }
        }
        guard let last = sessions.indices.last else { throw .nonceUsedUp }
        return try sessions[last].prove(request)
    }

    /// Takes what a server says of itself in the response to a request it accepted.
    mutating func finish(
        _ proof: DigestProof, of proposal: CredentialSearch.Proposal, _ fields: FieldLines,
        from side: AuthenticationSide
    ) {
        guard let space = proposal.space else { return }
        let exchange = Exchange(space: space, kind: proposal.credentials.kind)
        guard var sessions = digests.remove(exchange) else { return }
        if let place = sessions.firstIndex(where: { $0.nonce == proof.nonce }) {
            _ = sessions[place].finish(proof, fields, from: side)
        }
        remember(sessions, of: exchange)
    }

    private mutating func remember(_ sessions: [DigestSession], of exchange: Exchange) {
        if sessions.isEmpty { return }
        digests.set(sessions, for: exchange, size: sessions.reduce(0) { $0 + $1.size })
    }
}
