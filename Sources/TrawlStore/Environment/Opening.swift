import CLMDB
import Glibc
import TrawlHTTP
import TrawlPlatform

/// One opening of an environment's files: LMDB's handle, and a mapping of the data file of our own for checked reads.
///
/// An environment has one at a time. When its files are replaced, snapshots that are open keep the old one alive.
///
/// `@unchecked Sendable`: what changes after `init` is behind `guarded`, in `words`, or, where it says so, touched only while
/// the environment's writing mutex is held.
final class Opening: @unchecked Sendable {
    /// A mapping of the data file from its start.
    ///
    /// `@unchecked Sendable`: it is only read, and stays as long as its opening.
    struct Mapping: @unchecked Sendable {
        let base: UnsafeRawPointer
        let pages: UInt64
    }

    private struct Changing {
        /// The last is the longest; the others stay because snapshots may read them.
        var mappings: [Mapping] = []
    }

    let directory: String
    let dataPath: String
    let identity: FileIdentity
    let settings: EnvironmentSettings
    let guardFile: GuardFile
    let environment: OpaquePointer
    /// LMDB's numbers of the tables, by our indexes.
    private(set) var tables: [MDB_dbi] = []
    /// Whether the structure was checked, by this process or another; writing mutex.
    var isVerified: Bool
    /// Whether the verdict came from a check of this process and is to be noted; writing mutex.
    var hasNewVerdict = false
    /// Whether LMDB gave up in the middle of a transaction, so that its handle must not be used again; writing mutex.
    var isBroken = false
    /// Looks at what LMDB is about to follow; kept for the next transaction. Writing mutex.
    var pages: ChangeCheck?
    /// The last page of the last snapshot a transaction began with; writing mutex.
    var lastPage: UInt64 = 0
    /// Whether this process committed anything; writing mutex.
    var hasWritten = false
    /// Whether no other process had the files open before.
    let wasAlone: Bool

    private let descriptor: Int32
    /// The first page of LMDB's lock file.
    private let lockPage: UnsafeMutableRawPointer?
    private let guarded = Guarded(Changing())
    /// The pages the file is known to have, and whether somebody saw damage.
    private let words: UnsafeMutablePointer<UInt64>

    /// Opens files that were looked at and found fit. Inside `GuardFile.exclusively`.
    init(
        directory: String, settings: EnvironmentSettings, guardFile: GuardFile, isVerified: Bool, wasAlone: Bool
    ) throws(StoreError) {
        self.directory = directory
        self.settings = settings
        self.guardFile = guardFile
        self.isVerified = isVerified
        self.wasAlone = wasAlone
        dataPath = directory + "/data.mdb"
        words = .allocate(capacity: 2)
        words.initialize(repeating: 0, count: 2)

        var environment: OpaquePointer?
        let created = mdb_env_create(&environment)
        guard created == 0, let environment else { throw .from(created, "mdb_env_create", path: dataPath) }
        self.environment = environment
        var number: Int32 = -1
        var lockPage: UnsafeMutableRawPointer?
        do {
            try Opening.reserveReaders(directory, settings)
            lockPage = Opening.mapLockPage(directory)
            try Opening.start(environment, directory, dataPath, settings)
            mdb_env_get_fd(environment, &number)
            identity = try FileFacts.of(number).identity
        } catch {
            mdb_env_close(environment)
            if let lockPage { munmap(lockPage, PageLayout.size) }
            words.deallocate()
            throw error
        }
        descriptor = number
        self.lockPage = lockPage
        // From here on `deinit` cleans up.
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        refreshFilePages()
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        _ = try map(pages: UInt64(info.me_mapsize / PageLayout.size))
    }

    private static func start(
        _ environment: OpaquePointer, _ directory: String, _ path: String, _ settings: EnvironmentSettings
    ) throws(StoreError) {
        func succeed(_ code: Int32, _ call: StaticString) throws(StoreError) {
            if code != 0 { throw .from(code, call, path: path) }
        }
        clmdb_catch_assertions(environment)
        // One more for the table that holds the format.
        try succeed(mdb_env_set_maxdbs(environment, UInt32(Table.limit + 1)), "mdb_env_set_maxdbs")
        try succeed(mdb_env_set_maxreaders(environment, UInt32(settings.maxReaders)), "mdb_env_set_maxreaders")
        try succeed(mdb_env_set_mapsize(environment, settings.mapSize & ~4095), "mdb_env_set_mapsize")
        var flags = MDB_NOTLS | MDB_NORDAHEAD
        if settings.syncPolicy != .everyCommit { flags |= MDB_NOSYNC }
        let code = mdb_env_open(environment, directory, UInt32(flags), 0o600)
        switch code {
        case EACCES, EROFS, EPERM: throw .unusable(path: directory, reason: "no right to write there")
        default: try succeed(code, "mdb_env_open")
        }
        var dead: Int32 = 0
        try succeed(mdb_reader_check(environment, &dead), "mdb_reader_check")
    }

    /// Reserves the space of a new reader table. LMDB makes it as a file with a hole and writes to it where it is mapped,
    /// which on a full disk would end the process (SIGBUS).
    private static func reserveReaders(
        _ directory: String, _ settings: EnvironmentSettings
    ) throws(StoreError) {
        let file = Glibc.open(directory + "/lock.mdb", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        // `mdb_env_open` says what is wrong.
        guard file >= 0 else { return }
        defer { Glibc.close(file) }
        var facts = stat()
        // One that is in use keeps its size: others have it mapped as it is.
        guard fstat(file, &facts) == 0, facts.st_size == 0 else { return }
        // LMDB 0.9: two cache lines and one for each reader, of 64 bytes.
        let code = posix_fallocate(file, 0, off_t((settings.maxReaders + 2) * 64))
        if code != 0 { throw .from(SystemError(errno: code, call: "posix_fallocate")) }
    }

    deinit {
        // In a copy of the process made by fork the locks and the reader table are not ours to touch.
        if !ForkMark.isCopy, !isBroken { mdb_env_close(environment) }
        guarded.withLock { changing in
            for mapping in changing.mappings {
                munmap(UnsafeMutableRawPointer(mutating: mapping.base), Int(mapping.pages) * PageLayout.size)
            }
        }
        if let lockPage { munmap(lockPage, PageLayout.size) }
        words.deallocate()
    }

    /// Waits until no living thread has LMDB's writer lock; false when that took too long. Writing mutex.
    func waitForWriter(within patience: Duration) -> Bool {
        guard let page = lockPage, clmdb_writer_lock_is_held(page) != 0 else { return true }
        let end = MonotonicClock.now().advanced(by: patience)
        while clmdb_writer_lock_is_held(page) != 0 {
            if MonotonicClock.now() >= end { return false }
            MonotonicClock.sleep(for: .milliseconds(1))
        }
        return true
    }

    /// Gives the transaction up in the middle of which LMDB gave up, and the lock that it held. Writing mutex.
    func breakOff() {
        isBroken = true
        // Nothing was committed, so the next one begins where this one began.
        if let lockPage { _ = clmdb_writer_lock_give_up(lockPage) }
    }

    /// Maps the beginning of LMDB's lock file. Only before LMDB opens it: closing any descriptor of it gives up the locks of
    /// this process by which others know that its readers live.
    private static func mapLockPage(_ directory: String) -> UnsafeMutableRawPointer? {
        let file = Glibc.open(directory + "/lock.mdb", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        defer { Glibc.close(file) }
        var facts = stat()
        // Beyond the page in which a file ends there is nothing to read.
        guard fstat(file, &facts) == 0, facts.st_size >= 128,
            let page = mmap(nil, PageLayout.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), page != MAP_FAILED
        else { return nil }
        return page
    }

    /// Whether somebody read something impossible since the last check.
    var isSuspect: Bool { loadRelaxed(words + 1) != 0 }

    /// Notes that something impossible was read, or that it was looked after.
    func setSuspect(_ isSuspect: Bool) { storeRelease(words + 1, isSuspect ? 1 : 0) }

    /// The pages the data file has, as last asked.
    var filePages: UInt64 { loadAcquire(words) }

    /// Asks for the size of the data file.
    func refreshFilePages() {
        var facts = stat()
        if fstat(descriptor, &facts) == 0 {
            storeRelease(words, UInt64(max(0, facts.st_size)) / UInt64(PageLayout.size))
        }
    }

    /// Facts about the open data file.
    func dataFacts() throws(StoreError) -> FileFacts { try FileFacts.of(descriptor) }

    /// Whether the data file of that name is still the one that is open.
    func isCurrent() throws(StoreError) -> Bool {
        try FileFacts.of(dataPath, followingLinks: false)?.identity == identity
    }

    /// A mapping of at least that many pages.
    func map(pages: UInt64) throws(StoreError) -> Mapping {
        let present: Mapping? = guarded.withLock { changing in
            changing.mappings.last.flatMap { $0.pages >= pages ? $0 : nil }
        }
        if let present { return present }
        // Beyond the end of the file there are only addresses; nothing reads there.
        let length = Int(pages) * PageLayout.size
        guard let base = mmap(nil, length, PROT_READ, MAP_SHARED | MAP_NORESERVE, descriptor, 0), base != MAP_FAILED
        else {
            throw .last("mmap")
        }
        let mapping = Mapping(base: UnsafeRawPointer(base), pages: pages)
        guarded.withLock { changing in
            changing.mappings.append(mapping)
            changing.mappings.sort { $0.pages < $1.pages }
        }
        return mapping
    }

    /// The meta page of the last transaction, and the mapping it was read from. While nobody commits.
    func latestMeta() throws(Damage) -> (meta: MetaPage, mapping: Mapping) {
        let last: Mapping? = guarded.withLock { $0.mappings.last }
        guard let last, filePages >= 2 else { throw Damage(kind: .meta, page: 0) }
        let pages = UnsafeRawBufferPointer(start: last.base, count: 2 * PageLayout.size)
        return (try MetaPage.latest(of: pages), last)
    }

    /// The meta page of the last transaction, or one that was just the last.
    func latestMetaWhileOthersWrite() throws(Damage) -> MetaPage {
        var turns = 0
        while true {
            do throws(Damage) { return try latestMeta().meta } catch {
                turns += 1
                // Known to be damaged, most likely; then nobody waits for it to change.
                if turns == (isSuspect ? 3 : 100) { throw error }
                MonotonicClock.sleep(for: .microseconds(200))
            }
        }
    }

    /// Runs `body` on the last snapshot while a transaction keeps its pages, for when others may write.
    private func withSnapshot<Value>(
        _ body: (MetaPage) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let transaction = try beginRead()
        defer { mdb_txn_abort(transaction) }
        let base = try map(pages: 2).base
        var seen: MetaPage?
        var damage = Damage(kind: .meta, page: 0)
        for turn in 0..<1000 {
            let identifier = UInt64(mdb_txn_id(transaction))
            // Chosen again after the look, so its page was not yet being written again; see `SnapshotMeta`.
            if let seen, seen.transaction == identifier { return try body(seen) }
            do throws(Damage) {
                let number = identifier & 1
                seen = try MetaPage(at: base + Int(number) * PageLayout.size, number: number)
            } catch {
                seen = nil
                damage = error
            }
            mdb_txn_reset(transaction)
            if turn > 10 { MonotonicClock.sleep(for: .microseconds(100)) }
            try succeed(mdb_txn_renew(transaction), "mdb_txn_renew")
        }
        throw damaged(damage)
    }

    /// Checks all that LMDB would follow in a write, in a transaction that is about to write.
    func checkStructure() throws(StoreError) {
        do throws(Damage) {
            let meta = try latestMeta().meta
            try check(meta, tablesOnly: false)
        } catch {
            throw damaged(error)
        }
    }

    /// Checks all that LMDB would follow in a write, while others may write.
    ///
    /// - Parameters:
    ///   - onlyIfShort: Only when the file is shorter than its last transaction says: it is cut off, or it ends in free
    ///     pages that were never written.
    ///   - isDeep: Whether the first pages of long values are looked at too.
    func checkSnapshot(onlyIfShort: Bool = false, isDeep: Bool = false) throws(StoreError) {
        try withSnapshot { meta throws(StoreError) in
            refreshFilePages()
            if onlyIfShort, filePages > meta.lastPage { return }
            do throws(Damage) {
                try check(meta, tablesOnly: false, isDeep: isDeep)
            } catch {
                throw damaged(error)
            }
        }
    }

    private func check(_ meta: MetaPage, tablesOnly: Bool, isDeep: Bool = false) throws(Damage) {
        refreshFilePages()
        let pages = min(filePages, meta.lastPage + 1)
        guard let mapping = try? map(pages: pages) else { throw Damage(kind: .meta, page: 0) }
        if tablesOnly {
            try StructureCheck.runOnTables(base: mapping.base, filePages: pages, meta: meta)
        } else {
            // Once something impossible was read, it has to be found.
            try StructureCheck.run(base: mapping.base, filePages: pages, meta: meta, isDeep: isDeep || isSuspect)
        }
    }

    /// The error for damage in this data file.
    func damaged(_ damage: Damage) -> StoreError { .damaged(path: dataPath, detail: damage.detail) }

    /// Opens the tables, makes those that are missing, and compares the format. Inside `GuardFile.exclusively`.
    func openTables() throws(StoreError) {
        if try openExistingTables() { return }
        let transaction = try beginWrite()
        do throws(StoreError) {
            // LMDB will follow what is there.
            try checkStructure()
            isVerified = true
            hasNewVerdict = true
            var opened: [MDB_dbi] = []
            for table in settings.tables + [FormatRecord.table] {
                var number: MDB_dbi = 0
                let flags = MDB_CREATE | (table.keys == .integers ? MDB_INTEGERKEY : 0)
                try succeed(clmdb_dbi_open(transaction, table.name, UInt32(flags), &number), "mdb_dbi_open")
                opened.append(number)
            }
            tables = opened
            let access = Transaction(transaction, opening: self)
            let found = try FormatRecord.read(access)
            if let found, found < settings.format {
                guard let migrate = settings.migrate else {
                    throw .olderFormat(path: dataPath, found: found, supported: settings.format)
                }
                try migrate(found, access)
            }
            if let found, found > settings.format {
                throw .newerFormat(path: dataPath, found: found, supported: settings.format)
            }
            try FormatRecord.write(settings.format, access)
            if let failure = access.failure { throw failure }
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        hasWritten = true
        try succeed(clmdb_commit(transaction), "mdb_txn_commit")
        refreshFilePages()
    }

    private func beginRead() throws(StoreError) -> OpaquePointer {
        var transaction: OpaquePointer?
        let code = mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
        guard code == 0, let transaction else { throw .fromReading(code, "mdb_txn_begin", path: dataPath) }
        return transaction
    }

    /// Begins a write transaction before there is a turn to take; others may have the files open, and be in the middle of one.
    private func beginWrite() throws(StoreError) -> OpaquePointer {
        guard waitForWriter(within: min(settings.openingPatience, .seconds(5))) else {
            throw .busy(path: directory, process: 0)
        }
        var transaction: OpaquePointer?
        try succeed(mdb_txn_begin(environment, nil, 0, &transaction), "mdb_txn_begin")
        guard let transaction else { throw .closed }
        return transaction
    }

    /// Puts right what a crash of the system may have mixed. Inside `GuardFile.exclusively`, after the structure was checked.
    func recover() throws(StoreError) {
        guard let recover = settings.recover else { return }
        let transaction = try beginWrite()
        do throws(StoreError) {
            let access = Transaction(transaction, opening: self)
            try recover(access)
            if let failure = access.failure { throw failure }
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        hasWritten = true
        try succeed(clmdb_commit(transaction), "mdb_txn_commit")
        refreshFilePages()
    }

    /// Opens the tables if all are there in the right format.
    private func openExistingTables() throws(StoreError) -> Bool {
        let format = try withSnapshot { meta throws(StoreError) -> UInt32? in
            do throws(Damage) {
                try check(meta, tablesOnly: true)
                let pages = min(filePages, meta.lastPage + 1)
                guard let mapping = try? map(pages: pages) else { throw Damage(kind: .meta, page: 0) }
                return try FormatRecord.read(PageTree(base: mapping.base, count: pages), main: meta.main)
            } catch {
                throw damaged(error)
            }
        }
        if let format, format > settings.format {
            throw .newerFormat(path: dataPath, found: format, supported: settings.format)
        }
        guard format == settings.format else { return false }
        let transaction = try beginRead()
        var opened: [MDB_dbi] = []
        for table in settings.tables + [FormatRecord.table] {
            var number: MDB_dbi = 0
            let flags = table.keys == .integers ? MDB_INTEGERKEY : 0
            let code = clmdb_dbi_open(transaction, table.name, UInt32(flags), &number)
            if code == 0 {
                opened.append(number)
                continue
            }
            mdb_txn_abort(transaction)
            if code == MDB_NOTFOUND { return false }
            throw .from(code, "mdb_dbi_open", path: dataPath)
        }
        // Handles outlive the transaction only when it commits.
        try succeed(mdb_txn_commit(transaction), "mdb_txn_commit")
        tables = opened
        return true
    }

    private func succeed(_ code: Int32, _ call: StaticString) throws(StoreError) {
        if code != 0 { throw .from(code, call, path: dataPath) }
    }
}

/// The one row of the table that says which version the other tables have.
enum FormatRecord {
    static let table = Table(0, "trawl-format", .bytes)
    private static let key: StaticString = "format"

    private static var keyBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
    }

    static func read(_ tree: PageTree, main: TreeRecord) throws(Damage) -> UInt32? {
        guard let record = try tree.table(table, in: main),
            let found = try tree.find(BytesKey(bytes: keyBytes), in: record)
        else { return nil }
        let value = try tree.value(of: found.node, on: found.page)
        return value.count == 4 ? value.loadUnaligned(as: UInt32.self) : nil
    }

    static func read(_ transaction: borrowing Transaction) throws(StoreError) -> UInt32? {
        let value = try transaction.rawGet(transaction.formatTable, keyBytes)
        return value.flatMap { $0.count == 4 ? $0.loadUnaligned(as: UInt32.self) : nil }
    }

    static func write(_ format: UInt32, _ transaction: borrowing Transaction) throws(StoreError) {
        var format = format
        try withUnsafeBytes(of: &format) { bytes throws(StoreError) in
            try transaction.rawPut(transaction.formatTable, keyBytes, bytes, 0)
        }
    }
}
