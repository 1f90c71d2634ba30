import Foundation
import Testing
import Trawl

@Suite("Queues of a coordinator that is shut down, ASI-Q-05", .timeLimit(.minutes(2)))
struct QueueShutdownTests {
    @Test("a coordinator that is shut down fails what waits and what is added")
    func shutDown() async throws {
        let gate = Occasion()
        let origin = try ScriptedOrigin { _ in
            gate.wait()
            return ScriptedOrigin.Answer(200, "fine")
        }
        defer {
            gate.open()
            origin.stop()
        }
        let coordinator = try Coordinator(testConfiguration())
        var settings = FetchQueue.Settings()
        settings.cancelsOthersOnFailure = false
        let queue = FetchQueue(on: coordinator, settings)
        let events = queue.events
        for number in 0..<6 { queue.add(Request(origin.url("/\(number)"))) }
        queue.start()
        #expect(await eventually { origin.seen().count == 4 })
        await coordinator.shutdown(grace: .zero)
        let words = await eventsToEnd(events).map { word($0) }
        #expect(words.count { $0 == "failed shut_down" } == 6 && words.last == "queue finished")
    }

    @Test(
        "what waits in a queue that is suspended, or is suspended itself, fails too, and what is added to it",
        arguments: [FetchQueue.Counting.simple, .accurate])
    func suspended(counting: FetchQueue.Counting) async throws {
        let coordinator = try Coordinator(testConfiguration(workers: 1))
        var settings = FetchQueue.Settings()
        settings.cancelsOthersOnFailure = false
        settings.progress = counting
        let (queue, running) = (FetchQueue(on: coordinator, settings), FetchQueue(on: coordinator, settings))
        let (events, request) = (queue.events, Request(closedURL()))
        let waiting = (0..<6).map { _ in queue.add(request) }
        let held = running.add(request)
        held.fetch.suspend()
        running.start()
        await coordinator.shutdown(grace: .zero)
        for fetch in waiting + [held] { await failure(.shutDown) { try await fetch.response } }
        let words = await eventsToEnd(events).map { word($0) }
        #expect(words.count { $0 == "failed shut_down" } == 6 && words.last == "queue finished")
        #expect(queue.isSuspended && queue.pendingCount == 0)
        await failure(.shutDown) { try await queue.add(request).response }
        let late = FetchQueue(on: coordinator, settings)
        await failure(.shutDown) { try await late.add(request).response }
    }
}
