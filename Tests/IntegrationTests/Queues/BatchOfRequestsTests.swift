import Foundation
import Testing
import Trawl

@Suite("Batches of requests, AFC-12", .timeLimit(.minutes(2)))
struct BatchOfRequestsTests {
    @Test("progress after each, failures included, and all results at the end")
    func mixed() async throws {
        try await withQueueScene(answering: { ScriptedOrigin.Answer($0.target == "/missing" ? 404 : 200, $0.target) }) {
            scene in
            let told = Locked([[Int]]())
            let results = await scene.coordinator.batch(
                [scene.request("/one"), Request(closedURL()), scene.request("/missing"), Request("nothing")],
                into: { $0 == 0 ? .file(scene.output + "/one") : .memory }
            ) { ended, total in told.withLock { $0.append([ended, total]) } }
            #expect(told.withLock { $0 } == [[1, 4], [2, 4], [3, 4], [4, 4]])
            let (first, third) = (try results[0].get(), try results[2].get())
            #expect(first.file == scene.output + "/one")
            #expect(third.status == 404)
            await failure(.cannotConnect) { try results[1].get() }
            await failure(.invalidURL) { try results[3].get() }
        }
    }

    @Test("an empty one is over at once; a stream is refused; cancelling the task cancels what is left")
    func ends() async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { seen in
            if seen.target != "/0" { gate.wait() }
            return ScriptedOrigin.Answer(200, "fine")
        }) { scene in
            defer { gate.open() }
            #expect(await scene.coordinator.batch([]).isEmpty)
            let refused = await scene.coordinator.batch([scene.request("/0")], into: { _ in .stream })
            await failure(.badRequest) { try refused[0].get() }
            let requests = (0..<5).map { scene.request("/\($0)") }
            let coordinator = scene.coordinator
            let task = Task { await coordinator.batch(requests, width: 2) }
            #expect(await eventually { scene.origin.seen().count == 3 })
            task.cancel()
            let results = await task.value
            let first = try results[0].get()
            #expect(first.status == 200)
            for result in results.dropFirst() { await failure(.cancelled) { try result.get() } }
        }
    }
}
