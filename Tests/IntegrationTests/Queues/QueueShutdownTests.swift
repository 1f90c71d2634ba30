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
}
