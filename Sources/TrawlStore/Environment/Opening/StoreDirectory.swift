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
}
