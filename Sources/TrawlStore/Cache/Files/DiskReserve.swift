import CTrawlBlob
import Glibc

/// Space kept so that records can be removed on a disk that is full: the file `reserve`, which goes then.
///
/// A transaction takes new pages for all it changes before it gives back any. Once something is removed its pages are
/// free for the next removal, so this is needed once.
struct DiskReserve: Sendable {
    private static let name = "reserve"
    /// More than the pages on the ways to the rows of one record.
    private static let size: Int64 = 256 << 10

    private let path: String

    /// Sets the space aside in a directory, unless that was done, or there is none.
    init(in directory: String) {
        path = directory + "/" + Self.name
        var facts = stat()
        guard lstat(path, &facts) != 0, errno == ENOENT else { return }
        let file = cblob_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        if cblob_reserve(file, Self.size) != 0 { unlink(path) }
    }

    /// Gives the space back, for a change that had none.
    ///
    /// - Returns: Whether there was something to give.
    func release() -> Bool { unlink(path) == 0 }
}
