import Glibc
import TrawlPlatform

/// A file with the first bytes of a body, which a worker has left for the next one.
final class PassedFile: Sendable {
    let descriptor: Descriptor
    let length: UInt64

    /// Takes over what came with a frame; nil when it is no file of that length. What is of no use is closed.
    init?(_ descriptors: [Int32], length: UInt64) {
        for other in descriptors.dropFirst() { _ = Descriptor(adopting: other) }
        guard let first = descriptors.first else { return nil }
        descriptor = Descriptor(adopting: first)
        self.length = length
        var info = stat()
        guard length > 0, fstat(first, &info) == 0, info.st_mode & S_IFMT == S_IFREG,
            UInt64(clamping: info.st_size) == length
        else { return nil }
    }
}
