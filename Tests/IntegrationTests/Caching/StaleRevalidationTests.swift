import Foundation
import Testing
import Trawl

@Suite("What is served stale while it is validated", .serialized, .timeLimit(.minutes(5)))
struct StaleRevalidationTests {
    @Test("however much is served stale at once, all of it is validated, once", arguments: [200, 1300])
    func many(count: Int) throws {
        let directory = try TemporaryDirectory()
        let origin = try ScriptedOrigin { request in
            let control = request.number == 1 ? "max-age=0, stale-while-revalidate=600" : "max-age=600"
            return page(request.number == 1 ? "one" : "two", control, to: request)
        }
        defer { origin.stop() }
        let lines = (0..<count).map { origin.url("/page/\($0)") + "\n" }
        try directory.put("list", Array(lines.joined().utf8))
        func batch() throws -> CommandRun {
            try CommandRun([
                "batch", directory.file("list"), "--no-files", "--store", directory.file("store"), "--per-host", "32",
            ])
        }
        let first = try batch()
        #expect(first.errors.contains("\(count) fetched") && origin.seen().count == count, "\(first.errors)")
        let second = try batch()
        #expect(second.status == 0 && second.errors.contains(" stale"), "\(second.errors)")
        #expect(origin.seen().count == 2 * count)
        let third = try batch()
        #expect(third.errors.contains("; cache: \(count) hits"), "\(third.errors)")
        #expect(origin.seen().count == 2 * count)
    }

    @Test("what is stale is served at once and validated in the background, once for all who ask")
    func staleWhileRevalidate() async throws {
        let held = Occasion()
        try await withScene { request in
            if request.target == "/page", request.number == 2 { held.wait() }
            let control = request.number == 1 ? "max-age=0, stale-while-revalidate=60" : "max-age=60"
            return page(request.number == 1 ? "one" : "two", control, to: request)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            for _ in 0..<100 { #expect(summary(try await coordinator.get(url)) == "stale 200 one") }
            // Sent after all that the others may have left behind.
            for number in 0..<4 { _ = try await coordinator.get(scene.origin.url("/after/\(number)")) }
            held.open()
            #expect(try await eventually { try await summary(coordinator.get(url)) == "cache 200 two" })
            let seen = scene.origin.seen("/page")
            #expect(seen.count == 2, "\(seen.count) requests")
            #expect(seen.last?.fields["if-none-match"] == "\"one\"")
        }
    }

    @Test(
        "what is served stale without writing is not validated, since that could not be written",
        arguments: Engine.allCases)
    func staleWithoutWriting(engine: Engine) async throws {
        // One request after the other, so that those before the last are known.
        try await withScene(engine, adjust: { $0.connectionsPerHost = 1 }) { request in
            page("one", "max-age=0, stale-while-revalidate=60", to: request)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            for place in [Destination.memory, .file(scene.directory.file("out/page"))] {
                let response = try await coordinator.get(url, .doNotWrite, into: place)
                #expect(response.source == .stale)
                let unkept = try await coordinator.get(url, fields: ["Cache-Control": "no-store"], into: place)
                #expect(unkept.source == .stale)
            }
            #expect(try await coordinator.start(Request(url, options: .with(.doNotWrite))).response.source == .stale)
            #expect(try await coordinator.get(url) { $0.tls.verification = .none }.source == .stale)
            _ = try await coordinator.get(scene.origin.url("/other"))
            #expect(scene.targets == ["/page", "/other"])
        }
    }

    @Test("what is validated while it is served stale is asked about without the caller's range and conditions")
    func validatedWhole() async throws {
        try await withScene { request in
            page("one", request.number == 1 ? "max-age=0, stale-while-revalidate=600" : "max-age=600", to: request)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            var part = Request(url)
            part.fields["Range"] = "bytes=0-0"
            part.fields["Cache-Control"] = "only-if-cached"
            #expect(try await coordinator.send(part).bodyText == "o")
            #expect(await eventually { scene.count == 2 })
            let asked = try #require(scene.origin.seen().last)
            #expect(asked.fields["range"] == nil && asked.fields["if-none-match"] == "\"one\"")
        }
    }

    @Test(
        "a stored part that is served stale is validated by its range: no more is fetched",
        arguments: [false, true], [false, true])
    func validatedPart(isTagged: Bool, isOfWorker: Bool) async throws {
        let answered = Locked<[Int]>([])
        try await withScene { request in
            let control = request.number == 1 ? "max-age=0, stale-while-revalidate=600" : "max-age=600"
            let fields = [("Cache-Control", control)] + (isTagged ? [("ETag", "\"one\"")] : [])
            var answer = ScriptedOrigin.Answer(200, String(repeating: "x", count: 1 << 20), fields)
            if request.fields["if-none-match"] == "\"one\"" {
                answer = ScriptedOrigin.Answer(304, "", fields)
            } else if request.fields["range"] == "bytes=0-9" {
                answer = ScriptedOrigin.Answer(
                    206, "0123456789", fields + [("Content-Range", "bytes 0-9/1048576")])
            }
            let length = answer.body.count
            answered.withLock { $0.append(length) }
            return answer
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            func part(into place: Destination) async throws -> Response {
                try await coordinator.get(url, fields: ["Range": "bytes=0-9"], into: place)
            }
            let first = try await part(into: .memory)
            #expect(summary(first) == "network 206 0123456789")
            // A worker delivers files.
            let stale = try await part(into: isOfWorker ? .file(scene.directory.file("out/part")) : .memory)
            #expect(stale.source == .stale && stale.status == 206)
            #expect(try await eventually { try await summary(part(into: .memory)) == "cache 206 0123456789" })
            let seen = scene.origin.seen()
            #expect(seen.count == 2 && seen.last?.fields["range"] == "bytes=0-9")
            #expect(seen.last?.fields["if-none-match"] == (isTagged ? "\"one\"" : nil))
            #expect(answered.withLock { $0 } == [10, isTagged ? 0 : 10])
        }
    }

    @Test(
        "what answers HEAD stale and has no validator is validated by HEAD, RFC 9111 §4.3.5", arguments: [false, true])
    func validatedByHead(isTagged: Bool) async throws {
        try await withScene { request in
            let control = request.number == 1 ? "max-age=0, stale-while-revalidate=600" : "max-age=600"
            if isTagged { return page("one", control, to: request) }
            return ScriptedOrigin.Answer(200, "one", [("Cache-Control", control)])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            let head = Request("HEAD", url)
            #expect(try await coordinator.send(head).source == .stale)
            #expect(try await eventually { try await coordinator.send(head).source == .cache })
            let last = try await coordinator.get(url)
            #expect(summary(last) == "cache 200 one")
            #expect(scene.origin.seen().map(\.method) == ["GET", isTagged ? "GET" : "HEAD"])
        }
    }
}
