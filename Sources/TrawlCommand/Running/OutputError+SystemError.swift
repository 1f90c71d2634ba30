import Glibc
import TrawlPlatform

extension OutputError {
    /// The same in the system's words.
    var systemError: SystemError {
        switch self {
        case .system(let error): error
        case .invalidPath: SystemError(errno: EINVAL, call: "openat")
        case .notARegularFile: SystemError(errno: EEXIST, call: "openat")
        }
    }
}
