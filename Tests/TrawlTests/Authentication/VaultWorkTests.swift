import Foundation
import Testing

@testable import Trawl

@Suite("What a vault is told at the end", .timeLimit(.minutes(10)))
struct VaultWorkTests {
    private actor Steps {
        var done: [String] = []
        func add(_ step: String) { done.append(step) }
    }

    @Test("is waited for, in both forms")
    func waits() async {
        let work = VaultWork()
        await work.finish()
        let steps = Steps()
        for _ in 0..<3 {
            work.start {
                await Task.yield()
                await steps.add("saved")
            }
        }
        await work.finish()
        #expect(await steps.done == ["saved", "saved", "saved"])
        work.start { await steps.add("last") }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                work.finishBlocking()
                continuation.resume()
            }
        }
        #expect(await steps.done.last == "last")
    }

    @Test("is given up when it takes too long, and left when it heeds nothing")
    func limits() async {
        let steps = Steps()
        let slow = VaultWork(patience: .milliseconds(20), lastPatience: .seconds(60))
        slow.start {
            // Until it is cancelled.
            try? await Task.sleep(for: .seconds(3600))
            await steps.add("stopped")
        }
        await slow.finish()
        #expect(await steps.done == ["stopped"])
        let deaf = VaultWork(patience: .milliseconds(20), lastPatience: .milliseconds(20))
        let gate = EndGate()
        deaf.start { await gate.wait() }
        await deaf.finish()
        gate.open()
    }
}
