import Glibc

/// Symbolic links at the place of a file that is to be written.
package enum FileLink {
    /// Where an existing symbolic link leads in the end, also when nothing is there yet; nil for anything else.
    ///
    /// - Throws: What the system says of a link that leads nowhere, such as `ELOOP`; `EILSEQ` for a name that is no
    ///   text.
    package static func target(of path: String) throws(SystemError) -> String? {
        var info = stat()
        guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFLNK else { return nil }
        if let target = realpath(path, nil) {
            defer { free(target) }
            guard let text = String(validatingCString: target) else {
                throw SystemError(errno: EILSEQ, call: "realpath")
            }
            return text
        }
        guard errno == ENOENT else { throw SystemError(errno: errno, call: "realpath") }
        return try missingTarget(of: path)
    }

    /// Where the file would be that a link leads to: the link's last step has nothing at its end yet.
    private static func missingTarget(of path: String) throws(SystemError) -> String {
        var path = try absolute(path)
        // As many as the kernel follows.
        for _ in 0..<40 {
            var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(path, &bytes, bytes.count - 1)
            guard count >= 0 else {
                if errno == EINVAL || errno == ENOENT { return path }
                throw SystemError(errno: errno, call: "readlink")
            }
            guard let target = String(validating: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) else {
                throw SystemError(errno: EILSEQ, call: "readlink")
            }
            if target.utf8.first == UInt8(ascii: "/") {
                path = target
            } else {
                // By bytes: a combining character behind the slash is one Character with it.
                let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
                path = String(decoding: path.utf8[...slash], as: UTF8.self) + target
            }
        }
        throw SystemError(errno: ELOOP, call: "readlink")
    }

    /// A path from the root on; links in it stay.
    package static func absolute(_ path: String) throws(SystemError) -> String {
        if path.utf8.first == UInt8(ascii: "/") { return path }
        return try WorkingDirectory.path() + "/" + path
    }
}
