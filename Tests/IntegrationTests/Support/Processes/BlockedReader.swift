import Glibc

/// Processes that wait at a named pipe.
enum BlockedReader {
    /// Opens a pipe for writing once somebody reads it, who then waits for what is written.
    ///
    /// - Returns: A descriptor, which belongs to the caller; -1 when nobody reads it within half a minute.
    static func writer(of path: String) -> Int32 {
        for _ in 0..<6000 {
            let writer = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if writer >= 0 { return writer }
            usleep(5000)
        }
        return -1
    }
}
