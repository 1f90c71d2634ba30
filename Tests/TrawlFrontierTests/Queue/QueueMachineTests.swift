import Testing

@testable import TrawlFrontier

@Suite("A queue of fetches, ASI-Q-01, 02, 04 to 07, 09")
struct QueueMachineTests {
    private typealias Settings = QueueMachine.Settings

    @Test("a new queue does nothing until it is started; starting again does no harm; later additions start at once")
    func startsSuspended() {
        var queue = QueueMachine()
        let a = queue.add()
        let b = queue.add()
        #expect(queue.isSuspended && queue.pendingCount == 2)
        #expect(queue.actions() == [])
        queue.start()
        #expect(queue.actions() == [.start(a), .start(b)])
        queue.start()
        #expect(queue.actions() == [])
        let c = queue.add()
        #expect(queue.actions() == [.start(c)])
    }

    @Test("at most as many run as the queue is wide, four by default; the width can change")
    func width() {
        var queue = QueueMachine()
        let fetches = (0..<7).map { _ in queue.add() }
        queue.start()
        #expect(queue.actions() == fetches[0..<4].map { .start($0) })
        queue.ended(fetches[1], .succeeded)
        #expect(queue.actions() == [.tellFinished(fetches[1], pending: 6), .start(fetches[4])])
        queue.setWidth(2)
        queue.ended(fetches[0], .succeeded)
        queue.ended(fetches[2], .succeeded)
        #expect(queue.actions() == [.tellFinished(fetches[0], pending: 5), .tellFinished(fetches[2], pending: 4)])
        queue.setWidth(0)
        #expect(queue.settings.width == 1)
        queue.setWidth(9)
        #expect(queue.actions() == [.start(fetches[5]), .start(fetches[6])])
        #expect(queue.runningCount == 4)
    }

    @Test("one that is withdrawn cancels no other")
    func withdrawn() {
        var queue = QueueMachine(Settings(width: 1))
        let fetches = (0..<3).map { _ in queue.add() }
        queue.start()
        #expect(queue.actions() == [.start(fetches[0])])
        queue.withdraw(fetches[0])
        queue.withdraw(fetches[1])
        #expect(queue.actions() == [.cancel(fetches[0]), .tellFailed(fetches[1], .cancelled, pending: 2)])
        queue.ended(fetches[0], .failed)
        #expect(queue.actions() == [.tellFailed(fetches[0], .cancelled, pending: 1), .start(fetches[2])])
        #expect(queue.progressResets == 0 && Array(queue.living) == [fetches[2]])
        queue.cancelAll()
        #expect(queue.progressResets == 1)
    }

    @Test("suspending lets what runs go on, and starts nothing more")
    func suspend() {
        var queue = QueueMachine(Settings(width: 1))
        let a = queue.add()
        let b = queue.add()
        queue.start()
        #expect(queue.actions() == [.start(a)])
        queue.suspend()
        queue.ended(a, .succeeded)
        #expect(queue.actions() == [.tellFinished(a, pending: 1)])
        queue.start()
        #expect(queue.actions() == [.start(b)])
    }

    @Test("one that is suspended gives its place to others, and gets one again before those that never started")
    func suspendOne() {
        var queue = QueueMachine(Settings(width: 1))
        let fetches = (0..<3).map { _ in queue.add() }
        queue.start()
        #expect(queue.actions() == [.start(fetches[0])])
        #expect(queue.suspend(fetches[0]) == true)
        #expect(queue.actions() == [.start(fetches[1])] && queue.runningCount == 1)
        queue.resume(fetches[0])
        #expect(queue.actions() == [], "the width holds")
        queue.ended(fetches[1], .succeeded)
        #expect(queue.actions() == [.tellFinished(fetches[1], pending: 2), .goOn(fetches[0])])
        // An end that was under way comes while it is suspended, or waits for its turn again.
        #expect(queue.suspend(fetches[0]) == true)
        #expect(queue.actions() == [.start(fetches[2])])
        queue.resume(fetches[0])
        queue.ended(fetches[0], .succeeded)
        #expect(queue.actions() == [.tellFinished(fetches[0], pending: 1)])
        queue.ended(fetches[2], .succeeded)
        #expect(queue.actions() == [.tellFinished(fetches[2], pending: 0), .tellQueueFinished])
    }

    @Test("one that is suspended before its turn does not start, nor is it sized; resumed, it waits behind the others")
    func suspendWaiting() {
        var queue = QueueMachine(Settings(width: 1, isAccurate: true))
        let sized = queue.add(isSizeable: true)
        let plain = queue.add()
        let after = queue.add(after: [plain])
        for fetch in [sized, plain, after] { #expect(queue.suspend(fetch) == false) }
        queue.start()
        #expect(queue.actions() == [])
        queue.resume(plain)
        #expect(queue.actions() == [.start(plain)])
        queue.ended(plain, .succeeded)
        #expect(queue.actions() == [.tellFinished(plain, pending: 2)], "what it waited for has ended")
        queue.resume(sized)
        #expect(queue.actions() == [.startSizing(sized)])
        #expect(queue.suspend(sized) == false)
        queue.resume(after)
        queue.sizingEnded(sized, .succeeded)
        #expect(queue.actions() == [.start(after)])
        queue.resume(sized)
        queue.ended(after, .succeeded)
        #expect(queue.actions() == [.tellFinished(after, pending: 1), .start(sized)])
    }

    @Test("one that is suspended can be cancelled, alone, with all others and by a reset")
    func cancelSuspended() {
        for isWaiting in [false, true] {
            var queue = QueueMachine(Settings(width: 1, cancelsOthersOnFailure: false))
            let (a, b, c) = (queue.add(), queue.add(), queue.add())
            queue.start()
            #expect(queue.actions() == [.start(a)])
            #expect(queue.suspend(a) == true)
            #expect(queue.actions() == [.start(b)])
            if isWaiting { queue.resume(a) }
            queue.cancel(a)
            #expect(queue.actions() == [.cancel(a)] && queue.runningCount == 1)
            queue.ended(a, .failed)
            #expect(queue.actions() == [.tellFailed(a, .cancelled, pending: 2)])
            #expect(queue.suspend(b) == true)
            #expect(queue.actions() == [.start(c)])
            if isWaiting { queue.resume(b) }
            queue.reset()
            #expect(queue.actions() == [.resetProgress, .cancel(b), .cancel(c)] && queue.runningCount == 1)
            queue.ended(b, .failed)
            queue.ended(c, .failed)
            #expect(queue.actions() == [] && queue.runningCount == 0)
        }
    }

    @Test("when what makes them is over, fetches start that were held back, and none is held back any more")
    func engineEnds() {
        var queue = QueueMachine(Settings(width: 1, cancelsOthersOnFailure: false))
        let (a, b) = (queue.add(), queue.add())
        let c = queue.add(after: [b])
        for fetch in [b, c] { #expect(queue.suspend(fetch) == false) }
        queue.engineEnded()
        queue.suspend()
        #expect(queue.suspend(a) == false && queue.hasWork)
        #expect(queue.actions() == [.start(a)])
        queue.ended(a, .failed)
        #expect(queue.actions() == [.tellFailed(a, .own, pending: 2), .start(b)])
        queue.ended(b, .failed)
        #expect(
            queue.actions() == [
                .tellFailed(b, .own, pending: 1), .tellFailed(c, .dependency(b), pending: 0), .tellQueueFinished,
            ])
        queue.reset()
        let d = queue.add()
        #expect(queue.actions() == [.resetProgress, .start(d)])
    }

    @Test("when what makes them is over, one that was started and suspended waits for its end alone")
    func engineEndsForSuspended() {
        var queue = QueueMachine()
        let a = queue.add()
        queue.start()
        #expect(queue.actions() == [.start(a)])
        #expect(queue.suspend(a) == true)
        queue.engineEnded()
        #expect(queue.actions() == [.goOn(a)])
        queue.ended(a, .failed)
        #expect(queue.actions() == [.tellFailed(a, .own, pending: 0), .tellQueueFinished])
        #expect(queue.runningCount == 0)
    }

    @Test("those of higher priority go first, then those that could start first")
    func priorities() {
        var queue = QueueMachine(Settings(width: 9))
        let low = queue.add(priority: .low)
        let normal = queue.add()
        let high = queue.add(priority: .high)
        let second = queue.add()
        let highest = queue.add(priority: .veryHigh)
        queue.start()
        #expect(queue.actions() == [highest, high, normal, second, low].map { .start($0) })
    }

    @Test("the end of the queue is told once, after the last fetch, however that ended")
    func finish() {
        for last in [.succeeded, .failed] as [QueueMachine.Ending] {
            var queue = QueueMachine(Settings(cancelsOthersOnFailure: false))
            let a = queue.add()
            let b = queue.add()
            queue.start()
            #expect(queue.actions().count == 2)
            queue.ended(b, .failed)
            queue.ended(a, last)
            let told: QueueMachine.Action =
                last == .succeeded ? .tellFinished(a, pending: 0) : .tellFailed(a, .own, pending: 0)
            #expect(queue.actions() == [.tellFailed(b, .own, pending: 1), told, .tellQueueFinished])
            #expect(queue.pendingCount == 0)
            queue.ended(a, .failed)
            queue.cancel(b)
            #expect(queue.actions() == [], "late reports are nothing")
            let c = queue.add()
            #expect(queue.actions() == [.start(c)])
            queue.ended(c, .succeeded)
            #expect(queue.actions() == [.tellFinished(c, pending: 0), .tellQueueFinished])
        }
    }

    @Test("it says beforehand whether there is anything to do")
    func work() {
        var queue = QueueMachine(Settings(width: 1))
        #expect(!queue.hasWork)
        let a = queue.add()
        #expect(!queue.hasWork, "it is suspended")
        queue.start()
        #expect(queue.hasWork)
        #expect(queue.actions() == [.start(a)])
        let b = queue.add()
        #expect(!queue.hasWork, "it is full")
        queue.ended(a, .succeeded)
        #expect(queue.hasWork)
        #expect(queue.actions() == [.tellFinished(a, pending: 1), .start(b)])
        queue.cancel(b)
        #expect(queue.hasWork)
    }

    @Test("a fetch that is added while the last one is told puts the queue's end off")
    func addedInCallback() {
        var queue = QueueMachine()
        let a = queue.add()
        queue.start()
        #expect(queue.actions() == [.start(a)])
        queue.ended(a, .succeeded)
        #expect(queue.next() == .tellFinished(a, pending: 0))
        let b = queue.add()
        #expect(queue.actions() == [.start(b)])
        queue.ended(b, .succeeded)
        #expect(queue.actions() == [.tellFinished(b, pending: 0), .tellQueueFinished])
    }

    @Test("the first failure cancels all the rest; each is told as failed, and the queue as finished once")
    func cancelsOthers() {
        var queue = QueueMachine(Settings(width: 2))
        let fetches = (0..<4).map { _ in queue.add() }
        queue.start()
        #expect(queue.actions() == [.start(fetches[0]), .start(fetches[1])])
        queue.ended(fetches[1], .failed)
        #expect(
            queue.actions() == [
                .tellFailed(fetches[1], .own, pending: 3), .resetProgress, .cancel(fetches[0]),
                .tellFailed(fetches[2], .cancelled, pending: 2), .tellFailed(fetches[3], .cancelled, pending: 1),
            ])
        queue.ended(fetches[0], .failed)
        #expect(queue.actions() == [.tellFailed(fetches[0], .cancelled, pending: 0), .tellQueueFinished])
    }

    @Test("ten fetches that fail one after the other: one is a failure, nine are cancelled")
    func unresolvable() {
        for cancels in [true, false] {
            var queue = QueueMachine(Settings(width: 1, cancelsOthersOnFailure: cancels))
            for _ in 0..<10 { _ = queue.add() }
            queue.start()
            var started = 0
            var failed = 0
            var finished = 0
            while let action = queue.next() {
                switch action {
                case .start(let fetch):
                    started += 1
                    queue.ended(fetch, .failed)
                case .tellFailed: failed += 1
                case .tellQueueFinished: finished += 1
                case .resetProgress: break
                case .startSizing, .goOn, .cancel, .cancelSizing, .tellFinished: Issue.record("\(action)")
                }
            }
            #expect(started == (cancels ? 1 : 10) && failed == 10 && finished == 1)
        }
    }

    @Test("what is added while others are being cancelled is not cancelled with them")
    func addedWhileCancelling() {
        var queue = QueueMachine()
        let a = queue.add()
        let b = queue.add()
        queue.start()
        #expect(queue.actions().count == 2)
        queue.ended(a, .failed)
        #expect(queue.actions() == [.tellFailed(a, .own, pending: 1), .resetProgress, .cancel(b)])
        let c = queue.add()
        queue.ended(b, .failed)
        #expect(queue.actions() == [.tellFailed(b, .cancelled, pending: 1), .start(c)])
    }

    @Test("cancelling one fetch is a failure like another")
    func cancelOne() {
        var queue = QueueMachine(Settings(width: 1))
        let fetches = (0..<3).map { _ in queue.add() }
        queue.start()
        #expect(queue.actions() == [.start(fetches[0])])
        queue.cancel(fetches[0])
        queue.cancel(fetches[0])
        #expect(queue.actions() == [.cancel(fetches[0])])
        queue.ended(fetches[0], .failed)
        #expect(
            queue.actions() == [
                .tellFailed(fetches[0], .cancelled, pending: 2), .resetProgress,
                .tellFailed(fetches[1], .cancelled, pending: 1), .tellFailed(fetches[2], .cancelled, pending: 0),
                .tellQueueFinished,
            ])

        var other = QueueMachine(Settings(width: 1, cancelsOthersOnFailure: false))
        let a = other.add()
        let b = other.add()
        other.cancel(a)
        other.start()
        #expect(other.actions() == [.tellFailed(a, .cancelled, pending: 1), .start(b)])
        other.cancel(b)
        other.ended(b, .succeeded)
        #expect(other.actions() == [.cancel(b), .tellFinished(b, pending: 0), .tellQueueFinished], "it came first")
    }

    @Test("cancelling all of an empty queue tells nothing but progress")
    func cancelNone() {
        var queue = QueueMachine()
        queue.cancelAll()
        #expect(queue.actions() == [.resetProgress])
    }

    @Test("a reset tells nothing more, cancels what runs, suspends, and leaves a queue to be used again")
    func reset() {
        var queue = QueueMachine(Settings(width: 2, isAccurate: true))
        let sized = queue.add(isSizeable: true)
        queue.start()
        let a = queue.add()
        let b = queue.add(after: [a])
        #expect(queue.actions() == [.startSizing(sized), .start(a)])
        queue.reset()
        #expect(queue.isSuspended && queue.pendingCount == 0 && queue.runningCount == 2)
        #expect(Set(queue.actions()) == [.resetProgress, .cancelSizing(sized), .cancel(a)])
        let c = queue.add()
        queue.start()
        #expect(queue.actions() == [], "what was cancelled still runs")
        queue.ended(a, .failed)
        queue.sizingEnded(sized, .failed)
        queue.cancel(b)
        #expect(queue.actions() == [.start(c)])
        queue.ended(c, .succeeded)
        #expect(queue.actions() == [.tellFinished(c, pending: 0), .tellQueueFinished])
        #expect(queue.settings.isAccurate)
    }

    // MARK: Sizing

    @Test("an accurate queue asks for all sizes first, of what was added while it was suspended and is a GET")
    func sizing() {
        var queue = QueueMachine(Settings(width: 2, isAccurate: true))
        let first = queue.add(priority: .veryHigh, isSizeable: true)
        let post = queue.add(priority: .veryHigh)
        let second = queue.add(isSizeable: true)
        queue.start()
        #expect(queue.actions() == [.startSizing(first), .startSizing(second)])
        let late = queue.add(isSizeable: true)
        queue.sizingEnded(first, .succeeded)
        #expect(queue.actions() == [.start(post)])
        queue.sizingEnded(second, .succeeded)
        #expect(queue.actions() == [.start(first)])
        queue.ended(first, .succeeded)
        queue.ended(post, .succeeded)
        #expect(
            queue.actions() == [
                .tellFinished(first, pending: 3), .tellFinished(post, pending: 2), .start(late), .start(second),
            ])
    }

    @Test("a sizing request that fails is the failure of its fetch")
    func sizingFails() {
        var queue = QueueMachine(Settings(width: 2, cancelsOthersOnFailure: false, isAccurate: true))
        let a = queue.add(isSizeable: true)
        let b = queue.add(isSizeable: true)
        queue.start()
        #expect(queue.actions() == [.startSizing(a), .startSizing(b)])
        queue.ended(a, .succeeded)
        #expect(queue.actions() == [], "the fetch itself does not run")
        queue.sizingEnded(a, .failed)
        queue.sizingEnded(a, .failed)
        #expect(queue.actions() == [.tellFailed(a, .sizing, pending: 1)])
        queue.cancel(b)
        #expect(queue.actions() == [.cancelSizing(b)])
        queue.sizingEnded(b, .succeeded)
        #expect(queue.actions() == [.tellFailed(b, .cancelled, pending: 0), .tellQueueFinished])
    }

    @Test("a simple queue asks for no sizes")
    func simple() {
        var queue = QueueMachine()
        let a = queue.add(isSizeable: true)
        queue.start()
        #expect(queue.actions() == [.start(a)])
    }

    @Test("the places of many are given back, and no name is used again", arguments: [false, true])
    func placesGivenBack(isReset: Bool) {
        var queue = QueueMachine(Settings(width: 3, cancelsOthersOnFailure: false))
        var names: Set<QueueMachine.FetchID> = []
        for round in 1...3 {
            queue.start()
            var last = queue.add()
            names.insert(last)
            for _ in 1..<5000 {
                last = queue.add(after: [last])
                names.insert(last)
            }
            #expect(names.count == round * 5000)
            var running: [QueueMachine.FetchID] = []
            if isReset {
                if case .start(let fetch)? = queue.next() { running.append(fetch) }
                queue.reset()
                while queue.next() != nil {}
                #expect(running.count == 1 && queue.entries.count == 5000)
                for fetch in running { queue.ended(fetch, .failed) }
            } else {
                var told = 0
                while let action = queue.next() {
                    if case .start(let fetch) = action { queue.ended(fetch, .succeeded) }
                    if case .tellFinished = action { told += 1 }
                }
                #expect(told == 5000)
            }
            #expect(queue.entries.isEmpty && queue.edges.isEmpty && queue.runningCount == 0)
            for fetch in names {
                queue.ended(fetch, .failed)
                queue.cancel(fetch)
            }
            #expect(queue.next() == nil)
        }
    }

    @Test("a fetch costs little while it waits, and places are used again")
    func places() {
        var queue = QueueMachine(Settings(width: 1))
        queue.start()
        for _ in 0..<10_000 {
            let fetch = queue.add()
            #expect(queue.next() == .start(fetch))
            queue.ended(fetch, .succeeded)
            #expect(queue.next() == .tellFinished(fetch, pending: 0))
            #expect(queue.next() == .tellQueueFinished)
            queue.ended(fetch, .failed)
            #expect(queue.next() == nil)
        }
    }
}
