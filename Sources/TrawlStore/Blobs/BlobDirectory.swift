import CTrawlBlob
import Glibc
package import TrawlPlatform

/// The directory of blobs: `ab/cdef…` for each, and `spool/` for what has no name of its own yet.
///
/// Files come and go under the cache environment's writer lock, so a file that no row of the table `blobs` names, seen
/// by who holds that lock, is nobody's. Readers open without it: a file that is gone is a miss.
package final class BlobDirectory: Sendable {
    private let first: Root
    /// Those that took its place. The last is in use; calls may be under way on the others, so they stay open.
    private let later: Guarded<[Root]>
    private let directory: String
    /// Where it is, for messages and for those who ask where a body is.
    package let path: String
    /// Whether it was there when it was opened.
    let wasThere: Bool
    /// Says that something may lie there which nobody refers to.
    let marks: StoreMarks

    /// Opens the directory `blobs` of a store, or makes it.
    package init(in directory: String) throws(SystemError) {
        self.directory = directory
        path = directory + "/blobs"
        marks = StoreMarks(in: directory)
        wasThere = mkdir(path, 0o700) != 0
        if wasThere, errno != EEXIST { throw SystemError(errno: errno, call: "mkdir") }
        first = try Root(path)
        later = Guarded([])
    }

    /// A directory as it was opened.
    private final class Root: Sendable {
        private let file: Descriptor

        init(_ path: String) throws(SystemError) {
            file = try BlobDirectory.adopt(cblob_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0), "openat")
        }

        var rawValue: Int32 { file.rawValue }
    }

    private var root: Root { later.withLock { $0.last } ?? first }

    /// Opens what is there now, when that is another directory, or none: somebody removed the one that is open.
    ///
    /// - Returns: Whether it was another.
    @discardableResult
    func refresh() -> Bool {
        var (held, there) = (stat(), stat())
        guard fstat(root.rawValue, &held) == 0 else { return false }
        if stat(path, &there) == 0, held.st_ino == there.st_ino, held.st_dev == there.st_dev { return false }
        // With what is above it, perhaps. What is there now may be another's.
        do throws(StoreError) { try StoreDirectory.prepare(directory) } catch { return false }
        mkdir(path, 0o700)
        guard let next = try? Root(path) else { return false }
        later.withLock { $0.append(next) }
        return true
    }

    // MARK: - Writing

    /// Makes a file for a body whose digest is not known yet.
    func makeSpool() throws(SystemError) -> SpoolFile {
        guard UnnamedFile.canBeNamed else {
            refresh()
            return try makeNamedSpool()
        }
        var unnamed = cblob_open_unnamed(root.rawValue, 0o400)
        // In a directory that is gone that fails for one reason or another.
        if unnamed < 0, refresh() { unnamed = cblob_open_unnamed(root.rawValue, 0o400) }
        switch unnamed {
        case -EOPNOTSUPP, -EISDIR, -EINVAL, -ENOSYS: break
        default: return SpoolFile(file: try Self.adopt(unnamed, "openat"), name: nil)
        }
        return try makeNamedSpool()
    }

    /// Names tried before a spool is given up.
    private static let mostNames = 16

    /// The same where files cannot be without a name; locked, so that a sweep sees that it is in use.
    ///
    /// - Parameter lock: Locks a file: zero, or `errno`.
    /// - Throws: Also what locking says where it is not to be had: a sweep would take the file.
    func makeNamedSpool(
        lock: (Int32) -> Int32 = { FileLock.take($0) }
    ) throws(SystemError) -> SpoolFile {
        // Should this process be killed, somebody must come to look for the file.
        marks.mark()
        for _ in 0..<Self.mostNames {
            let name = "spool/\(String(UInt64.random(in: .min ... .max), radix: 16)).part"
            let made = cblob_openat(root.rawValue, name, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0o400)
            if made == -EEXIST { continue }
            if made == -ENOENT {
                if mkdirat(root.rawValue, "spool", 0o700) == 0 || errno == EEXIST { continue }
                throw SystemError(errno: errno, call: "mkdirat")
            }
            let file = try Self.adopt(made, "openat")
            let locked = lock(file.rawValue)
            // A sweep may have come between; then it is another name's turn.
            if locked == EWOULDBLOCK || locked == 0 && faccessat(root.rawValue, name, F_OK, 0) != 0 { continue }
            guard locked == 0 else {
                _ = unlinkat(root.rawValue, name, 0)
                throw SystemError(errno: locked, call: "flock")
            }
            return SpoolFile(file: file, name: name)
        }
        throw SystemError(errno: EEXIST, call: "openat")
    }

    /// Gives a spooled body its name. Under the writer lock; may be repeated.
    ///
    /// A file of that name and another length is damaged and replaced.
    func publish(_ spool: borrowing SpoolFile, as digest: ContentDigest, length: UInt64) throws(SystemError) {
        var result = link(spool, as: digest)
        if result == -ENOENT {
            refresh()
            makeSubdirectory(of: digest)
            result = link(spool, as: digest)
        }
        if result == -EEXIST {
            if let size = size(of: digest), size == length { return }
            remove(digest)
            result = link(spool, as: digest)
        }
        if result < 0 { throw SystemError(errno: -result, call: "linkat") }
    }

    /// Takes a blob's name away; who has it open can read on. Whether there was one.
    @discardableResult
    func remove(_ digest: ContentDigest) -> Bool { removal(of: digest) == 0 }

    /// The same: zero, or `errno`.
    func removal(of digest: ContentDigest) -> Int32 {
        digest.withPath { unlinkat(root.rawValue, $0, 0) == 0 ? 0 : errno }
    }

    /// Takes the name away from the file that a reader has open, unless another has it by now. Under the writer lock.
    ///
    /// - Returns: Whether it was that file's, also where it could not be taken away.
    func remove(_ reader: BlobReader) -> Bool {
        guard let file = reader.identity else { return false }
        return reader.reference.digest.withPath { path -> Bool in
            var status = stat()
            guard fstatat(root.rawValue, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
            let found = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
            if found == file { _ = unlinkat(root.rawValue, path, 0) }
            return found == file
        }
    }

    // MARK: - Reading

    /// Opens a blob. `ENOENT` when there is none of that name.
    func open(_ digest: ContentDigest) throws(SystemError) -> Descriptor {
        // Not through a link, and without waiting should something else than a file be there.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        var opened = digest.withPath { cblob_openat(root.rawValue, $0, flags, 0) }
        if opened == -ENOENT, refresh() { opened = digest.withPath { cblob_openat(root.rawValue, $0, flags, 0) } }
        return try Self.adopt(opened, "openat")
    }

    /// The length of a blob's file, when there is one.
    func size(of digest: ContentDigest) -> UInt64? {
        digest.withPath { path in
            var status = stat()
            guard fstatat(root.rawValue, path, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG
            else { return nil }
            return UInt64(status.st_size)
        }
    }

    // MARK: - Sweeping

    /// The names of the directories there are that blobs may lie in.
    func directories() throws(SystemError) -> [String] {
        try names(in: ".").filter { $0.utf8.count == 2 && $0.utf8.allSatisfy(Self.isDigit) }
    }

    /// Whether digests are written with such a digit.
    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    /// The blobs of one of these directories.
    func digests(in directory: String) throws(SystemError) -> [ContentDigest] {
        var found: [ContentDigest] = []
        for name in try names(in: directory) {
            if let digest = ContentDigest(directory: directory, name: name) { found.append(digest) }
        }
        return found
    }

    /// Removes spool files that nobody writes to.
    ///
    /// - Throws: Once the others are gone, when one could not be removed.
    func sweepSpools() throws(SystemError) {
        var failure: SystemError?
        for name in try names(in: "spool") {
            let path = "spool/" + name
            let opened = cblob_openat(root.rawValue, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0)
            guard opened >= 0 else {
                if !Self.isNoFile(-opened) {
                    failure = SystemError(errno: -opened, call: "open \(self.path)/\(path)")
                }
                continue
            }
            let locked = FileLock.take(opened)
            if locked == 0 {
                if unlinkat(root.rawValue, path, 0) != 0, !Self.isNoFile(errno) {
                    failure = SystemError(errno: errno, call: "unlink \(self.path)/\(path)")
                }
            } else if locked != EWOULDBLOCK {
                failure = SystemError(errno: locked, call: "flock \(self.path)/\(path)")
            }
            close(opened)
        }
        if let failure { throw failure }
    }

    /// Whether what could not be opened or removed is gone, or is something else than a file, which is none of ours.
    static func isNoFile(_ error: Int32) -> Bool {
        switch error {
        case ENOENT, ENOTDIR, EISDIR, ELOOP, ENXIO: true
        default: false
        }
    }

    // MARK: - Beneath

    private func names(in directory: String) throws(SystemError) -> [String] {
        let opened = cblob_openat(root.rawValue, directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
        // Something else of that name is no directory of ours.
        if opened == -ENOTDIR || opened == -ELOOP { return [] }
        return try Array(FileNames(opened, of: path + "/" + directory))
    }

    private func link(_ spool: borrowing SpoolFile, as digest: ContentDigest) -> Int32 {
        digest.withPath { path in
            if let name = spool.name { return cblob_link(root.rawValue, name, root.rawValue, path) }
            return UnnamedFile.link(spool.file.rawValue, in: root.rawValue, as: path)
        }
    }

    private func makeSubdirectory(of digest: ContentDigest) {
        digest.withPath { path in
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 3) { name in
                name[0] = path[0]
                name[1] = path[1]
                name[2] = 0
                guard let name = name.baseAddress else { return }
                _ = mkdirat(root.rawValue, name, 0o700)
            }
        }
    }

    /// Takes the temporary name of a spool away.
    func removeName(_ name: String) {
        _ = unlinkat(root.rawValue, name, 0)
    }

    /// A host that closed its stdio would get our files as 0 to 2; those numbers are left at once.
    static func adopt(_ result: Int32, _ call: String) throws(SystemError) -> Descriptor {
        if result < 0 { throw SystemError(errno: -result, call: call) }
        let made = Descriptor(adopting: result)
        return made.rawValue > 2 ? made : try made.duplicated(atLeast: 3)
    }
}

/// A body's file before it has its own name.
struct SpoolFile: ~Copyable, Sendable {
    let file: Descriptor
    /// Its temporary name beneath the directory of blobs, where it needs one.
    let name: String?

    deinit { if name != nil { FileLock.release(file.rawValue) } }
}
