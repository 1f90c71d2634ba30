import Glibc
import TrawlPlatform

/// The directory a run puts its files beneath, held open from the start, as workers do.
///
/// Who moves it moves the run's files along; who removes it, or takes the right to write away, has ended the run: every
/// further request would fail, and no later run would do it again.
final class OutputDirectory {
    private let descriptor: Descriptor

    /// Opens an existing directory to which this process may add files.
    init(_ path: String) throws(SystemError) {
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw SystemError(errno: errno, call: "open") }
        descriptor = Descriptor(adopting: number)
        if let obstacle { throw SystemError(errno: obstacle, call: "access") }
    }

    /// Why no file can be made there, as `errno`; nil when one can.
    var obstacle: Int32? {
        var info = stat()
        guard fstat(descriptor.rawValue, &info) == 0 else { return errno }
        if info.st_nlink == 0 { return ENOENT }
        // By the effective user, who makes the files.
        return faccessat(descriptor.rawValue, ".", R_OK | W_OK | X_OK, AT_EACCESS) == 0 ? nil : errno
    }
}
