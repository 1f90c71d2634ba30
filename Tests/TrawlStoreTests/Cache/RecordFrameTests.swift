import Testing

@testable import TrawlStore

@Suite("Framed records")
struct RecordFrameTests {
    private static let reference = BlobReference(
        digest: [UInt8](0..<32).withUnsafeBytes { ContentDigest(bytes: $0) }, length: 3_000_000,
        checksums: [1, 2, 3])
    private static let session = StorageClass.session(SessionID(5, 6))

    private func row(
        header: [UInt8], inline: [UInt8]?, class storageClass: StorageClass = .permanent
    ) -> [UInt8] {
        header.withUnsafeBytes { header in
            (inline ?? []).withUnsafeBytes { bytes in
                let body = inline == nil ? RecordBody.blob(Self.reference) : .inline(bytes)
                return [UInt8](unsafeUninitializedCapacity: RecordFrame.size(header: header.count, body: body)) {
                    row, count in
                    count = row.count
                    RecordFrame.write(
                        to: UnsafeMutableRawBufferPointer(row), sequence: 77, digest: digest(3), stored: 99,
                        storageClass: storageClass, header: header, body: body)
                }
            }
        }
    }

    @Test(
        "what was written is read", arguments: [0, 1, 300, 5000], [0, 1, 4096, 16384])
    func inline(header: Int, body: Int) throws {
        var random = Seeded(4)
        let (header, body) = (random.bytes(header), random.bytes(body))
        try row(header: header, inline: body, class: Self.session).withUnsafeBytes { bytes in
            let frame = try #require(RecordFrame(bytes, sequence: 77))
            #expect(frame.digest == digest(3))
            #expect(frame.stored == 99)
            #expect(frame.storageClass == Self.session)
            #expect([UInt8](frame.header) == header)
            #expect(frame.bodyLength == UInt64(body.count))
            #expect(frame.inlineBody.map { [UInt8]($0) } == body)
            #expect(frame.blob == nil)
        }
    }

    @Test("a body in a blob is read as a reference")
    func blob() throws {
        try row(header: [1, 2], inline: nil).withUnsafeBytes { bytes in
            let frame = try #require(RecordFrame(bytes, sequence: 77))
            #expect(frame.storageClass == .permanent)
            #expect(frame.blob == Self.reference)
            #expect(frame.blobDigest == Self.reference.digest)
            #expect(frame.inlineBody == nil)
        }
    }

    @Test("the row of another sequence is none")
    func swapped() {
        row(header: [1], inline: [2]).withUnsafeBytes { #expect(RecordFrame($0, sequence: 78) == nil) }
    }

    @Test("no flipped bit passes", arguments: [false, true])
    func flips(isBlob: Bool) {
        var random = Seeded(9)
        let (header, body) = (random.bytes(40), random.bytes(60))
        var bytes = row(header: header, inline: isBlob ? nil : body)
        for place in bytes.indices {
            for bit in 0..<8 {
                bytes[place] ^= 1 << UInt8(bit)
                bytes.withUnsafeBytes { bytes in
                    guard let frame = RecordFrame(bytes, sequence: 77) else { return }
                    #expect(!isBlob && frame.inlineBody == nil)
                }
                bytes[place] ^= 1 << UInt8(bit)
            }
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
        var random = Seeded(11)
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
        counters.blobBytes = 34
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
