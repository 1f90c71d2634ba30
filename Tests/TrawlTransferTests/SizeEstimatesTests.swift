import Testing

@testable import TrawlTransfer

@Suite("How long responses of an origin are expected to be")
struct SizeEstimatesTests {
    @Test("the latest one counts for a quarter, and nothing is known of others")
    func average() {
        var sizes = SizeEstimates()
        #expect(sizes.size(of: "http://a.test/1") == nil)
        sizes.note(4000, of: "http://a.test/1")
        #expect(sizes.size(of: "http://a.test/2") == 4000)
        sizes.note(8000, of: "http://a.test/2")
        #expect(sizes.size(of: "http://a.test/3") == 5000)
        #expect(sizes.size(of: "http://b.test/1") == nil)
    }

    @Test("no sum of lengths overflows", arguments: [.max, .max - 1, 1 << 61, 0] as [Int])
    func beyondBounds(first: Int) {
        var sizes = SizeEstimates()
        sizes.note(first, of: "http://a.test/")
        for _ in 0..<3 { sizes.note(.max, of: "http://a.test/") }
        sizes.note(first, of: "http://a.test/")
        #expect((sizes.size(of: "http://a.test/") ?? -1) >= 0)
    }
}
