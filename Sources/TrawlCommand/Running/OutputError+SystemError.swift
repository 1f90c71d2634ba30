import Glibc
import TrawlPlatform

extension OutputError {
    /// The same in the system's words.
    var systemError: SystemError {
        switch self {
        case .system(let error): error
        case .invalidPath, .notARegularFile: SystemError(errno: EINVAL, call: "open")
        }
    }
}
