import CTrawlBlob
import Glibc
import TrawlPlatform

/// Why a blob, or part of it, could not be read.
package enum BlobError: Error, Equatable, Sendable {
    /// It is shorter than its record says, its bytes are not those of its checksums, or the disk cannot read it.
    case damaged
}

/// A stored body in a file, open: it can be read to the end though its record is evicted meanwhile.
///
/// No byte is given out before the MiB it belongs to was read into memory and compared with its checksum there. Any
/// number of threads may read at once, each with up to 1 MiB of memory.
package final class BlobReader: Sendable {
    /// What the record says of the body.
    package let reference: BlobReference
    private let file: Descriptor

    init(reference: BlobReference, file: consuming Descriptor) {
        self.reference = reference
        self.file = file
    }

    /// Bytes of the body.
    package var length: UInt64 { reference.length }

    /// Which file it has open; another is not the same as long as this one is open.
    var identity: FileIdentity? { (try? FileFacts.of(file.rawValue))?.identity }

    // MARK: - Reading

    /// The whole body. For bodies whose length the caller has compared with what it wants in memory.
    package func bytes() throws(BlobError) -> [UInt8] {
        var isWhole = true
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(clamping: length)) { buffer, count in
            let memory = UnsafeMutableRawBufferPointer(buffer)
            for index in reference.checksums.indices {
                let range = reference.range(ofChunk: index)
                let part = memory[Int(range.lowerBound)..<Int(range.upperBound)]
                isWhole = load(index, into: UnsafeMutableRawBufferPointer(rebasing: part))
                if !isWhole { return }
            }
            count = buffer.count
        }
        guard isWhole else { throw .damaged }
        return bytes
    }

    /// Reads part of the body, piece by piece; a piece is valid only while the closure runs.
    ///
    /// - Parameters:
    ///   - range: Which bytes; what is beyond the end is left out.
    ///   - each: Takes the next bytes, up to 1 MiB. Returns whether to go on.
    package func read(
        _ range: Range<UInt64>, _ each: (UnsafeRawBufferPointer) throws(BlobError) -> Bool
    ) throws(BlobError) {
        let memory = ChunkMemory()
        var rest = range.clamped(to: 0..<length)
        while !rest.isEmpty {
            let piece = try piece(rest, in: memory)
            rest = rest.lowerBound + UInt64(piece.count)..<rest.upperBound
            let goesOn = try each(piece)
            if !goesOn { return }
        }
    }

    /// Reads the beginning of a part of the body: what of it lies in one MiB.
    ///
    /// - Parameters:
    ///   - range: Which bytes; at least one, and none beyond the end.
    ///   - memory: Where the MiB is read to. The result is valid until it is used again.
    package func piece(_ range: Range<UInt64>, in memory: ChunkMemory) throws(BlobError) -> UnsafeRawBufferPointer {
        precondition(!range.isEmpty && range.upperBound <= length, "bytes of the body")
        let index = Int(range.lowerBound / UInt64(BlobReference.chunkSize))
        let chunk = reference.range(ofChunk: index)
        let bytes = memory.bytes(chunk.count)
        guard load(index, into: bytes) else { throw .damaged }
        let wanted = range.clamped(to: chunk)
        let start = Int(wanted.lowerBound - chunk.lowerBound)
        return UnsafeRawBufferPointer(rebasing: bytes[start..<start + wanted.count])
    }

    /// Reads and checks every byte.
    package func verify() throws(BlobError) {
        try read(0..<length) { _ in true }
    }

    /// Reads one chunk to where it is wanted; whether its bytes are those that were stored.
    private func load(_ index: Int, into memory: UnsafeMutableRawBufferPointer) -> Bool {
        var offset = reference.range(ofChunk: index).lowerBound
        var rest = memory
        while !rest.isEmpty {
            let count = pread(file.rawValue, rest.baseAddress, rest.count, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            offset += UInt64(count)
            rest = UnsafeMutableRawBufferPointer(rebasing: rest.dropFirst(count))
        }
        return Checksum.of(UnsafeRawBufferPointer(memory)) == reference.checksums[index]
    }

    // MARK: - Copying

    /// The shortest body whose blocks are worth sharing. To share them costs as much as to write some ten thousand
    /// bytes, and those that are still on their way to the disk are waited for.
    package static let shortestShared: UInt64 = 1 << 20

    /// Puts part of the body into an open file by letting both share its blocks, where their file system can.
    ///
    /// The bytes are not looked at here: the caller has just read them by `piece`, and takes them from there when they
    /// have to be written. There is no `copy_file_range`: to look at a MiB means to have it in memory, and from there
    /// it is written as cheaply, with nothing between looking and copying.
    ///
    /// - Returns: Whether the bytes are in the file now, which then stands behind them.
    package func share(_ range: Range<UInt64>, with destination: Int32) -> Bool {
        length >= Self.shortestShared && file.shareBlocks(range, with: destination)
    }
}
