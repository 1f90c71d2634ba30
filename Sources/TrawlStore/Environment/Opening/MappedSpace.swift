import CTrawlBlob
import Glibc
import TrawlPlatform

/// Whether there is room for what is written to files where they are mapped: LMDB's places of readers, turns, uses.
///
/// Their space is reserved, which is enough where blocks are written in place. A file system that copies on write takes
/// new space whenever a page is written to again that went to the disk, and without any the process ends (SIGBUS). So
/// on such a one nothing mapped is touched while less is free than may go between two looks.
enum MappedSpace {
    /// Enough on any disk.
    private static let enough: UInt64 = 256 << 20

    /// Why nothing may be written to what is mapped of a directory's files; nil when all may.
    @Sendable
    static func shortage(in directory: String) -> StoreError? {
        var (available, size): (UInt64, UInt64) = (0, 0)
        guard cblob_fault_room(directory, &available, &size) == 1, isShort(available: available, of: size) else {
            return nil
        }
        let call = "\(directory): \(available >> 20) MiB are free, too few for shared memory on this file system"
        return .diskFull(SystemError(errno: ENOSPC, call: call))
    }

    /// Whether that much is too little on a file system of a size.
    static func isShort(available: UInt64, of size: UInt64) -> Bool {
        available < min(enough, size / 16)
    }
}
