import CBlob
import Glibc
import TrawlPlatform

/// A coordinator's session, as far as the cache is concerned: alive as long as this value, and at most as its process.
///
/// It is a file with a lock, which the system gives up when the process ends in whatever way. So nobody can take a process
/// of the same number, or one in another container, for the owner.
package final class CacheSession: Sendable {
    /// What its records are marked with.
    package let id: SessionID
    private let lock: Descriptor
    private let path: String

    fileprivate init(id: SessionID, path: String) throws(SystemError) {
        self.id = id
        self.path = path
        let opened = cblob_openat(AT_FDCWD, path, O_CREAT | O_RDWR | O_NOFOLLOW, 0o600)
        lock = try BlobDirectory.adopt(opened, "openat")
        let locked = cblob_lock(lock.rawValue, 1, 0)
        if locked < 0 { throw SystemError(errno: -locked, call: "flock") }
    }

    /// Takes its file away; whoever looks now sees that it is over.
    fileprivate func end() {
        unlink(path)
    }
}

extension CacheStore {
    private var sessionDirectory: String { directory + "/sessions" }

    private func sessionPath(_ id: SessionID) -> String {
        let digits = id.withBytes { bytes in
            bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        }
        return sessionDirectory + "/" + digits.joined()
    }

    /// Starts a session. Only coordinators do, and only when something is to be stored for a session.
    package func beginSession(_ id: SessionID = .make()) throws(StoreError) -> CacheSession {
        do throws(SystemError) {
            if mkdir(sessionDirectory, 0o700) != 0, errno != EEXIST {
                throw SystemError(errno: errno, call: "mkdir")
            }
            return try CacheSession(id: id, path: sessionPath(id))
        } catch {
            throw .from(error)
        }
    }

    /// Ends a session and removes what was stored for it: how many records.
    @discardableResult
    package func endSession(_ session: CacheSession) -> CacheOutcome {
        let outcome = perform(.removeMatching(CacheFilter(storageClass: .session(session.id))))
        session.end()
        return outcome
    }

    /// Removes what sessions stored whose coordinators are dead: how many sessions. For coordinators at their start; a
    /// worker never does this.
    @discardableResult
    package func purgeDeadSessions() -> Int {
        var purged = 0
        for id in sessionsWithRecords() where !isAlive(id) {
            if case .removed = perform(.removeMatching(CacheFilter(storageClass: .session(id)))) { purged += 1 }
        }
        removeDeadFiles()
        return purged
    }

    /// Whether a session may have left something: there is a file of one that nobody holds. Looks at one directory.
    package var hasUnheldSession: Bool {
        let opened = cblob_openat(AT_FDCWD, sessionDirectory, O_RDONLY | O_DIRECTORY, 0)
        guard opened >= 0 else { return false }
        var error: Int32 = 0
        guard let names = cblob_list(opened, &error) else {
            Glibc.close(opened)
            return false
        }
        defer { cblob_list_end(names) }
        while let name = cblob_list_next(names) {
            if !Self.isHeld(sessionDirectory + "/" + String(cString: name)) { return true }
        }
        return false
    }

    /// The sessions that have records.
    func sessionsWithRecords() -> [SessionID] {
        var found: [SessionID] = []
        do throws(StoreError) {
            try environment.read { (snapshot) throws(StoreError) in
                var position = ScopedKey(SessionID(0, 0), 0)
                while true {
                    let count = found.count
                    try position.withBytes { (start) throws(StoreError) in
                        try snapshot.scan(CacheSchema.scoped, from: start) { key, _ in
                            guard let key = ScopedKey.read(key) else { return true }
                            if key.session == found.last { return true }
                            found.append(key.session)
                            return false
                        }
                    }
                    guard found.count > count, let last = found.last else { return }
                    position = ScopedKey(last, .max)
                }
            }
        } catch {
            // What cannot be read now is purged another time.
        }
        return found
    }

    /// Whether the coordinator of a session lives.
    private func isAlive(_ id: SessionID) -> Bool {
        Self.isHeld(sessionPath(id))
    }

    private static func isHeld(_ path: String) -> Bool {
        let opened = cblob_openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW, 0)
        // Without rights to look it is nobody's to purge.
        guard opened >= 0 else { return opened != -ENOENT }
        defer { Glibc.close(opened) }
        return cblob_lock(opened, 1, 0) < 0
    }

    /// Removes files of sessions whose coordinators died before they stored anything, or whose records are purged.
    private func removeDeadFiles() {
        let opened = cblob_openat(AT_FDCWD, sessionDirectory, O_RDONLY | O_DIRECTORY, 0)
        guard opened >= 0 else { return }
        var error: Int32 = 0
        guard let names = cblob_list(opened, &error) else {
            Glibc.close(opened)
            return
        }
        defer { cblob_list_end(names) }
        while let name = cblob_list_next(names) {
            let path = sessionDirectory + "/" + String(cString: name)
            let file = cblob_openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW, 0)
            guard file >= 0 else { continue }
            var (size, changed, links): (Int64, Int64, Int64) = (0, 0, 0)
            let found = cblob_status(file, &size, &changed, &links)
            // A file made a moment ago may be about to be locked.
            let isOld = found == 0 && Int64(time(nil)) - changed > 60
            if isOld, cblob_lock(file, 1, 0) == 0 { unlink(path) }
            Glibc.close(file)
        }
    }
}
