import Testing
import TrawlProtocol
import TrawlStore
import TrawlTransfer

@testable import TrawlWorker

@Suite("Stored bytes that most likely nobody wants")
struct LateBytesTests {
    @Test("they are looked for when the first is wanted, and once")
    func late() throws {
        var searches = 0
        let bytes = LateBytes(3) {
            searches += 1
            return VerifiedBytes(.bytes([1, 2, 3, 4]), 1..<4, in: ChunkMemory())
        }
        #expect(bytes.length == 3)
        #expect(searches == 0)
        guard case .bytes(let piece)? = try bytes.next(into: nil) else {
            Issue.record("no bytes")
            return
        }
        #expect([UInt8](piece) == [2, 3, 4])
        #expect(try bytes.next(into: nil) == nil)
        #expect(searches == 1)
    }

    @Test("those that are gone by then are an error, each time")
    func gone() {
        let bytes = LateBytes(3) { nil }
        for _ in 0..<2 {
            do throws(HopFailure) {
                _ = try bytes.next(into: nil)
                Issue.record("there was nothing")
            } catch {
                #expect(error.kind == .storedResponse)
            }
        }
    }
}
