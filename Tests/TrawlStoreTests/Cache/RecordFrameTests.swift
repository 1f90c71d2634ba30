import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlStore

@Suite("Framed records")
struct RecordFrameTests {
    private static let reference = BlobReference(
        digest: [UInt8](0..<32).withUnsafeBytes { ContentDigest(bytes: $0) }, length: 3_000_000,
        checksums: [1, 2, 3])
    private static let session = StorageClass.session(SessionID(5, 6))

    /// A row, and the row of `bodies` that goes with it.
    private func rows(
        header: [UInt8], body bytes: [UInt8]?, class storageClass: StorageClass = .permanent
    ) -> (row: [UInt8], lead: [UInt8]?) {
        header.withUnsafeBytes { header in
            (bytes ?? []).withUnsafeBytes { all in
                let body = bytes == nil ? RecordBody.blob(Self.reference) : RecordBody(all, header: header.count)
                let size = RecordFrame.size(header: header.count, body: body)
                let row = [UInt8](unsafeUninitializedCapacity: size) { row, count in
                    count = row.count
                    RecordFrame.write(
                        to: UnsafeMutableRawBufferPointer(row), sequence: 77, digest: digest(3), stored: 99,
                        storageClass: storageClass, header: header, body: body)
                }
                guard case .apart(let lead, _) = body else { return (row, nil) }
                return (row, [UInt8](lead))
            }
        }
    }

    private func row(header: [UInt8], inline: [UInt8]?) -> [UInt8] { rows(header: header, body: inline).row }

    private func body(_ frame: RecordFrame, _ lead: [UInt8]?) -> [UInt8]? {
        guard let lead else { return frame.body(nil) }
        return lead.withUnsafeBytes { frame.body($0) }
    }

    @Test(
        "what was written is read", arguments: [0, 1, 300, 5000],
        [0, 1, 1000, 1900, 4079, 4080, 4081, 4096, 5104, 5105, 8176, 16384])
    func inline(header: Int, body length: Int) throws {
        var random = SeededGenerator(seed: 4)
        let (header, bytes) = (random.bytes(header), random.bytes(length))
        let (row, lead) = rows(header: header, body: bytes, class: Self.session)
        #expect(row.count + (lead?.count ?? 0) == RecordFrame.fixedSize + header.count + length)
        try row.withUnsafeBytes { row in
            let frame = try #require(RecordFrame(row, sequence: 77))
            #expect(frame.digest == digest(3))
            #expect(frame.stored == 99)
            #expect(frame.storageClass == Self.session)
            #expect([UInt8](frame.header) == header)
            #expect(frame.bodyLength == UInt64(length))
            #expect(body(frame, lead) == bytes)
            #expect(frame.blob == nil)
        }
    }

    @Test("the body's end goes behind the header when it saves a page, and what is short stays whole")
    func leads() {
        #expect(RecordFrame.lead(header: 500, body: 1442) == 0)
        #expect(RecordFrame.lead(header: 500, body: 1443) == 1443)
        #expect(RecordFrame.lead(header: 500, body: 4079) == 4079)
        #expect(RecordFrame.lead(header: 500, body: 4080) == 4080)
        #expect(RecordFrame.lead(header: 500, body: 4096) == 4080)
        #expect(RecordFrame.lead(header: 500, body: 4080 + 1024) == 4080)
        #expect(RecordFrame.lead(header: 500, body: 4080 + 1025) == 4080 + 1025)
        #expect(RecordFrame.lead(header: 500, body: 16384) == 16368)
        // No room beside a long header.
        #expect(RecordFrame.lead(header: 1930, body: 4096) == 4096)
    }

    @Test("another header leaves all else as it was", arguments: [0, 700, 4096, nil])
    func header(length: Int?) throws {
        var random = SeededGenerator(seed: 5)
        let bytes = length.map { random.bytes($0) }
        let (old, lead) = rows(header: random.bytes(200), body: bytes, class: Self.session)
        let header = random.bytes(321)
        try old.withUnsafeBytes { old in
            let frame = try #require(RecordFrame(old, sequence: 77))
            let size = frame.size(withHeader: header.count)
            let row = [UInt8](unsafeUninitializedCapacity: size) { row, count in
                count = row.count
                header.withUnsafeBytes {
                    frame.write(to: UnsafeMutableRawBufferPointer(row), header: $0, stored: 123)
                }
            }
            try row.withUnsafeBytes { row in
                let frame = try #require(RecordFrame(row, sequence: 77))
                #expect([UInt8](frame.header) == header)
                #expect(frame.stored == 123)
                #expect(frame.storageClass == Self.session)
                #expect(frame.digest == digest(3))
                #expect(body(frame, lead) == bytes)
                #expect(frame.blob == (length == nil ? Self.reference : nil))
            }
        }
    }

    @Test("a body in a blob is read as a reference")
    func blob() throws {
        try row(header: [1, 2], inline: nil).withUnsafeBytes { bytes in
            let frame = try #require(RecordFrame(bytes, sequence: 77))
            #expect(frame.storageClass == .permanent)
            #expect(frame.blob == Self.reference)
            #expect(frame.blobDigest == Self.reference.digest)
            #expect(frame.body(nil) == nil)
        }
    }

    @Test("the row of another sequence is none")
    func swapped() {
        row(header: [1], inline: [2]).withUnsafeBytes { #expect(RecordFrame($0, sequence: 78) == nil) }
    }

    @Test("no flipped bit passes", arguments: [60, 1940, nil])
    func flips(length: Int?) throws {
        var random = SeededGenerator(seed: 9)
        var (row, lead) = rows(header: random.bytes(40), body: length.map { random.bytes($0) })
        #expect((lead != nil) == (length == 1940))
        for place in row.indices {
            for bit in 0..<8 {
                row[place] ^= 1 << UInt8(bit)
                row.withUnsafeBytes { #expect(RecordFrame($0, sequence: 77) == nil) }
                row[place] ^= 1 << UInt8(bit)
            }
        }
        guard var bytes = lead else { return }
        try row.withUnsafeBytes { row in
            let frame = try #require(RecordFrame(row, sequence: 77))
            for place in bytes.indices {
                bytes[place] ^= 1 << UInt8(place % 8)
                #expect(body(frame, bytes) == nil)
                bytes.withUnsafeBytes { #expect(!frame.isSound($0)) }
                bytes[place] ^= 1 << UInt8(place % 8)
            }
            #expect(body(frame, bytes + [0]) == nil)
            #expect(body(frame, [UInt8](bytes.dropLast())) == nil)
            #expect(body(frame, nil) == nil)
            #expect(!frame.isSound(nil))
        }
    }

    @Test("a row cut anywhere or with bytes after it is none", arguments: [false, true])
    func cut(isBlob: Bool) {
        let bytes = row(header: [1, 2, 3], inline: isBlob ? nil : [4, 5, 6])
        for length in 0..<bytes.count {
            Array(bytes[..<length]).withUnsafeBytes { #expect(RecordFrame($0, sequence: 77) == nil) }
        }
        (bytes + [0]).withUnsafeBytes { #expect(RecordFrame($0, sequence: 77) == nil) }
    }

    @Test("random bytes are no row")
    func garbage() {
        var random = SeededGenerator(seed: 11)
        for length in 0..<400 {
            random.bytes(length).withUnsafeBytes { bytes in
                #expect(RecordFrame(bytes, sequence: bytes.count >= 16 ? bytes.number(at: 8) : 0) == nil)
            }
        }
    }

    @Test("a damaged row of counters is none")
    func counters() {
        var counters = CacheCounters()
        counters.next = 12
        counters.add(BlobRow(references: 1, length: 1 << 50))
        counters.scan = 5
        counters.slot = 6
        var bytes = counters.withBytes { [UInt8]($0) }
        bytes.withUnsafeBytes { #expect(CacheCounters($0) == counters) }
        for place in bytes.indices {
            bytes[place] ^= 1
            bytes.withUnsafeBytes { #expect(CacheCounters($0) == nil) }
            bytes[place] ^= 1
        }
    }
}
