/// Memory for one chunk of a blob, used again and again: fresh memory costs more than what is read into it.
///
/// Bound to one thread.
package final class ChunkMemory {
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// None yet.
    package init() {}

    deinit { memory.deallocate() }

    /// Room for `count` bytes; what was there is lost.
    package func bytes(_ count: Int) -> UnsafeMutableRawBufferPointer {
        if memory.count < count {
            let size = max(count, min(2 * memory.count, BlobReference.chunkSize))
            memory.deallocate()
            memory = .allocate(byteCount: size, alignment: 64)
        }
        return UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
    }
}
