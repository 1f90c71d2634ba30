import Glibc
import TrawlPlatform

/// The directory that `cache` and `state` lie in, and these.
enum StoreDirectory {
    /// Makes one of them, and those above it, for the user alone. Somebody may remove all beneath a program that runs.
    static func make(_ path: String) throws(StoreError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        let parent = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? ""
        guard errno == ENOENT, !parent.isEmpty else { throw .from(SystemError(errno: errno, call: "mkdir")) }
        try make(parent)
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw .from(SystemError(errno: errno, call: "mkdir")) }
    }

    /// Makes one of them, and those above it, when there is none, and sees that it is fit. Before anything else is done
    /// there.
    ///
    /// - Throws: Also `unusable`: it is another user's, or others may write to it, or it is no directory.
    static func prepare(_ path: String) throws(StoreError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            switch errno {
            case ENOENT: try make(path)
            case ENOTDIR: throw .unusable(path: path, reason: "part of the path is no directory")
            default: throw .last("mkdir \(path)")
            }
        }
        guard let facts = try FileFacts.of(path, followingLinks: true) else { throw .last("stat \(path)") }
        guard facts.isDirectory else { throw .unusable(path: path, reason: "is no directory") }
        guard facts.owner == geteuid() else { throw .unusable(path: path, reason: "belongs to user \(facts.owner)") }
        guard facts.mode & 0o022 == 0 else { throw .unusable(path: path, reason: "others may write there") }
    }
}
