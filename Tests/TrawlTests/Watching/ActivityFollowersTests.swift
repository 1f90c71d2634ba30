import Testing
import TrawlHTTP

@testable import Trawl

@Suite("Those who follow how many fetches there are")
struct ActivityFollowersTests {
    private func at(_ milliseconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 1_000_000_000).advanced(by: .milliseconds(milliseconds))
    }

    /// What one is told, once all is over.
    private func all(_ stream: AsyncStream<Int>) async -> [Int] {
        var numbers: [Int] = []
        for await number in stream { numbers.append(number) }
        return numbers
    }

    @Test("the end is told of a fetch that was over before anybody looked at it")
    func overAtOnce() async {
        var followers = ActivityFollowers()
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        followers.add(1, continuation, 1, at: at(0))
        followers.look(0, at: at(0))
        #expect(followers.nextLook == at(500))
        followers.look(0, at: at(500))
        continuation.finish()
        #expect(await all(stream) == [1, 0])
    }

    @Test("one who comes later is told each change from the number that it was told first")
    func later() async {
        var followers = ActivityFollowers()
        let (first, toFirst) = AsyncStream.makeStream(of: Int.self)
        let (second, toSecond) = AsyncStream.makeStream(of: Int.self)
        followers.add(1, toFirst, 0, at: at(0))
        followers.look(1, at: at(10))
        followers.add(2, toSecond, 3, at: at(20))
        followers.look(1, at: at(30))
        followers.look(2, at: at(300))
        followers.finish()
        #expect(await all(first) == [0, 1, 2, 0])
        #expect(await all(second) == [1, 2, 0])
    }
}
