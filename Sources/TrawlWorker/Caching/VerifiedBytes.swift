import TrawlProtocol
import TrawlStore
import TrawlTransfer

/// A stored body, or a range of it, in pieces that are verified before they are given out.
final class VerifiedBytes: StoredBytes {
    let length: UInt64
    private let body: StoredBody?
    private let memory: ChunkMemory
    private let damaged: (BlobReader) -> Void
    private let end: UInt64
    private var position: UInt64
    /// Up to where bytes were looked at before any was given out.
    private var inspected: UInt64
    /// Bodies beyond this are looked at piece by piece only, as they are given out.
    private static let longestInspected: UInt64 = 16 << 20
    /// Whether no file has refused to share blocks.
    private var mayShare = true

    /// - Parameters:
    ///   - memory: Where pieces lie, of this and of others on the same thread.
    ///   - damaged: Called when the file of the body turns out not to hold what it should.
    init(
        _ body: StoredBody?, _ range: Range<UInt64>, in memory: ChunkMemory,
        damaged: @escaping (BlobReader) -> Void = { _ in }
    ) {
        self.body = body
        self.memory = memory
        self.damaged = damaged
        length = body == nil ? 0 : UInt64(range.count)
        position = range.lowerBound
        inspected = range.lowerBound
        end = body == nil ? position : range.upperBound
    }

    func inspect() throws(HopFailure) -> Int {
        guard case .blob(let blob)? = body, inspected < end, end <= blob.length,
            // What lies in one piece is looked at before any of it is given out anyway.
            end - position > UInt64(BlobReference.chunkSize), end - position <= Self.longestInspected
        else { return 0 }
        do throws(BlobError) {
            let piece = try blob.piece(inspected..<end, in: memory)
            inspected += UInt64(piece.count)
            return piece.count
        } catch {
            damaged(blob)
            throw Self.damaged
        }
    }

    func next(into file: Int32?) throws(HopFailure) -> StoredPiece? {
        guard position < end, let body else { return nil }
        switch body {
        case .bytes(let bytes):
            guard end <= bytes.count else { throw Self.damaged }
            let room = memory.bytes(Int(end - position))
            room.copyBytes(from: bytes[Int(position)..<Int(end)])
            position = end
            return .bytes(UnsafeRawBufferPointer(room))
        case .blob(let blob):
            guard end <= blob.length else { throw Self.damaged }
            let piece: UnsafeRawBufferPointer
            do throws(BlobError) {
                piece = try blob.piece(position..<end, in: memory)
            } catch {
                damaged(blob)
                throw Self.damaged
            }
            let range = position..<position + UInt64(piece.count)
            position = range.upperBound
            if let file, mayShare {
                mayShare = blob.share(range, with: file)
                if mayShare { return .shared(piece.count) }
            }
            return .bytes(piece)
        }
    }

    private static var damaged: HopFailure { HopFailure(.storedResponse, detail: "the stored body is damaged") }
}
