import Testing
import Trawl

/// RFC 9111 §3.3, §3.4: parts of bodies, and what comes to complete them.
@Suite("Stored parts", .timeLimit(.minutes(5)))
struct CachePartTests {
    private static let whole = Array("0123456789".utf8)

    /// What the origin says to the request for the rest.
    struct Rest: CustomTestStringConvertible, Sendable {
        var name: String
        var range: String
        var bytes: Range<Int>
        var validators: [(String, String)] = [("ETag", "\"v1\"")]
        var framing = ScriptedOrigin.Framing.length
        /// What each of the next fetches comes to.
        var outcome: String

        var testDescription: String { name }
    }

    private static let rests = [
        Rest(name: "as asked", range: "5-9/10", bytes: 5..<10, outcome: "revalidated 200 0123456789"),
        Rest(name: "chunked", range: "5-9/10", bytes: 5..<10, framing: .chunked, outcome: "revalidated 200 0123456789"),
        Rest(
            name: "to the close", range: "5-9/10", bytes: 5..<10, framing: .close, outcome: "revalidated 200 0123456789"
        ),
        Rest(name: "from an earlier place", range: "4-9/10", bytes: 4..<10, outcome: "network 200 0123456789"),
        Rest(name: "from the start", range: "0-9/10", bytes: 0..<10, outcome: "network 200 0123456789"),
        Rest(name: "short of the end", range: "5-8/10", bytes: 5..<9, outcome: "network 200 0123456789"),
        Rest(name: "closed early", range: "5-9/10", bytes: 5..<8, framing: .close, outcome: "truncated"),
        Rest(name: "chunks that end early", range: "5-9/10", bytes: 5..<8, framing: .chunked, outcome: "truncated"),
        Rest(name: "fewer than the range says", range: "5-9/10", bytes: 5..<8, outcome: "truncated"),
        Rest(name: "more than the range says", range: "5-9/10", bytes: 4..<10, outcome: "protocol"),
        Rest(
            name: "of another tag", range: "5-9/10", bytes: 5..<10, validators: [("ETag", "\"v2\"")],
            outcome: "network 200 0123456789"),
        Rest(
            name: "of another date", range: "5-9/10", bytes: 5..<10,
            validators: [("Last-Modified", ScriptedOrigin.date(secondsFromNow: -1000))],
            outcome: "network 200 0123456789"),
    ]

    @Test("what completes a part is joined when it fits byte for byte", arguments: Engine.allCases, rests)
    func completed(engine: Engine, rest: Rest) async throws {
        try await withScene(engine) { request in
            let fresh = [
                ("Cache-Control", "max-age=60"), ("ETag", "\"v1\""),
                ("Last-Modified", ScriptedOrigin.date(secondsFromNow: -100_000)),
            ]
            guard request.fields["range"] == "bytes=5-" else {
                var answer = ScriptedOrigin.Answer(200, "", fresh)
                answer.body = request.number == 1 ? Array(Self.whole[..<5]) : Self.whole
                answer.announced = 10
                return answer
            }
            var answer = ScriptedOrigin.Answer(
                206, "", [("Content-Range", "bytes \(rest.range)"), ("Cache-Control", "max-age=60")] + rest.validators)
            answer.body = Array(Self.whole[rest.bytes])
            answer.framing = rest.framing
            return answer
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            await failure(.truncated) { try await coordinator.get(url) }
            let outcome = await Self.outcome { try await coordinator.get(url) }
            #expect(outcome == rest.outcome)
            #expect(scene.origin.seen().dropFirst().first?.fields["range"] == "bytes=5-")
            guard rest.outcome.hasSuffix("0123456789") else { return }
            let response1 = try await coordinator.get(url)
            #expect(summary(response1) == "cache 200 0123456789")
        }
    }

    @Test("a few bytes of a range do not take the place of the whole body")
    func smallPart() async throws {
        try await withScene { request in
            let fields = [("Cache-Control", "max-age=60"), ("ETag", "\"v1\"")]
            guard request.fields["range"] != nil else { return ScriptedOrigin.Answer(200, "0123456789", fields) }
            return ScriptedOrigin.Answer(206, "012", fields + [("Content-Range", "bytes 0-2/10")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let response2 = try await coordinator.get(url)
            #expect(summary(response2) == "network 200 0123456789")
            let response3 = try await coordinator.get(url, .doNotRead, fields: ["Range": "bytes=0-2"])
            #expect(summary(response3) == "network 206 012")
            let response4 = try await coordinator.get(url)
            #expect(summary(response4) == "cache 200 0123456789")
        }
    }

    @Test("a stored body is not taken apart as the chunked answer would be that it stands in for")
    func chunkedFailure() async throws {
        let stored = "5\r\nWRONG\r\n0\r\n\r\n"
        try await withScene { request in
            guard request.number > 1 else {
                return ScriptedOrigin.Answer(200, stored, [("Cache-Control", "max-age=0, stale-if-error=60")])
            }
            var answer = ScriptedOrigin.Answer(503, "down", [])
            answer.framing = .chunked
            return answer
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let directory = try TemporaryDirectory()
            for (index, place) in [Destination.memory, .file(directory.file("a")), .stream, .memory].enumerated() {
                let fetch = coordinator.start(Request(url), into: place)
                let bytes = place == .stream ? try await readStream(fetch) : nil
                let response = try await fetch.response
                #expect(response.source == (index == 0 ? .network : .stale))
                switch place {
                case .stream: #expect(bytes == Array(stored.utf8))
                case .memory: #expect(response.bodyText == stored)
                default: #expect(directory.content("a") == Array(stored.utf8))
                }
            }
        }
    }

    @Test("a stored body that cannot be decoded is fetched anew", arguments: [100, 100_000])
    func undecodable(size: Int) async throws {
        let broken = [UInt8]([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]) + [UInt8](repeating: 0xFF, count: size)
        try await withScene { request in
            var answer = ScriptedOrigin.Answer(200, "whole", [("Cache-Control", "max-age=60")])
            if request.number == 1 {
                answer.fields.append(("Content-Encoding", "gzip"))
                answer.body = broken
            }
            return answer
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let raw = try await coordinator.get(url) { $0.contentDecoding = .off }
            #expect(raw.body.bytes == broken)
            let response5 = try await coordinator.get(url)
            #expect(summary(response5) == "network 200 whole")
            let response6 = try await coordinator.get(url)
            #expect(summary(response6) == "cache 200 whole")
        }
    }

    private static func outcome(_ fetch: () async throws -> Response) async -> String {
        do {
            return summary(try await fetch())
        } catch {
            return (error as? FetchError).map { "\($0.code.rawValue)" } ?? "\(error)"
        }
    }
}
