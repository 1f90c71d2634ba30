import Testing
import Trawl

@Suite("What is wrong on the wire is an error or harmless, never a wrong answer", .bed())
struct FaultTests {
    /// The codes a fetch may fail with.
    private func expect(
        _ codes: FetchError.Code..., from target: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ adjust: (inout RequestOptions) -> Void = { _ in }
    ) async throws {
        let bed = try Bed.current
        for engine in Engine.allCases {
            let error = await failure(sourceLocation: sourceLocation) { try await bed.get(target, on: engine, adjust) }
            if let error { #expect(codes.contains(error.code), "\(target): \(error)", sourceLocation: sourceLocation) }
        }
        // The coordinator is as good as before.
        #expect(try await bed.get("/bytes/10").body.bytes == ReferenceBytes.bytes(10), sourceLocation: sourceLocation)
    }

    @Test(
        "silence meets the limit of inactivity", .timeLimit(.minutes(3)),
        arguments: ["/stall", "/stall?head=0&after=15", "/stall?head=1", "/stall?after=1000", "/endless-head?no=1"])
    func stall(target: String) async throws {
        if target.hasPrefix("/endless-head") { return try await expect(.tooLarge, from: target) }
        try await expect(.timeout, from: target) { $0.timeLimits.inactivity = .milliseconds(300) }
    }

    @Test(
        "a connection lost anywhere is an error", .timeLimit(.minutes(3)),
        arguments: ["/reset", "/close"])
    func lostInHead(target: String) async throws {
        try await expect(.connectionLost, .protocolViolation, .truncated, from: target)
    }

    @Test(
        "a head cut short is a lost connection, wherever it is cut", .timeLimit(.minutes(3)),
        arguments: ["reset", "close"], [10, 15, 17, 20, 40])
    func headCutShort(way: String, after count: Int) async throws {
        try await expect(.connectionLost, from: "/\(way)?head=0&after=\(count)")
    }

    @Test(
        "a body cut short is an error", .timeLimit(.minutes(3)),
        arguments: [
            "/reset?after=1000", "/close?after=1000", "/reset?head=1", "/close?head=1", "/truncate",
            "/truncate?declared=1000000&sent=999999", "/truncate?chunked=1",
            "/truncate?chunked=1&declared=500&sent=500",
        ])
    func cutShort(target: String) async throws {
        try await expect(.truncated, .connectionLost, from: target)
    }

    @Test("garbage in place of HTTP is an error", .timeLimit(.minutes(3)), arguments: 1...5 as ClosedRange<Int>)
    func garbage(seed: Int) async throws {
        try await expect(.protocolViolation, from: "/garbage?seed=\(seed)")
        try await expect(.protocolViolation, .connectionLost, from: "/garbage?seed=\(seed)&bytes=3")
    }

    @Test(
        "a wrong head is an error", .timeLimit(.minutes(3)),
        arguments: [
            "binary", "nul", "no-colon", "first-fold", "first-indented", "bare-cr", "name-cr", "cr-line", "cr-cr-lf",
            "bad-status", "big-status", "no-status", "bad-version", "no-version", "negative-length", "huge-length",
            "text-length",
        ])
    func wrongHead(kind: String) async throws {
        try await expect(.protocolViolation, from: "/garbage-head?kind=\(kind)")
    }

    @Test("a line whose name is none is dropped", .timeLimit(.minutes(3)))
    func droppedLine() async throws {
        let response = try await Bed.current.get("/garbage-head?kind=empty-name")
        #expect(response.bodyText == "ok\n")
        #expect(response.fields.all.map(\.name) == ["Content-Length"])
    }

    @Test("white space before a colon is no part of the name", .timeLimit(.minutes(3)))
    func spaceBeforeColon() async throws {
        // RFC 9112 §5.1 has proxies take it away from responses.
        let response = try await Bed.current.get("/garbage-head?kind=space-colon")
        #expect(response.bodyText == "ok\n")
        #expect(response.fields.all.map(\.name) == ["X-Space", "Content-Length"])
    }

    @Test("lines that end with LF alone are understood", .timeLimit(.minutes(3)))
    func bareLF() async throws {
        // RFC 9112 §2.2.
        #expect(try await Bed.current.get("/garbage-head?kind=bare-lf").bodyText == "ok\n")
    }

    @Test(
        "wrong chunks are an error", .timeLimit(.minutes(3)),
        arguments: ["size", "empty", "prefix", "space", "crlf", "negative", "overflow", "ext", "trailer-flood", "lf"])
    func wrongChunks(kind: String) async throws {
        try await expect(.protocolViolation, .tooLarge, from: "/bad-chunk?kind=\(kind)")
    }

    @Test("chunks without an end are cut short", .timeLimit(.minutes(3)), arguments: ["no-last", "huge"])
    func endlessChunks(kind: String) async throws {
        try await expect(.truncated, .protocolViolation, from: "/bad-chunk?kind=\(kind)")
    }

    @Test(
        "right chunks are right, extensions and all", .timeLimit(.minutes(3)),
        arguments: ["good", "good-ext", "ext&bytes=100"])
    func rightChunks(kind: String) async throws {
        #expect(try await Bed.current.get("/bad-chunk?kind=\(kind)").bodyText.hasPrefix("hello"))
    }

    @Test(
        "an endless body ends at the limit of size", .timeLimit(.minutes(3)),
        arguments: ["/endless", "/endless?chunked=1", "/bytes/1000001"])
    func endlessBody(target: String) async throws {
        try await expect(.tooLarge, from: target) { $0.sizeLimits.bodyBytes = 1_000_000 }
        try await expect(.tooLarge, from: target) { $0.sizeLimits.memoryBytes = 1_000_000 }
        #expect(
            try await Bed.current.get("/bytes/1000000") { $0.sizeLimits.bodyBytes = 1_000_000 }.body.count == 1_000_000)
    }

    @Test("a limit of no bytes allows no body, announced or not", .timeLimit(.minutes(3)))
    func noBody() async throws {
        for target in ["/bytes/1", "/bytes/1?chunked=1", "/gzip"] {
            try await expect(.tooLarge, from: target) { $0.sizeLimits.bodyBytes = 0 }
        }
        for engine in Engine.allCases {
            let response = try await Bed.current.get("/bytes/0", on: engine) { $0.sizeLimits.bodyBytes = 0 }
            #expect(response.status == 200 && response.body.isEmpty)
        }
    }

    @Test("a head is limited in bytes", .timeLimit(.minutes(3)))
    func bigHead() async throws {
        try await expect(.tooLarge, from: "/big-head")
        try await expect(.tooLarge, from: "/big-head?bytes=200000&one=1")
        try await expect(.tooLarge, from: "/big-head?bytes=50000") { $0.sizeLimits.headBytes = 40_000 }
        let bed = try Bed.current
        #expect(try await bed.get("/big-head?bytes=200000").bodyText == "ok\n")
        #expect(try await bed.get("/big-head?bytes=90000&one=1").bodyText == "ok\n")
        #expect(try await bed.get("/big-head?bytes=50000") { $0.sizeLimits.headBytes = 60_000 }.bodyText == "ok\n")
        // libcurl has a limit of its own near 300 KiB.
        try await expect(.tooLarge, from: "/big-head?bytes=600000") {
            $0.sizeLimits.headBytes = 1 << 20
            $0.sizeLimits.headFields = 2000
        }
    }

    @Test("a head is limited in fields", .timeLimit(.minutes(3)))
    func manyFields() async throws {
        try await expect(.tooLarge, from: "/many-fields")
        let bed = try Bed.current
        #expect(try await bed.get("/many-fields?count=400").fields["X-399"] == "v")
        #expect(try await bed.get("/many-fields?count=1000") { $0.sizeLimits.headFields = 1100 }.fields["X-999"] == "v")
    }

    @Test("an endless head ends at a limit", .timeLimit(.minutes(3)))
    func endlessHead() async throws {
        try await expect(.tooLarge, from: "/endless-head")
    }

    @Test(
        "of both lengths the chunks win, and the connection is not used again", .timeLimit(.minutes(3)),
        arguments: [3, 5, 1000])
    func bothLengths(length: Int) async throws {
        let bed = try Bed.current
        for engine in Engine.allCases {
            #expect(try await bed.get("/both-lengths?cl=\(length)", on: engine).bodyText == "hello")
        }
    }

    @Test(
        "two lengths that differ are an error, two that agree are one", .timeLimit(.minutes(3)),
        arguments: ["", "&comma=1"])
    func twoLengths(query: String) async throws {
        try await expect(.protocolViolation, from: "/two-lengths?a=5&b=10\(query)")
        try await expect(.protocolViolation, from: "/two-lengths?a=10&b=5\(query)")
        #expect(try await Bed.current.get("/two-lengths?a=5&b=5\(query)").bodyText == "xxxxx")
    }

    @Test("a folded field is unfolded", .timeLimit(.minutes(3)), arguments: Engine.allCases)
    func folded(engine: Engine) async throws {
        let response = try await Bed.current.get("/obs-fold", on: engine)
        // RFC 9112 §5.2: each fold is replaced by one or more spaces.
        let words = response.fields["X-Folded"]?.split(separator: " ")
        #expect(words == ["first", "second", "third"])
        #expect(response.fields["X-After"] == "unfolded")
    }

    @Test("an early answer to a large upload is taken", .timeLimit(.minutes(3)), arguments: Engine.allCases)
    func earlyResponse(engine: Engine) async throws {
        let bed = try Bed.current
        let request = Request(
            .post, bed.url("/early-response?after=100000"), body: .bytes(ReferenceBytes.bytes(2 << 20)))
        do throws(FetchError) {
            let response = try await bed.coordinator(engine).send(request)
            #expect(response.status == 413)
        } catch {
            // The origin closes with unread bytes: its RST may overtake the answer.
            #expect(error.code == .connectionLost)
        }
    }

    @Test("an upload whose connection breaks is a failure, sent once", .timeLimit(.minutes(3)))
    func uploadReset() async throws {
        let bed = try Bed.current
        for body in [1000, 2 << 20] {
            let target = "/upload-reset?after=500&once=\(body)"
            await failure(.connectionLost) {
                try await bed.coordinator.send(
                    Request(
                        .post, bed.url(target), body: .bytes(ReferenceBytes.bytes(body)),
                        options: {
                            var options = RequestOptions()
                            options.reusesConnection = false
                            return options
                        }()))
            }
            #expect(try bed.origin.log(prefix: target).count == 1)
        }
    }

    @Test("a server that never says 100 gets the body all the same", .timeLimit(.minutes(3)))
    func noContinue() async throws {
        let bed = try Bed.current
        let bytes = ReferenceBytes.bytes(2 << 20)
        let seen = try await bed.coordinator.send(Request(.post, bed.url("/no-continue"), body: .bytes(bytes))).seen()
        #expect(seen.bodyFNV1a64 == ReferenceBytes.hash(bytes))
    }
}
