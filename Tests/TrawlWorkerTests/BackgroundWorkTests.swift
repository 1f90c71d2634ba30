import Foundation
import Testing
import TrawlPlatform

@testable import TrawlWorker

@Suite("What the transfer thread leaves to another")
struct BackgroundWorkTests {
    @Test("is done in its order, while who asked for it goes on, and is over when it is waited for")
    func order() {
        let work = BackgroundWork(name: "test-work")
        let mayGoOn = DispatchSemaphore(value: 0)
        let done = Guarded<[Int]>([])
        for round in 0..<3 {
            // Held up until all of the round is asked for.
            work.add { mayGoOn.wait() }
            for number in 0..<4 { work.add { done.withLock { $0.append(4 * round + number) } } }
            let early = done.withLock { $0.count }
            #expect(early == 4 * round)
            mayGoOn.signal()
            work.finish()
            let all = done.withLock { $0 }
            #expect(all == Array(0..<4 * (round + 1)))
        }
        work.finish()
    }
}
