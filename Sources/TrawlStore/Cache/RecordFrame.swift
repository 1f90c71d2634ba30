/// A row of the table `records`, as its bytes say: docs/storage.md gives the layout.
///
/// It points into memory of a snapshot or transaction and is valid as long as that. Bytes are what a disk made of them:
/// nothing is believed before the checksum of the head was compared.
struct RecordFrame {
    /// Where the body is.
    enum Place: UInt8 {
        case inline = 0
        case blob = 1
    }

    static let format: UInt16 = 1
    /// Bytes before the header.
    static let fixedSize = 80
    /// Longer headers are not stored: what a response may have is far below.
    static let longestHeader = 4 << 20

    let bytes: UnsafeRawBufferPointer
    let place: Place
    /// Bytes before the inline body: all that the head's checksum covers, and itself.
    private let headSize: Int
    private let headerSize: Int

    // MARK: - Reading

    /// Reads the head of a row.
    ///
    /// - Returns: Nothing when a byte of it is not what was written, or it is the row of another sequence.
    init?(_ bytes: UnsafeRawBufferPointer, sequence: UInt64) {
        guard bytes.count >= Self.fixedSize, bytes.number(at: 8) == sequence,
            UInt16(truncatingIfNeeded: bytes.number(at: 32)) == Self.format, let place = Place(rawValue: bytes[34])
        else { return nil }
        let headerSize = Int(bytes.number(at: 32) >> 32)
        let length = bytes.number(at: 40)
        let rest = bytes.count - Self.fixedSize
        guard headerSize <= rest else { return nil }
        switch place {
        case .inline:
            guard UInt64(rest - headerSize) == length else { return nil }
            headSize = Self.fixedSize + headerSize
        case .blob:
            guard length <= UInt64(Int64.max),
                rest - headerSize == ContentDigest.size + 8 * BlobReference.chunkCount(of: length)
            else { return nil }
            headSize = bytes.count
        }
        self.bytes = bytes
        self.place = place
        self.headerSize = headerSize
        guard Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[8..<headSize])) == bytes.number(at: 0) else {
            return nil
        }
    }

    var sequence: UInt64 { bytes.number(at: 8) }

    var digest: CacheDigest { CacheDigest(bytes.number(at: 16), bytes.number(at: 24)) }

    var bodyLength: UInt64 { bytes.number(at: 40) }

    /// Milliseconds since 1970.
    var stored: UInt64 { bytes.number(at: 48) }

    var storageClass: StorageClass {
        bytes[35] == 0 ? .permanent : .session(SessionID(bytes.number(at: 56), bytes.number(at: 64)))
    }

    var header: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[Self.fixedSize..<Self.fixedSize + headerSize])
    }

    /// The inline body, which is none's when the place is a blob; nothing when a byte of it is not what was written.
    var inlineBody: UnsafeRawBufferPointer? {
        guard place == .inline else { return nil }
        let body = UnsafeRawBufferPointer(rebasing: bytes[headSize...])
        return Checksum.of(body) == bytes.number(at: 72) ? body : nil
    }

    /// The digest of the body's blob, when it is in one.
    var blobDigest: ContentDigest? {
        guard place == .blob else { return nil }
        let start = Self.fixedSize + headerSize
        return ContentDigest(bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<start + ContentDigest.size]))
    }

    /// All that the record says of its blob, when the body is in one.
    var blob: BlobReference? {
        guard let digest = blobDigest else { return nil }
        let start = Self.fixedSize + headerSize + ContentDigest.size
        let checksums = (0..<BlobReference.chunkCount(of: bodyLength)).map { bytes.number(at: start + 8 * $0) }
        return BlobReference(digest: digest, length: bodyLength, checksums: checksums)
    }

    // MARK: - Writing

    /// Bytes of a row.
    static func size(header: Int, body: RecordBody) -> Int {
        switch body {
        case .inline(let bytes): fixedSize + header + bytes.count
        case .blob(let blob): fixedSize + header + ContentDigest.size + 8 * blob.checksums.count
        }
    }

    /// Writes a row to memory of exactly its size.
    static func write(
        to row: UnsafeMutableRawBufferPointer, sequence: UInt64, digest: CacheDigest, stored: UInt64,
        storageClass: StorageClass, header: UnsafeRawBufferPointer, body: RecordBody
    ) {
        var kind = UInt64(format) | UInt64(header.count) << 32
        row.put(sequence, at: 8)
        row.put(digest.words.0, at: 16)
        row.put(digest.words.1, at: 24)
        row.put(stored, at: 48)
        switch storageClass {
        case .permanent:
            row.put(0, at: 56)
            row.put(0, at: 64)
        case .session(let session):
            kind |= 1 << 24
            row.put(session.words.0, at: 56)
            row.put(session.words.1, at: 64)
        }
        let end = fixedSize + header.count
        UnsafeMutableRawBufferPointer(rebasing: row[fixedSize..<end]).copyMemory(from: header)
        switch body {
        case .inline(let bytes):
            row.put(UInt64(bytes.count), at: 40)
            let place = UnsafeMutableRawBufferPointer(rebasing: row[end...])
            place.copyMemory(from: bytes)
            row.put(Checksum.of(UnsafeRawBufferPointer(place)), at: 72)
            row.put(kind, at: 32)
            row.put(Checksum.of(UnsafeRawBufferPointer(rebasing: row[8..<end])), at: 0)
        case .blob(let blob):
            kind |= UInt64(Place.blob.rawValue) << 16
            row.put(blob.length, at: 40)
            row.put(0, at: 72)
            let place = UnsafeMutableRawBufferPointer(rebasing: row[end..<end + ContentDigest.size])
            blob.digest.withBytes { place.copyMemory(from: $0) }
            for (index, checksum) in blob.checksums.enumerated() {
                row.put(checksum, at: end + ContentDigest.size + 8 * index)
            }
            row.put(kind, at: 32)
            row.put(Checksum.of(UnsafeRawBufferPointer(rebasing: row[8...])), at: 0)
        }
    }
}

/// A body as a record is to hold it.
enum RecordBody {
    case inline(UnsafeRawBufferPointer)
    case blob(BlobReference)
}

extension UnsafeRawBufferPointer {
    /// The little-endian number at an offset that is inside.
    @inline(__always)
    func number(at offset: Int) -> UInt64 {
        UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Writes a number in little-endian order.
    @inline(__always)
    func put(_ number: UInt64, at offset: Int) {
        storeBytes(of: number.littleEndian, toByteOffset: offset, as: UInt64.self)
    }
}
