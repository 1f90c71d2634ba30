import TrawlHTTP

/// A row of the table `records`, as its bytes say: docs/storage.md gives the layout.
///
/// It points into memory of a snapshot or transaction and is valid as long as that. Bytes are what a disk made of them:
/// nothing is believed before the checksum was compared.
struct RecordFrame {
    /// Where the body is.
    enum Place: UInt8 {
        /// Behind the header.
        case inline = 0
        case blob = 1
        /// In a row of the table `bodies`, all but what is behind the header.
        case apart = 2
    }

    static let format: UInt16 = 2
    /// Bytes before the header.
    static let fixedSize = 80
    /// Longer headers are not stored: a head that arrives is shorter, and frames have room for one of that length.
    static let longestHeader = 2 << 20
    /// The longest row that shares its page with others: LMDB gives a longer one pages of its own.
    static let longestShared = 2022
    /// The most of a body that goes behind the header to save the page it would begin.
    static let longestTail = 1024

    let bytes: UnsafeRawBufferPointer
    let place: Place
    private let headerSize: Int

    // MARK: - Reading

    /// Reads a row.
    ///
    /// - Returns: Nothing when a byte of it is not what was written, or it is the row of another sequence.
    init?(_ bytes: UnsafeRawBufferPointer, sequence: UInt64) {
        guard bytes.count >= Self.fixedSize, bytes.number(at: 8) == sequence,
            UInt16(truncatingIfNeeded: bytes.number(at: 32)) == Self.format, let place = Place(rawValue: bytes[34])
        else { return nil }
        let headerSize = Int(bytes.number(at: 32) >> 32)
        let length = bytes.number(at: 40)
        let rest = bytes.count - Self.fixedSize - headerSize
        guard rest >= 0, headerSize <= Self.longestHeader else { return nil }
        switch place {
        case .inline:
            guard UInt64(rest) == length else { return nil }
        case .blob:
            guard length <= UInt64(Int64.max),
                rest == ContentDigest.size + 8 * BlobReference.chunkCount(of: length)
            else { return nil }
        case .apart:
            guard UInt64(rest) < length, length <= UInt64(UInt32.max) else { return nil }
        }
        self.bytes = bytes
        self.place = place
        self.headerSize = headerSize
        guard Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[8...])) == bytes.number(at: 0) else { return nil }
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

    /// What is behind the header: the body, its end, or what leads to its blob.
    private var rest: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[(Self.fixedSize + headerSize)...])
    }

    /// Whether the row of `bodies` is what was written; it is none's for a record without one.
    func isSound(_ lead: UnsafeRawBufferPointer?) -> Bool {
        guard place == .apart else { return true }
        guard let lead, UInt64(lead.count) == bodyLength - UInt64(rest.count) else { return false }
        return Checksum.of(lead) == bytes.number(at: 72)
    }

    /// The body, unless it is in a blob.
    ///
    /// - Parameter lead: The row of `bodies`, for a record that has one.
    /// - Returns: A copy; nothing when a byte of it is not what was written.
    func body(_ lead: UnsafeRawBufferPointer?) -> [UInt8]? {
        switch place {
        case .inline: return [UInt8](rest)
        case .blob: return nil
        case .apart:
            guard let lead, isSound(lead) else { return nil }
            let rest = rest
            if rest.isEmpty { return [UInt8](lead) }
            return [UInt8](unsafeUninitializedCapacity: lead.count + rest.count) { body, count in
                let body = UnsafeMutableRawBufferPointer(body)
                body.copyMemory(from: lead)
                UnsafeMutableRawBufferPointer(rebasing: body[lead.count...]).copyMemory(from: rest)
                count = body.count
            }
        }
    }

    /// The digest of the body's blob, when it is in one.
    var blobDigest: ContentDigest? {
        guard place == .blob else { return nil }
        return ContentDigest(bytes: UnsafeRawBufferPointer(rebasing: rest[..<ContentDigest.size]))
    }

    /// All that the record says of its blob, when the body is in one.
    var blob: BlobReference? {
        guard let digest = blobDigest else { return nil }
        let rest = rest
        let checksums = (0..<BlobReference.chunkCount(of: bodyLength)).map {
            rest.number(at: ContentDigest.size + 8 * $0)
        }
        return BlobReference(digest: digest, length: bodyLength, checksums: checksums)
    }

    // MARK: - Writing

    /// How much of a body goes into the table `bodies`.
    ///
    /// What is short goes behind the header, and so does the little that would begin one more page of 4 KiB.
    static func lead(header: Int, body: Int) -> Int {
        if fixedSize + header + body <= longestShared { return 0 }
        // LMDB's pages of a long value have 16 bytes of their own, once.
        let pages = (body + 16) / 4096
        let tail = body - (pages * 4096 - 16)
        return pages > 0 && tail <= longestTail && fixedSize + header + tail <= longestShared ? body - tail : body
    }

    /// Bytes of a row.
    static func size(header: Int, body: RecordBody) -> Int {
        switch body {
        case .inline(let bytes): fixedSize + header + bytes.count
        case .apart(_, let tail): fixedSize + header + tail.count
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
            row.put(session.first, at: 56)
            row.put(session.last, at: 64)
        }
        row.put(0, at: 72)
        let end = fixedSize + header.count
        UnsafeMutableRawBufferPointer(rebasing: row[fixedSize..<end]).copyMemory(from: header)
        let rest = UnsafeMutableRawBufferPointer(rebasing: row[end...])
        switch body {
        case .inline(let bytes):
            row.put(UInt64(bytes.count), at: 40)
            rest.copyMemory(from: bytes)
        case .apart(let lead, let tail):
            kind |= UInt64(Place.apart.rawValue) << 16
            row.put(UInt64(lead.count + tail.count), at: 40)
            row.put(Checksum.of(lead), at: 72)
            rest.copyMemory(from: tail)
        case .blob(let blob):
            kind |= UInt64(Place.blob.rawValue) << 16
            row.put(blob.length, at: 40)
            blob.digest.withBytes { rest.copyMemory(from: $0) }
            for (index, checksum) in blob.checksums.enumerated() {
                rest.put(checksum, at: ContentDigest.size + 8 * index)
            }
        }
        row.put(kind, at: 32)
        row.put(Checksum.of(UnsafeRawBufferPointer(rebasing: row[8...])), at: 0)
    }

    /// Bytes of the row once it has a header of that length in place of its own.
    func size(withHeader header: Int) -> Int { bytes.count - headerSize + header }

    /// Writes the row with another header to other memory, of exactly its size.
    func write(to row: UnsafeMutableRawBufferPointer, header: UnsafeRawBufferPointer, stored: UInt64) {
        row.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<Self.fixedSize]))
        row.put(bytes.number(at: 32) & 0xFFFF_FFFF | UInt64(header.count) << 32, at: 32)
        row.put(stored, at: 48)
        let end = Self.fixedSize + header.count
        UnsafeMutableRawBufferPointer(rebasing: row[Self.fixedSize..<end]).copyMemory(from: header)
        UnsafeMutableRawBufferPointer(rebasing: row[end...]).copyMemory(from: rest)
        row.put(Checksum.of(UnsafeRawBufferPointer(rebasing: row[8...])), at: 0)
    }
}

/// What of a row is in other tables, copied: the row's memory is only good until the first change of a transaction.
struct RecordTies {
    let blob: ContentDigest?
    let storageClass: StorageClass
    let isApart: Bool

    init(_ frame: RecordFrame) {
        blob = frame.blobDigest
        storageClass = frame.storageClass
        isApart = frame.place == .apart
    }
}

/// A body as a record is to hold it.
enum RecordBody {
    case inline(UnsafeRawBufferPointer)
    /// What goes into the table `bodies`, and the rest.
    case apart(UnsafeRawBufferPointer, tail: UnsafeRawBufferPointer)
    case blob(BlobReference)

    /// A body in memory.
    init(_ bytes: UnsafeRawBufferPointer, header: Int) {
        let lead = RecordFrame.lead(header: header, body: bytes.count)
        self =
            lead == 0
            ? .inline(bytes)
            : .apart(
                UnsafeRawBufferPointer(rebasing: bytes[..<lead]),
                tail: UnsafeRawBufferPointer(rebasing: bytes[lead...]))
    }
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
