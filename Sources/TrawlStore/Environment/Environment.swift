import Glibc
import TrawlHTTP
import TrawlPlatform

/// An LMDB environment: tables that all processes share, read without locks and written by one at a time.
///
/// A process has each directory open once (LMDB's locks belong to the process); `open` hands out the same environment
/// again. It is opened after exec and never crosses a fork. Any thread may read and write; a write blocks its thread.
///
/// Locks are taken in this order, and any of them may be left out: the passage of the directory, `writing`, `turn`,
/// byte 0 of `environment.lock`, LMDB's writer lock; then those that guard one value. A read that begins may wait for
/// `writing` with its slot in hand, and with what the slot has open: whoever has `writing` waits for slots no longer
/// than a second, or only for those that are `entering`, which never wait for it.
package final class Environment: Sendable {
    /// What changes when the files are replaced or the last user closes.
    struct Current {
        /// Nothing while the files cannot be used; see `retire`.
        var opening: Opening?
        var isClosed = false
        /// The lock file of what was used last, which LMDB has open until the last snapshot of it ends.
        var retired: FileIdentity?
        /// Whether the files are to be walked when they are opened again.
        var isSuspect = false
        /// Why they could not be opened again, and until when nobody tries.
        var failure: (error: StoreError, until: MonotonicInstant)?
        /// Why they could not be opened again, used or brought to the disk, the last time that they could not.
        var problem: StoreError?
    }

    /// The directory, as first given to `open`.
    package let directory: String
    /// The directory that was there then.
    private let place: FileIdentity
    let settings: EnvironmentSettings
    let slots = ReaderSlots()
    let current: Guarded<Current>
    /// Held from the start of a write transaction to its end, and to change the size of LMDB's mapping.
    let writing = PlainMutex()
    /// Taken inside `writing`, before LMDB's writer lock. Another when the directory was made anew.
    let turn: Guarded<WriterTurn>
    let shared: SharedWords
    private let wasAlone: Guarded<Bool>
    private let loss: Guarded<Bool>
    private let freshness: Guarded<Bool>

    /// Words every thread may read and write.
    ///
    /// `@unchecked Sendable`: they are only ever touched by the atomic functions.
    final class SharedWords: @unchecked Sendable {
        private let words: UnsafeMutablePointer<UInt64>

        init() {
            words = .allocate(capacity: 16)
            words.initialize(repeating: 0, count: 16)
        }

        deinit { words.deallocate() }

        /// Counts the openings; readers compare it with their slot's.
        var generation: UnsafeMutablePointer<UInt64> { words }
        /// 1 while LMDB's mapping moves.
        var isResizing: UnsafeMutablePointer<UInt64> { words + 8 }
        /// One more than the second in which there was room for what is mapped; 0 when there was none.
        var roomSeen: UnsafeMutablePointer<UInt64> { words + 9 }
    }

    private init(directory: String, place: FileIdentity, settings: EnvironmentSettings, opening: Opening) {
        self.directory = directory
        self.place = place
        self.settings = settings
        current = Guarded(Current(opening: opening))
        shared = SharedWords()
        turn = Guarded(WriterTurn(in: directory))
        wasAlone = Guarded(opening.wasAlone)
        loss = Guarded(opening.followsDamage)
        freshness = Guarded(opening.isMadeAnew)
        storeRelease(shared.generation, 1)
    }

    /// Rises when the files were replaced, and then everything in them is gone, or had to be closed and opened again.
    package var generation: UInt64 { loadAcquire(shared.generation) }

    /// Walks all trees of what is committed, with nobody waiting for it, as before a first write.
    ///
    /// - Returns: Whether nothing contradicts itself; otherwise the next write walks again, and makes a rebuildable
    ///   environment anew when it comes to the same.
    package func isSound() throws(StoreError) -> Bool {
        if ForkMark.isCopy { throw .forked }
        try requireRoom()
        guard let opening = opening() else { throw .closed }
        do throws(StoreError) {
            // LMDB's mapping, which it looks at then, moves only under this mutex. The walk uses one of our own.
            let snapshot = try writing.holding { () throws(StoreError) in try opening.beginSnapshot() }
            defer { opening.endSnapshot(snapshot.transaction) }
            try opening.checkTrees(of: snapshot.meta, isDeep: true)
            return true
        } catch {
            guard case .damaged = error else { throw error }
            opening.setSuspect(true)
            return false
        }
    }

    /// Why the files could not be opened again after they were replaced or removed, or not used, or why what was
    /// committed did not come to the disk, when that happened: then something was not read or not kept.
    package var problem: StoreError? { current.withLock { $0.problem } }

    /// Notes why something is not read or not kept.
    func note(_ problem: StoreError) {
        // What is closed, or let go of, has its reason already.
        if problem != .closed { current.withLock { $0.problem = problem } }
    }

    func opening() -> Opening? { current.withLock { $0.opening } }

    /// Whether no other process had the files open when this one opened them. True to the first who asks.
    package func claimSolitude() -> Bool {
        wasAlone.withLock { wasAlone in
            defer { wasAlone = false }
            return wasAlone
        }
    }

    /// Whether this process made the files, for the first time or anew. True once for each time, or for several.
    package func claimFreshFiles() -> Bool {
        freshness.withLock { isFresh in
            defer { isFresh = false }
            return isFresh
        }
    }

    /// Notes that this process made the files.
    func noteFreshFiles() { freshness.withLock { $0 = true } }

    /// Whether this process threw everything away because it was damaged, and nobody has claimed that yet.
    package var hasLostEverything: Bool { loss.withLock { $0 } }

    /// Whether this process threw everything away because it was damaged. True once for each time, or for several.
    package func claimLoss() -> Bool {
        loss.withLock { loss in
            defer { loss = false }
            return loss
        }
    }

    /// Notes that everything was thrown away because it was damaged.
    func noteLoss() { loss.withLock { $0 = true } }

    // MARK: Opening and closing

    private struct Entry {
        let environment: Environment
        var users: Int
    }

    /// All environments of the process.
    private static let registry = Guarded<[Entry]>([])

    /// Who opens or closes in one directory at the moment.
    private struct Passage {
        let mutex = PlainMutex()
        var users = 0
    }

    private static let passages = Guarded<[FileIdentity: Passage]>([:])

    /// Runs `body` while nobody else of this process opens or closes in a directory. Others go on: it may take long.
    private static func serialised<Value, Failure: Error>(
        _ place: FileIdentity, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let mutex = passages.withLock { passages in
            passages[place, default: Passage()].users += 1
            return passages[place, default: Passage()].mutex
        }
        defer {
            passages.withLock { passages in
                passages[place]?.users -= 1
                if passages[place]?.users == 0 { passages[place] = nil }
            }
        }
        return try mutex.holding(body)
    }

    /// The environment that has a directory open, by whichever name: one more user of it.
    ///
    /// The directory may have been made anew beneath one that is open, which then opens what is there now. So what
    /// counts is where its path leads today; and that no data file is open twice.
    private static func join(_ directory: String) -> Environment? {
        // What cannot be looked at is none of these; opening it says why.
        let place = (try? FileFacts.of(directory, followingLinks: true))?.identity
        let data = (try? FileFacts.of(directory + "/data.mdb", followingLinks: false))?.identity
        for entry in registry.withLock({ $0 }) {
            let open = entry.environment
            var isSame = open.directory.hasSameBytes(as: directory)
            if !isSame, let place {
                let there = try? FileFacts.of(open.directory, followingLinks: true)
                isSame = there?.identity == place
            }
            if !isSame, let data { isSame = open.opening()?.identity == data }
            guard isSame else { continue }
            let isJoined = registry.withLock { registry in
                guard let index = registry.firstIndex(where: { $0.environment === open }) else { return false }
                registry[index].users += 1
                return true
            }
            if isJoined { return open }
        }
        return nil
    }

    /// Opens the environment in a directory, which is made when there is none, with those above it, or hands out the one
    /// that is open.
    ///
    /// Each call is matched by one `close`. The settings of the first call count.
    package static func open(
        directory: String, settings: EnvironmentSettings
    ) throws(StoreError) -> Environment {
        ForkMark.set()
        if ForkMark.isCopy { throw .forked }
        precondition(settings.tables.count <= Table.limit, "an environment has at most \(Table.limit) tables")
        precondition(
            settings.tables.enumerated().allSatisfy { $0.offset == $0.element.index },
            "a table's index is its place in the list")
        try StoreDirectory.prepare(directory)
        guard let place = try FileFacts.of(directory, followingLinks: true)?.identity else {
            throw .unusable(path: directory, reason: "is removed again and again")
        }
        return try serialised(place) { () throws(StoreError) in
            if let open = join(directory) {
                precondition(open.settings.tables == settings.tables, "one directory has one set of tables")
                return open
            }
            let opening = try Opening.open(directory: directory, settings: settings)
            let environment = Environment(
                directory: directory, place: place, settings: settings, opening: opening)
            registry.withLock { $0.append(Entry(environment: environment, users: 1)) }
            return environment
        }
    }

    /// Gives up one `open`; the last one closes the files. Reads and writes that come later fail, those under way end
    /// first.
    package func close() {
        if ForkMark.isCopy { return }
        Environment.serialised(place) {
            let isLast = Environment.registry.withLock { registry in
                guard let index = registry.firstIndex(where: { $0.environment === self }) else { return false }
                registry[index].users -= 1
                guard registry[index].users == 0 else { return false }
                registry.remove(at: index)
                return true
            }
            if isLast { finish() }
        }
    }

    /// This process may write again, wherever `betweenWrites` has held it back; also to what is just being closed.
    package static func resumeWrites() {
        for entry in registry.withLock({ $0 }) { entry.environment.turn.withLock { $0 }.goOn() }
    }

    /// Those that were closed while nothing mapped might be touched, with what they had open.
    private static let leftOpen = Guarded<[(Environment, Opening)]>([])

    private func finish() {
        let lockFile = writing.holding { () -> FileIdentity? in
            let isShort = settings.findShortage(directory) != nil
            let opening = current.withLock { current in
                current.isClosed = true
                let opening = current.opening
                current.opening = nil
                return opening
            }
            // Readers see that their slot is out of date, and then that the environment is closed.
            storeOrdered(shared.generation, UInt64.max)
            if !isShort { releaseIdleSlots() }
            guard let opening else { return current.withLock { $0.retired } }
            do throws(StoreError) { try opening.bringToDisk() } catch { note(error) }
            // A note that cannot be written costs a check at the next start; nobody can act on it now.
            try? opening.finish()
            if isShort {
                // LMDB's end writes to what is mapped, so that comes with the process's.
                Environment.leftOpen.withLock { $0.append((self, opening)) }
                return nil
            }
            return opening.lockFile
        }
        // Without the mutex, for which a read that just begins may wait.
        if let lockFile { _ = waitUntilClosed(lockFile) }
    }

    /// Waits until LMDB has closed a lock file: the last snapshot of its opening, of which nobody begins another, has
    /// ended. A second at most; then whoever opens that file is refused until it has.
    func waitUntilClosed(_ lockFile: FileIdentity) -> Bool {
        let end = MonotonicClock.now().advanced(by: .seconds(1))
        while OpenLockFiles.contains(lockFile) {
            if MonotonicClock.now() >= end { return false }
            // Those that were in use when they went out of date.
            releaseIdleSlots()
            MonotonicClock.sleep(for: .milliseconds(1))
        }
        return true
    }

    /// Frees what idle slots hold of earlier openings.
    func releaseIdleSlots() {
        let generation = loadAcquire(shared.generation)
        for index in 0..<ReaderSlots.count {
            let slot = slots[index]
            let state = ReaderSlots.state(slot)
            guard exchange(state, ReaderSlot.free, ReaderSlot.open) else { continue }
            if slot.pointee.generation != generation { ReaderSlots.empty(slot) }
            storeRelease(state, ReaderSlot.free)
        }
    }

    deinit {
        // Slots of a closed environment that were in use when it closed.
        for index in 0..<ReaderSlots.count { ReaderSlots.empty(slots[index]) }
    }
}
