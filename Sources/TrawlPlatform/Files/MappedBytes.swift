import CTrawlPlatform
import Glibc

/// Why a memory file was not accepted.
package enum MemoryFileError: Error, Equatable, Sendable {
    /// Its size or content could still change under the reader.
    case notSealed
    /// Not a plain memory file: on disk, in huge pages, a pipe.
    case notMemory
    /// Larger than the reader allows.
    case tooLarge(Int)
    case system(SystemError)
}

/// The bytes of a sealed memory file, mapped for reading.
package final class MappedBytes: Sendable {
    /// How many bytes there are.
    package let count: Int
    // The mapping is read-only and its file sealed against writes, so any thread may read it until deinit unmaps it.
    private nonisolated(unsafe) let address: UnsafeMutableRawPointer?

    /// Maps a file that may come from a hostile process.
    ///
    /// Sealed means that no later truncation can turn a read into SIGBUS and no later write can change bytes already
    /// checked.
    ///
    /// - Parameters:
    ///   - descriptor: Stays the caller's, and may be closed after this.
    ///   - limit: The most bytes to accept.
    package init(_ descriptor: borrowing Descriptor, limit: Int) throws(MemoryFileError) {
        // In this order: the size is only final once the seals are seen.
        guard MemoryFile.isFullySealed(descriptor.rawValue) else { throw .notSealed }
        // Huge pages can be sealed too, and reading them can fail with SIGBUS for want of pages.
        guard cplatform_is_shared_memory(descriptor.rawValue) == 1 else { throw .notMemory }
        let size = cplatform_regular_size(descriptor.rawValue)
        guard size >= 0 else { throw .notMemory }
        guard size <= Int64(limit) else { throw .tooLarge(Int(size)) }
        count = Int(size)
        guard size > 0 else {
            address = nil
            return
        }
        var mapped: UnsafeMutableRawPointer?
        let result = cplatform_map(descriptor.rawValue, Int(size), 0, &mapped)
        guard result >= 0, let mapped else { throw .system(SystemError(errno: -result, call: "mmap")) }
        address = mapped
    }

    deinit {
        if let address { _ = cplatform_unmap(address, count) }
    }

    /// Lends the bytes; the pointer is not valid afterwards.
    package func withUnsafeBytes<Value: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        // The class must outlive the body: with its last reference the mapping would go.
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeRawBufferPointer(start: address, count: count))
    }
}
