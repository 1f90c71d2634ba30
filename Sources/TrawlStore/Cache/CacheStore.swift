import TrawlPlatform

/// The cache on disk: opaque records found by the digest of their cache key, with their bodies.
///
/// It knows nothing of HTTP. Any number of processes may have one directory open. Reading never writes and never waits
/// for a writer; changes are made on the store thread, many in one transaction. What is damaged is not given out, and
/// removed.
package final class CacheStore: Sendable {
    /// What waits to be written, and what writes it.
    struct Pending {
        var damaged: Set<CacheUse> = []
        var orphans: Set<ContentDigest> = []
        var isCollecting = false
        /// Whether a sweep is under way.
        var isSweeping = false
        /// Whether a sweep was begun and none since has come to its end.
        var isUnswept = false
        /// Sweeps so far; the last is the one that goes on.
        var sweeps: UInt64 = 0
        /// Changes of several transactions that are not at their end.
        var longChanges = 0
        var generation: UInt64 = 0
        var writes: GroupedWrites?
        var isClosed = false
        var syncsAtClose = false
    }

    let environment: Environment
    let tables: CacheTables
    let clock: UseClock
    let directory: String
    let reserve: DiskReserve
    let pending = Guarded(Pending())
    /// Where bodies are; for a `BodySpool`.
    package let blobs: BlobDirectory
    var marks: StoreMarks { blobs.marks }
    /// How it was opened.
    package let settings: CacheSettings

    /// The most bytes of a body; for a `BodySpool`.
    package var longestBody: UInt64 { settings.longestBody }

    private init(
        environment: Environment, directory: String, settings: CacheSettings, blobs: BlobDirectory
    ) {
        self.environment = environment
        self.directory = directory
        self.settings = settings
        self.blobs = blobs
        reserve = DiskReserve(in: directory)
        clock = UseClock(in: directory, budget: settings.budget)
        tables = CacheTables(settings: settings, clock: clock)
    }

    /// Why the cache could not be opened again after its files were replaced or removed, when it once could not.
    package var problem: StoreError? { environment.problem }

    /// Opens the cache in a directory, which is made when it is not there.
    ///
    /// - Parameters:
    ///   - directory: Absolute. Those above it are made, too.
    package static func open(
        directory: String, settings: CacheSettings = CacheSettings()
    ) throws(StoreError) -> CacheStore {
        var environmentSettings = EnvironmentSettings(
            tables: CacheSchema.tables, format: CacheSchema.format, isRebuildable: true)
        environmentSettings.maxReaders = settings.maxReaders
        environmentSettings.bootIdentity = settings.bootIdentity
        environmentSettings.openingPatience = settings.openingPatience
        environmentSettings.recover = { transaction throws(StoreError) in try CacheTables.recover(in: transaction) }
        environmentSettings.beforeMakingAnew = StoreMarks.leave(in:)
        // Free pages come on top of the budget; with more than expected the environment grows.
        environmentSettings.mapSize = Int(4 * min(max(settings.budget, 1 << 28), 1 << 42))
        let environment = try Environment.open(directory: directory, settings: environmentSettings)
        do throws(SystemError) {
            let blobs = try BlobDirectory(in: directory)
            let store = CacheStore(environment: environment, directory: directory, settings: settings, blobs: blobs)
            store.sweepIfNeeded()
            return store
        } catch {
            environment.close()
            throw .from(error)
        }
    }

    /// Waits for all changes, to the last part of long ones, and for a while for a sweep and for reads; then closes.
    /// Once; readers of blobs that are open go on.
    package func close() {
        while pending.withLock({ $0.longChanges > 0 }), let writes = pending.withLock({ $0.writes }) { writes.flush() }
        sweepIfMadeAnew()
        finishSweep()
        // What is removed leads to blobs that go after it.
        for _ in 0..<3 {
            guard let writes = pending.withLock({ $0.writes }) else { break }
            writes.flush()
            if pending.withLock({ $0.orphans.isEmpty }) { break }
            collect()
        }
        let writes = pending.withLock { pending in
            pending.isClosed = true
            return pending.writes.take()
        }
        writes?.stop()
        // What somebody wanted gone does not come back with the power.
        if pending.withLock({ $0.syncsAtClose }) { try? environment.sync() }
        marks.end(isClean: pending.withLock { $0.orphans.isEmpty && !$0.isUnswept })
        environment.close()
    }

    // MARK: - Reading

    /// Looks up what is stored under a digest.
    ///
    /// From any thread that may wait for a disk; no lock is held while the closure runs. What is to outlive the closure
    /// is copied in it.
    ///
    /// - Parameter body: Chooses among the records. Not called when there are none.
    /// - Returns: What the closure returned; nothing when there are no records, or the store cannot be read.
    package func read<Result>(
        _ digest: CacheDigest, _ body: (borrowing CacheCandidates) -> Result?
    ) -> Result? {
        // A store that cannot be read is one without records; its next write says why.
        do throws(StoreError) { return try look(digest, body) } catch { return nil }
    }

    /// The same, for who is to be told that the store cannot be read.
    package func look<Result>(
        _ digest: CacheDigest, _ body: (borrowing CacheCandidates) -> Result?
    ) throws(StoreError) -> Result? {
        try environment.read { (snapshot) throws(StoreError) in
            let found = try digest.withBytes { (key) throws(StoreError) in
                try snapshot.get(CacheSchema.index, key)
            }
            guard let found else { return nil }
            let count = min(found.count / IndexRow.entrySize, IndexRow.mostEntries)
            return try withUnsafeTemporaryAllocation(
                of: CacheCandidates.Row.self, capacity: IndexRow.mostEntries
            ) { (rows) throws(StoreError) -> Result? in
                var filled = 0
                for index in stride(from: count - 1, through: 0, by: -1) {
                    let entry = IndexRow.entry(at: index, of: found)
                    guard let bytes = try snapshot.get(CacheSchema.records, entry.sequence) else {
                        noteDamage(CacheUse(digest: digest, sequence: entry.sequence))
                        continue
                    }
                    rows.initializeElement(at: filled, to: CacheCandidates.Row(entry: entry, bytes: bytes))
                    filled += 1
                }
                if filled == 0 { return nil }
                // By a name of its own: given as an argument at once, the compiler of Swift 6.3.1 fails in release.
                let candidates = CacheCandidates(
                    store: self, snapshot: snapshot.handle, digest: digest,
                    rows: UnsafeBufferPointer(rebasing: rows[..<filled]))
                return body(candidates)
            }
        }
    }

    /// Looks at one record, found before.
    ///
    /// - Returns: What the closure returned; nothing when the record is gone or damaged, or the store cannot be read.
    package func read<Result>(_ use: CacheUse, _ body: (StoredRecord) -> Result?) -> Result? {
        do throws(StoreError) {
            return try environment.read { (snapshot) throws(StoreError) -> Result? in
                guard let bytes = try snapshot.get(CacheSchema.records, use.sequence) else { return nil }
                guard let frame = RecordFrame(bytes, sequence: use.sequence), frame.digest == use.digest else {
                    noteDamage(use)
                    return nil
                }
                return body(StoredRecord(store: self, snapshot: snapshot.handle, frame: frame, slot: use.slot))
            }
        } catch {
            return nil
        }
    }

    /// Notes that a record was used. Nothing is written to the environment, and all processes see it at once.
    package func used(_ use: CacheUse) {
        clock.use(use.slot)
    }
}
