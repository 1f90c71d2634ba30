import Glibc
import Trawl
import TrawlPlatform

extension SystemError {
    /// Whether more files would meet the same failure.
    var isOfTheWholeOutput: Bool { [ENOSPC, EDQUOT, EIO, EROFS].contains(errno) }
}

extension FetchError {
    /// Whether more files would meet the same failure.
    var isOfTheWholeOutput: Bool {
        guard code == .file, case .system(let number) = cause else { return false }
        return SystemError(errno: number, call: "").isOfTheWholeOutput
    }
}
