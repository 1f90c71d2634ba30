import Glibc

/// Descriptors that others have no part in.
package enum OwnDescriptors {
    /// The two ends of a pipe that is close-on-exec from its first moment; nil when there is none.
    package static func pipe() -> [Int32]? {
        // Hidden from Swift behind a macro.
        guard let pipe2 = dlsym(nil, "pipe2") else { return nil }
        var ends: [Int32] = [-1, -1]
        let make = unsafeBitCast(pipe2, to: (@convention(c) (UnsafeMutablePointer<Int32>, Int32) -> Int32).self)
        return make(&ends, O_CLOEXEC) == 0 ? ends : nil
    }

    /// Two ends of a stream between sockets, close-on-exec from their first moment; nil when there are none.
    package static func socketPair() -> [Int32]? {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        return socketpair(AF_UNIX, kind, 0, &ends) == 0 ? ends : nil
    }

    /// Gives the calling thread a copy of the process's table: no other thread takes or closes a number in it any more
    /// (unshare(2), CLONE_FILES). Only in a process of the test's own.
    ///
    /// - Returns: Whether that could be done.
    package static func take() -> Bool {
        guard let unshare = dlsym(nil, "unshare") else { return false }
        let cloneFiles: Int32 = 0x400
        return unsafeBitCast(unshare, to: (@convention(c) (Int32) -> Int32).self)(cloneFiles) == 0
    }
}
