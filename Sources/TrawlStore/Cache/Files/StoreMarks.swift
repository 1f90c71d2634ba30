import CTrawlBlob
import Glibc
import TrawlPlatform

/// Whether files may lie in a store that no record refers to.
///
/// Each process that stores blobs has a file of its own in `storing`, locked while it lives, and takes it away when it
/// closes in order. One that nobody holds is that of a process that was killed: whoever opens the store next takes it
/// over, holds it while it looks for orphans, and takes it away when it is through. So it does not matter who else
/// lives. Who closes the store before leaves that one for the next, and none of its own besides: one is enough.
final class StoreMarks: Sendable {
    private struct State {
        var own: Mark?
        /// That of processes that were killed.
        var adopted: Mark?
    }

    private final class Mark: Sendable {
        let name: String
        private let file: Descriptor

        init(_ name: String, _ file: consuming Descriptor) {
            self.name = name
            self.file = file
        }

        deinit { FileLock.release(file.rawValue) }
    }

    private let path: String
    private let state = Guarded(State())

    init(in directory: String) {
        path = directory + "/storing"
    }

    /// Says that blobs may lie there without a record.
    func mark() {
        state.withLock { state in
            // The directory may have been removed, and made anew.
            if let name = state.own?.name, access(path + "/" + name, F_OK) == 0 { return }
            state.own = make()
        }
    }

    /// Leaves one that nobody holds, when there are blobs: those are nobody's from now on. Who looks for orphans next
    /// takes it over.
    static func leave(in directory: String) {
        if access(directory + "/blobs", F_OK) == 0 { _ = StoreMarks(in: directory).make() }
    }

    /// Takes over what processes left that were killed.
    ///
    /// - Returns: Whether there was something. What cannot be listed now stays for the next to open the store.
    func adopt() -> Bool {
        guard let names = try? FileNames(in: path) else { return false }
        return state.withLock { state in
            var isFound = false
            for name in names where name != state.own?.name {
                let opened = cblob_openat(AT_FDCWD, path + "/" + name, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0)
                guard opened >= 0, let file = try? BlobDirectory.adopt(opened, "openat"),
                    FileLock.take(file.rawValue) == 0
                else { continue }
                isFound = true
                // One stands for all.
                if state.adopted == nil {
                    state.adopted = Mark(name, file)
                } else {
                    unlink(path + "/" + name)
                }
            }
            return isFound
        }
    }

    /// All orphans there were when `adopt` was called are gone.
    func swept() {
        state.withLock { state in
            if let mark = state.adopted.take() { unlink(path + "/" + mark.name) }
        }
    }

    /// The store is closed.
    ///
    /// - Parameter isClean: Whether this process leaves no file without a record, and knows of none.
    func end(isClean: Bool) {
        state.withLock { state in
            // The directory may have been removed, and made anew.
            let hasOther = state.adopted.map { access(path + "/" + $0.name, F_OK) == 0 } ?? false
            if let mark = state.own.take(), isClean || hasOther { unlink(path + "/" + mark.name) }
            // Whoever opens the store next takes it over.
            state.adopted = nil
        }
    }

    /// A new file, locked. Who looks between making and locking it takes it for one of the dead; then another is made.
    private func make() -> Mark? {
        for _ in 0..<16 {
            let name = String(UInt64.random(in: .min ... .max), radix: 16)
            var made = cblob_openat(AT_FDCWD, path + "/" + name, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0o600)
            if made == -ENOENT, mkdir(path, 0o700) == 0 || errno == EEXIST {
                made = cblob_openat(AT_FDCWD, path + "/" + name, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0o600)
            }
            if made == -EEXIST { continue }
            guard made >= 0, let file = try? BlobDirectory.adopt(made, "openat") else { return nil }
            var (size, changed, links): (Int64, Int64, Int64) = (0, 0, 0)
            if FileLock.take(file.rawValue) == 0, cblob_status(file.rawValue, &size, &changed, &links) == 0,
                links > 0
            {
                return Mark(name, file)
            }
        }
        return nil
    }
}
