import Glibc
import Testing

/// Has an environment locked as by a process that is stopped while it opens or closes the files, until the descriptor
/// is closed.
///
/// - Parameter directory: The environment's.
func keepFromOpening(_ directory: String) -> Int32 {
    let lock = open(directory + "/environment.lock", O_RDWR | O_CLOEXEC)
    #expect(lock >= 0)
    var range = flock()
    range.l_type = Int16(F_WRLCK)
    range.l_len = 1
    // F_OFD_SETLK
    #expect(fcntl(lock, 37, &range) == 0)
    return lock
}
