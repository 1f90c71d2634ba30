import TrawlPlatform

/// The files `lock.mdb` that LMDB has open in this process, so that none is opened a second time.
///
/// Whoever closes any descriptor of a file gives up all locks of the process on it (fcntl(2)), and LMDB's close clears
/// the process's places of readers: of two handles the one that stays has neither, and others use pages again that it
/// reads (lmdb.h, "Caveats"). So a file is open here until `mdb_env_close` has returned. A weak reference to its
/// opening cannot tell: it is nil as soon as `deinit` begins.
///
/// Nothing else is locked or called while its lock is held.
enum OpenLockFiles {
    /// How often each: a file's number is given to another one as soon as it is free, before its end is told here.
    private static let files = Guarded<[FileIdentity: Int]>([:])

    /// LMDB has opened it.
    static func insert(_ file: FileIdentity) {
        files.withLock { $0[file, default: 0] += 1 }
    }

    /// LMDB has closed it.
    static func remove(_ file: FileIdentity) {
        files.withLock { files in
            let left = files[file, default: 0] - 1
            files[file] = left > 0 ? left : nil
        }
    }

    /// Whether LMDB has it open.
    static func contains(_ file: FileIdentity) -> Bool {
        files.withLock { $0[file] != nil }
    }
}
