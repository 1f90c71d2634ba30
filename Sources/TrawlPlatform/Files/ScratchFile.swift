import CTrawlPlatform
import Glibc

/// A file without a name, for what is larger than memory should hold and is of no use to another process: it goes with
/// the process that made it, however that ends.
///
/// Bound to one thread.
package final class ScratchFile {
    let descriptor: Descriptor

    /// - Parameter directory: Where it is made; it never shows there, unless the file system has no unnamed files: then
    ///   it has a name for a moment. Its owner alone can read it.
    package init(in directory: String) throws(SystemError) {
        let parent = try Descriptor.adopt(cplatform_openat(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY, 0), "open")
        descriptor = try Self.open(in: parent.rawValue)
    }

    /// Sees to it that there is room on the disk for `count` bytes from `offset` on, so that writing them does not fail
    /// for want of it.
    package func reserve(_ count: Int, at offset: UInt64) throws(SystemError) {
        while true {
            let number = posix_fallocate(descriptor.rawValue, off_t(clamping: offset), off_t(count))
            if number == 0 { return }
            if number != EINTR { throw SystemError(errno: number, call: "fallocate") }
        }
    }

    /// Writes all bytes from `offset` on.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
        var done = 0
        while done < bytes.count, let start = bytes.baseAddress {
            let count = pwrite(
                descriptor.rawValue, start + done, bytes.count - done, off_t(clamping: offset + UInt64(done)))
            if count >= 0 {
                done += count
            } else if errno != EINTR {
                throw SystemError(errno: errno, call: "pwrite")
            }
        }
    }

    /// Reads what there is from `offset` on, as far as it fits.
    ///
    /// - Returns: How many bytes, fewer than fit at the end of the file alone.
    package func read(into bytes: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SystemError) -> Int {
        var done = 0
        while done < bytes.count, let start = bytes.baseAddress {
            let count = pread(
                descriptor.rawValue, start + done, bytes.count - done, off_t(clamping: offset + UInt64(done)))
            if count == 0 { break }
            if count > 0 {
                done += count
            } else if errno != EINTR {
                throw SystemError(errno: errno, call: "pread")
            }
        }
        return done
    }

    private static func open(in directory: Int32) throws(SystemError) -> Descriptor {
        let unnamed = cplatform_openat_unnamed(directory, 0o600)
        switch unnamed {
        case -EOPNOTSUPP, -EISDIR, -EINVAL, -ENOSYS: break
        default: return try Descriptor.adopt(unnamed, "open")
        }
        while true {
            var random: UInt64 = 0
            _ = try check(cplatform_random(&random, 8), "getrandom")
            let name = ".trawl-\(random)"
            let opened = cplatform_openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
            if opened == -EEXIST { continue }
            let file = try Descriptor.adopt(opened, "open")
            _ = try check(cplatform_unlinkat(directory, name), "unlink")
            return file
        }
    }
}
