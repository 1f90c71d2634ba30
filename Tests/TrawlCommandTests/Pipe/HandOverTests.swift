import Testing

@testable import TrawlCommand

@Suite("Requests of a pipe, on their way to the coordinator")
struct HandOverTests {
    private func handOver(_ count: Int) -> HandOver<Int> {
        var handOver = HandOver<Int>(first: 4, mostLoad: 1000)
        for number in 0..<count { handOver.add(number) }
        return handOver
    }

    @Test("before the first response so many begin, in their order")
    func first() {
        var handOver = handOver(10)
        let fetches = handOver.take(regardless: false) { _ in true }
        #expect(fetches == [0, 1, 2, 3])
        let more = handOver.take(regardless: false) { _ in true }
        #expect(more.isEmpty)
    }

    @Test("then as many as fit by what the latest responses took")
    func expected() {
        var handOver = handOver(100)
        _ = handOver.take(regardless: false) { _ in true }
        for _ in 0..<4 { handOver.ended(load: 100) }
        // Less than 1000 bytes together.
        let fetches = handOver.take(regardless: false) { _ in true }
        #expect(fetches == Array(4..<13))
        for _ in 0..<9 { handOver.ended(load: 1) }
        // A hundred is forgotten bit by bit.
        let later = handOver.take(regardless: false) { _ in true }
        #expect(later == Array(13..<84))
    }

    @Test("what waits for a reader takes room away, and nothing begins without any")
    func room() {
        var handOver = handOver(100)
        _ = handOver.take(regardless: false) { _ in true }
        for _ in 0..<4 { handOver.ended(load: 100) }
        let fetches = handOver.take(regardless: false) { 700 + $0 < 1000 }
        #expect(fetches == [4, 5])
        let none = handOver.take(regardless: false) { _ in false }
        #expect(none.isEmpty)
        let all = handOver.take(regardless: true) { _ in false }
        #expect(all == Array(6..<100))
    }

    @Test("a response that is longer than all the room goes alone")
    func alone() {
        var handOver = handOver(10)
        _ = handOver.take(regardless: false) { _ in true }
        for _ in 0..<3 { handOver.ended(load: 5000) }
        let others = handOver.take(regardless: false) { _ in true }
        #expect(others.isEmpty)
        handOver.ended(load: 5000)
        let one = handOver.take(regardless: false) { _ in true }
        #expect(one == [4])
    }
}
