/// What a record says about a body that is kept as a file of its own.
package struct BlobReference: Equatable, Sendable {
    /// Bytes with one checksum: what a reader takes into memory before it gives out any of them.
    package static let chunkSize = 1 << 20

    /// The SHA-256 of the body.
    package let digest: ContentDigest
    /// Bytes of the body.
    package let length: UInt64
    /// An XXH3 checksum for each MiB, the last for what is left.
    package let checksums: [UInt64]

    /// Describes a body.
    package init(digest: ContentDigest, length: UInt64, checksums: [UInt64]) {
        precondition(checksums.count == Self.chunkCount(of: length), "a checksum for each chunk")
        self.digest = digest
        self.length = length
        self.checksums = checksums
    }

    /// How many chunks a body has.
    package static func chunkCount(of length: UInt64) -> Int {
        let size = UInt64(chunkSize)
        return Int(clamping: length / size + (length % size == 0 ? 0 : 1))
    }

    /// The bytes of a chunk.
    func range(ofChunk index: Int) -> Range<UInt64> {
        let start = UInt64(index) * UInt64(Self.chunkSize)
        return start..<min(start + UInt64(Self.chunkSize), length)
    }
}
