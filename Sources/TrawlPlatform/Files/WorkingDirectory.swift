import Glibc

/// The directory that relative paths begin at.
package enum WorkingDirectory {
    /// Its path from the root.
    ///
    /// Names are bytes, and paths here are text: of a directory whose path is not UTF-8 it is one that leads there for
    /// all processes of this user, as long as this process lives and stays there.
    package static func path() throws(SystemError) -> String {
        guard let path = getcwd(nil, 0) else { throw SystemError(errno: errno, call: "getcwd") }
        defer { free(path) }
        return String(validatingCString: path) ?? "/proc/\(getpid())/cwd"
    }
}
