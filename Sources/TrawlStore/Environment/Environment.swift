import Glibc
import TrawlPlatform

/// An LMDB environment: tables that all processes share, read without locks and written by one at a time.
///
/// A process has each directory open once (LMDB's locks belong to the process); `open` hands out the same environment
/// again. It is opened after exec and never crosses a fork. Any thread may read and write; a write blocks its thread.
package final class Environment: Sendable {
    /// What changes when the files are replaced or the last user closes.
    struct Current {
        var opening: Opening?
        var isClosed = false
    }

    /// The directory, as first given to `open`.
    package let directory: String
    let settings: EnvironmentSettings
    let slots = ReaderSlots()
    let current: Guarded<Current>
    /// Held from the start of a write transaction to its end, and to change the size of LMDB's mapping.
    let writing = PlainMutex()
    /// Taken inside `writing`, before LMDB's writer lock.
    let turn: WriterTurn
    let shared: SharedWords

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
    }

    private init(directory: String, settings: EnvironmentSettings, opening: Opening) {
        self.directory = directory
        self.settings = settings
        current = Guarded(Current(opening: opening))
        shared = SharedWords()
        turn = WriterTurn(in: directory)
        storeRelease(shared.generation, 1)
    }

    /// How often this process opened the files: it rises when they were replaced, and then everything in them is gone.
    package var generation: UInt64 { loadAcquire(shared.generation) }

    /// Makes the next write check the structure of the files first.
    package func suspectDamage() {
        opening()?.setSuspect(true)
    }

    func opening() -> Opening? { current.withLock { $0.opening } }

    // MARK: Opening and closing

    private struct Entry {
        let environment: Environment
        var users: Int
    }

    /// All environments of the process, by directory. `registryMutex` serialises opening and closing.
    private static let registry = Guarded<[FileIdentity: Entry]>([:])
    private static let registryMutex = PlainMutex()

    /// Opens the environment in a directory, which is made when there is none, or hands out the one that is open.
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
        return try registryMutex.holding { () throws(StoreError) in
            if let key = try FileFacts.of(directory, followingLinks: true)?.identity {
                let open: Environment? = registry.withLock { registry in
                    registry[key]?.users += 1
                    return registry[key]?.environment
                }
                if let open {
                    precondition(open.settings.tables == settings.tables, "one directory has one set of tables")
                    return open
                }
            }
            let opening = try Opening.open(directory: directory, settings: settings)
            let environment = Environment(directory: directory, settings: settings, opening: opening)
            guard let key = try FileFacts.of(directory, followingLinks: true)?.identity else { throw .closed }
            registry.withLock { $0[key] = Entry(environment: environment, users: 1) }
            return environment
        }
    }

    /// Gives up one `open`; the last one closes the files. No read or write of that user is under way any more.
    package func close() {
        if ForkMark.isCopy { return }
        Environment.registryMutex.holding {
            let isLast = Environment.registry.withLock { registry in
                guard let key = registry.first(where: { $0.value.environment === self })?.key else { return false }
                registry[key]?.users -= 1
                guard registry[key]?.users == 0 else { return false }
                registry[key] = nil
                return true
            }
            if isLast { finish() }
        }
    }

    private func finish() {
        writing.holding {
            let opening = current.withLock { current in
                current.isClosed = true
                let opening = current.opening
                current.opening = nil
                return opening
            }
            // Readers see that their slot is out of date, and then that the environment is closed.
            storeOrdered(shared.generation, UInt64.max)
            releaseIdleSlots()
            guard let opening else { return }
            // A note that cannot be written costs a check at the next start; nobody can act on it now.
            try? opening.finish()
        }
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

    // MARK: Replacing

    /// Puts a new opening of the directory's files in the place of `old`, if nobody did so yet.
    func reopen(insteadOf old: Opening) throws(StoreError) {
        let isOurs = current.withLock { $0.opening === old && !$0.isClosed }
        guard isOurs else { return }
        let next = try Opening.open(directory: directory, settings: settings)
        let isInstalled = current.withLock { current in
            guard current.opening === old, !current.isClosed else { return false }
            current.opening = next
            return true
        }
        guard isInstalled else { return }
        storeOrdered(shared.generation, loadAcquire(shared.generation) + 1)
        releaseIdleSlots()
    }

    /// Throws the files of `old` away, unless another process did so already, and opens new ones. Writing mutex.
    func rebuild(insteadOf old: Opening) throws(StoreError) {
        try old.guardFile.exclusively { () throws(StoreError) in
            if try old.isCurrent() { try Opening.remove(directory) }
        }
        try reopen(insteadOf: old)
    }
}
