import Testing

@testable import TrawlFrontier

@Suite("Fetches of a queue that wait for others, ASI-Q-09")
struct QueueDependencyTests {
    private typealias Settings = QueueMachine.Settings

    @Test("a fetch starts when all it depends on have ended")
    func dependencies() {
        var queue = QueueMachine()
        let a = queue.add()
        let b = queue.add()
        let c = queue.add(priority: .veryHigh, after: [a, b, a])
        queue.start()
        #expect(queue.actions() == [.start(a), .start(b)])
        queue.ended(b, .succeeded)
        #expect(queue.actions() == [.tellFinished(b, pending: 2)])
        queue.ended(a, .succeeded)
        #expect(queue.actions() == [.tellFinished(a, pending: 1), .start(c)])
        let d = queue.add(after: [a, b])
        #expect(queue.actions() == [.start(d)], "both have ended")
    }

    @Test("a failure passes on along dependencies that need success, and not along others")
    func dependencyFails() {
        var queue = QueueMachine(Settings(cancelsOthersOnFailure: false))
        let a = queue.add()
        let b = queue.add(after: [a])
        let c = queue.add(after: [b])
        let d = queue.add(after: [a], needsSuccess: false)
        let e = queue.add(after: [a, b])
        queue.start()
        #expect(queue.actions() == [.start(a)])
        queue.ended(a, .failed)
        let actions = queue.actions()
        #expect(actions.first == .tellFailed(a, .own, pending: 4))
        #expect(actions.last == .start(d) && actions.count == 5)
        let reasons = actions.compactMap { action -> QueueMachine.FailureReason? in
            if case .tellFailed(let fetch, let reason, _) = action, [b, c, e].contains(fetch) { return reason }
            return nil
        }
        #expect(Set(reasons).isSubset(of: [.dependency(a), .dependency(b)]) && reasons.count == 3)
    }

    @Test("what ended before is not waited for, however it ended; what is added with it to a suspended queue is")
    func dependencyEnded() {
        for isSuspended in [false, true] {
            var queue = QueueMachine(Settings(width: 1, cancelsOthersOnFailure: false))
            queue.start()
            if isSuspended { queue.suspend() }
            let a = queue.add()
            if !isSuspended {
                #expect(queue.actions() == [.start(a)])
                queue.ended(a, .failed)
                #expect(queue.actions() == [.tellFailed(a, .own, pending: 0), .tellQueueFinished])
            }
            let b = queue.add(after: [a])
            guard isSuspended else {
                #expect(queue.actions() == [.start(b)])
                continue
            }
            queue.start()
            #expect(queue.actions() == [.start(a)])
            queue.ended(a, .failed)
            #expect(
                queue.actions() == [
                    .tellFailed(a, .own, pending: 1), .tellFailed(b, .dependency(a), pending: 0), .tellQueueFinished,
                ])
        }
    }

    @Test("a long chain of fetches fails, or is cancelled, without going deep")
    func chain() {
        for cancels in [true, false] {
            var queue = QueueMachine(Settings(cancelsOthersOnFailure: cancels))
            var last = queue.add()
            let first = last
            for _ in 0..<100_000 { last = queue.add(after: [last]) }
            queue.start()
            #expect(queue.actions() == [.start(first)])
            if cancels { queue.cancelAll() }
            queue.ended(first, .failed)
            var told = 0
            while let action = queue.next() {
                if case .tellFailed = action { told += 1 }
            }
            #expect(told == 100_001 && queue.pendingCount == 0)
        }
    }
}
