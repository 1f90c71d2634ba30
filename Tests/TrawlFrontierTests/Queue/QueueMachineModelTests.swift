import TestSupport
import Testing
import TrawlFrontier

@Suite("A queue of fetches under random events")
struct QueueMachineModelTests {
    /// What the outside knows of a fetch.
    private struct Known {
        var priority: HopPriority
        var isSized: Bool
        var dependencies: [QueueMachine.FetchID]
        var needsSuccess: Bool
        var isSizing = false
        var isRunning = false
        var isSuspended = false
        /// Started, and without a place since it was suspended.
        var isParked = false
        var wasCancelled = false
        var isTold = false
        var failed = false
        var isForgotten = false
    }

    @Test(
        "each fetch is told once, nothing runs out of turn, and the end comes once", arguments: 0..<40 as Range<UInt64>
    )
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let settings = QueueMachine.Settings(
            width: Int.random(in: 1...5, using: &random), cancelsOthersOnFailure: random.bool(),
            isAccurate: random.bool())
        var queue = QueueMachine(settings)
        var fetches: [QueueMachine.FetchID: Known] = [:]
        var order: [QueueMachine.FetchID] = []
        var isRunning = false
        var owed = false

        func pending() -> Int { fetches.values.count { !$0.isTold && !$0.isForgotten } }

        func handle(_ action: QueueMachine.Action) {
            switch action {
            case .start(let fetch), .startSizing(let fetch), .goOn(let fetch):
                guard let known = fetches[fetch] else {
                    Issue.record("unknown, seed \(seed)")
                    return
                }
                let isSizing = action == .startSizing(fetch)
                #expect(isRunning && !known.isRunning && !known.isSizing && !known.isTold, "seed \(seed)")
                #expect(!known.isForgotten && !known.wasCancelled && isSizing == known.isSized, "seed \(seed)")
                #expect(!known.isSuspended && known.isParked == (action == .goOn(fetch)), "seed \(seed)")
                let busy = fetches.values.count { $0.isRunning || $0.isSizing }
                #expect(busy < settings.width, "seed \(seed)")
                for dependency in known.dependencies {
                    #expect(fetches[dependency].map { $0.isTold || $0.isForgotten } != false, "seed \(seed)")
                    if known.needsSuccess { #expect(fetches[dependency]?.failed != true, "seed \(seed)") }
                }
                // Nothing better waits.
                for (other, it) in fetches where other != fetch {
                    let isBlocked = it.dependencies.contains { fetches[$0]?.isTold == false }
                    guard !it.isTold, !it.isRunning, !it.isSizing, !it.isForgotten, !isBlocked, !it.isSuspended,
                        !it.wasCancelled
                    else { continue }
                    if it.isSized {
                        #expect(isSizing, "seed \(seed)")
                    } else if !isSizing {
                        // Those that go on are first of their priority.
                        let isEqual = it.priority == known.priority && (known.isParked || !it.isParked)
                        let isLater = it.priority < known.priority || isEqual
                        #expect(isLater, "seed \(seed)")
                    }
                }
                if isSizing { fetches[fetch]?.isSizing = true } else { fetches[fetch]?.isRunning = true }
                fetches[fetch]?.isSized = false
                fetches[fetch]?.isParked = false
            case .cancel(let fetch): #expect(fetches[fetch]?.isSizing == false, "seed \(seed)")
            case .cancelSizing(let fetch): #expect(fetches[fetch]?.isRunning == false, "seed \(seed)")
            case .resetProgress: break
            case .tellFinished(let fetch, let left), .tellFailed(let fetch, _, let left):
                guard let known = fetches[fetch] else {
                    Issue.record("unknown, seed \(seed)")
                    return
                }
                #expect(!known.isTold && !known.isForgotten && !known.isRunning && !known.isSizing, "seed \(seed)")
                #expect(!known.isParked, "seed \(seed)")
                fetches[fetch]?.isTold = true
                if case .tellFailed(_, let reason, _) = action {
                    fetches[fetch]?.failed = true
                    if reason == .cancelled { #expect(known.wasCancelled || settings.cancelsOthersOnFailure) }
                }
                #expect(left == pending() && queue.pendingCount == left, "seed \(seed)")
            case .tellQueueFinished:
                #expect(pending() == 0 && owed, "seed \(seed)")
                owed = false
            }
        }
        func run() {
            while queue.hasWork, let action = queue.next() {
                handle(action)
                // Somebody may react in the middle of it.
                if random.once(in: 12) { add(isReaction: true) }
            }
            #expect(!queue.hasWork, "seed \(seed)")
            #expect(queue.next() == nil, "seed \(seed)")
        }
        func add(isReaction: Bool = false) {
            let count = min(Int.random(in: 0...3, using: &random), order.count)
            let dependencies = !isReaction && random.once(in: 3) ? (0..<count).map { _ in random.pick(order) } : []
            let isSizeable = random.bool()
            let priority = random.pick(HopPriority.allCases)
            let needsSuccess = random.bool()
            let fetch = queue.add(
                priority: priority, isSizeable: isSizeable, after: dependencies, needsSuccess: needsSuccess)
            let living = dependencies.filter { fetches[$0]?.isTold == false && fetches[$0]?.isForgotten == false }
            fetches[fetch] = Known(
                priority: priority, isSized: isSizeable && settings.isAccurate && !isRunning,
                dependencies: living, needsSuccess: needsSuccess)
            order.append(fetch)
            owed = true
        }
        func suspendOrResume(_ fetch: QueueMachine.FetchID) {
            guard let known = fetches[fetch] else { return }
            fetches[fetch]?.isSuspended.toggle()
            guard !known.isSuspended else { return queue.resume(fetch) }
            guard queue.suspend(fetch) else { return }
            #expect(known.isRunning || known.isParked, "seed \(seed)")
            fetches[fetch]?.isRunning = false
            fetches[fetch]?.isParked = true
        }
        func endOne() {
            let busy = order.filter {
                fetches[$0]?.isRunning == true || fetches[$0]?.isSizing == true || fetches[$0]?.isParked == true
            }
            guard !busy.isEmpty else { return }
            let fetch = random.pick(busy)
            let ending: QueueMachine.Ending = random.once(in: 4) ? .failed : .succeeded
            if fetches[fetch]?.isSizing == true {
                fetches[fetch]?.isSizing = false
                queue.sizingEnded(fetch, ending)
            } else {
                fetches[fetch]?.isRunning = false
                fetches[fetch]?.isParked = false
                queue.ended(fetch, ending)
            }
        }

        for _ in 0..<250 {
            switch Int.random(in: 0..<27, using: &random) {
            case 0..<8: add()
            case 8..<16: endOne()
            case 16, 17:
                guard !order.isEmpty else { continue }
                let fetch = random.pick(order)
                fetches[fetch]?.wasCancelled = true
                queue.cancel(fetch)
            case 18:
                isRunning = true
                queue.start()
            case 19:
                isRunning = false
                queue.suspend()
            case 20 where random.once(in: 6):
                for fetch in order { fetches[fetch]?.wasCancelled = true }
                queue.cancelAll()
            case 21 where random.once(in: 8):
                queue.reset()
                isRunning = false
                owed = false
                for fetch in order where fetches[fetch]?.isTold == false { fetches[fetch]?.isForgotten = true }
            case 22:
                guard !order.isEmpty else { continue }
                // Reports about what does not run change nothing.
                let fetch = random.pick(order)
                if fetches[fetch]?.isRunning == false, fetches[fetch]?.isParked == false { queue.ended(fetch, .failed) }
                if fetches[fetch]?.isSizing == false { queue.sizingEnded(fetch, .failed) }
            case 23...: if !order.isEmpty { suspendOrResume(random.pick(order)) }
            case _: break
            }
            run()
            let busy = fetches.values.count { $0.isRunning || $0.isSizing }
            #expect(queue.runningCount == busy, "seed \(seed)")
            #expect(queue.pendingCount == pending(), "seed \(seed)")
        }
        isRunning = true
        queue.start()
        for fetch in order where fetches[fetch]?.isSuspended == true { suspendOrResume(fetch) }
        for _ in 0..<20_000 where pending() > 0 || queue.runningCount > 0 {
            run()
            endOne()
        }
        run()
        #expect(pending() == 0 && queue.runningCount == 0 && !owed, "seed \(seed)")
    }
}
