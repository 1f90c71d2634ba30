import Glibc

/// Places for files beneath output directories, where workers make them when the first byte of a body has come.
extension FetchPlanner {
    /// Why no file can be made at a path, as far as the file system knows beforehand; nil when it knows of no reason.
    ///
    /// It costs some system calls, so it is for requests that are not sent for nothing, as they cannot be taken back.
    ///
    /// - Parameter path: Absolute, of names alone. Directories that are missing would be made.
    static func obstacle(at path: String, replaces: Bool) -> Int32? {
        var info = stat()
        if lstat(path, &info) == 0 {
            if info.st_mode & S_IFMT == S_IFDIR { return EISDIR }
            if !replaces { return EEXIST }
        } else if errno != ENOENT {
            return errno
        }
        var directory = Substring(path)
        while let slash = directory.utf8.lastIndex(of: UInt8(ascii: "/")) {
            directory = directory[..<slash]
            if access(directory.isEmpty ? "/" : String(directory), W_OK | X_OK) == 0 { return nil }
            if errno != ENOENT { return errno }
        }
        return nil
    }
}
