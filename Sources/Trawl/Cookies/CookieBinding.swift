import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSession
import TrawlStore
import TrawlURL

/// How the fetches of some options use cookies. Never changed once made.
final class CookieBinding: Sendable {
    /// Where cookies are.
    private enum Source: Sendable {
        case none
        case store(StateShelf, jar: String)
        case memory(MemoryJar)
    }

    /// What workers are told; nil when they store no cookies.
    let terms: StateTerms?
    /// What the request brings of its own.
    let manual: [ManualCookie]
    /// Whether that is sent again as long as no redirect leads to another origin.
    let repeatsManual: Bool
    private let source: Source
    private let conditions: CookieConditions
    private let proxies: ProxyRules
    /// Whether they lead through none: asked for every hop.
    private let isDirect: Bool
    private let fields = CookieFieldMemo()
    /// When the store had no cookie at all, by its count of changes, and until when that may be gone by.
    private let knownEmpty = Guarded((changes: UInt64.max, until: MonotonicInstant(nanoseconds: 0)))

    /// What makes fetches of such options impossible.
    static func problem(of options: RequestOptions) -> FetchError? {
        for cookie in options.cookies.manual where (try? ManualCookie(cookie.name, cookie.value)) == nil {
            return FetchError(.badRequest, "a cookie by hand has a name or value that no cookie may have")
        }
        return problem(of: options.cookies.jar)
    }

    /// What makes a jar impossible. In the store the empty name is that of the shared one.
    static func problem(of jar: RequestOptions.Cookies.Jar) -> FetchError? {
        guard case .named(let name) = jar, !(1...CookieTable.nameLimit).contains(name.utf8.count) else { return nil }
        return FetchError(.badRequest, "the name of a cookie jar has 1 to \(CookieTable.nameLimit) bytes")
    }

    /// Nil when no cookie is ever sent or kept.
    ///
    /// - Parameter proxies: The ways of these requests; nil are the coordinator's.
    init?(_ options: RequestOptions, _ configuration: CookieSettings, proxies: ProxyRules?) {
        let cookies = options.cookies
        manual = cookies.manual.compactMap { try? ManualCookie($0.name, $0.value) }
        repeatsManual = cookies.repeatsManual
        self.proxies = proxies ?? configuration.proxies
        isDirect = self.proxies.isDirect
        let hasStore = configuration.state.directory != nil
        switch cookies.jar {
        case .none: source = .none
        case .shared where !configuration.isOn: source = .none
        case .shared where hasStore: source = .store(configuration.state, jar: "")
        case .named(let name) where hasStore: source = .store(configuration.state, jar: name)
        case .shared, .named, .memory: source = .memory(configuration.memory.jar(cookies.jar))
        }
        if case .none = source, manual.isEmpty { return nil }
        var conditions = CookieConditions(
            policy: CookieAcceptPolicy(cookies.accepts ?? configuration.accepts),
            suffixes: CookieSettings.suffixes, session: configuration.state.sessionID.first)
        if let url = cookies.mainDocumentURL {
            conditions.mainDocumentHost = (try? URLParser().parse(url))?.origin.host ?? ""
        }
        self.conditions = conditions
        var terms: StateTerms?
        if case .store(let state, let jar) = source, let directory = state.directory, conditions.policy != .never {
            terms = StateTerms(directory: directory)
            terms?.jar = jar
            terms?.session = conditions.session
            terms?.endsSessionCookies = state.endsSessionCookies
        }
        self.terms = terms
    }

    // MARK: Sending

    /// Whether the jar is that which all have who use the store.
    var isShared: Bool {
        if case .store(_, jar: "") = source { true } else { false }
    }

    /// How often the jar changed: as long as it is the same, the same cookies go along with the same request. Nil when
    /// that cannot be known.
    var changes: UInt64? {
        switch source {
        case .none: 0
        case .memory(let jar): jar.changes
        case .store(let state, _): state.changes(of: .cookies)
        }
    }

    /// Whether `selection` would not have to wait for the disk.
    var isAtHand: Bool {
        guard case .store(let state, _) = source else { return true }
        return state.store()?.isAtHand(.cookies) ?? true
    }

    /// What has to be opened before `selection` can look there; nil when nothing has.
    var unopened: StateShelf? {
        guard case .store(let state, _) = source, state.mustOpen(for: .cookies) else { return nil }
        return state
    }

    /// What goes along with a request.
    struct Selection {
        /// The value of the `Cookie` field; nil when there is nothing to say.
        var field: [UInt8]?
        /// How often the jar had changed, as far as is known, when it was looked up.
        var changes: UInt64?
        /// Until when it is right by the times of the cookies in it, if nobody changes the jar; nil without any.
        var until: WallTime?
    }

    /// What goes along with a request.
    ///
    /// - Parameters:
    ///   - way: How the request gets there; nil before that is settled, and when no proxy has to do with it.
    ///   - manual: Cookies that go first; stored ones of their names are left out.
    func selection(for target: TargetURI, by way: HopWay?, manual: [ManualCookie]) -> Selection {
        switch source {
        case .none: return Selection(field: Self.field(of: manual), changes: 0)
        case .memory(let jar):
            // Asked first, here and below: what changes meanwhile is seen the next time.
            let changes = jar.changes
            let (field, until) = jar.selected(
                for: target, trustsLoopback: trustsLoopback(target, by: way), manual: manual, at: WallClock.time())
            return Selection(field: field, changes: changes, until: until)
        case .store(let state, let name):
            guard let store = state.store() else { return Selection(field: Self.field(of: manual)) }
            let changes = store.changes(of: .cookies)
            let (found, until) = remembered(for: target, by: way, in: store, at: changes, name, manual)
            return Selection(field: found ?? Self.field(of: manual), changes: changes, until: until)
        }
    }

    /// The field of cookies by hand alone.
    private static func field(of manual: [ManualCookie]) -> [UInt8]? {
        manual.isEmpty ? nil : ManualCookie.field(of: manual)
    }

    /// As above, from the store or from what it said lately; no field when nothing is stored, or it cannot be read.
    ///
    /// - Parameter changes: The jar's count; nil when that cannot be known, and then nothing said lately counts.
    private func remembered(
        for target: TargetURI, by way: HopWay?, in store: StateStore, at changes: UInt64?, _ jar: String,
        _ manual: [ManualCookie]
    ) -> (field: [UInt8]?, until: WallTime?) {
        if let changes, changes == 0 || isEmpty(at: changes) { return (nil, nil) }
        let now = WallClock.time()
        // What is trusted may be another thing on another way.
        let isForAllWays = way == nil || !CookieTarget.isLoopback(target.origin.host)
        if let changes, manual.isEmpty, isForAllWays, let known = fields.entry(for: target.origin, at: changes, now) {
            return (known.field, known.until)
        }
        let trusts = trustsLoopback(target, by: way)
        let (field, until, isForAllPaths) = stored(for: target, trusts, in: store, at: changes, jar, manual, now)
        if isForAllPaths, isForAllWays, manual.isEmpty, let changes {
            fields.keep(field, for: target.origin, at: changes, now, steadyUntil: until)
        }
        return (field, until)
    }

    private func stored(
        for target: TargetURI, _ trustsLoopback: Bool, in store: StateStore, at changes: UInt64?, _ jar: String,
        _ manual: [ManualCookie], _ now: WallTime
    ) -> (field: [UInt8]?, until: WallTime?, isForAllPaths: Bool) {
        var stale: [CookieRecord] = []
        var isEmpty = false
        var isForAllPaths = false
        var steadyUntil: WallTime?
        let found = try? store.read(.cookies) { (snapshot) throws(StoreError) -> [UInt8]? in
            try CookieTarget.with(
                target, trustsLoopback: trustsLoopback
            ) { (target) throws(StoreError) -> [UInt8]? in
                var selection = CookieSelection(for: target, at: now)
                try CookieTable.offer(to: &selection, for: target, jar: jar, snapshot)
                isForAllPaths = !selection.dependsOnPath
                steadyUntil = selection.steadyUntil
                if selection.isEmpty {
                    isEmpty = try CookieTable.isEmpty(snapshot)
                    return nil
                }
                if steadyUntil.map({ $0 <= now }) == true {
                    selection.forEach { cookie in
                        if CookieRules.isWorthTouching(cookie, at: now) { stale.append(CookieRecord(cookie)) }
                    }
                }
                return selection.field(manual: manual, limit: CookieTable.limits.fieldLength)
            }
        }
        if isEmpty, let changes, store.changes(of: .cookies) == changes {
            knownEmpty.withLock { $0 = (changes, MonotonicClock.now().advanced(by: .seconds(1))) }
        }
        if !stale.isEmpty {
            let cookies = stale
            store.submit(.cookies, .soon) { (transaction) throws(StoreError) in
                try CookieTable.touch(cookies, jar: jar, at: now, in: transaction)
            } completion: { _ in
            }
        }
        return (found ?? nil, steadyUntil, isForAllPaths)
    }

    private func isEmpty(at changes: UInt64) -> Bool {
        let known = knownEmpty.withLock { $0 }
        return known.changes == changes && MonotonicClock.now() < known.until
    }

    // MARK: Storing

    /// Whether a worker stores the cookies of a response from there.
    func storesByWorker(from target: TargetURI) -> Bool {
        guard terms != nil, case .store(let state, _) = source else { return false }
        return state.mayStoreCookies && accepts(target)
    }

    private func accepts(_ target: TargetURI) -> Bool {
        switch conditions.policy {
        case .always: true
        case .never: false
        case .onlyFromMainDocument:
            conditions.mainDocumentHost == nil
                || CookieTarget.with(target) { CookieRules.accepts($0, under: conditions) }
        }
    }

    /// A worker could not store cookies.
    func noteLoss() {
        guard case .store(let state, _) = source else { return }
        state.lost("\(state.directory ?? ""): cookies could not be written")
    }

    /// Takes the cookies of a response's fields when the jar is in memory.
    ///
    /// - Parameter way: How its request got there; nil when no proxy had to do with it.
    func receive(_ fields: FieldLines, from target: TargetURI, by way: HopWay?) {
        switch source {
        case .none: break
        case .memory(let jar):
            guard fields.contains("Set-Cookie") else { return }
            jar.receive(
                fields, from: target, trustsLoopback: trustsLoopback(target, by: way), under: conditions,
                at: WallClock.time())
        case .store(let state, _):
            // No worker was told to store them.
            if !state.mayStoreCookies, fields.contains("Set-Cookie"), accepts(target) { noteLoss() }
        }
    }

    /// Whether the connection to a loopback address is one: there is no proxy, as the worker sees it that has the lease.
    /// Until it is known what a script says, that is taken for a proxy.
    func trustsLoopback(_ target: TargetURI, by way: HopWay?) -> Bool {
        if isDirect { return true }
        guard CookieTarget.isLoopback(target.origin.host) else { return false }
        return way.map { $0.isDirect } ?? (proxies.choice(for: target.origin) == .direct)
    }
}

extension CookieAcceptPolicy {
    /// The rules' form of a public policy.
    init(_ policy: RequestOptions.Cookies.AcceptPolicy) {
        self =
            switch policy {
            case .always: .always
            case .never: .never
            case .onlyFromMainDocument: .onlyFromMainDocument
            }
    }
}
