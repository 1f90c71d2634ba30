import TestSupport
import Testing
import Trawl

@Suite("Those who follow a queue", .timeLimit(.minutes(2)))
struct QueueReaderTests {
    @Test("who is told of events, bytes or progress can use the queue, on whatever executor it waits")
    func executors() async throws {
        try await withQueueScene { scene in
            let queue = scene.queue { $0.progress = .accurate }
            let executor = AskingExecutor { _ = queue.pendingCount }
            let (events, steps, progress) = (queue.events, queue.byteSteps, queue.progress)
            let ends = Task(executorPreference: executor) { await eventsToEnd(events).count }
            let stepping = Task(executorPreference: executor) { await steps.reduce(0) { sum, _ in sum + 1 } }
            let following = Task(executorPreference: executor) {
                await progress.reduce(false) { $0 || $1.isComplete }
            }
            // So that whoever tells resumes them.
            #expect(await eventually { executor.isIdle })
            for number in 0..<5 { queue.add(scene.request("/\(number)")) }
            queue.start()
            #expect(await ends.value == 16)
            queue.reset()
            #expect(await stepping.value > 0)
            let isComplete = await following.value
            #expect(isComplete && executor.unansweredCount == 0)
        }
    }

    @Test("who follows a queue from its reset on is told nothing of before, whenever that is")
    func reset() async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { seen in
            if seen.target == "/first" { gate.wait() }
            return ScriptedOrigin.Answer(200, "fine")
        }) { scene in
            defer { gate.open() }
            let queue = scene.queue()
            let fetch = queue.add(scene.request("/first")).fetch
            let found = Locked<AsyncStream<FetchQueue.Event>?>(nil)
            // The handle is told of the end first: whoever waits for that is resumed before others are told.
            let executor = AskingExecutor {
                guard fetch.currentProgress.isComplete, found.withLock({ $0 == nil }) else { return }
                queue.reset()
                let events = queue.events
                found.withLock { $0 = events }
            }
            let waiting = Task(executorPreference: executor) { try await fetch.response.status }
            queue.start()
            #expect(await eventually { executor.isIdle })
            gate.open()
            let status = try await waiting.value
            #expect(status == 200 && executor.unansweredCount == 0)
            let events = try #require(found.withLock { $0 })
            queue.add(scene.request("/second"))
            queue.start()
            let words = await eventsToEnd(events).map { word($0) }
            #expect(words == ["started", "head 200", "finished 200", "queue finished"])
        }
    }
}
