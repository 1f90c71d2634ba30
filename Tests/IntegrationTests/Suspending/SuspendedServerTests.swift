import Foundation
import Glibc
import TestSupport
import Testing
import Trawl

@Suite("Suspended fetches whose server leaves meanwhile", .timeLimit(.minutes(2)))
struct SuspendedServerTests {
    @Test(
        "a server that does not wait for one that is suspended is asked for the rest; a stream goes on too",
        arguments: [Destination.memory, .stream], [nil, SuspendScene.half + 200_000])
    func serverLeaves(sink: Destination, breaksAt: Int?) async throws {
        let scene = try SuspendScene(SuspendScene.Site(breaksAt: breaksAt))
        try await withTestCoordinator { coordinator in
            let (fetch, course) = try await scene.halfway(coordinator, into: sink)
            fetch.suspend()
            // Later than its suspension: both come to the same thread, in order.
            _ = try await coordinator.send(Request(scene.origin.url("/other")))
            let before = scene.connections
            if breaksAt == nil { scene.origin.breakConnections() }
            // The end comes behind more of the response, if there is more, which nobody has read.
            scene.goesOn.open()
            let hasLeft = await eventually { scene.connections < before }
            #expect(hasLeft)
            fetch.resume()
            let result = await course.value
            let bytes = sink == .stream ? result.streamed : result.response?.body.bytes
            #expect(bytes == SuspendScene.content, "\(String(describing: result.error))")
            let offset = try #require(scene.asked.last ?? nil)
            #expect(scene.asked.count == 2 && (sink == .stream || offset == breaksAt ?? SuspendScene.half), "\(offset)")
        }
    }

    @Test("what must not be repeated, or cannot be asked for, fails or begins anew when its server leaves meanwhile")
    func serverLeavesForGood() async throws {
        for isPost in [true, false] {
            let scene = try SuspendScene(SuspendScene.Site(ranges: nil))
            try await withTestCoordinator { coordinator in
                let (fetch, course) = try await scene.halfway(coordinator) { request in
                    if isPost { request.method = .post }
                }
                fetch.suspend()
                _ = try await coordinator.send(Request(scene.origin.url("/other")))
                scene.origin.breakConnections()
                fetch.resume()
                let result = await course.value
                if isPost {
                    #expect(result.error?.code == .connectionLost && result.error?.isRetryable == false)
                } else {
                    #expect(result.response?.body.bytes == SuspendScene.content)
                }
                #expect(scene.asked == (isPost ? [nil] : [nil, nil]))
            }
        }
    }

    @Test("a connection that breaks twice fails the fetch, unless it was suspended in between")
    func serverLeavesAgain() async throws {
        let scene = try SuspendScene(SuspendScene.Site(breaksParts: true))
        try await withTestCoordinator { coordinator in
            let (fetch, course) = try await scene.halfway(coordinator)
            fetch.suspend()
            _ = try await coordinator.send(Request(scene.origin.url("/other")))
            scene.origin.breakConnections()
            fetch.resume()
            let result = await course.value
            #expect(result.error?.code == .truncated || result.error?.code == .connectionLost)
            #expect(scene.asked == [nil, SuspendScene.half])
        }
    }
}
