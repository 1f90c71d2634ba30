import CTrawlBlob
import Glibc

/// The names in a directory, all read at once; none when it is not there or cannot be read.
struct FileNames: Sequence {
    private let names: [String]

    init(in directory: String) {
        let opened = cblob_openat(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
        self.init(opened)
    }

    /// The names in a directory as `cblob_openat` opened it, or did not; it is closed then.
    init(_ directory: Int32) {
        var error: Int32 = 0
        guard directory >= 0, let list = cblob_list(directory, &error) else {
            if directory >= 0 { close(directory) }
            names = []
            return
        }
        var names: [String] = []
        while let name = cblob_list_next(list) { names.append(String(cString: name)) }
        cblob_list_end(list)
        self.names = names
    }

    func makeIterator() -> IndexingIterator<[String]> { names.makeIterator() }
}
