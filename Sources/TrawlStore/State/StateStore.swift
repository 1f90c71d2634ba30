import Glibc
import Synchronization
import TrawlHTTP
import TrawlPlatform

/// What a store remembers about who its user is to servers: the environment `state`, shared by all processes.
///
/// Opening it costs a small file; the environment behind it is opened when something is to be read or written, and not
/// while nothing was ever stored. A fetch that ended is seen by all that begin later, in whatever process. Reading
/// never waits for a writer. Writes are committed in groups on a store thread, and those that must outlive the machine
/// are on disk within a second and when the store is closed.
package final class StateStore: Sendable {
    private struct State {
        var environment: Environment?
        var writes: GroupedWrites?
        /// When to try again to open what could not be opened.
        var nextTry = MonotonicInstant(nanoseconds: 0)
        var problem: StoreError?
        var isClosed = false
    }

    /// The directory of the environment.
    package let directory: String
    private let openingPatience: Duration
    /// For so long nobody tries again to open what could not be opened.
    private let retryPause: Duration
    private let words: CurrentWords
    private let state = Guarded(State())
    /// Whether `state` had an environment: the lock is for who may have to open it.
    private let wasOpened = Atomic(false)
    /// What is known of secure cookies.
    let plainDomains = PlainDomains()
    /// Held while the environment is opened, which waits for the disk.
    private let opening = PlainMutex()

    /// Opens the state of a store directory; both are made when they are not there.
    ///
    /// - Parameters:
    ///   - store: The store's directory, absolute.
    ///   - openingPatience: How long opening and closing the environment wait for other processes that do the same.
    ///   - retryPause: For how long nobody tries again to open what could not be opened.
    /// - Throws: Also where the state's directory is not the user's alone; then nothing is made there.
    package static func open(
        store: String, openingPatience: Duration = .seconds(10), retryPause: Duration = .seconds(2)
    ) throws(StoreError) -> StateStore {
        try StoreDirectory.make(store)
        let directory = store + "/state"
        try StoreDirectory.prepare(directory)
        return StateStore(directory, openingPatience, retryPause)
    }

    private init(_ directory: String, _ openingPatience: Duration, _ retryPause: Duration) {
        self.directory = directory
        self.openingPatience = openingPatience
        self.retryPause = retryPause
        words = CurrentWords(of: directory)
    }

    /// Brings what must outlive the machine to the disk, and closes. Once. Who reads or writes later is refused. Waits
    /// for disks, and for whoever is opening the environment just now.
    package func close() {
        let (writes, environment) = opening.holding {
            state.withLock { state in
                defer {
                    state.writes = nil
                    state.environment = nil
                    state.isClosed = true
                }
                return (state.writes, state.environment)
            }
        }
        writes?.stop()
        environment?.close()
        // Asked for when all is over; closing may bring the last to the disk, in vain.
        if let problem = environment?.problem { state.withLock { $0.problem = $0.problem ?? problem } }
        words.close()
    }

    /// Why the environment could not be opened, or not opened again, when it could not; or why something did not come
    /// to the disk.
    package var problem: StoreError? {
        let (problem, environment) = state.withLock { ($0.problem, $0.environment) }
        return problem ?? environment?.problem
    }

    // MARK: Changes

    /// How often something of a topic changed, over all processes: as long as it is the same, so is what was read. 0 as
    /// long as nothing was ever stored; nil when it cannot be known, or this is closed.
    package func changes(of topic: StateTopic) -> UInt64? {
        if words.lookAgain() { plainDomains.removeAll() }
        return words.count(of: topic)
    }

    /// Says that something of a topic changes, or has changed.
    func raise(_ topic: StateTopic) { words.raise(topic) }

    // MARK: Reading

    /// Runs `body` on a snapshot of what is committed; nil when nothing was ever stored about a topic.
    ///
    /// From any thread that may wait for a disk; the body is short.
    package func read<Value>(
        _ topic: StateTopic, _ body: (borrowing Snapshot) throws(StoreError) -> Value
    ) throws(StoreError) -> Value? {
        switch changes(of: topic) {
        case 0: return nil
        // Of one that was open it would be no wonder: opening it again says why it is gone.
        case nil where state.withLock({ $0.environment == nil }) && access(directory + "/data.mdb", F_OK) != 0:
            return nil
        default: return try environment().read(body)
        }
    }

    /// Whether `read` would not have to open anything first, which waits for the disk.
    package func isAtHand(_ topic: StateTopic) -> Bool {
        changes(of: topic) == 0 || state.withLock { $0.environment != nil }
    }

    /// Whether something of a topic can be read only after the environment was opened, which waits for disks and for
    /// other processes; not where that was tried in vain a moment ago.
    package func mustOpen(for topic: StateTopic) -> Bool {
        if wasOpened.load(ordering: .acquiring) { return false }
        let changes = changes(of: topic)
        if changes == 0 { return false }
        let mayOpen = state.withLock { state in
            guard state.environment == nil, !state.isClosed else { return false }
            return state.problem == nil || MonotonicClock.now() >= state.nextTry
        }
        // As in `read`.
        return mayOpen && (changes != nil || access(directory + "/data.mdb", F_OK) == 0)
    }

    /// Opens the environment where something of a topic may be there to be read.
    package func prepare(for topic: StateTopic) {
        // Why it cannot be opened is known to who asks for the problem.
        _ = try? read(topic) { _ in true }
    }

    // MARK: Writing

    /// Has a change made on the store thread, together with others.
    ///
    /// - Parameters:
    ///   - work: May run more than once; see `GroupedWrites.Work`. It calls `Transaction.requestSync` for what must outlive
    ///     the machine.
    ///   - completion: Called once: after the commit on the store thread, or at once on the caller's when it is refused.
    package func submit(
        _ topic: StateTopic, _ urgency: GroupedWrites.Urgency = .now, _ work: @escaping GroupedWrites.Work,
        completion: @escaping GroupedWrites.Completion
    ) {
        let write = ClosureWrite { [self] (transaction) throws(StoreError) in
            try work(transaction)
            raise(topic)
        } completion: { [self] result in
            if case .success = result { raise(topic) }
            completion(result)
        }
        hand(write, urgency)
    }

    /// As above, of a write that says itself what changes.
    ///
    /// - Parameter enough: With so many waiting they are committed at once.
    func hand(_ write: some GroupedWrite, _ urgency: GroupedWrites.Urgency, enough: Int = .max) {
        let acceptance: GroupedWrites.Acceptance
        do throws(StoreError) {
            acceptance = try writes().submit(urgency, insists: false, enough: enough, write)
        } catch {
            return write.ended(error)
        }
        switch acceptance {
        case .accepted: break
        case .full: write.ended(.busy(path: directory, process: getpid()))
        case .stopped: write.ended(.closed)
        }
    }

    /// Makes a change now, on the calling thread, which waits for other writers; it is on disk when this returns, if it
    /// asks for that.
    package func perform<Value>(
        _ topic: StateTopic, _ work: (borrowing Transaction) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let value = try environment().write { (transaction) throws(StoreError) in
            let value = try work(transaction)
            raise(topic)
            return value
        }
        raise(topic)
        return value
    }

    /// Runs `body` while no process is in the middle of a write, or did not come to its end in time. This one begins no
    /// other before `Environment.resumeWrites`.
    package func betweenWrites(patience: Duration, _ body: () -> Void) {
        guard let environment = state.withLock({ $0.environment }) else { return body() }
        environment.betweenWrites(patience: patience, body)
    }

    // MARK: Parts

    private func environment() throws(StoreError) -> Environment {
        if let environment = state.withLock({ $0.environment }) { return environment }
        return try opening.holding { () throws(StoreError) in
            let (known, isClosed, problem) = state.withLock { state in
                (state.environment, state.isClosed, MonotonicClock.now() < state.nextTry ? state.problem : nil)
            }
            if let known { return known }
            if isClosed { throw .closed }
            if let problem { throw problem }
            do throws(StoreError) {
                var settings = EnvironmentSettings(
                    tables: StateSchema.tables, format: StateSchema.format, isRebuildable: false, syncPolicy: .grouped)
                settings.mapSize = 1 << 28
                settings.openingPatience = openingPatience
                let environment = try Environment.open(directory: directory, settings: settings)
                state.withLock { state in
                    state.environment = environment
                    state.problem = nil
                }
                wasOpened.store(true, ordering: .releasing)
                return environment
            } catch {
                state.withLock { state in
                    state.problem = error
                    state.nextTry = MonotonicClock.now().advanced(by: retryPause)
                }
                throw error
            }
        }
    }

    private func writes() throws(StoreError) -> GroupedWrites {
        if let writes = state.withLock({ $0.writes }) { return writes }
        let environment = try environment()
        return try opening.holding { () throws(StoreError) in
            let (known, isClosed) = state.withLock { ($0.writes, $0.isClosed) }
            if let known { return known }
            if isClosed { throw .closed }
            let writes = try GroupedWrites.start(environment, name: "trawl-state")
            state.withLock { $0.writes = writes }
            return writes
        }
    }
}
