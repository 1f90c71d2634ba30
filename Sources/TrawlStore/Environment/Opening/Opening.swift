import CTrawlLMDB
import Glibc
import TrawlHTTP
import TrawlPlatform

/// One opening of an environment's files: LMDB's handle, and a mapping of the data file of our own for checked reads.
///
/// An environment has one at a time. When its files are replaced, snapshots that are open keep the old one alive.
///
/// `@unchecked Sendable`: what changes after `init` is behind `guarded`, in `words`, or, where it says so, touched only
/// while the environment's writing mutex is held.
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

    /// LMDB's handles that are broken: closing them would use them, so their memory stays, and is known to stay.
    private static let givenUp = Guarded<[UInt]>([])

    let directory: String
    let dataPath: String
    let identity: FileIdentity
    /// Which file LMDB has its locks in; among `OpenLockFiles` until LMDB's handle is closed.
    let lockFile: FileIdentity
    let settings: EnvironmentSettings
    let guardFile: GuardFile
    let environment: OpaquePointer
    /// LMDB's numbers of the tables, by our indexes.
    var tables: [MDB_dbi] = []
    /// Whether the structure was checked, by this process or another; writing mutex.
    var isVerified: Bool
    /// Whether the verdict came from a check of this process and is to be noted; writing mutex.
    var hasNewVerdict = false
    /// Whether LMDB gave up in the middle of a transaction, so that neither that nor its handle must be used again;
    /// writing mutex.
    var isBroken = false
    /// Looks at what LMDB is about to follow; kept for the next transaction. Writing mutex.
    var pages: ChangeCheck?
    /// The last page of the last snapshot a transaction began with; writing mutex.
    var lastPage: UInt64 = 0
    /// Whether this process committed anything; writing mutex.
    var hasWritten = false
    /// Whether no other process had the files open before.
    let wasAlone: Bool
    /// Whether it stands in the place of files that were damaged; set before others have it.
    var followsDamage = false
    /// Whether it made the files, since there were none, or none that could be used; set before others have it.
    var isMadeAnew = false

    private let descriptor: Int32
    /// The first page of LMDB's lock file.
    private let lockPage: UnsafeMutableRawPointer?
    private let guarded = Guarded(Changing())
    /// The pages the file is known to have, whether somebody saw damage, and whether LMDB has no mapping any more.
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
        words = .allocate(capacity: 3)
        words.initialize(repeating: 0, count: 3)

        var environment: OpaquePointer?
        let created = mdb_env_create(&environment)
        guard created == 0, let environment else { throw .from(created, "mdb_env_create", path: dataPath) }
        self.environment = environment
        var number: Int32 = -1
        var lockPage: UnsafeMutableRawPointer?
        do throws(StoreError) {
            try Opening.refuseSecond(directory)
            try Opening.reserveReaders(directory, settings)
            lockPage = Opening.mapLockPage(directory)
            try Opening.begin(dataPath, settings)
            try Opening.start(environment, directory, dataPath, settings)
            guard let file = try Opening.lockFile(in: directory) else {
                throw .unusable(path: directory, reason: "is removed again and again")
            }
            lockFile = file
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
        OpenLockFiles.insert(lockFile)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        refreshFilePages()
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        _ = try map(pages: UInt64(info.me_mapsize / PageLayout.size))
    }

    /// Makes a data file that is not there yet, or empty, with pages of 4 KiB. LMDB would take the system's size, which
    /// is larger on some machines, and keeps to that of a file it finds.
    private static func begin(_ path: String, _ settings: EnvironmentSettings) throws(StoreError) {
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        // `mdb_env_open` says what is wrong.
        guard file >= 0 else { return }
        // LMDB has no lock on this file, so closing it gives none away.
        defer { Glibc.close(file) }
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_size == 0 else { return }
        let pages = MetaPage.fresh(mapSize: UInt64(settings.mapSize & ~4095))
        let count = pwrite(file, pages, pages.count, 0)
        if count == pages.count { return }
        let number = count < 0 ? errno : ENOSPC
        // What is empty is begun anew.
        ftruncate(file, 0)
        throw .from(SystemError(errno: number, call: "pwrite \(path)"))
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
        try succeed(mdb_env_open(environment, directory, UInt32(flags), 0o600), "mdb_env_open")
        var dead: Int32 = 0
        try succeed(mdb_reader_check(environment, &dead), "mdb_reader_check")
    }

    /// Which file the name of LMDB's lock file leads to; `nil` when there is none.
    static func lockFile(in directory: String) throws(StoreError) -> FileIdentity? {
        try FileFacts.of(directory + "/lock.mdb", followingLinks: true)?.identity
    }

    /// Sees that no earlier handle of this process has the lock file open, before anything opens it. Inside
    /// `GuardFile.exclusively`, so nobody opens it in between.
    private static func refuseSecond(_ directory: String) throws(StoreError) {
        guard let file = try lockFile(in: directory), OpenLockFiles.contains(file) else { return }
        throw .unusable(path: directory + "/data.mdb", reason: "what this process had open of it is still being read")
    }

    /// Reserves the space of a new reader table. LMDB makes it as a file with a hole and writes to it where it is
    /// mapped, which on a full disk would end the process (SIGBUS).
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
        let code = posix_fallocate(file, 0, off_t(clmdb_lock_file_size(settings.maxReaders)))
        if code != 0 { throw .from(SystemError(errno: code, call: "posix_fallocate")) }
    }

    deinit {
        // In a copy of the process made by fork the locks and the reader table are not ours to touch.
        if !ForkMark.isCopy {
            if isBroken {
                // Nobody uses it again or closes it, so it is in no other's way.
                Opening.givenUp.withLock { $0.append(UInt(bitPattern: environment)) }
            } else {
                mdb_env_close(environment)
            }
            OpenLockFiles.remove(lockFile)
        }
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

    /// Notes whether a code says that LMDB gave up in the middle. Writing mutex.
    func noteAssertion(_ code: Int32) {
        if code == Int32(clmdb_asserted) { isBroken = true }
    }

    /// Ends a write transaction of which nothing is to stay. Writing mutex.
    func abandon(_ transaction: OpaquePointer) {
        if isBroken { giveUpWriterLock() } else { mdb_txn_abort(transaction) }
    }

    /// Commits a write transaction, and says what LMDB said. Writing mutex.
    func commit(_ transaction: OpaquePointer) -> Int32 {
        let code = clmdb_commit(transaction)
        noteAssertion(code)
        if isBroken { giveUpWriterLock() }
        return code
    }

    /// Gives up the lock of a transaction in the middle of which LMDB gave up: nobody else can.
    private func giveUpWriterLock() {
        // Nothing was committed, so the next one begins where this one began.
        if let lockPage { _ = clmdb_writer_lock_give_up(lockPage) }
    }

    /// Maps the beginning of LMDB's lock file. Only before LMDB opens it: closing any descriptor of it gives up the
    /// locks of this process by which others know that its readers live.
    private static func mapLockPage(_ directory: String) -> UnsafeMutableRawPointer? {
        let file = Glibc.open(directory + "/lock.mdb", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        defer { Glibc.close(file) }
        var facts = stat()
        // Beyond the page in which a file ends there is nothing to read.
        guard fstat(file, &facts) == 0, facts.st_size >= clmdb_lock_file_size(0),
            let page = mmap(nil, PageLayout.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), page != MAP_FAILED
        else { return nil }
        return page
    }

    /// Whether somebody read something impossible since the last check.
    var isSuspect: Bool { loadRelaxed(words + 1) != 0 }

    /// Notes that something impossible was read, or that it was looked after.
    func setSuspect(_ isSuspect: Bool) { storeRelease(words + 1, isSuspect ? 1 : 0) }

    /// Notes that LMDB has no mapping any more: from now on its handle can only be closed.
    func noteMapLost() { storeRelease(words + 2, 1) }

    /// Throws when LMDB has no mapping any more. Before it begins a transaction, where its mapping does not move.
    func requireMap() throws(StoreError) {
        if loadAcquire(words + 2) != 0 { throw .from(ENOMEM, "mdb_env_set_mapsize", path: dataPath) }
    }

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

    /// The error for damage in this data file.
    func damaged(_ damage: Damage) -> StoreError { .damaged(path: dataPath, detail: damage.detail) }

    /// Throws what a code of LMDB says, unless it is success.
    func succeed(_ code: Int32, _ call: StaticString) throws(StoreError) {
        if code != 0 { throw .from(code, call, path: dataPath) }
    }
}
