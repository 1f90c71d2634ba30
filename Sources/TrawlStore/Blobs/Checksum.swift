import CTrawlBlob

/// XXH3 with 64 bits: sees damage by disks and memory, not by an adversary who can write to the store.
enum Checksum {
    /// The checksum of bytes in memory.
    @inline(__always)
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        cblob_checksum(bytes.baseAddress, bytes.count)
    }
}

/// Checksums of a body as it comes, one for each chunk.
struct ChunkChecksums: ~Copyable {
    private let state: OpaquePointer
    private let chunkSize: Int
    private var inChunk = 0
    private var done: [UInt64] = []

    /// Fails when memory ran out.
    init?(chunkSize: Int) {
        guard let state = cblob_checksum_create() else { return nil }
        self.state = state
        self.chunkSize = chunkSize
    }

    deinit { cblob_checksum_free(state) }

    /// Takes more of the body.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(chunkSize - inChunk))
            cblob_checksum_update(state, part.baseAddress, part.count)
            inChunk += part.count
            if inChunk == chunkSize { endChunk() }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
        }
    }

    /// One checksum for each full chunk, and one for what is left.
    consuming func finish() -> [UInt64] {
        if inChunk > 0 { endChunk() }
        return done
    }

    private mutating func endChunk() {
        done.append(cblob_checksum_value(state))
        cblob_checksum_reset(state)
        inChunk = 0
    }
}
