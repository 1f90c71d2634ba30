import CTrawlBlob
import Glibc
package import TrawlHTTP
import TrawlPlatform

/// A coordinator's session in one environment: alive as long as this value, and at most as its process.
///
/// It is a file with a lock, which the system gives up when the process ends in whatever way. So nobody can take a
/// process of the same number, or one in another container, for the owner.
package final class OpenSession: Sendable {
    /// What its records are marked with.
    package let id: SessionID
    private let lock: Descriptor
    private let path: String

    fileprivate init(id: SessionID, path: String, patience: Duration) throws(SystemError) {
        self.id = id
        self.path = path
        let opened = cblob_openat(AT_FDCWD, path, O_CREAT | O_RDWR | O_NOFOLLOW, 0o600)
        lock = try BlobDirectory.adopt(opened, "openat")
        // Nobody else ever has the lock but who looks whether somebody has (`isHeld`).
        let locked = FileLock.take(lock.rawValue, within: patience)
        if locked != 0 { throw SystemError(errno: locked, call: "flock") }
    }

    deinit { FileLock.release(lock.rawValue) }

    /// Takes its file away; whoever looks now sees that it is over.
    func end() {
        unlink(path)
    }
}

/// The directory `sessions` of an environment: a file for each session that stored something there.
struct SessionFiles {
    private let environment: String
    private let directory: String

    /// - Parameter environment: The environment's directory.
    init(in environment: String) {
        self.environment = environment
        directory = environment + "/sessions"
    }

    /// Starts a session.
    ///
    /// - Parameter patience: How long those are waited for who look at its file.
    func begin(_ id: SessionID, patience: Duration = FileLock.moment) throws(StoreError) -> OpenSession {
        try StoreDirectory.prepare(environment)
        try StoreDirectory.make(directory)
        do throws(SystemError) {
            return try OpenSession(id: id, path: path(of: id), patience: patience)
        } catch {
            throw .from(error)
        }
    }

    /// Whether the coordinator of a session lives.
    func isAlive(_ id: SessionID) -> Bool { Self.isHeld(path(of: id)) }

    /// Whether there is a file of a session that nobody holds. Where they cannot be listed, that is seen another time.
    var hasUnheld: Bool {
        var isFound = false
        try? forEachPath { path in
            isFound = !Self.isHeld(path)
            return !isFound
        }
        return isFound
    }

    /// The first halves of the identifiers of sessions that live.
    ///
    /// - Throws: When they cannot be listed: any may live then.
    func heldFirstHalves() throws(StoreError) -> Set<UInt64> {
        var held: Set<UInt64> = []
        do throws(SystemError) {
            try forEachPath { path in
                let name = path.utf8.suffix(2 * SessionID.size)
                if Self.isHeld(path), let half = Self.firstHalf(name) { held.insert(half) }
                return true
            }
        } catch {
            throw .from(error)
        }
        return held
    }

    /// Removes files of sessions whose coordinators died before they stored anything, or whose records are purged. They
    /// stay where they cannot be listed.
    ///
    /// - Parameters:
    ///   - afterTwoPurges: Whether they stay the first time, marked by a byte, and go a minute later or more.
    ///   - now: Seconds since 1970; the time when nothing is given.
    func removeDead(afterTwoPurges: Bool = false, at now: Int64? = nil) {
        let now = now ?? Int64(time(nil))
        try? forEachPath { path in
            let file = cblob_openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW, 0)
            guard file >= 0 else { return true }
            var (size, changed, links): (Int64, Int64, Int64) = (0, 0, 0)
            let found = cblob_status(file, &size, &changed, &links)
            // A file made a moment ago may be about to be locked.
            let isOld = found == 0 && now - changed > 60
            if isOld, FileLock.take(file) == 0 {
                if afterTwoPurges, size == 0 { _ = ftruncate(file, 1) } else { unlink(path) }
                FileLock.release(file)
            }
            Glibc.close(file)
            return true
        }
    }

    private func path(of id: SessionID) -> String {
        let digits = withUnsafeBytes(of: (id.first, id.last)) { bytes in
            bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        }
        return directory + "/" + digits.joined()
    }

    /// The first half of the identifier that a file's name says.
    private static func firstHalf(_ name: some Collection<UInt8>) -> UInt64? {
        guard name.count == 2 * SessionID.size else { return nil }
        // The name has the bytes as they lie in memory.
        return UInt64(String(decoding: name.prefix(16), as: UTF8.self), radix: 16)?.bigEndian
    }

    private func forEachPath(_ body: (String) -> Bool) throws(SystemError) {
        for name in try FileNames(in: directory) {
            if !body(directory + "/" + name) { return }
        }
    }

    private static func isHeld(_ path: String) -> Bool {
        let opened = cblob_openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW, 0)
        // Without rights to look it is nobody's to purge.
        guard opened >= 0 else { return opened != -ENOENT }
        defer { Glibc.close(opened) }
        guard FileLock.take(opened) == 0 else { return true }
        // Closing alone would leave it to a process that is just being started.
        FileLock.release(opened)
        return false
    }
}
