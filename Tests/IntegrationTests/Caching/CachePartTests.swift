import Testing
import Trawl

/// RFC 9111 §3.3, §3.4: parts of bodies, and what comes to complete them.
@Suite("Stored parts", .timeLimit(.minutes(5)))
struct CachePartTests {
    private static let whole = Array("0123456789".utf8)

    /// What the origin says to the request for the rest.
    struct Rest: CustomTestStringConvertible, Sendable {
        var name: String
        var status = 206
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
        Rest(
            name: "not modified, which nobody asked", status: 304, range: "5-9/10", bytes: 5..<5,
            outcome: "network 200 0123456789"),
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
                rest.status, "",
                [("Content-Range", "bytes \(rest.range)"), ("Cache-Control", "max-age=60")] + rest.validators)
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

    /// What a range of ten bytes is answered with.
    private static func part(_ request: ScriptedOrigin.Seen, _ fields: [(String, String)]) -> ScriptedOrigin.Answer {
        guard let field = request.fields["range"], let dash = field.lastIndex(of: "-"),
            let first = Int(field[..<dash].dropFirst("bytes=".count)), let last = Int(field[dash...].dropFirst())
        else { return ScriptedOrigin.Answer(200, String(decoding: whole, as: UTF8.self), fields) }
        return ScriptedOrigin.Answer(
            206, String(decoding: whole[first...last], as: UTF8.self),
            fields + [("Content-Range", "bytes \(first)-\(last)/10")])
    }

    @Test("a part of a coded body is read as it is, wherever it comes from", arguments: Engine.allCases)
    func codedPart(engine: Engine) async throws {
        try await withScene(engine) { request in
            Self.part(request, [("Cache-Control", "max-age=60"), ("Content-Encoding", "gzip")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let fields: Fields = ["Range": "bytes=2-5", "Accept-Encoding": "gzip"]
            for source in [Response.Source.network, .cache] {
                let response = try await coordinator.get(url, fields: fields) { $0.contentDecoding = .onRead }
                #expect(response.status == 206 && response.source == source && response.contentCodings == ["gzip"])
                let decoded = try response.body.decoded()
                let text = try response.text()
                #expect(decoded == Array("2345".utf8) && text == "2345" && response.textLossy == "2345")
            }
            #expect(scene.count == 1)
        }
    }

    @Test(
        "a part that answers the caller's own If-Range is not stored: its head may lack what the bytes are",
        arguments: Engine.allCases)
    func callersCondition(engine: Engine) async throws {
        try await withScene(engine) { request in
            let fields = [("Cache-Control", "max-age=60"), ("ETag", "\"a\"")]
            guard request.fields["if-range"] == nil else {
                return ScriptedOrigin.Answer(206, "012", fields + [("Content-Range", "bytes 0-2/3")])
            }
            return ScriptedOrigin.Answer(200, "012", fields + [("Content-Type", "text/plain")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let part = try await coordinator.get(url, fields: ["Range": "bytes=0-", "If-Range": "\"a\""])
            #expect(summary(part) == "network 206 012")
            for source in ["network", "cache"] {
                let whole = try await coordinator.get(url)
                #expect(summary(whole) == "\(source) 200 012" && whole.fields["Content-Type"] == "text/plain")
            }
        }
    }

    @Test(
        "a part that the close of its connection cut short answers for no byte but those that came",
        arguments: Engine.allCases)
    func closedEarly(engine: Engine) async throws {
        try await withScene(engine) { request in
            let fields = [("Cache-Control", "max-age=60"), ("ETag", "\"v1\"")]
            guard request.number == 1 else { return Self.part(request, fields) }
            var answer = ScriptedOrigin.Answer(206, "01234", fields + [("Content-Range", "bytes 0-9/10")])
            answer.framing = .close
            return answer
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            for (range, outcome) in [
                ("0-9", "network 206 01234"), ("1-3", "cache 206 123"), ("3-6", "network 206 3456"),
                ("0-6", "cache 206 0123456"), ("5-9", "network 206 56789"), ("0-9", "cache 206 0123456789"),
            ] {
                let response = try await coordinator.get(url, fields: ["Range": "bytes=\(range)"])
                #expect(summary(response) == outcome, "\(range)")
            }
        }
    }

    @Test("a part that is stale and has no validator gives way to the newer one", arguments: Engine.allCases)
    func newerPart(engine: Engine) async throws {
        try await withScene(engine) { request in
            Self.part(request, [("Cache-Control", request.number == 1 ? "max-age=0" : "max-age=60")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let outcomes = ["network 206 0123", "network 206 0123", "cache 206 0123"]
            for outcome in outcomes {
                let response = try await coordinator.get(url, fields: ["Range": "bytes=0-3"])
                #expect(summary(response) == outcome)
            }
            #expect(scene.count == 2)
        }
    }

    @Test("so does a whole that is stale and has no validator", arguments: Engine.allCases)
    func partAfterWhole(engine: Engine) async throws {
        try await withScene(engine) { request in
            Self.part(request, [("Cache-Control", request.number == 1 ? "max-age=0" : "max-age=60")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let response = try await coordinator.get(url)
            #expect(summary(response) == "network 200 0123456789")
            for source in ["network", "cache"] {
                let response = try await coordinator.get(url, fields: ["Range": "bytes=2-4"])
                #expect(summary(response) == "\(source) 206 234")
            }
        }
    }

    @Test(
        "parts that go on from one another are one where a tag says that they belong together, in either order",
        arguments: Engine.allCases, [true, false])
    func severalParts(engine: Engine, isTagged: Bool) async throws {
        try await withScene(engine) { request in
            Self.part(request, [("Cache-Control", "max-age=60")] + (isTagged ? [("ETag", "\"v1\"")] : []))
        } _: { scene, coordinator in
            for (target, ranges) in [("/up", ["0-3", "4-7"]), ("/down", ["4-7", "0-3"]), ("/over", ["0-4", "3-7"])] {
                let url = scene.origin.url(target)
                for range in ranges {
                    let response = try await coordinator.get(url, fields: ["Range": "bytes=\(range)"])
                    #expect(response.source == .network && response.status == 206, "\(target) \(range)")
                }
                let last = try await coordinator.get(url, fields: ["Range": "bytes=5-7"])
                #expect(summary(last) == "cache 206 567", "\(target)")
                let all = try await coordinator.get(url, fields: ["Range": "bytes=0-7"])
                #expect(summary(all) == "\(isTagged ? "cache" : "network") 206 01234567", "\(target)")
            }
        }
    }

    @Test("parts without a validator answer for the bytes they have", arguments: Engine.allCases)
    func partsBeside(engine: Engine) async throws {
        try await withScene(engine) { request in
            Self.part(request, [("Cache-Control", "max-age=60")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            for (range, outcome) in [
                ("0-3", "network 206 0123"), ("4-7", "network 206 4567"), ("4-7", "cache 206 4567"),
                ("1-2", "cache 206 12"), ("5-6", "cache 206 56"),
            ] {
                let response = try await coordinator.get(url, fields: ["Range": "bytes=\(range)"])
                #expect(summary(response) == outcome)
            }
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

    /// `whole`, by gzip.
    private static let coded: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x33, 0x30, 0x34, 0x32, 0x36, 0x31, 0x35, 0x33,
        0xB7, 0xB0, 0x04, 0x00, 0xC6, 0xC7, 0x84, 0xA6, 0x0A, 0x00, 0x00, 0x00,
    ]

    @Test(
        "no bytes of a coded body go to who could not decode them, codings spoken of or not, and it stays for others",
        arguments: Engine.allCases, [[:], ["Accept-Encoding": "identity"]] as [Fields])
    func codedBody(engine: Engine, codings: Fields) async throws {
        try await withScene(engine) { request in
            guard request.fields["accept-encoding"] != "identity" else {
                return Self.part(request, [("Cache-Control", "max-age=60"), ("ETag", "\"a\"")])
            }
            // Without `Vary`, as of servers that forget it.
            var answer = ScriptedOrigin.Answer(
                200, "", [("Cache-Control", "max-age=60"), ("ETag", "W/\"a\""), ("Content-Encoding", "gzip")])
            answer.body = Self.coded
            return answer
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let first = try await coordinator.get(url)
            #expect(summary(first) == "network 200 0123456789")
            var fields = codings
            fields["Range"] = "bytes=2-4"
            let part = try await coordinator.get(url, fields: fields)
            #expect(summary(part) == "network 206 234")
            #expect(scene.origin.seen().last?.fields["accept-encoding"] == "identity")
            // Both stay, each for its own requests.
            let again = try await coordinator.get(url)
            #expect(summary(again) == "cache 200 0123456789")
            let partAgain = try await coordinator.get(url, fields: fields)
            #expect(summary(partAgain) == "cache 206 234")
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
