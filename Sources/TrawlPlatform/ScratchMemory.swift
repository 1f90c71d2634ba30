import CTrawlPlatform

/// Memory for a large table, kept in a file without a name: the kernel can write it out and drop it, so it does not
/// count against the memory a process needs for itself.
///
/// All bytes are zero at first. Its space on disk is reserved, so that touching it cannot fail. Bound to one thread.
package final class ScratchMemory {
    /// The bytes; valid as long as this object lives.
    package let bytes: UnsafeMutableRawBufferPointer

    /// Makes a table of `count` bytes.
    ///
    /// - Parameters:
    ///   - count: More than zero.
    ///   - directory: Where the file is made; see ``ScratchFile``.
    package init(count: Int, in directory: String) throws(SystemError) {
        let file = try ScratchFile(in: directory)
        try file.reserve(count, at: 0)
        var address: UnsafeMutableRawPointer?
        _ = try check(cplatform_map(file.descriptor.rawValue, count, 1, &address), "mmap")
        bytes = UnsafeMutableRawBufferPointer(start: address, count: count)
    }

    deinit {
        if let address = bytes.baseAddress { _ = cplatform_unmap(address, bytes.count) }
    }
}
