import TrawlProtocol
import TrawlStore
import TrawlTransfer

/// A stored body, or a range of it, in pieces that are verified before they are given out.
final class VerifiedBytes: StoredBytes {
    let length: UInt64
    private let body: StoredBody?
    private let damaged: (BlobReader) -> Void
    private let end: UInt64
    private var position: UInt64
    private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// - Parameter damaged: Called when the file of the body turns out not to hold what it should.
    init(_ body: StoredBody?, _ range: Range<UInt64>, damaged: @escaping (BlobReader) -> Void = { _ in }) {
        self.body = body
        self.damaged = damaged
        length = body == nil ? 0 : UInt64(range.count)
        position = range.lowerBound
        end = body == nil ? position : range.upperBound
    }

    deinit { buffer.deallocate() }

    func next() throws(HopFailure) -> UnsafeRawBufferPointer? {
        guard position < end, let body else { return nil }
        switch body {
        case .bytes(let bytes):
            guard end <= bytes.count else { throw Self.damaged }
            return take(bytes[Int(position)..<Int(end)])
        case .blob(let blob):
            // One chunk of the blob at a time, so that each is verified once.
            let chunk = UInt64(BlobReference.chunkSize)
            let range = position..<min(end, (position / chunk + 1) * chunk)
            var piece: UnsafeRawBufferPointer?
            do throws(BlobError) {
                try blob.read(range) { bytes in
                    piece = take(bytes)
                    return false
                }
            } catch {
                damaged(blob)
                throw Self.damaged
            }
            guard let piece, piece.count == range.count else { throw Self.damaged }
            return piece
        }
    }

    private func take(_ bytes: some Collection<UInt8>) -> UnsafeRawBufferPointer {
        if buffer.count < bytes.count {
            buffer.deallocate()
            buffer = .allocate(byteCount: bytes.count, alignment: 64)
        }
        buffer.copyBytes(from: bytes)
        position += UInt64(bytes.count)
        return UnsafeRawBufferPointer(rebasing: buffer[..<bytes.count])
    }

    private static var damaged: HopFailure { HopFailure(.storedResponse, detail: "the stored body is damaged") }
}
