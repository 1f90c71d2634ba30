import Testing
import Trawl

@Suite("What suspended fetches make of answers to requests for the rest", .timeLimit(.minutes(2)))
struct SuspendedRestTests {
    @Test(
        "a rest that ends before its range does is broken off, however its end is told and wherever it goes",
        arguments: [ScriptedOrigin.Framing.close, .chunked])
    func restEndsEarly(framing: ScriptedOrigin.Framing) async throws {
        for name in ["memory", "stream", "x", "root/x"] {
            let scene = try SuspendScene(SuspendScene.Site(breaksParts: true, partFraming: framing))
            let directory = try TemporaryDirectory()
            let root = try directory.makeDirectory("root")
            try await withTestCoordinator(outputDirectories: [root]) { configuration in
                configuration.suspendedConnectionLifetime = .milliseconds(50)
            } _: { coordinator in
                let sink: Destination =
                    switch name {
                    case "memory": .memory
                    case "stream": .stream
                    default: .file(directory.file(name))
                    }
                let (fetch, course) = try await scene.halfway(coordinator, into: sink)
                try await scene.suspendForLong(fetch)
                fetch.resume()
                let result = await course.value
                #expect(result.error?.code == .truncated, "\(name)")
                #expect(directory.content(name) == nil)
            }
        }
    }

    @Test(
        "an answer that is neither the rest nor the same whole is one by itself; a stream fails",
        arguments: [202, 203])
    func otherAnswers(status: Int) async throws {
        for name in ["memory", "stream", "x", "root/x"] {
            let scene = try SuspendScene(SuspendScene.Site(partStatus: status))
            let directory = try TemporaryDirectory()
            let root = try directory.makeDirectory("root")
            try await withTestCoordinator(outputDirectories: [root]) { configuration in
                configuration.suspendedConnectionLifetime = .milliseconds(50)
            } _: { coordinator in
                let sink: Destination =
                    switch name {
                    case "memory": .memory
                    case "stream": .stream
                    default: .file(directory.file(name))
                    }
                let (fetch, course) = try await scene.halfway(coordinator, into: sink)
                try await scene.suspendForLong(fetch)
                fetch.resume()
                let result = await course.value
                if name == "stream" {
                    #expect(result.error?.code == .connectionLost)
                    return
                }
                let response = try #require(result.response, "\(name) \(String(describing: result.error))")
                let file = directory.content(name)
                let bytes = file ?? response.body.bytes
                #expect(response.status == status && response.receivedLength == 2, "\(name)")
                #expect((response.file == nil) == (file == nil), "\(name)")
                #expect(bytes == Array("no".utf8), "\(name)")
            }
        }
    }
}
