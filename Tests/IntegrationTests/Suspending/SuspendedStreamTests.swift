import Testing
import Trawl

@Suite(
    "Suspended fetches whose connection carries others", .enabled(if: HTTP2Origin.canRun, HTTP2Origin.missing),
    .timeLimit(.minutes(3)))
struct SuspendedStreamTests {
    @Test(
        "a response that comes meanwhile is the answer when the fetch is resumed, behind an interim one too",
        arguments: [HTTP2Origin.End.held, .hinted])
    func head(end: HTTP2Origin.End) async throws {
        let directory = try TemporaryDirectory()
        let origin = try HTTP2Origin(end, streams: 0, in: directory)
        defer { origin.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            let other = coordinator.start(origin.request())
            let hasBegun = await eventually { other.currentProgress.download.completed > 0 }
            try #require(hasBegun, "\(other.currentProgress)")
            // Not to be repeated: what was lost would be.
            let fetch = coordinator.start(origin.request(.post))
            try origin.awaitHeld()
            fetch.suspend()
            // The worker hears of it behind the suspension.
            _ = try await coordinator.send(origin.request())
            origin.release()
            // What is read of the other comes behind all of the response.
            let whole = try await other.response.bodyText
            #expect(whole == "begun, done")
            #expect(fetch.state == .suspended)
            fetch.resume()
            let response = try await fetch.response
            #expect(response.status == 200 && response.bodyText == "whole" && response.fields["ETag"] == "\"one\"")
        }
    }
}
