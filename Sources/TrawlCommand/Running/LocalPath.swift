import Glibc
import TrawlPlatform

/// Paths of the user's.
enum LocalPath {
    /// Names that mean standard output.
    static func isStandardOutput(_ path: String) -> Bool {
        ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(path)
    }

    /// Whether a name stands for a file this process has open, to which nothing can be renamed. One that goes by
    /// `/proc` to the working directory is a name like others; see `WorkingDirectory`.
    static func standsForOpenFile(_ path: String) -> Bool {
        WholeFile.standsForOpenFile(path) && !path.hasPrefix("/proc/\(getpid())/cwd/")
    }

    /// Whether there is something other than a file, such as a device or a pipe: whatever is written goes there.
    static func isOtherThanFile(_ path: String) -> Bool {
        if standsForOpenFile(path) { return true }
        var info = stat()
        guard stat(path, &info) == 0 else { return false }
        return info.st_mode & S_IFMT != S_IFREG
    }

    /// Whether another file may take the place of what is at a path, if anything is: a file this user may write to, and
    /// no link, device or pipe.
    static func isReplaceable(_ path: String) -> Bool {
        var info = stat()
        guard lstat(path, &info) == 0 else { return true }
        return info.st_mode & S_IFMT == S_IFREG && access(path, W_OK) == 0
    }

    /// The path from the root, `directory` before a relative one.
    static func absolute(_ path: String, in directory: String? = nil) throws(SystemError) -> String {
        if path.hasPrefix("/") { return path }
        guard let directory else { return joined(try WorkingDirectory.path(), path) }
        return joined(try absolute(directory), path)
    }

    /// The name, a relative one behind the directory if there is one.
    static func placed(_ name: String, in directory: String?) -> String {
        guard let directory, !name.hasPrefix("/") else { return name }
        return joined(directory, name)
    }

    /// What is left of an absolute path behind a directory's own, which is absolute too; any other path as it is.
    static func relative(_ path: String, to directory: String?) -> String {
        guard let directory, directory.hasPrefix("/"), path.utf8.first == UInt8(ascii: "/") else { return path }
        let above = directory.utf8.last == UInt8(ascii: "/") ? directory.utf8.dropLast() : directory.utf8[...]
        guard path.utf8.starts(with: above), path.utf8.dropFirst(above.count).first == UInt8(ascii: "/") else {
            return path
        }
        return String(Substring(path.utf8.dropFirst(above.count + 1)))
    }

    static func joined(_ directory: String, _ name: String) -> String {
        directory.hasSuffix("/") ? directory + name : directory + "/" + name
    }

    /// The directory a path is in.
    static func parent(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The last part of a path.
    static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// Makes a directory and those above it, where they are missing.
    ///
    /// - Parameter mode: Permissions of those it makes, less the umask.
    static func makeDirectories(_ path: String, mode: mode_t = 0o777) throws(SystemError) {
        if mkdir(path, mode) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, parent(path) != path, parent(path) != "." else {
            throw SystemError(errno: errno, call: "mkdir")
        }
        try makeDirectories(parent(path), mode: mode)
        if mkdir(path, mode) != 0, errno != EEXIST { throw SystemError(errno: errno, call: "mkdir") }
    }

    /// Throws when there is no directory of that name.
    static func checkDirectory(_ path: String) throws(SystemError) {
        var info = stat()
        guard stat(path, &info) == 0 else { throw SystemError(errno: errno, call: "stat") }
        guard info.st_mode & S_IFMT == S_IFDIR else { throw SystemError(errno: ENOTDIR, call: "stat") }
    }

    /// Why a list may not name a file.
    enum NameFault: Equatable {
        /// It is absolute, or has a part that is empty, `.` or `..`.
        case leadsOut
        /// It is longer than 4095 bytes, or a part of it than 255 (PATH_MAX and NAME_MAX of limits.h).
        case tooLong
    }

    /// Why a list may not name this file; nil when it may.
    static func nameFault(of path: String) -> NameFault? {
        // By bytes: a slash with a combining character behind it is one character, and a separator all the same. Asked
        // of every line, and a list of the parts would take many times as long.
        var path = path
        return path.withUTF8 { path -> NameFault? in
            var fault: NameFault? = path.count <= 4095 ? nil : .tooLong
            var start = 0
            for end in 0...path.count where end == path.count || path[end] == UInt8(ascii: "/") {
                let part = path[start..<end]
                guard leadsDown(part) else { return .leadsOut }
                if part.count > 255 { fault = .tooLong }
                start = end + 1
            }
            return fault
        }
    }

    /// Whether a list may name this file: relative, not leading out, and not too long.
    static func staysInside(_ path: String) -> Bool { nameFault(of: path) == nil }

    /// Whether a part of a path is one that leads down.
    private static func leadsDown(_ part: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        switch part.count {
        case 0: false
        case 1, 2: !part.allSatisfy { $0 == UInt8(ascii: ".") }
        default: true
        }
    }
}
