import Testing
import TrawlHTTP

@testable import Trawl

@Suite("Interim heads of a fetch")
struct InterimHeadsTests {
    private func head(_ status: UInt16, bytes: Int = 0) throws -> Response.ResponseHead {
        var lines = FieldLines()
        if bytes > 0 { try lines.append("X", String(repeating: "a", count: bytes)) }
        return Response.ResponseHead(
            TrawlHTTP.ResponseHead(status: status, version: .http1_1, reason: "", fields: lines))
    }

    @Test("those of all leases are kept in their order, up to 64, and each lease may have as many")
    func number() throws {
        var interim = InterimHeads()
        for lease in UInt64(1)...3 {
            for number in 0..<64 {
                let isTaken = interim.append(try head(UInt16(100 + number)), of: lease)
                #expect(isTaken)
            }
            let isOneMore = interim.append(try head(199), of: lease)
            #expect(!isOneMore)
            #expect(interim.heads.map(\.status) == Array(100..<164))
        }
        var mixed = InterimHeads()
        for (lease, status) in [(1, 103), (1, 102), (4, 103), (9, 199)] as [(UInt64, UInt16)] {
            let isTaken = mixed.append(try head(status), of: lease)
            #expect(isTaken)
        }
        #expect(mixed.heads.map(\.status) == [103, 102, 103, 199])
    }

    @Test("64 KiB are kept of all together; what does not fit leaves room for a smaller one")
    func bytes() throws {
        var interim = InterimHeads()
        for (lease, status, bytes) in [(1, 101, 40_000), (2, 102, 40_000), (2, 103, 10)] as [(UInt64, UInt16, Int)] {
            let isTaken = interim.append(try head(status, bytes: bytes), of: lease)
            #expect(isTaken)
        }
        #expect(interim.heads.map(\.status) == [101, 103])
        let isOneMore = interim.append(try head(104, bytes: 30_000), of: 2)
        #expect(!isOneMore)
        interim.append(contentsOf: [try head(105, bytes: 40_000), try head(106)])
        #expect(interim.heads.map(\.status) == [101, 103, 106])
    }
}
