import Testing

@testable import Trawl

@Suite("Running fetches")
struct RunningFetchTests {
    /// glibc keeps freed blocks of up to so many bytes at hand for each thread (tcache); larger ones take three times
    /// as long to get.
    private static let largestAtHand = 1032

    @Test("a fetch is no larger than the blocks that malloc keeps at hand")
    func size() {
        // Before its properties an object has its type and its count of references; four of them are truth values.
        let size =
            16 + MemoryLayout<FetchPlan>.stride + MemoryLayout<RunningFetch.Reply>.stride
            + MemoryLayout<(any FetchEventSink)?>.stride + MemoryLayout<FetchControl?>.stride + 8
            + MemoryLayout<RunningFetch.EngineState>.size
        #expect(size <= Self.largestAtHand)
    }
}
