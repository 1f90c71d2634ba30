import Testing
import Trawl

@Suite("What is stored and when it answers, ASI-CACHE-02, 16 to 18, 27", .timeLimit(.minutes(5)))
struct CacheRuleTests {
    @Test(
        "storing and reuse follow what the response says",
        arguments: [
            // ASI-CACHE-16, 17, 18, 19: fields, and where the second answer comes from.
            (["Cache-Control": "max-age=60"], "cache"),
            (["Cache-Control": "no-store, max-age=60"], "network"),
            (["Cache-Control": "no-cache, max-age=60", "ETag": "\"a\""], "revalidated"),
            (["Cache-Control": "private, max-age=60"], "cache"),
            (["Cache-Control": "max-age=0", "ETag": "\"a\""], "revalidated"),
            (["Cache-Control": "s-maxage=0, max-age=60"], "cache"),
            (["Cache-Control": "max-age=60", "Age": "100"], "network"),
            (["Cache-Control": "max-age=60", "Expires": "0"], "cache"),
            (["Expires": "0"], "network"),
            (["Expires": "-1"], "network"),
            (["Expires": "soon"], "network"),
            (["Expires": "@60"], "cache"),
            (["Expires": "@-60"], "network"),
            (["Last-Modified": "@-864000"], "cache"),
            (["Last-Modified": "@-864000", "ETag": "\"a\"", "Cache-Control": "max-age=0"], "revalidated"),
            ([:], "network"),
            (["Vary": "*", "Cache-Control": "max-age=60"], "network"),
        ])
    func storing(fields: [String: String], source: String) async throws {
        try await withScene { request in
            let fields = fields.map { name, value in
                (name, value.hasPrefix("@") ? ScriptedOrigin.date(secondsFromNow: Int(value.dropFirst()) ?? 0) : value)
            }
            let isKnown = request.fields["if-none-match"] == "\"a\""
            return ScriptedOrigin.Answer(isKnown ? 304 : 200, isKnown ? "" : "body", fields)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let first = try await coordinator.get(url)
            #expect(summary(first) == "network 200 body")
            #expect(summary(try await coordinator.get(url)) == "\(source) 200 body")
            #expect(scene.count == (source == "cache" ? 1 : 2))
        }
    }

    @Test(
        "statuses that may be stored by themselves are, with a date of change, and others are not",
        arguments: [
            (200, true), (203, true), (204, true), (300, true), (404, true), (405, true), (410, true), (414, true),
            (451, true), (501, true), (201, false), (400, false), (403, false), (500, false), (503, false),
        ])
    func statuses(status: Int, isStored: Bool) async throws {
        let modified = ("Last-Modified", ScriptedOrigin.date(secondsFromNow: -864_000))
        try await withScene { _ in
            ScriptedOrigin.Answer(status, "", [modified])
        } _: { scene, coordinator in
            for _ in 0..<2 {
                let response = try await coordinator.get(scene.origin.url("/page"))
                #expect(response.status == status)
            }
            #expect(scene.count == (isStored ? 1 : 2))
        }
    }

    @Test("a status with a lifetime of its own is stored where it is understood")
    func explicitStatuses() async throws {
        try await withScene { request in
            ScriptedOrigin.Answer(Int(request.target.dropFirst()) ?? 0, "", [("Cache-Control", "max-age=60")])
        } _: { scene, coordinator in
            for status in [201, 403, 500, 503] {
                for source in [Response.Source.network, .cache] {
                    let response = try await coordinator.get(scene.origin.url("/\(status)"))
                    #expect(response.status == status)
                    #expect(response.source == source, "\(status)")
                }
            }
        }
    }

    @Test("the request's lifetime wins over the response's, and below zero it is stale at once")
    func lifetime() async throws {
        try await withScene {
            page("one", $0.target == "/long" ? "max-age=60" : "max-age=0", to: $0)
        } _: {
            scene, coordinator in
            for _ in 0..<2 {
                _ = try await coordinator.get(scene.origin.url("/short")) { $0.caching.lifetime = .seconds(100) }
                _ = try await coordinator.get(scene.origin.url("/long")) { $0.caching.lifetime = .seconds(-1) }
            }
            #expect(scene.origin.seen("/short").count == 1)
            #expect(scene.origin.seen("/long").count == 2)
            // More seconds than 64 bits hold, as programs write for ever.
            for lifetime in [Duration.seconds(Int64.max) * 8, .seconds(Int64.min) * 8] {
                let url = scene.origin.url(lifetime > .zero ? "/ever" : "/never")
                for _ in 0..<2 { _ = try await coordinator.get(url) { $0.caching.lifetime = lifetime } }
            }
            #expect(scene.origin.seen("/ever").count == 1)
            #expect(scene.origin.seen("/never").count == 2)
        }
    }

    @Test("validations that bring new fields each time do not let a stored head grow without end")
    func growingHead() async throws {
        try await withScene { request in
            var answer = page("one", "max-age=0", to: request)
            guard answer.status == 304 else { return answer }
            for line in 0..<290 {
                answer.fields.append(("X-\(request.number)-\(line)", String(repeating: "x", count: 1000)))
            }
            return answer
        } _: { scene in
            let url = scene.origin.url("/page")
            for round in 0..<17 {
                let isBatch = round % 2 == 1
                let run = try CommandRun(
                    (isBatch ? ["batch", "-", "--no-files"] : ["get", url]) + ["--store", scene.store],
                    input: isBatch ? url + "\n" : nil)
                #expect(run.status == 0, "\(run.errors)")
                if !isBatch { #expect(run.text == "one") }
            }
            // Once at first, and when there is no room for more fields.
            let plain = scene.origin.seen().count { $0.fields["if-none-match"] == nil }
            #expect(plain > 1 && plain < 6)
        }
    }

    @Test("without a lifetime nothing is guessed when guesses are off")
    func heuristics() async throws {
        let modified = ("Last-Modified", ScriptedOrigin.date(secondsFromNow: -864_000))
        try await withScene { request in
            let isKnown = request.fields["if-modified-since"] == modified.1
            return ScriptedOrigin.Answer(isKnown ? 304 : 200, isKnown ? "" : "one", [modified])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url) { $0.caching.usesHeuristics = false }
            let asked = try await coordinator.get(url) { $0.caching.usesHeuristics = false }
            #expect(summary(asked) == "revalidated 200 one")
            #expect(summary(try await coordinator.get(url)) == "cache 200 one")
        }
    }

    @Test("when cache control does not count, everything is stored and anything stored answers")
    func disrespect() async throws {
        try await withScene {
            page("v\($0.number)", "no-store, max-age=0", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            for _ in 0..<2 {
                let response = try await coordinator.get(url) { $0.caching.respectsCacheControl = false }
                #expect(response.bodyText == "v1")
            }
            #expect(scene.count == 1)
        }
    }

    @Test("each variant is kept for the requests it was chosen for", arguments: Engine.allCases)
    func varies(engine: Engine) async throws {
        try await withScene(engine) { request in
            let language = request.fields["accept-language"] ?? "none"
            return ScriptedOrigin.Answer(
                200, language, [("Cache-Control", "max-age=60"), ("Vary", "Accept-Language")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            for source in ["network", "cache"] {
                for language in ["de", "en", "fr"] {
                    let response = try await coordinator.get(url, fields: ["Accept-Language": language])
                    #expect(summary(response) == "\(source) 200 \(language)")
                }
                #expect(summary(try await coordinator.get(url)) == "\(source) 200 none")
            }
            #expect(scene.count == 4)
        }
    }

    @Test(
        "an answer to POST or PATCH that says that it is what GET would give, and for how long, answers GET",
        arguments: Engine.allCases, [Request.Method.post, .patch])
    func posted(engine: Engine, method: Request.Method) async throws {
        try await withScene(engine) { request in
            let others = ["/elsewhere": "/other", "/empty": "", "/%7eq": "/~q"]
            var fields = [("Content-Location", others[request.target] ?? request.target)]
            if request.target != "/vague" { fields.append(("Cache-Control", "max-age=60")) }
            return ScriptedOrigin.Answer(200, request.method, fields)
        } _: { scene, coordinator in
            let name = method.name
            for (target, outcome) in [
                ("/page", "cache 200 \(name)"), ("/empty", "cache 200 \(name)"), ("/%7eq", "cache 200 \(name)"),
                ("/vague", "network 200 GET"), ("/elsewhere", "network 200 GET"),
            ] {
                let url = scene.origin.url(target)
                _ = try await coordinator.get(url)
                let response = try await coordinator.send(Request(method, url, body: .text("x")))
                #expect(summary(response) == "network 200 \(name)")
                #expect(summary(try await coordinator.get(url)) == outcome, "\(target)")
            }
            // Only what is stored for GET answers: another one is sent.
            let again = try await coordinator.send(Request(method, scene.origin.url("/page"), body: .text("x")))
            #expect(summary(again) == "network 200 \(name)")
        }
    }

    @Test("an unsafe request that succeeds removes what is stored for its target and the places it names")
    func invalidates() async throws {
        try await withScene { request in
            guard request.method == "GET" else {
                let status = request.target == "/refused" ? 403 : 200
                return ScriptedOrigin.Answer(status, "", [("Location", "/other")])
            }
            return page("v\(request.number)", to: request)
        } _: { scene, coordinator in
            func text(_ target: String) async throws -> String {
                try await coordinator.get(scene.origin.url(target)).bodyText
            }
            for target in ["/page", "/other", "/refused", "/third"] { #expect(try await text(target) == "v1") }
            for target in ["/refused", "/page"] {
                var request = Request(.post, scene.origin.url(target), body: .text("x"))
                request.options.redirects.mode = .manual
                _ = try await coordinator.send(request)
                if target == "/refused" {
                    for target in ["/other", "/refused"] { #expect(try await text(target) == "v1") }
                }
            }
            // The POST counts as a request for its target.
            #expect(try await text("/page") == "v3")
            #expect(try await text("/other") == "v2")
            #expect(try await text("/refused") == "v1")
            #expect(try await text("/third") == "v1")
        }
    }

    @Test(
        "HEAD freshens what is stored, and removes what is no more", arguments: [(true, "cache"), (false, "network")])
    func headUpdates(isSame: Bool, source: String) async throws {
        try await withScene { request in
            let tag = isSame || request.number == 1 ? "\"one\"" : "\"two\""
            let control = request.number == 1 ? "max-age=0" : "max-age=60"
            return ScriptedOrigin.Answer(200, "one", [("ETag", tag), ("Cache-Control", control)])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            _ = try await coordinator.send(Request(.head, url))
            #expect(try await coordinator.get(url).source.rawValue == source)
        }
    }

    @Test("HEAD is answered by a stored GET, and never stored itself", arguments: Engine.allCases)
    func head(engine: Engine) async throws {
        try await withScene(engine) {
            page("one", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            for _ in 0..<2 { #expect(try await coordinator.send(Request(.head, url)).source == .network) }
            _ = try await coordinator.get(url)
            let head = try await coordinator.send(Request(.head, url))
            #expect(summary(head) == "cache 200 ")
            #expect(head.fields["Content-Length"] == "3")
            #expect(scene.origin.seen().map(\.method) == ["HEAD", "HEAD", "GET"])
        }
    }

    @Test("a GET whose body is empty is one without", arguments: Engine.allCases)
    func emptyBody(engine: Engine) async throws {
        try await withScene(engine) {
            page("one", to: $0)
        } _: { scene, coordinator in
            let request = Request(scene.origin.url("/page"), body: .text(""))
            for source in ["network", "cache"] {
                let response = try await coordinator.send(request)
                #expect(summary(response) == source + " 200 one")
            }
            #expect(scene.origin.seen().map { $0.fields["content-length"] } == [nil])
        }
    }

    @Test(
        "a condition of the caller's is answered by 304 when what is stored is what it has", arguments: Engine.allCases)
    func conditions(engine: Engine) async throws {
        try await withScene(engine) {
            page("one", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            let known = try await coordinator.get(url, fields: ["If-None-Match": "\"one\""])
            #expect(summary(known) == "cache 304 ")
            let other = try await coordinator.get(url, fields: ["If-None-Match": "\"two\""])
            #expect(summary(other) == "cache 200 one")
            #expect(scene.count == 1)
        }
    }

    @Test(
        "what is stale stands in for an answer of 500 and for none, when the response allows it",
        arguments: Engine.allCases)
    func staleIfError(engine: Engine) async throws {
        try await withScene(engine) { request in
            if request.number == 2 { return ScriptedOrigin.Answer(503, "no") }
            if request.number == 3 { return .nothing }
            return page("one", request.target == "/page" ? "max-age=0, stale-if-error=60" : "max-age=0", to: request)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            for text in ["network 200 one", "stale 200 one", "stale 200 one"] {
                let response = try await coordinator.get(url)
                #expect(summary(response) == text)
            }
            let strict = scene.origin.url("/strict")
            #expect(summary(try await coordinator.get(strict)) == "network 200 one")
            #expect(summary(try await coordinator.get(strict)) == "network 503 no")
            scene.origin.stop()
            #expect(summary(try await coordinator.get(url)) == "stale 200 one")
            await failure { try await coordinator.get(strict) }
        }
    }

    @Test("what is stale stands in for a body that broke off, however much of it came", arguments: Engine.allCases)
    func staleIfTruncated(engine: Engine) async throws {
        try await withScene(engine, workers: 1) { request in
            guard request.number > 1 else { return page("one", "max-age=0, stale-if-error=60", to: request) }
            var answer = ScriptedOrigin.Answer(200, String(repeating: "x", count: 100_000))
            answer.announced = 200_000
            return answer
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            #expect(summary(try await coordinator.get(url)) == "network 200 one")
            let response = try await coordinator.get(url)
            #expect(summary(response) == "stale 200 one")
            // One attempt: a worker that died of it would have left the fetch to another.
            #expect(response.metrics.count == 1)
            #expect((response.metrics.last?.bytesReceived ?? 0) > 100_000)
            // Who follows a fetch has been told the head of the one that broke off.
            let followed = coordinator.start(Request(url))
            await failure(.truncated) { try await followed.response }
        }
    }

    /// A response that the end of its connection cuts off, where only the end shows it.
    enum CutOff: CaseIterable {
        case withinLine, betweenLines, withinCoding

        var answer: ScriptedOrigin.Answer {
            switch self {
            case .withinLine: return .raw("HTTP/1.1 200 OK\r\nX: ")
            case .betweenLines: return .raw("HTTP/1.1 200 OK\r\n")
            case .withinCoding:
                var answer = ScriptedOrigin.Answer(200, "", [("Content-Encoding", "gzip")])
                answer.body = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0x33, 0x30, 0x34]
                answer.framing = .close
                return answer
            }
        }

        var code: FetchError.Code { self == .withinCoding ? .truncated : .connectionLost }
    }

    @Test(
        "what is stale stands in for a response that the connection's end cuts off, where nobody has seen any of it",
        arguments: Engine.allCases, CutOff.allCases)
    func staleIfCutOff(engine: Engine, cutOff: CutOff) async throws {
        try await withScene(engine) { request in
            guard request.number == 1 else { return cutOff.answer }
            return page("one", request.target == "/open" ? "max-age=0, stale-if-error=60" : "max-age=0", to: request)
        } _: { scene, coordinator in
            let (open, strict) = (scene.origin.url("/open"), scene.origin.url("/strict"))
            for url in [open, strict] { _ = try await coordinator.get(url) }
            let allowed = try await coordinator.get(open)
            #expect(summary(allowed) == "stale 200 one")
            let wanted = try await coordinator.get(strict, [.askServerIfModified, .fallBackToCacheIfLoadFails])
            #expect(summary(wanted) == "stale 200 one")
            await failure(cutOff.code) { try await coordinator.get(strict) }
            let inside = scene.directory.file("out/page")
            let rooted = try await coordinator.get(open, into: .file(inside))
            #expect(rooted.source == .stale && scene.directory.content("out/page") == Array("one".utf8))
            let stream = coordinator.start(Request(open), into: .stream)
            let elsewhere = scene.directory.file("page")
            if cutOff == .withinCoding {
                await failure(.truncated) { try await stream.response }
                await failure(.truncated) { try await coordinator.get(open, into: .file(elsewhere)) }
            } else {
                #expect(try await readStream(stream) == Array("one".utf8))
                let opened = try await coordinator.get(open, into: .file(elsewhere))
                #expect(opened.source == .stale && scene.directory.content("page") == Array("one".utf8))
            }
        }
    }

    @Test("a request with no-store leaves what is stored as it is, byte for byte", arguments: Engine.allCases)
    func noStoreAndFresh(engine: Engine) async throws {
        try await withScene(engine) { request in
            page(
                "one", request.number == 1 ? "max-age=0" : "max-age=60", to: request,
                [("X-Number", "\(request.number)")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.get(url)
            let response = try await coordinator.get(url, fields: ["Cache-Control": "no-store"])
            #expect(summary(response) == "revalidated 200 one")
            let stored = try await coordinator.get(url, .doNotLoad)
            #expect(stored.source == .stale)
            #expect(stored.fields["X-Number"] == "1")
        }
    }

    @Test(
        "an unsafe request removes what is stored by its status alone, whatever becomes of the body",
        arguments: Engine.allCases, ["truncated", "too long", "redirect"])
    func brokenInvalidation(engine: Engine, ending: String) async throws {
        try await withScene(engine) { request in
            guard request.method == "POST" else { return page("\(request.number)", to: request) }
            if ending == "redirect" {
                return ScriptedOrigin.Answer(303, String(repeating: "x", count: 200_000), [("Location", "/other")])
            }
            var answer = ScriptedOrigin.Answer(200, String(repeating: "x", count: 5000))
            if ending == "truncated" { answer.announced = 9000 }
            return answer
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            #expect(summary(try await coordinator.get(url)) == "network 200 1")
            var post = Request(.post, url, body: .text("x"))
            if ending == "too long" { post.options.sizeLimits.bodyBytes = 100 }
            switch ending {
            case "truncated": await failure(.truncated) { try await coordinator.send(post) }
            case "too long": await failure(.tooLarge) { try await coordinator.send(post) }
            default: _ = try await coordinator.send(post)
            }
            #expect(summary(try await coordinator.get(url)) == "network 200 3")
        }
    }

    @Test(
        "a stored body of any length answers for a server that does not, wherever it goes", .timeLimit(.minutes(2)),
        arguments: Engine.allCases, [10_000, 70_000, 3_000_000])
    func longFallback(engine: Engine, size: Int) async throws {
        let text = String(repeating: "x", count: size)
        try await withScene(engine) { request in
            ScriptedOrigin.Answer(200, text, [("Cache-Control", "max-age=0, stale-if-error=60"), ("ETag", "\"one\"")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let first = try await coordinator.get(url)
            #expect(first.body.count == size)
            scene.origin.stop()
            let stream = coordinator.start(Request(url), into: .stream)
            var count = 0
            for await event in stream.events { if case .data(let bytes) = event { count += bytes.count } }
            #expect(try await stream.response.source == .stale && count == size)
            #expect(try await coordinator.get(url).body.count == size)
            let file = scene.directory.file("body")
            let response = try await coordinator.send(Request(url), into: .file(file))
            #expect(response.source == .stale && scene.directory.content("body")?.count == size)
        }
    }

    @Test("what a validation is answered with in its place, and is not stored, removes it", arguments: Engine.allCases)
    func replacedUnstored(engine: Engine) async throws {
        try await withScene(engine) { request in
            switch request.number {
            case 1: page("one", "max-age=60", to: request)
            case 2:
                request.target == "/secret"
                    ? ScriptedOrigin.Answer(403, "no", [("Cache-Control", "no-store")])
                    : ScriptedOrigin.Answer(503, "later", [("Cache-Control", "no-store")])
            default: ScriptedOrigin.Answer(200, "three", [("Cache-Control", "no-store")])
            }
        } _: { scene, coordinator in
            for (target, expected) in [("/secret", "three"), ("/busy", "one")] {
                let url = scene.origin.url(target)
                let first = try await coordinator.get(url)
                #expect(first.bodyText == "one")
                var anew = Request(url)
                anew.fields["Cache-Control"] = "no-cache"
                _ = try await coordinator.send(anew)
                let second = try await coordinator.get(url)
                #expect(second.bodyText == expected, "\(target)")
            }
        }
    }
}
