import Testing
import Trawl

@Suite(
    "Streams of HTTP/2 that a server gives back (ASI-CONN-04)", .enabled(if: HTTP2Origin.canRun, HTTP2Origin.missing),
    .timeLimit(.minutes(3)))
struct RefusedStreamTests {
    /// Has a connection, on which so many streams are open beside others when they end.
    private func withStreams(
        _ end: HTTP2Origin.End, streams: Int, _ body: (HTTP2Origin, Coordinator) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let origin = try HTTP2Origin(end, streams: streams, in: directory)
        defer { origin.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            let first = try await coordinator.send(origin.request())
            #expect(first.head.version == "HTTP/2" && first.bodyText == "hi")
            try await body(origin, coordinator)
        }
    }

    @Test(
        "refused, left out or cut off without a byte of response they are repeated, all of them",
        arguments: [HTTP2Origin.End.refused, .leftOut, .reset])
    func repeated(end: HTTP2Origin.End) async throws {
        try await withStreams(end, streams: 4) { origin, coordinator in
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<4 { group.addTask { try await coordinator.send(origin.request()).bodyText } }
                for try await text in group { #expect(text == "hi") }
            }
        }
    }

    @Test("a method that is not idempotent is not repeated", arguments: [HTTP2Origin.End.leftOut, .reset])
    func post(end: HTTP2Origin.End) async throws {
        try await withStreams(end, streams: 1) { origin, coordinator in
            await failure(.connectionLost) { try await coordinator.send(origin.request(.post)) }
        }
    }

    @Test("one that the server gave up for a reason of its own is not repeated")
    func givenUp() async throws {
        try await withStreams(.failed, streams: 1) { origin, coordinator in
            await failure(.connectionLost) { try await coordinator.send(origin.request()) }
        }
    }

    @Test("the rest of a suspended download whose connection ended is asked for")
    func suspended() async throws {
        let directory = try TemporaryDirectory()
        let origin = try HTTP2Origin(.cutOff, streams: 1, in: directory)
        defer { origin.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            let fetch = coordinator.start(origin.request())
            let course = Task { await SuspendedCourse(of: fetch) }
            let isHalfway = await eventually { fetch.currentProgress.download.completed == 5 }
            try #require(isHalfway, "\(fetch.currentProgress)")
            fetch.suspend()
            // The worker hears of it behind the suspension; the connection ends at its stream.
            _ = try? await coordinator.send(origin.request(.post))
            fetch.resume()
            let result = await course.value
            #expect(result.response?.bodyText == "0123456789", "\(String(describing: result.error))")
            #expect(result.words.contains("resumed at 5"), "\(result.words)")
        }
    }

    @Test("a redirect whose body was cut off with the connection is followed")
    func redirect() async throws {
        let directory = try TemporaryDirectory()
        let origin = try HTTP2Origin(.cutRedirect, streams: 1, in: directory)
        defer { origin.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            let response = try await coordinator.send(origin.request())
            #expect(response.status == 200 && response.bodyText == "hi")
        }
    }
}
