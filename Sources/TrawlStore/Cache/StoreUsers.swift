import CBlob
import Glibc
import TrawlPlatform

/// Who has the directory open, and whether files may lie there that no record refers to.
///
/// Every user holds a shared lock on the file `users`; a process that dies gives it up. The file `unswept` is there from the
/// first blob on until the last user closes in order. So the next to come alone knows whether to look for orphans.
final class StoreUsers: Sendable {
    private let lock: Descriptor
    private let marker: String
    private let isMarked = Guarded(false)
    /// Whether nobody else has the directory open.
    let isAlone: Bool

    init(in directory: String) throws(SystemError) {
        marker = directory + "/unswept"
        let opened = cblob_openat(AT_FDCWD, directory + "/users", O_CREAT | O_RDWR | O_NOFOLLOW, 0o600)
        lock = try BlobDirectory.adopt(opened, "openat")
        isAlone = cblob_lock(lock.rawValue, 1, 0) == 0
        // Whoever has it alone gives that up at once.
        let shared = cblob_lock(lock.rawValue, 0, 1)
        if shared < 0, shared != -EINTR { throw SystemError(errno: -shared, call: "flock") }
    }

    /// Whether someone stored blobs and did not close in order.
    var isUnswept: Bool { access(marker, F_OK) == 0 }

    /// Says that blobs may lie there without a record.
    func mark() {
        let isNew = isMarked.withLock { isMarked in
            defer { isMarked = true }
            return !isMarked
        }
        guard isNew else { return }
        let made = cblob_openat(AT_FDCWD, marker, O_CREAT | O_RDWR | O_NOFOLLOW, 0o600)
        if made >= 0 { Glibc.close(made) }
    }

    /// The directory is closed.
    ///
    /// - Parameter isClean: Whether this process leaves no file without a record, and knows of none.
    func end(isClean: Bool) {
        if isClean, cblob_lock(lock.rawValue, 1, 0) == 0 { unlink(marker) }
        _ = cblob_lock(lock.rawValue, 0, 0)
    }
}
