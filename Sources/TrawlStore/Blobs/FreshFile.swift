import CTrawlBlob
import Glibc
import TrawlPlatform

/// A file that comes under its name whole or not at all, and leaves nothing behind when its maker is killed.
struct FreshFile: ~Copyable {
    /// Open for reading and writing.
    let file: Descriptor
    private let path: String
    /// Its name until then, where files cannot be without one.
    private let part: String?

    /// Makes a file of mode 0600 for a name in a directory.
    init(_ name: String, in directory: String) throws(SystemError) {
        path = directory + "/" + name
        let place = try BlobDirectory.adopt(
            cblob_openat(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY, 0), "openat")
        let unnamed = UnnamedFile.canBeNamed ? cblob_open_unnamed(place.rawValue, 0o600) : -EOPNOTSUPP
        switch unnamed {
        case -EOPNOTSUPP, -EISDIR, -EINVAL, -ENOSYS:
            let part = Self.partName(of: path)
            file = try BlobDirectory.adopt(
                cblob_openat(AT_FDCWD, part, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0o600), "openat")
            self.part = part
        default:
            file = try BlobDirectory.adopt(unnamed, "openat")
            part = nil
        }
    }

    deinit {
        if let part { unlink(part) }
    }

    private static func partName(of path: String) -> String {
        path + ".\(UInt32.random(in: .min ... .max)).part"
    }

    /// Gives it its name, unless something has it.
    ///
    /// - Throws: `EEXIST` when something has.
    func publish() throws(SystemError) {
        try check(
            part.map { cblob_link(AT_FDCWD, $0, AT_FDCWD, path) }
                ?? UnnamedFile.link(file.rawValue, in: AT_FDCWD, as: path))
    }

    /// Gives it its name, in the place of whatever has it.
    func replace() throws(SystemError) {
        let part = part ?? Self.partName(of: path)
        if self.part == nil { try check(UnnamedFile.link(file.rawValue, in: AT_FDCWD, as: part)) }
        if rename(part, path) != 0 {
            let error = SystemError(errno: errno, call: "rename")
            unlink(part)
            throw error
        }
    }

    private func check(_ result: Int32) throws(SystemError) {
        if result < 0 { throw SystemError(errno: -result, call: "linkat") }
    }

    /// Removes what makers left in a directory that were killed, where files cannot be without a name.
    ///
    /// - Throws: Once the others are gone, when one could not be removed.
    static func sweep(_ directory: String) throws(SystemError) {
        var failure: SystemError?
        for name in try FileNames(in: directory, followingLinks: true) where name.hasSuffix(".part") {
            var facts = stat()
            let path = directory + "/" + name
            // One that was made a moment ago may be about to get its name.
            guard lstat(path, &facts) == 0, time(nil) - facts.st_ctim.tv_sec > 60 else { continue }
            if unlink(path) != 0, !BlobDirectory.isNoFile(errno) {
                failure = SystemError(errno: errno, call: "unlink \(path)")
            }
        }
        if let failure { throw failure }
    }
}
