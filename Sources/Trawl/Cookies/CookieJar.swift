package import TrawlHTTP
import TrawlPlatform
package import TrawlSession
import TrawlStore
import TrawlURL

/// A cookie jar, for programs that look into it or change it by hand.
///
/// All coordinators and workers that use its store see what is done here, and what they do is seen here.
///
/// Looking is done on the calling thread, which opens the store when that is not open yet. Changes of the store are
/// made on a thread of their own; who is cancelled does not wait, and the change is made all the same. Once the
/// coordinator is shut down, a jar of the store fails with ``FetchError/Code/shutDown``.
///
/// One that is named as none may be refuses both with ``FetchError/Code/badRequest``.
public struct CookieJar: Sendable {
    private enum Place: Sendable {
        case store(StateShelf, jar: String)
        case memory(MemoryJar)
        case impossible(FetchError)
    }

    private let place: Place
    private let session: UInt64
    private let hasStore: Bool

    init(_ settings: CookieSettings, _ jar: RequestOptions.Cookies.Jar) {
        session = settings.state.sessionID.first
        hasStore = settings.state.directory != nil
        if let problem = CookieBinding.problem(of: jar) {
            place = .impossible(problem)
            return
        }
        switch jar {
        case .none: place = .memory(MemoryJar())
        case .shared where hasStore: place = .store(settings.state, jar: "")
        case .named(let name) where hasStore: place = .store(settings.state, jar: name)
        case .shared, .named, .memory: place = .memory(settings.memory.jar(jar))
        }
    }

    // MARK: Looking

    /// All cookies whose time is not over, oldest first.
    ///
    /// Looks on the calling thread.
    /// - Throws: ``FetchError/Code/storeUnusable``.
    public func cookies() throws(FetchError) -> [Cookie] {
        try content(at: WallClock.time()).map { Cookie($0) }
    }

    /// The cookies that go along with a request for a URL, in the order in which they are sent.
    ///
    /// Looks on the calling thread, for a few microseconds.
    /// - Throws: ``FetchError/Code/invalidURL``, ``FetchError/Code/unsupportedURL``, ``FetchError/Code/storeUnusable``.
    public func cookies(for url: String) throws(FetchError) -> [Cookie] {
        let target = try Self.target(of: url)
        let now = WallClock.time()
        switch place {
        case .memory(let jar):
            return jar.withJar { jar in
                CookieTarget.with(target) { target in jar.cookies(for: target, at: now).map { Cookie($0) } }
            }
        case .store(let state, let name):
            return try stored(state, name) { (stored) throws(StoreError) in
                try CookieTarget.with(target) { (target) throws(StoreError) in
                    try stored.cookies(for: target, at: now)
                }
            }.map { Cookie($0) }
        case .impossible(let problem): throw problem
        }
    }

    // MARK: Changing

    /// Stores cookies by hand; one whose time is over removes its like. One without a time ends as those do that fetches
    /// take: with the coordinator, unless ``Configuration/Cookies/endsSessionCookies`` is false.
    ///
    /// - Throws: ``FetchError/Code/badRequest`` for a cookie that the rules do not allow, and then none is stored;
    ///   ``FetchError/Code/storeUnusable``; ``FetchError/Code/cancelled``.
    public func set(_ cookies: [Cookie]) async throws(FetchError) {
        let now = WallClock.time()
        var records: [CookieRecord] = []
        for cookie in cookies { records.append(try record(of: cookie, at: now)) }
        let made = records
        switch place {
        case .memory(let jar):
            jar.withJar { jar in for record in made { jar.set(record, at: now) } }
        case .store(let state, let name):
            try await state.change { (store) throws(StoreError) in
                try StoredCookies(store, jar: name).setInGroup(made, at: now)
            }
        case .impossible(let problem): throw problem
        }
    }

    /// Stores a cookie by hand.
    ///
    /// - Throws: ``FetchError/Code/badRequest`` for a cookie that the rules do not allow;
    ///   ``FetchError/Code/storeUnusable``; ``FetchError/Code/cancelled``.
    public func set(_ cookie: Cookie) async throws(FetchError) { try await set([cookie]) }

    /// Removes the cookie of that name, domain and path.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: ``FetchError/Code/storeUnusable``; ``FetchError/Code/cancelled``.
    @discardableResult
    public func remove(_ cookie: Cookie) async throws(FetchError) -> Bool {
        let (name, path) = (cookie.content.name, Array(cookie.path.utf8))
        let (domain, isHostOnly) = cookie.content.keptDomain
        return try await removeViews { view in
            view.flags.contains(.hostOnly) == isHostOnly && view.name.elementsEqual(name)
                && view.domain.elementsEqual(domain) && view.path.elementsEqual(path)
        } > 0
    }

    /// Removes those that satisfy a condition. A cookie that is stored anew meanwhile stays.
    ///
    /// - Parameter condition: Asked once about each cookie that is there, before any is removed; it may use the jar.
    /// - Returns: How many went.
    /// - Throws: ``FetchError/Code/storeUnusable``; ``FetchError/Code/cancelled``.
    @discardableResult
    public func removeAll(where condition: (Cookie) -> Bool = { _ in true }) async throws(FetchError) -> Int {
        // No lock is held, and nothing is being written, while the program's condition runs.
        var gone: Set<TrawlSession.Cookie> = []
        for cookie in try content(at: nil) where condition(Cookie(cookie)) { gone.insert(cookie.asMade) }
        let removed = gone
        return try await removeViews { removed.contains(TrawlSession.Cookie($0).asMade) }
    }

    /// Removes those that were made then or later.
    ///
    /// - Parameter moment: Milliseconds since 1970.
    /// - Throws: ``FetchError/Code/storeUnusable``; ``FetchError/Code/cancelled``.
    @discardableResult
    public func removeAll(since moment: Int64) async throws(FetchError) -> Int {
        try await removeViews { $0.creation.milliseconds >= moment }
    }

    /// Removes those that this coordinator's fetches have taken, however long they would last (ASI-COOK-04).
    ///
    /// - Throws: ``FetchError/Code/storeUnusable``; ``FetchError/Code/cancelled``.
    @discardableResult
    public func removeAcceptedInSession() async throws(FetchError) -> Int {
        let mark = session
        return try await removeViews { $0.session == mark }
    }

    private func removeViews(_ condition: @escaping @Sendable (CookieView) -> Bool) async throws(FetchError) -> Int {
        switch place {
        case .memory(let jar): return jar.withJar { $0.remove(where: condition) }
        case .store(let state, let name):
            return try await state.change { (store) throws(StoreError) in
                try StoredCookies(store, jar: name).removeInGroup(where: condition)
            }
        case .impossible(let problem): throw problem
        }
    }

    // MARK: Files

    /// Stores the cookies of a file as curl writes it (`cookies.txt`), or of `Set-Cookie:` lines with a domain.
    ///
    /// Those without a time end as others do that a program sets. Those whose time is over remove their like in the file,
    /// and nothing in the jar.
    ///
    /// - Parameter dropsSessionCookies: Whether those without a time are left out.
    /// - Returns: How many are stored, and the numbers of the lines that are no cookies.
    /// - Throws: ``FetchError/Code/storeUnusable``; ``FetchError/Code/cancelled``.
    public func importNetscape(
        _ text: [UInt8], dropsSessionCookies: Bool = false
    ) async throws(FetchError) -> (stored: Int, refusedLines: [Int]) {
        let now = WallClock.time()
        let contents = text.withUnsafeBytes {
            NetscapeCookies.read($0, suffixes: CookieSettings.suffixes, at: now)
        }
        let records = CookieRules.lasting(of: contents.cookies, at: now)
            .filter { !dropsSessionCookies || $0.isPersistent }
        try await set(records.map { record in Cookie(record.withView { TrawlSession.Cookie($0) }) })
        return (records.count, contents.refused.map(\.line))
    }

    /// All cookies as a file that curl and others read. Those with a tab in them, which no line can hold, are left out.
    ///
    /// - Throws: ``FetchError/Code/storeUnusable``.
    public func exportNetscape() throws(FetchError) -> [UInt8] {
        var text: [UInt8] = []
        _ = NetscapeCookies.write(try cookies().map(\.content), to: &text)
        return text
    }

    /// Stores cookies in a jar in memory, on the calling thread; those of other jars are left alone.
    package func insertInMemory(_ records: [CookieRecord], at now: WallTime) {
        guard case .memory(let jar) = place else { return }
        jar.withJar { jar in for record in records { jar.set(record, at: now) } }
    }

    /// All cookies of a jar in memory, oldest first; none of others.
    package func contentInMemory(at now: WallTime) -> [TrawlSession.Cookie] {
        guard case .memory(let jar) = place else { return [] }
        return jar.withJar { $0.cookies(at: now) }
    }

    // MARK: Notices

    /// A number for each time at which the jars were seen changed, whoever changed them; it rises. Changes that follow
    /// each other within a tenth of a second are one (ASI-COOK-09).
    public var changes: AsyncStream<UInt64> {
        let (stream, continuation) = AsyncStream<UInt64>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let count = { @Sendable [place] () -> UInt64? in
            switch place {
            case .memory(let jar): jar.changes
            case .store(let state, _): state.changes(of: .cookies)
            case .impossible: nil
            }
        }
        let first = count()
        let task = Task {
            var last = first
            while (try? await Task.sleep(for: .milliseconds(100))) != nil {
                guard let now = count() else { break }
                if now != last { continuation.yield(now) }
                last = now
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    /// Why the jar of the store could not be used, when it could not: then fetches went on without cookies, or cookies
    /// of theirs are lost. Also known after the coordinator's shutdown.
    public var problem: FetchError? {
        switch place {
        case .store(let state, _): state.problem
        case .memory: nil
        case .impossible(let problem): problem
        }
    }

    // MARK: Parts

    /// The cookies whose time is not over then, or all; oldest first.
    private func content(at now: WallTime?) throws(FetchError) -> [TrawlSession.Cookie] {
        switch place {
        case .memory(let jar): return jar.withJar { $0.cookies(at: now) }
        case .store(let state, let name):
            return try stored(state, name) { (stored) throws(StoreError) in try stored.cookies(at: now) }
        case .impossible(let problem): throw problem
        }
    }

    private func record(of cookie: Cookie, at now: WallTime) throws(FetchError) -> CookieRecord {
        var content = cookie.content
        if content.creation.milliseconds == 0 { content.creation = now }
        content.lastAccess = now
        content.session = session
        // As one that a fetch takes; a jar in memory is gone with the coordinator all the same.
        if case .store(let state, _) = place { content.endsWithSession = state.endsSessionCookies }
        do throws(CookieRefusal) {
            return try content.record(CookieSettings.suffixes)
        } catch {
            throw FetchError(.badRequest, "the cookie \(cookie) is not allowed: \(error.text)")
        }
    }

    private func stored<Value>(
        _ state: StateShelf, _ name: String, _ body: (StoredCookies) throws(StoreError) -> [Value]
    ) throws(FetchError) -> [Value] {
        do throws(StoreError) {
            guard !state.isClosed, let store = state.store() else { throw .closed }
            return try body(StoredCookies(store, jar: name))
        } catch {
            throw failure(error, state)
        }
    }

    private func failure(_ error: StoreError, _ state: StateShelf) -> FetchError {
        if state.isClosed { return .shutDown() }
        return state.problem ?? FetchError(.storeUnusable, "\(error)")
    }

    private static func target(of url: String) throws(FetchError) -> TargetURI {
        do throws(URLFailure) {
            return try URLParser().parse(url)
        } catch {
            throw FetchError(error)
        }
    }
}

extension TrawlSession.Cookie {
    /// Without what changes when it is sent.
    fileprivate var asMade: TrawlSession.Cookie {
        var cookie = self
        cookie.lastAccess = creation
        return cookie
    }
}

extension Coordinator {
    /// The shared cookie jar: that of the store, or one in memory when there is no store.
    public var cookies: CookieJar { cookies(in: .shared) }

    /// A cookie jar, as requests name it. Without a store each is in memory. ``RequestOptions/Cookies/Jar/none`` gives
    /// an empty one that no fetch uses.
    public func cookies(in jar: RequestOptions.Cookies.Jar) -> CookieJar { CookieJar(cookieSettings, jar) }
}
