import CPlatform
import Glibc

/// Memory for a large table, kept in a file without a name: the kernel can write it out and drop it, so it does not count
/// against the memory a process needs for itself.
///
/// All bytes are zero at first. Its space on disk is reserved, so that touching it cannot fail. Bound to one thread.
package final class ScratchMemory {
    /// The bytes; valid as long as this object lives.
    package let bytes: UnsafeMutableRawBufferPointer

    /// Makes a table of `count` bytes.
    ///
    /// - Parameters:
    ///   - count: More than zero.
    ///   - directory: Where the file is made; it never shows there, unless the file system has no unnamed files: then it has
    ///     a name for a moment.
    package init(count: Int, in directory: String) throws(SystemError) {
        let parent = try Descriptor.adopt(cplatform_openat(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY, 0), "open")
        let file = try Self.openUnnamed(in: parent.rawValue)
        _ = try check(cplatform_reserve(file.rawValue, Int64(count)), "fallocate")
        var address: UnsafeMutableRawPointer?
        _ = try check(cplatform_map(file.rawValue, count, 1, &address), "mmap")
        bytes = UnsafeMutableRawBufferPointer(start: address, count: count)
    }

    deinit {
        if let address = bytes.baseAddress { _ = cplatform_unmap(address, bytes.count) }
    }

    private static func openUnnamed(in directory: Int32) throws(SystemError) -> Descriptor {
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
