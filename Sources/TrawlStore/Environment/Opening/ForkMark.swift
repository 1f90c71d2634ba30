import CTrawlLMDB
import Glibc

/// Tells a process from its copy made by fork, in which LMDB's handles and locks mean nothing.
enum ForkMark {
    /// A page the kernel wipes in the copy. Immutable otherwise, so any thread may read it.
    private nonisolated(unsafe) static let mark: UnsafeRawPointer? = clmdb_fork_mark()
    private static let process = getpid()

    /// Notes which process this is.
    static func set() {
        _ = mark
        _ = process
    }

    /// Whether this process is a copy of the one that called `set`.
    @inline(__always)
    static var isCopy: Bool {
        if let mark { return clmdb_load_relaxed(mark) == 0 }
        return getpid() != process
    }
}
