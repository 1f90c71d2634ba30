import Glibc

/// Which file or directory it is, whatever its path: no other has the same as long as this one is open.
package struct FileIdentity: Sendable, Hashable {
    /// `st_dev` of stat(3type).
    package let device: UInt64
    /// `st_ino` of stat(3type).
    package let inode: UInt64

    /// What somebody else was told of.
    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    init(of descriptor: borrowing Descriptor) throws(SystemError) {
        var info = stat()
        guard fstat(descriptor.rawValue, &info) == 0 else { throw SystemError(errno: errno, call: "fstat") }
        self.init(device: UInt64(info.st_dev), inode: UInt64(info.st_ino))
    }
}
