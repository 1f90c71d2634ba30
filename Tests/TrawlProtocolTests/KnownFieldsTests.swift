import Testing
import TrawlHTTP

@testable import TrawlProtocol

/// Leases of one worker have the same field lines nearly always, and share them then.
@Suite("Field lines of an earlier lease")
struct KnownFieldsTests {
    @Test("a lease with the same lines shares them", arguments: [0, 1, 7, 8, 9, 64])
    func same(length: Int) throws {
        var fields = FieldLines()
        try fields.append("Accept", String(repeating: "a", count: length))
        let lease = try decode(fields, known: fields)
        #expect(lease.fields == fields)
    }

    @Test("a lease with other lines has its own", arguments: ["Accept: b", "Accept: aa", "accept: a", ""])
    func other(line: String) throws {
        var known = FieldLines()
        try known.append("Accept", "a")
        var fields = FieldLines()
        let parts = line.split(separator: ":")
        if parts.count == 2 { try fields.append(String(parts[0]), String(parts[1].dropFirst())) }
        let lease = try decode(fields, known: known)
        #expect(lease.fields == fields)
    }

    private func decode(_ fields: FieldLines, known: FieldLines) throws -> Lease {
        var writer = WireWriter()
        let lease = Lease(
            id: 1, profile: 2, progressIndex: 3, method: .get, url: "http://example.org/", fields: fields)
        #expect(CoordinatorMessage.lease(lease).write(to: &writer))
        var buffer = FrameBuffer()
        _ = buffer.fill { room in
            writer.bytes.withUnsafeBytes { room.copyMemory(from: $0) }
            return writer.bytes.count
        }
        let found = try buffer.next { (frame) throws(FrameError) in
            try CoordinatorMessage.readLease(frame, knownFields: known)
        }
        let decoded = try #require(found)
        #expect(decoded == lease)
        return decoded
    }
}
