import TrawlHTTP
import TrawlPlatform
import TrawlStore

/// What a coordinator's store remembers about its user: opened when it is first needed.
///
/// A state that cannot be opened or written remembers nothing: the fetch goes on without, and ``CookieJar/problem``
/// says why.
final class StateShelf: Sendable {
    private struct State {
        var store: StateStore?
        /// Held as long as cookies may be stored that end with the coordinator.
        var session: OpenSession?
        var nextTry = MonotonicInstant(nanoseconds: 0)
        var problem: FetchError?
        /// Why something that was to be remembered is not.
        var loss: FetchError?
        /// The thread that removes what dead sessions left.
        var purge: NamedThread?
        var isClosed = false
    }

    /// What is to be closed.
    private struct Leavings: Sendable {
        let store: StateStore?
        let session: OpenSession?
        let purge: NamedThread?

        /// Removes what ends with the coordinator, and closes. Once.
        func close() {
            purge?.join()
            if let session { store?.endSession(session) }
            store?.close()
        }
    }

    /// The store directory; nil for none.
    let directory: String?
    /// The coordinator's lifetime.
    let sessionID: SessionID
    /// Whether cookies without a time end with the coordinator.
    let endsSessionCookies: Bool
    private let state = Guarded(State())
    /// The state once it is open: asked for several times on the way of every fetch. Closed, it refuses everything.
    private let opened = LateReference<StateStore>()
    /// Held while the state is opened.
    private let opening = PlainMutex()
    /// What programs have done by hand.
    private let work = StoreWork()

    /// For so long nobody tries again to open what could not be opened.
    private static let patience = Duration.seconds(2)

    init(_ configuration: Configuration, sessionID: SessionID) {
        directory = configuration.store.resolvedDirectory
        self.sessionID = sessionID
        endsSessionCookies = configuration.cookies.endsSessionCookies
    }

    deinit {
        let left = takeAll()
        // None when it was closed. Else nobody uses it any more, and a thread of its own may wait for disks.
        if left.store == nil { return }
        _ = try? NamedThread.start(name: "trawl-close") { left.close() }
    }

    /// The state, opened now if it is not yet; nil when it cannot be used.
    func store() -> StateStore? {
        if let store = opened.load() { return store }
        let isOver = state.withLock { state in
            state.isClosed || state.problem != nil && MonotonicClock.now() < state.nextTry
        }
        return isOver ? nil : opening.holding { open() }
    }

    /// As `store()`, for what is asked several times on the way of every fetch: without retaining it.
    @inline(__always)
    private func ask<Answer>(_ question: (StateStore) -> Answer) -> Answer? {
        if let answer = opened.with(question) { return answer }
        return store().map(question)
    }

    /// Whether something of a topic can be read only after files were opened, which ``open(for:then:)`` has done.
    func mustOpen(for topic: StateTopic) -> Bool { ask { $0.mustOpen(for: topic) } ?? false }

    /// How often something of a topic changed; nil when that cannot be known, or the state cannot be used.
    func changes(of topic: StateTopic) -> UInt64? {
        guard let changes = ask({ $0.changes(of: topic) }) else { return nil }
        return changes
    }

    /// Whether nothing was ever stored about a topic, or the state cannot be used.
    func isBlank(_ topic: StateTopic) -> Bool { ask { $0.changes(of: topic) == 0 } ?? true }

    /// Has the state opened for a topic by a thread of its own: that waits for disks, and for other processes as long
    /// as ten seconds.
    ///
    /// - Parameter then: Called once, from another thread, when it is open or cannot be.
    /// - Returns: False when there is no such thread, and then it is not called.
    func open(for topic: StateTopic, then: @escaping @Sendable () -> Void) -> Bool {
        guard let store = store() else { return false }
        do throws(SystemError) {
            // It ends by itself, and `StateStore.close` waits until it has opened.
            _ = try NamedThread.start(name: "trawl-open") {
                store.prepare(for: topic)
                then()
            }
            return true
        } catch {
            return false
        }
    }

    /// Has a change made by hand, on a thread of its own: it waits for disks, for who writes, and for who opens the
    /// files.
    ///
    /// - Throws: `storeUnusable`; `cancelled` when the calling task is: the change is made all the same; `shutDown`
    ///   once this is closed.
    func change<Value: Sendable>(
        _ body: @escaping @Sendable (StateStore) throws(StoreError) -> Value
    ) async throws(FetchError) -> Value {
        try await work.run { [self] () throws(FetchError) in
            do throws(StoreError) {
                guard let opened = store() else { throw .closed }
                return try body(opened)
            } catch {
                throw problem ?? FetchError(.storeUnusable, "\(error)")
            }
        }
    }

    /// Whether cookies may be stored: where they may end with the coordinator, its session's file comes before them.
    var mayStoreCookies: Bool { !endsSessionCookies || ask { _ in true } == true }

    private func open() -> StateStore? {
        guard let directory else { return nil }
        let (known, isClosed) = state.withLock { ($0.store, $0.isClosed) }
        if known != nil || isClosed { return known }
        let store: StateStore
        var session: OpenSession?
        do throws(StoreError) {
            store = try StateStore.open(store: directory)
            if endsSessionCookies { session = try store.beginSession(sessionID) }
        } catch {
            state.withLock { state in
                state.problem = FetchError(.storeUnusable, "\(directory): \(error)")
                state.nextTry = MonotonicClock.now().advanced(by: Self.patience)
            }
            return nil
        }
        let mustPurge = store.hasUnheldSession
        state.withLock { state in
            state.store = store
            state.session = session
            state.problem = nil
        }
        if mustPurge, let thread = try? NamedThread.start(name: "trawl-purge", { store.purgeDeadSessions() }) {
            state.withLock { $0.purge = thread }
        }
        return opened.set(store)
    }

    /// The state, if it is open: nobody has used it else.
    var openedStore: StateStore? { state.withLock { $0.store } }

    /// Whether nothing is opened any more.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Why the state could not be used, when it could not.
    var problem: FetchError? {
        let (problem, store, loss) = state.withLock { ($0.problem, $0.store, $0.loss) }
        return problem ?? store?.problem.map { FetchError(.storeUnusable, "\($0)") } ?? loss
    }

    /// Notes why something is not remembered; the first reason stays.
    func lost(_ reason: String) {
        state.withLock { state in
            if state.loss == nil { state.loss = FetchError(.storeUnusable, reason) }
        }
    }

    /// Runs `body` while nobody is in the middle of a write; after a second all the same. This process begins no other
    /// before `Environment.resumeWrites`.
    func betweenWrites(_ body: () -> Void) {
        guard let store = state.withLock({ $0.store }) else { return body() }
        store.betweenWrites(patience: .seconds(1), body)
    }

    /// Removes what ends with the coordinator, and closes.
    func close() {
        work.close()
        // Whoever is opening it now is waited for.
        let left = opening.holding { takeAll() }
        left.close()
        // Asked for when all is over.
        if let problem = left.store?.problem { lost("\(problem)") }
    }

    /// Takes out what is open; nothing is opened any more.
    private func takeAll() -> Leavings {
        state.withLock { state in
            defer {
                state.store = nil
                state.session = nil
                state.purge = nil
                state.isClosed = true
            }
            return Leavings(store: state.store, session: state.session, purge: state.purge)
        }
    }
}
