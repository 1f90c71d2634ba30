import Testing
import Trawl

@Suite("Responses tell what came, ASI-RSP-01, 03, 04, 08, ULS-PROTO-11", .bed())
struct ResponseTests {
    @Test(
        "any final status is a response", .timeLimit(.minutes(3)),
        arguments: [200, 201, 203, 206, 226, 300, 305, 306, 400, 401, 404, 407, 410, 418, 451, 500, 503, 599, 999])
    func statuses(status: Int) async throws {
        let bed = try Bed.current
        let response = try await bed.get("/status/\(status)?reason=As%20asked&body=page")
        #expect(response.status == status)
        #expect(response.head.reason == "As asked")
        #expect(response.head.version == "HTTP/1.1")
        #expect(response.bodyText == "page")
        #expect(response.isSuccess == (200..<300).contains(status))
    }

    @Test("a status of failure becomes an error only by validate()", .timeLimit(.minutes(3)), arguments: [404, 500])
    func validate(status: Int) async throws {
        let bed = try Bed.current
        let response = try await bed.get("/status/\(status)?reason=Sorry")
        do throws(Response.StatusError) {
            try response.validate()
            Issue.record("status \(status) is not one of success")
        } catch {
            #expect(error.status == status)
            #expect(error.reason == "Sorry")
        }
        try await bed.get("/status/204").validate()
    }

    @Test(
        "a response may lack its reason phrase", .timeLimit(.minutes(3)),
        arguments: ["/no-reason", "/no-reason?bare=1"])
    func noReason(target: String) async throws {
        let bed = try Bed.current
        let response = try await bed.get(target)
        #expect(response.status == 200)
        #expect(response.head.reason.isEmpty)
        #expect(response.bodyText == "ok\n")
    }

    @Test("field lines keep their order and doubles, and names have no case", .timeLimit(.minutes(3)))
    func fields() async throws {
        let bed = try Bed.current
        let response = try await bed.get(
            "/response-headers?Set-Cookie=a=1,%20x&X-One=1&set-cookie=b=2&X-Empty=&X-Two=%20%20padded%20")
        #expect(response.fields.values("SET-COOKIE") == ["a=1, x", "b=2"])
        #expect(response.fields["x-one"] == "1")
        #expect(response.fields["x-empty"] == "")
        #expect(response.fields["x-two"] == "padded")
        let names = response.fields.all.map(\.name).filter { $0.lowercased() == "set-cookie" || $0.hasPrefix("X-") }
        #expect(
            names.filter { !$0.hasPrefix("X-Connection") && !$0.hasPrefix("X-Request") }
                == ["Set-Cookie", "X-One", "set-cookie", "X-Empty", "X-Two"])
        #expect(try await bed.get("/lowercase").fields["X-CONNECTION"] != nil)
    }

    @Test("the bytes of a field value that are not UTF-8 are kept", .timeLimit(.minutes(3)))
    func latin1() async throws {
        let bed = try Bed.current
        let response = try await bed.get("/response-headers?X-Name=caf%E9")
        #expect(response.fields.allLatin1.first { $0.name == "X-Name" }?.value == "caf\u{E9}")
    }

    @Test(
        "the body is the same however its end is told", .timeLimit(.minutes(3)),
        arguments: ["", "?chunked=1", "?nolength=1"], Engine.allCases)
    func framings(query: String, engine: Engine) async throws {
        let bed = try Bed.current
        for count in [0, 1, 1000, 64 << 10, (64 << 10) + 1, 3 << 20] {
            let response = try await bed.get("/bytes/\(count)\(query)", on: engine)
            #expect(response.body.count == count)
            #expect(response.body.bytes == ReferenceBytes.bytes(count))
            #expect(response.receivedLength == UInt64(count))
            #expect(response.expectedLength == (query.isEmpty ? UInt64(count) : nil))
        }
    }

    @Test(
        "a body is whole however much is read at a time, ASI-RSP-02", .timeLimit(.minutes(3)), arguments: [1, 1 << 20])
    func readSizes(size: Int) async throws {
        let bed = try Bed.current
        let response = try await bed.get("/bytes/300000?seed=3") { $0.transport.receiveBuffer = size }
        #expect(response.body.bytes == ReferenceBytes.bytes(300_000, seed: 3))
    }

    @Test("a body that is dropped is still counted", .timeLimit(.minutes(3)))
    func discard() async throws {
        let bed = try Bed.current
        let response = try await bed.get("/bytes/1000000", into: .discard)
        #expect(response.body.isEmpty)
        #expect(response.receivedLength == 1_000_000)
    }

    @Test("a stream gives the bytes in order, and ends after them", .timeLimit(.minutes(3)), arguments: Engine.allCases)
    func stream(engine: Engine) async throws {
        let bed = try Bed.current
        for target in ["/bytes/2000000?seed=5", "/bytes/2000000?seed=5&chunked=1"] {
            let fetch = bed.coordinator(engine).start(Request(bed.url(target)), into: .stream)
            #expect(try await readStream(fetch) == ReferenceBytes.bytes(2_000_000, seed: 5))
            let response = try await fetch.response
            #expect(response.receivedLength == 2_000_000)
            #expect(response.body.isEmpty)
        }
    }

    @Test("send() refuses a stream, which only a handle can give", .timeLimit(.minutes(3)))
    func streamNeedsHandle() async throws {
        let bed = try Bed.current
        await failure(.badRequest) { try await bed.get("/bytes/1", into: .stream) }
    }

    @Test("interim responses are reported before the answer", .timeLimit(.minutes(3)), arguments: Engine.allCases)
    func interim(engine: Engine) async throws {
        let bed = try Bed.current
        let fetch = bed.coordinator(engine).start(Request(bed.url("/interim?list=103,102,103")))
        let words = await allEvents(of: fetch).map(word).filter { $0 != "progress" }
        #expect(words == ["started", "attempt 1", "interim 103", "interim 102", "interim 103", "head 200", "ended"])
        #expect(try await fetch.response.interim.map(\.status) == [103, 102, 103])
        #expect(try await bed.get("/interim?list=103", on: engine).interim.map(\.status) == [103])
    }

    @Test(
        "interim responses before a redirect, a challenge and the answer are all told, in order",
        .timeLimit(.minutes(3)), arguments: Engine.allCases)
    func interimOnTheWay(engine: Engine) async throws {
        @Sendable func answer(_ number: Int, _ rest: String) -> ScriptedOrigin.Answer {
            .raw("HTTP/1.1 103 Early Hints\r\nX-Number: \(number)\r\n\r\nHTTP/1.1 \(rest)\r\n\r\n")
        }
        let origin = try ScriptedOrigin { seen in
            if seen.target == "/one" { return answer(1, "302 Found\r\nLocation: /two\r\nContent-Length: 0") }
            if seen.fields["authorization"] != nil { return answer(3, "200 OK\r\nContent-Length: 0") }
            return answer(
                2, "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"here\"\r\nContent-Length: 0")
        }
        defer { origin.stop() }
        var request = Request(origin.url("/one"))
        request.options.authentication.allowsClearText = true
        request.options.authentication.credential = Credential(user: "me", password: "secret")
        let response = try await Bed.current.coordinator(engine).send(request)
        #expect(response.status == 200 && response.redirects.map(\.status) == [302])
        #expect(response.interim.map(\.status) == [103, 103, 103])
        #expect(response.interim.map { $0.fields["X-Number"] } == ["1", "2", "3"])
    }

    @Test("of interim responses without number the first are told", .timeLimit(.minutes(3)), arguments: Engine.allCases)
    func interimFlood(engine: Engine) async throws {
        let bed = try Bed.current
        let list = Array(repeating: "103", count: 200).joined(separator: ",")
        let fetch = bed.coordinator(engine).start(Request(bed.url("/interim?list=\(list)")))
        #expect(await allEvents(of: fetch).count { word($0) == "interim 103" } == 64)
        let response = try await fetch.response
        #expect(response.status == 200 && response.interim.count == 64)
    }

    @Test("of large interim responses those are told that are not too much together", .timeLimit(.minutes(3)))
    func interimBulk() async throws {
        let bed = try Bed.current
        var request = Request(.post, bed.url("/raw?keep=1"))
        let interim = "HTTP/1.1 103 Early Hints\r\nLink: \(String(repeating: "x", count: 20_000))\r\n\r\n"
        request.body = .bytes(
            Array((String(repeating: interim, count: 10) + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").utf8))
        let response = try await bed.coordinator.send(request)
        #expect(response.interim.count == 3)
        #expect(response.bodyText == "ok")
    }

    @Test("trailer fields are delivered apart from the header", .timeLimit(.minutes(3)))
    func trailers() async throws {
        let bed = try Bed.current
        let response = try await bed.get("/trailers")
        #expect(response.trailers["X-Checksum"] == ReferenceBytes.hash(response.body.bytes))
        #expect(response.trailers["x-late"] != nil)
        #expect(response.fields["X-Checksum"] == nil)
    }

    @Test(
        "metrics grow from phase to phase (ASI-CONN-05, ULS-TASK-12)", .timeLimit(.minutes(3)),
        arguments: Engine.allCases)
    func metrics(engine: Engine) async throws {
        let bed = try Bed.current
        let clock = ContinuousClock()
        let begin = clock.now
        let response = try await bed.get("/redirect-to?url=/bytes/100000", on: engine) { $0.reusesConnection = false }
        let wall = clock.now - begin
        #expect(response.metrics.map(\.status) == [302, 200])
        for report in response.metrics {
            let phases = [report.nameResolved, report.connected, report.requestSent, report.firstByte, report.ended]
            let known = phases.compactMap { $0 }
            #expect(known == known.sorted(), "\(report)")
            #expect(known.count >= 4, "\(report)")
            #expect(report.secured == nil)
            #expect(report.ended <= wall)
            #expect(report.bytesSent > 40)
            #expect(report.remoteAddress == "127.0.0.1:\(bed.origin.port)")
            #expect(report.connection != nil)
            #expect(!report.reusedConnection)
            #expect(report.version == "HTTP/1.1")
        }
        #expect(try #require(response.metrics.last).bytesReceived > 100_000)
        #expect(try #require(response.metrics.last).bytesReceived < 102_000)
    }

    @Test("the URLs of a response are those asked for and answered (ASI-RUN-05)", .timeLimit(.minutes(3)))
    func urls() async throws {
        let bed = try Bed.current
        let response = try await bed.get("/redirect/2#part")
        #expect(response.originalURL == bed.url("/redirect/2#part"))
        #expect(response.url == bed.url("/anything#part"))
        #expect(response.redirects.map(\.url) == [bed.url("/redirect/2"), bed.url("/redirect/1")])
    }
}
