import Glibc

/// A table of descriptors that a thread has for itself.
package enum OwnDescriptors {
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
