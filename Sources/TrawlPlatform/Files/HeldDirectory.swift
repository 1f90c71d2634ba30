import CTrawlPlatform
import Glibc

/// An existing directory, held open so that it is known again at its path, and known to be gone from there.
package final class HeldDirectory: Sendable {
    /// Where it was opened.
    package let path: String
    /// Which directory it is.
    package let identity: FileIdentity
    private let descriptor: Descriptor

    /// Opens a directory for reading.
    package init(path: String) throws(SystemError) {
        if path.utf8.contains(0) { throw SystemError(errno: EINVAL, call: "openat") }
        let opened = try Descriptor.adopt(cplatform_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0), "openat")
        self.path = path
        identity = try FileIdentity(of: opened)
        descriptor = opened
    }
}
