import CTrawlBlob
import Glibc
import TrawlPlatform

/// The names in a directory, all read at once; none when it is not there.
///
/// One that is there and cannot be read is an error: nobody knows what it holds, and least of all that it is nothing.
struct FileNames: Sequence {
    private let names: [String]

    /// - Parameter followingLinks: Whether the directory may be behind a link, as that of a store may be where its user
    ///   has put it elsewhere. What we make in it is no link.
    init(in directory: String, followingLinks: Bool = false) throws(SystemError) {
        let flags = O_RDONLY | O_DIRECTORY | (followingLinks ? 0 : O_NOFOLLOW)
        try self.init(cblob_openat(AT_FDCWD, directory, flags, 0), of: directory)
    }

    /// The names in a directory as `cblob_openat` opened it, or did not; it is closed then.
    ///
    /// - Parameter path: Where it is, for messages.
    init(_ directory: Int32, of path: String) throws(SystemError) {
        var found: [String] = []
        if directory != -ENOENT {
            guard directory >= 0 else { throw SystemError(errno: -directory, call: "open \(path)") }
            var error: Int32 = 0
            guard let list = cblob_list(directory, &error) else {
                close(directory)
                throw SystemError(errno: error, call: "fdopendir \(path)")
            }
            defer { cblob_list_end(list) }
            while let name = cblob_list_next(list, &error) { found.append(String(cString: name)) }
            // One that is removed just now has none any more.
            if error != 0, error != ENOENT { throw SystemError(errno: error, call: "readdir \(path)") }
        }
        names = found
    }

    func makeIterator() -> IndexingIterator<[String]> { names.makeIterator() }
}
