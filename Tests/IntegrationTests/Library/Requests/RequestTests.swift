import Testing
import Trawl

@Suite("Requests reach the origin as they were asked for, ASI-REQ-01, 02, 03, 10, 11, 12", .bed())
struct RequestTests {
    @Test("a body of more than 1 MiB waits a second for the server's word, by HTTP/1.1 alone", .timeLimit(.minutes(3)))
    func longBody() async throws {
        /// Whether a request asked, and when the first byte of its body was there, as no answer ever came.
        let seen = Locked([(asks: Bool, came: ContinuousClock.Instant)]())
        let peer = try ScriptedPeer { connection, _ in
            guard let head = connection.readHead(),
                let length = head.firstMatch(of: /Content-Length: (\d+)/).flatMap({ Int($0.1) })
            else { return }
            guard connection.read(1) != nil else { return }
            seen.withLock { $0.append((head.contains("Expect: 100-continue"), ContinuousClock.now)) }
            guard connection.read(length - 1) != nil else { return }
            connection.send("HTTP/1.1 200 Fine\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        defer { peer.stop() }
        let cases: [(length: Int, version: RequestOptions.Transport.Version, asks: Bool)] = [
            (1_048_576, .http1_1, false), (1_048_577, .http1_1, true), (1_048_577, .http1_0, false),
        ]
        // The wait begins when the head is sent, which the peer may read later.
        var begins: [ContinuousClock.Instant] = []
        try await withTestCoordinator { coordinator in
            for (length, version, _) in cases {
                let body = Request.Body.bytes([UInt8](repeating: 1, count: length))
                var request = Request(.post, "http://\(peer.place)/", body: body)
                request.options.transport.version = version
                begins.append(.now)
                let response = try await coordinator.send(request)
                #expect(response.status == 200)
            }
        }
        let found = seen.withLock { $0 }
        #expect(found.map { $0.asks } == cases.map { $0.asks })
        let pair = zip(begins, found).first { $1.asks }
        let (begin, asking) = try #require(pair)
        let waits = asking.came - begin
        #expect(waits > .seconds(0.9) && waits < .seconds(25))
    }

    @Test(
        "field lines keep their order, their case and their doubles", .timeLimit(.minutes(2)),
        arguments: Engine.allCases)
    func fieldOrder(engine: Engine) async throws {
        let bed = try Bed.current
        var request = Request(bed.url("/anything"))
        request.fields.add("X-Zebra", "1")
        request.fields.add("x-apple", "two words")
        request.fields.add("X-zebra", "3")
        request.fields.add("X-Empty", "")
        let seen = try await bed.coordinator(engine).send(request).seen()
        let own = seen.fields.filter { $0[0].lowercased().hasPrefix("x-") }
        #expect(own == [["X-Zebra", "1"], ["x-apple", "two words"], ["X-zebra", "3"], ["X-Empty", ""]])
    }

    @Test("setting a field replaces all its lines whatever their case", .timeLimit(.minutes(2)))
    func setField() async throws {
        let bed = try Bed.current
        var request = Request(bed.url("/anything"))
        request.fields.add("X-Value", "1")
        request.fields.add("x-value", "2")
        request.fields.set("X-VALUE", "3")
        request.fields["Accept"] = "text/plain"
        let seen = try await bed.coordinator.send(request).seen()
        #expect(seen.values("x-value") == ["3"])
        #expect(seen.values("accept") == ["text/plain"])
    }

    /// Named, so that no control byte ends up in the output of the tests.
    static let badFields: [(title: String, name: String, value: String)] = [
        ("CR and LF in the value", "X-Split", "a\r\nX-Injected: b"), ("LF in the value", "X-Feed", "a\nb"),
        ("CR in the value", "X-Return", "a\rb"), ("NUL in the value", "X-Nul", "a\0b"),
        ("a space in the name", "X Space", "v"), ("a colon in the name", "X-Colon:", "v"), ("no name", "", "v"),
        ("CR and LF in the name", "X\r\nY", "v"),
    ]

    @Test(
        "a field line that could end early or is none is refused before anything is sent", .timeLimit(.minutes(2)),
        arguments: badFields.map(\.title))
    func refusedField(title: String) async throws {
        let bed = try Bed.current
        let (_, name, value) = try #require(Self.badFields.first { $0.title == title })
        let target = "/anything?refused=" + title.percentEncoded
        var request = Request(bed.url(target))
        request.fields.add(name, value)
        await failure(.badRequest) { try await bed.coordinator.send(request) }
        #expect(try bed.origin.log(prefix: target).isEmpty)
    }

    @Test(
        "a user agent that could end its line early is refused, in a request and in a configuration",
        .timeLimit(.minutes(2)), arguments: ["a\rb", "a\nb", "a\0b", "a\r\nX-Evil: 1"])
    func refusedUserAgent(name: String) async throws {
        let bed = try Bed.current
        let target = "/anything?agent=\(name.utf8.count)"
        var request = Request(bed.url(target))
        request.options.userAgent = name
        await failure(.badRequest) { try await bed.coordinator.send(request) }
        #expect(try bed.origin.log(prefix: target).isEmpty)
        var configuration = Configuration()
        configuration.userAgent = name
        #expect(throws: FetchError.self) { _ = try Coordinator(configuration) }
    }

    @Test(
        "any method is sent as it is", .timeLimit(.minutes(2)),
        arguments: ["GET", "POST", "PUT", "DELETE", "PATCH", "PURGE", "OPTIONS", "get", "X-ODD!"])
    func methods(name: String) async throws {
        let bed = try Bed.current
        let seen = try await bed.coordinator.send(Request(Request.Method(name), bed.url("/anything"))).seen()
        #expect(seen.method == name)
        #expect(seen.bodyLength == 0)
    }

    @Test("HEAD brings a head and no body", .timeLimit(.minutes(2)), arguments: Engine.allCases)
    func head(engine: Engine) async throws {
        let bed = try Bed.current
        for _ in 0..<3 {
            let response = try await bed.coordinator(engine).send(Request(.head, bed.url("/bytes/1000")))
            #expect(response.status == 200)
            #expect(response.fields["Content-Length"] == "1000")
            #expect(response.body.isEmpty)
        }
    }

    @Test("a method that is no token is refused", .timeLimit(.minutes(2)))
    func badMethod() async throws {
        let bed = try Bed.current
        for name in ["", "GE T", "G\r\nX", "G\0", "é"] {
            await failure(.badRequest) {
                try await bed.coordinator.send(Request(Request.Method(name), bed.url("/anything")))
            }
        }
    }

    @Test("a body without a method is posted", .timeLimit(.minutes(2)))
    func bodyMeansPost() async throws {
        let bed = try Bed.current
        let seen = try await bed.coordinator.send(Request(bed.url("/anything"), body: .text("hello"))).seen()
        #expect(seen.method == "POST")
        #expect(seen.bodyLength == 5)
        #expect(seen.value("content-length") == "5")
    }

    @Test(
        "GET with a body is refused unless that is allowed, HEAD and TRACE with one in any case",
        .timeLimit(.minutes(2)))
    func bodyOnGET() async throws {
        let bed = try Bed.current
        var request = Request(.get, bed.url("/anything"), body: .text("hello"))
        await failure(.badRequest) { try await bed.coordinator.send(request) }
        for method in [Request.Method.head, "TRACE"] {
            request.method = method
            for isAllowed in [false, true] {
                request.options.allowsBodyOnGET = isAllowed
                let refused = await failure(.badRequest) { try await bed.coordinator.send(request) }
                #expect(refused?.detail == "\(method) has no body")
            }
        }
        request.method = .get
        let allowed = try await bed.coordinator.send(request).seen()
        #expect(allowed.method == "GET")
        #expect(allowed.bodyLength == 5)
        request.options.allowsBodyOnGET = false
        request.options.upgradesMethodForBody = true
        #expect(try await bed.coordinator.send(request).seen().method == "POST")
    }

    @Test("DELETE keeps its body, and becomes POST only when asked", .timeLimit(.minutes(2)))
    func bodyOnDELETE() async throws {
        let bed = try Bed.current
        var request = Request(.delete, bed.url("/anything"), body: .text("hello"))
        let kept = try await bed.coordinator.send(request).seen()
        #expect(kept.method == "DELETE")
        #expect(kept.bodyLength == 5)
        request.options.upgradesMethodForBody = true
        #expect(try await bed.coordinator.send(request).seen().method == "POST")
    }

    @Test(
        "POST, PUT and PATCH without a body announce length 0", .timeLimit(.minutes(2)),
        arguments: ["POST", "PUT", "PATCH"])
    func emptyBody(name: String) async throws {
        let bed = try Bed.current
        for body in [Request.Body.none, .bytes([])] {
            let request = Request(Request.Method(name), bed.url("/anything"), body: body)
            let seen = try await bed.coordinator.send(request).seen()
            #expect(seen.method == name)
            #expect(seen.value("content-length") == "0")
        }
    }

    @Test(
        "GET, HEAD, DELETE and OPTIONS without a body announce none, nor with an empty one", .timeLimit(.minutes(2)),
        arguments: ["GET", "HEAD", "DELETE", "OPTIONS"], Engine.allCases)
    func noLength(name: String, engine: Engine) async throws {
        let origin = try ScriptedOrigin { _ in ScriptedOrigin.Answer(200, "fine") }
        defer { origin.stop() }
        for body in [Request.Body.none, .bytes([]), .pieces([]), .text("")] {
            let request = Request(Request.Method(name), origin.url(), body: body)
            let response = try await Bed.current.coordinator(engine).send(request)
            #expect(response.status == 200)
        }
        #expect(origin.seen().count == 4)
        for seen in origin.seen() {
            #expect(seen.method == name)
            #expect(seen.fields["content-length"] == nil && seen.fields["transfer-encoding"] == nil)
        }
    }

    @Test(
        "bodies of any size come back from the echo unchanged", .timeLimit(.minutes(2)),
        arguments: [1, 32 << 10, (64 << 10) - 1, 64 << 10, 65 << 10, 5 << 20], Engine.allCases)
    func bodySizes(count: Int, engine: Engine) async throws {
        let bed = try Bed.current
        let bytes = ReferenceBytes.bytes(count, seed: UInt64(count))
        for method in [Request.Method.post, .put] {
            let response = try await bed.coordinator(engine).send(
                Request(method, bed.url("/echo"), body: .bytes(bytes)))
            #expect(response.status == 200)
            #expect(response.body.count == count)
            #expect(response.body.bytes == bytes)
        }
        let seen = try await bed.coordinator(engine).send(Request(bed.url("/anything"), body: .bytes(bytes))).seen()
        #expect(seen.value("content-length") == String(count))
        #expect(seen.bodyFNV1a64 == ReferenceBytes.hash(bytes))
    }

    @Test(
        "a body that is not sent because of 417 is sent unasked, whatever came with the 417 (ASI-REQ-09)",
        .timeLimit(.minutes(2)),
        arguments: Engine.allCases)
    func expectationFailed(engine: Engine) async throws {
        let origin = try ScriptedOrigin { seen in
            seen.fields["expect"] == nil
                ? ScriptedOrigin.Answer(200, "taken")
                : ScriptedOrigin.Answer(417, String(repeating: "x", count: 10_000))
        }
        defer { origin.stop() }
        let body = ReferenceBytes.bytes(2 << 20, seed: 417)
        let response = try await Bed.current.coordinator(engine).send(
            Request(.put, origin.url("/upload"), body: .bytes(body)))
        #expect(response.bodyText == "taken")
        #expect(origin.seen().map { $0.fields["expect"] } == ["100-continue", nil])
        // One attempt: a worker that died of it would have left the fetch to another.
        #expect(response.metrics.count == 1)
    }

    @Test("a body can be gathered in pieces, and the two styles exclude each other", .timeLimit(.minutes(2)))
    func pieces() async throws {
        let bed = try Bed.current
        var request = Request(bed.url("/echo"))
        try request.append("one ".utf8)
        try request.append([])
        try request.append("two".utf8)
        #expect(try await bed.coordinator.send(request).bodyText == "one two")
        var whole = Request(bed.url("/echo"), body: .text("whole"))
        do throws(FetchError) {
            try whole.append("more".utf8)
            Issue.record("a body set as a whole was appended to")
        } catch {
            #expect(error.code == .badRequest)
        }
    }

    @Test(
        "the User-Agent is the line set by hand, the request's, the coordinator's or a generated one",
        .timeLimit(.minutes(2)))
    func userAgent() async throws {
        let bed = try Bed.current
        func sent(_ coordinator: Coordinator, _ adjust: (inout Request) -> Void) async throws -> String? {
            var request = Request(bed.url("/anything"))
            adjust(&request)
            return try await coordinator.send(request).seen().value("user-agent")
        }
        let generated = try #require(try await sent(bed.coordinator) { _ in })
        let form = /[A-Za-z0-9._-]+ \(Linux [^;()]+(; [^;()]+)+\) trawl\/[0-9.]+/
        #expect(generated.wholeMatch(of: form) != nil)
        #expect(generated.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
        #expect(try await sent(bed.coordinator) { $0.options.userAgent = "Mine/1" } == "Mine/1")
        let byHand = try await sent(bed.coordinator) {
            $0.options.userAgent = "Mine/1"
            $0.fields.set("user-agent", "Hand/2")
        }
        #expect(byHand == "Hand/2")
        #expect(try await sent(bed.coordinator) { _ in } == generated, "one request's value is not the next one's")
        let ours = try await withTestCoordinator(adjust: { $0.userAgent = "Ours/3" }) { coordinator in
            try await sent(coordinator) { _ in }
        }
        #expect(ours == "Ours/3")
        let redirected = try await sent(bed.coordinator) {
            $0.url = bed.url("/redirect/2")
            $0.options.userAgent = "Mine/1"
        }
        #expect(redirected == "Mine/1")
    }

    @Test("HTTP/1.0 is spoken when asked for, and the connection is not kept", .timeLimit(.minutes(2)))
    func http10() async throws {
        let bed = try Bed.current
        var request = Request(bed.url("/anything"))
        request.options.transport.version = .http1_0
        let first = try await bed.coordinator.send(request)
        let second = try await bed.coordinator.send(request)
        #expect(try first.seen().version.hasSuffix("1.0"))
        #expect(first.fields["X-Connection"] != second.fields["X-Connection"])
        request.options.transport.version = .http1_1
        #expect(try await bed.coordinator.send(request).seen().version.hasSuffix("1.1"))
    }

    @Test(
        "a condition set by hand is sent, and 304 is the answer with an empty body", .timeLimit(.minutes(2)),
        arguments: [("If-None-Match", "\"b-100-1\""), ("If-Modified-Since", "Wed, 01 Jan 2020 00:00:00 GMT")])
    func conditional(name: String, value: String) async throws {
        let bed = try Bed.current
        var request = Request(bed.url("/bytes/100?etag=1"))
        request.fields.set(name, value)
        let response = try await bed.coordinator.send(request)
        #expect(response.status == 304)
        #expect(response.body.isEmpty)
        request.fields.set(name, name == "If-None-Match" ? "\"other\"" : "Tue, 01 Jan 2019 00:00:00 GMT")
        let fresh = try await bed.coordinator.send(request)
        #expect(fresh.status == 200)
        #expect(fresh.body.bytes == ReferenceBytes.bytes(100))
    }

    @Test("user information of the URL is not sent", .timeLimit(.minutes(2)))
    func userInformation() async throws {
        let bed = try Bed.current
        let url = bed.url("/anything").replacing("http://", with: "http://user:secret@")
        let response = try await bed.coordinator.send(Request(url))
        let seen = try response.seen()
        #expect(!seen.target.contains("secret"))
        #expect(seen.fields.allSatisfy { !$0[1].contains("secret") })
        #expect(!response.url.contains("secret"))
        #expect(!response.originalURL.contains("secret"))
    }
}
