import Glibc
import TrawlHTTP
import TrawlPlatform

/// The store thread: takes writes from any thread and commits many at once.
///
/// A transaction of one row costs nearly as much as one of sixty. Bound to its own thread, on which all work and all
/// completions run; only `submit`, `flush` and `stop` are for others.
package final class GroupedWrites: Sendable {
    /// How much is put together, and how much may wait.
    package struct Limits: Sendable {
        /// Writes of one transaction.
        package var count = 64
        /// How long a write that is not urgent waits for others.
        package var delay: Duration = .milliseconds(2)
        /// Writes that may wait, for those that do not insist.
        package var waiting = 4096
        /// The same for those that insist: they wait as long as another process is in the way.
        package var insisting = 65_536
        /// How long after a commit that asked for it all is on disk.
        package var syncDelay: Duration = .milliseconds(900)
        /// How long a group waits for another process that writes.
        package var patience: Duration = .seconds(1)
        /// The same after a group waited in vain, until one gets through: nobody shall wait again and again.
        package var shortPatience: Duration = .milliseconds(20)
        /// How long writes that insist wait before they are tried again.
        package var retryDelay: Duration = .milliseconds(250)
        /// How often places of killed readers are freed.
        package var housekeeping: Duration = .seconds(60)

        /// The defaults above.
        package init() {}
    }

    /// How soon a write is wanted.
    package enum Urgency: Sendable, Hashable {
        /// At once, with all that wait.
        case now
        /// When there are enough, or after the delay: for when more are sure to come.
        case soon
    }

    /// What became of a submission.
    package enum Acceptance: Sendable, Hashable {
        /// It will run; that many wait, itself among them.
        case accepted(waiting: Int)
        /// Too many wait already.
        case full
        /// The thread is ending or has ended.
        case stopped
    }

    /// What a write does. It may run more than once, when the mapping had to grow or another write of the group failed,
    /// and only the last run counts: what it does outside of the transaction bears repetition.
    package typealias Work = @Sendable (borrowing Transaction) throws(StoreError) -> Void
    /// Told once, after the commit, on the store thread.
    package typealias Completion = @Sendable (Result<Void, StoreError>) -> Void

    /// What goes before and after the writes of each group, inside their transaction; again when that runs again.
    package struct Frame: Sendable {
        /// Forgets what an earlier run has left.
        package let begin: @Sendable () -> Void
        /// Writes what all of them have in common.
        package let end: Work

        /// A frame of both.
        package init(begin: @escaping @Sendable () -> Void, end: @escaping Work) {
            self.begin = begin
            self.end = end
        }
    }

    private typealias Item = WriteQueue.Item

    private struct Queue {
        var items = WriteQueue()
        /// When the first of `items` must be committed.
        var deadline = MonotonicInstant.never
        /// When the thread looks on its own whether there is something: after each commit, so that what follows need
        /// not wake it.
        var patrol = MonotonicInstant.never
        /// When the thread wakes unless it is told to.
        var wakesAt = MonotonicInstant.never
        var isStopping = false
        /// Those who wait in `flush`.
        var flushing = 0
        var isIdle = false
        /// Submissions so far, and those of them that are done.
        var submitted: UInt64 = 0
        var completed: UInt64 = 0
    }

    private let environment: Environment
    private let limits: Limits
    private let frame: Frame?
    /// Where commits that ask for it are brought to the disk; nil when none may ask.
    private let syncs: SyncThread?
    private let queue: SignalledValue<Queue>
    private let thread: Guarded<NamedThread?> = Guarded(nil)
    /// Whether the last group waited in vain for another process. Store thread.
    private let isStalled = Guarded(false)

    private init(environment: Environment, limits: Limits, frame: Frame?, syncs: SyncThread?) {
        self.environment = environment
        self.limits = limits
        self.frame = frame
        self.syncs = syncs
        queue = SignalledValue(Queue())
    }

    /// Starts a store thread. The environment stays open until after `stop`.
    package static func start(
        _ environment: Environment, limits: Limits = Limits(), frame: Frame? = nil, name: StaticString = "trawl-store"
    ) throws(StoreError) -> GroupedWrites {
        try start(environment, limits: limits, frame: frame, name: name) { () throws(StoreError) in
            try environment.sync()
        }
    }

    /// The same with what brings commits to the disk.
    static func start(
        _ environment: Environment, limits: Limits, frame: Frame?, name: StaticString,
        sync: @escaping @Sendable () throws(StoreError) -> Void
    ) throws(StoreError) -> GroupedWrites {
        precondition(limits.count > 0 && limits.waiting > 0 && limits.insisting > 0, "something must fit")
        let isSynced = environment.settings.syncPolicy == .grouped
        let noting: @Sendable () -> Bool = {
            do throws(StoreError) {
                try sync()
                return true
            } catch {
                // Also where a later try succeeds: the system forgets what it could not write once.
                environment.note(error)
                return false
            }
        }
        let syncs = isSynced ? SyncThread(delay: limits.syncDelay, noting) : nil
        let writes = GroupedWrites(environment: environment, limits: limits, frame: frame, syncs: syncs)
        do {
            try syncs?.start()
            let thread = try NamedThread.start(name: name) { writes.run() }
            writes.thread.withLock { $0 = thread }
        } catch {
            syncs?.stop()
            throw .from(error)
        }
        return writes
    }

    /// Hands a write over. From any thread; never blocks for long.
    ///
    /// - Parameter insists: When another process does not come to the end of a write, the others fail with `busy`; this
    ///   one goes on waiting, until `flush` or `stop`.
    package func submit(
        _ urgency: Urgency = .now, insists: Bool = false, _ work: @escaping Work, completion: @escaping Completion
    ) -> Acceptance {
        submit(urgency, insists: insists, enough: .max, ClosureWrite(work: work, completion: completion))
    }

    /// Hands a write over, as above: one object for many writes of the same kind, in place of two closures.
    ///
    /// - Parameter enough: With so many waiting they are committed at once.
    func submit(_ urgency: Urgency, insists: Bool, enough: Int, _ write: some GroupedWrite) -> Acceptance {
        let wanted =
            urgency == .soon ? MonotonicClock.now().advanced(by: limits.delay) : MonotonicInstant(nanoseconds: 0)
        return queue.update { queue, signal in
            if queue.isStopping { return .stopped }
            if queue.items.count >= (insists ? limits.insisting : limits.waiting) { return .full }
            queue.items.append(Item(insists: insists, write: write))
            queue.submitted += 1
            let isEnough = queue.items.newCount >= min(enough, limits.count)
            let deadline = isEnough ? MonotonicInstant(nanoseconds: 0) : wanted
            let isSooner = deadline < queue.deadline
            if isSooner { queue.deadline = deadline }
            if queue.isIdle, isSooner, deadline < queue.wakesAt { signal() }
            return .accepted(waiting: queue.items.count)
        }
    }

    /// Commits what waits, and returns when all that was accepted before is done. Not on the store thread.
    package func flush() {
        var goal: UInt64 = 0
        queue.update { queue, signal in
            goal = queue.submitted
            queue.flushing += 1
            queue.deadline = MonotonicInstant(nanoseconds: 0)
            signal()
        }
        queue.wait { queue in queue.completed >= goal }
        queue.update { queue, _ in queue.flushing -= 1 }
    }

    /// Commits what waits, tells the completions, brings to the disk what asked for that, and ends the thread. Later
    /// submissions are refused. Not on the store thread; once.
    package func stop() {
        queue.update { queue, signal in
            queue.isStopping = true
            signal()
        }
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        thread?.join()
        syncs?.stop()
    }

    // MARK: The store thread

    private func run() {
        var housekeeping = MonotonicClock.now().advanced(by: limits.housekeeping)
        while true {
            let (batch, isOver) = next(until: housekeeping)
            if !batch.isEmpty, commit(batch) { syncs?.ask() }
            let now = MonotonicClock.now()
            if housekeeping <= now {
                _ = try? environment.releaseDeadReaders()
                housekeeping = now.advanced(by: limits.housekeeping)
            }
            if isOver { return }
        }
    }

    /// Waits for writes to commit, or for the instant.
    private func next(until deadline: MonotonicInstant) -> (items: [Item], isOver: Bool) {
        var batch: [Item] = []
        var isOver = false
        queue.waiting { queue -> MonotonicInstant? in
            let now = MonotonicClock.now()
            // What waits for another process has its own time, and goes on at once when that is out of the way.
            let isCrowded =
                queue.items.newCount >= limits.count || queue.items.hasKept && !isStalled.withLock { $0 }
            let isDue = isCrowded || queue.isStopping || queue.deadline <= now || queue.patrol <= now
            if queue.patrol <= now { queue.patrol = .never }
            if !queue.items.isEmpty, isDue {
                batch = queue.items.take(limits.count)
                if queue.items.isEmpty { queue.deadline = .never }
            } else if queue.items.isEmpty {
                queue.deadline = .never
            }
            isOver = queue.isStopping && queue.items.isEmpty
            queue.isIdle = batch.isEmpty && !isOver && deadline > now
            queue.wakesAt = min(queue.deadline, queue.patrol, deadline)
            return queue.isIdle ? queue.wakesAt : nil
        }
        return (batch, isOver)
    }

    /// Commits a group without the writes that fail, and tells all of them.
    ///
    /// - Returns: Whether one of them asked to be on disk soon.
    private func commit(_ items: [Item]) -> Bool {
        var items = items
        let patience = isStalled.withLock { $0 ? limits.shortPatience : limits.patience }
        var failures = [StoreError?](repeating: nil, count: items.count)
        var wantsSync = false
        while true {
            var culprit: Int?
            do throws(StoreError) {
                let outcome = try environment.writeNotingSync(patience: patience) { transaction throws(StoreError) in
                    culprit = nil
                    frame?.begin()
                    for (index, item) in items.enumerated() where failures[index] == nil {
                        do throws(StoreError) {
                            try item.write.run(in: transaction)
                        } catch {
                            culprit = index
                            throw error
                        }
                    }
                    culprit = nil
                    try frame?.end(transaction)
                }
                wantsSync = outcome.wantsSync
                isStalled.withLock { $0 = false }
                break
            } catch {
                if case .busy = error {
                    isStalled.withLock { $0 = true }
                    items = putBack(items, &failures)
                }
                // One that failed by itself is left out, and the others run again; else nothing can be written now.
                guard let culprit, error.concernsOneWrite, failures[culprit] == nil else {
                    for index in failures.indices where failures[index] == nil { failures[index] = error }
                    break
                }
                failures[culprit] = error
                if failures.allSatisfy({ $0 != nil }) { break }
            }
        }
        tell(items, failures)
        return wantsSync
    }

    /// Another process is in everybody's way: those that insist wait for their next turn.
    ///
    /// - Parameter failures: Of the items; changed to be those of what is returned.
    /// - Returns: Those that are over.
    private func putBack(_ items: [Item], _ failures: inout [StoreError?]) -> [Item] {
        queue.update { queue, _ in
            let keeps = !queue.isStopping && queue.flushing == 0
            let over = queue.items.putBack(items, &failures, keeps: keeps)
            queue.deadline =
                queue.items.isEmpty ? .never : MonotonicClock.now().advanced(by: limits.retryDelay)
            return over
        }
    }

    private func tell(_ items: [Item], _ failures: [StoreError?]) {
        for (item, failure) in zip(items, failures) {
            item.write.ended(failure)
        }
        queue.update { queue, signal in
            queue.completed += UInt64(items.count)
            // What waits for another process has its own time.
            let isStalled = isStalled.withLock { $0 }
            queue.patrol = isStalled ? .never : MonotonicClock.now().advanced(by: limits.delay)
            signal()
        }
    }
}

extension StoreError {
    /// Whether leaving out the write that threw it lets the others of its group succeed.
    fileprivate var concernsOneWrite: Bool {
        switch self {
        case .abandoned, .unfit, .full, .library, .system: true
        default: false
        }
    }
}
