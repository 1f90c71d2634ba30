import Testing
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

@testable import TrawlTransfer

@Suite("Transfers and their loop")
struct TransferLoopTests {
    @Test("one that is cancelled while it waits for bandwidth stands in no line any more")
    func cancelledInLine() throws {
        try #require(GlobalLibcurl.isReady)
        let segment = try SharedSegment.create(workers: 1, transfersPerWorker: 4)
        let now = MonotonicClock.now()
        segment.limit(0).set(down: 1, up: nil, burst: .zero, at: now)
        // Not paid for in the time of this test.
        segment.limit(0).down.charge(1 << 20, at: now)
        let loop = try #require(
            TransferLoop(leases: 4, roots: [], segment: segment, slot: 0, output: TransferOutput()))
        loop.define(TransferProfile(), number: 1)
        for id in 1...2 as ClosedRange<UInt64> {
            var lease = Lease(
                id: id, profile: 1, progressIndex: 0, method: .get, url: "http://127.0.0.1:1/", fields: FieldLines())
            lease.limits = LimitNumbers(0)
            try loop.begin(lease, descriptors: [])
            #expect(loop.throttled.count == 1)
            loop.cancel(id)
            #expect(loop.throttled.isEmpty && loop.activeCount == 0)
        }
    }
}
