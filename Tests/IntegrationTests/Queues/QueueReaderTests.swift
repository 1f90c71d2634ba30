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
            for number in 0..<5 { queue.add(scene.request("/\(number)")) }
            queue.start()
            #expect(await ends.value == 16)
            queue.reset()
            #expect(await stepping.value > 0)
            let isComplete = await following.value
            #expect(isComplete && executor.unansweredCount == 0)
        }
    }
}
