// Where a module of C comes first in a build, `timespec` is taken for its own.
import CTrawlLMDB
import Glibc
import TrawlPlatform

/// What the system says about a file.
struct FileFacts: Equatable, Sendable {
    let identity: FileIdentity
    let mode: UInt32
    let owner: UInt32
    let size: Int64
    let modifiedSeconds: Int64
    let modifiedNanoseconds: Int64

    private init(_ facts: stat) {
        identity = FileIdentity(device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino))
        mode = UInt32(facts.st_mode)
        owner = UInt32(facts.st_uid)
        size = Int64(facts.st_size)
        modifiedSeconds = Int64(facts.st_mtim.tv_sec)
        modifiedNanoseconds = Int64(facts.st_mtim.tv_nsec)
    }

    var isRegular: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFREG) }
    var isDirectory: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFDIR) }
    /// Whole pages.
    var pages: UInt64 { UInt64(max(0, size)) / UInt64(PageLayout.size) }

    /// Facts about what a path leads to; `nil` when there is nothing.
    static func of(_ path: String, followingLinks: Bool) throws(StoreError) -> FileFacts? {
        var facts = stat()
        if (followingLinks ? stat(path, &facts) : lstat(path, &facts)) == 0 { return FileFacts(facts) }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw .from(SystemError(errno: errno, call: "stat \(path)"))
    }

    /// Facts about an open file.
    static func of(_ descriptor: Int32) throws(StoreError) -> FileFacts {
        var facts = stat()
        if fstat(descriptor, &facts) == 0 { return FileFacts(facts) }
        throw .from(SystemError(errno: errno, call: "fstat"))
    }
}

extension StoreError {
    /// The error of the system call that just failed.
    static func last(_ call: String) -> StoreError {
        .from(SystemError(errno: errno, call: call))
    }
}
