import Glibc
import Trawl
import TrawlPlatform

/// A file or directory that an option names, and that is opened later.
struct NamedFile {
    let option: String
    let path: String
    /// The exit status of `get` with a single URL when it cannot be used.
    let curlStatus: Int32
    var isDirectory = false
    /// What a person is told in place of the path; nil is the path.
    var shown: String?

    /// Throws when it cannot be read, which would show only as a failed handshake, or is of another kind: at a pipe a
    /// worker would wait, and whatever else it does with it.
    func check() throws(CommandError) {
        if path.isEmpty {
            let kind = isDirectory ? "directory" : "file"
            throw CommandError("\(option): the \(kind)'s name is empty", curlStatus: curlStatus)
        }
        var info = stat()
        guard stat(path, &info) == 0, access(path, R_OK) == 0 else {
            throw CommandError(file: shown ?? path, errno, option: option, curlStatus: curlStatus)
        }
        let kind = info.st_mode & S_IFMT
        if kind == (isDirectory ? S_IFDIR : S_IFREG) { return }
        let reason = isDirectory ? "not a directory" : kind == S_IFDIR ? "a directory" : "not a regular file"
        throw CommandError("\(option): \((shown ?? path).terminalSafe): \(reason)", curlStatus: curlStatus)
    }
}
