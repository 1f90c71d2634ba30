import Glibc
package import TrawlPlatform

/// A file without a name, with a body or the first bytes of one, which a worker has handed over.
package final class PassedFile: Sendable {
    /// The open file.
    package let descriptor: Descriptor
    let length: UInt64

    /// Takes over what came with a frame; nil when it is no file of that length. What is of no use is closed.
    init?(_ descriptors: [Int32], length: UInt64) {
        for other in descriptors.dropFirst() { _ = Descriptor(adopting: other) }
        guard let first = descriptors.first else { return nil }
        descriptor = Descriptor(adopting: first)
        self.length = length
        var info = stat()
        guard fstat(first, &info) == 0, info.st_mode & S_IFMT == S_IFREG, UInt64(clamping: info.st_size) == length
        else { return nil }
    }
}
