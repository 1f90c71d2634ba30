import Testing
import Trawl

@Suite("Events come in order and end once, ASI-EVT-01, 04, ASI-CAN-01, 03, ASI-RUN-03", .bed())
struct EventTests {
    @Test("a fetch starts once and ends once, last", .timeLimit(.minutes(2)), arguments: Engine.allCases)
    func order(engine: Engine) async throws {
        let bed = try Bed.current
        let fetch = bed.coordinator(engine).start(Request(bed.url("/redirect/2")))
        let words = await allEvents(of: fetch).map(word).filter { $0 != "progress" }
        #expect(
            words == [
                "started", "attempt 1", "redirected 302", "attempt 2", "redirected 302", "attempt 3", "head 200",
                "ended",
            ])
    }

    @Test(
        "data comes between head and end, and is the body (POOL-02)", .timeLimit(.minutes(2)),
        arguments: Engine.allCases)
    func stream(engine: Engine) async throws {
        let bed = try Bed.current
        let fetch = bed.coordinator(engine).start(
            Request(bed.url("/redirect-to?url=/bytes/300000")), into: .stream)
        var words: [String] = []
        for await event in fetch.events {
            let word = word(event)
            if word != "progress", word != "data" || words.last != "data" { words.append(word) }
        }
        #expect(words == ["started", "attempt 1", "redirected 302", "attempt 2", "head 200", "data", "ended"])
    }

    @Test("what a program keeps with a fetch goes nowhere, ASI-RUN-04", .timeLimit(.minutes(2)))
    func notes() async throws {
        let answer: @Sendable (ScriptedOrigin.Seen) -> ScriptedOrigin.Answer = {
            ScriptedOrigin.Answer(200, String(decoding: $0.head, as: UTF8.self))
        }
        try await withScene(answering: answer) { scene, coordinator in
            let fetch = coordinator.start(Request(scene.origin.url("/kept")), suspended: true)
            #expect(fetch.label == nil && fetch.tag == 0 && fetch.userInfo.isEmpty)
            (fetch.label, fetch.tag) = ("labelled", 31337)
            fetch.userInfo["planted"] = "nowhere"
            fetch.resume()
            let head = try await fetch.response.bodyText
            #expect(head.contains("/kept"))
            for kept in ["labelled", "31337", "planted", "nowhere"] { #expect(!head.contains(kept)) }
            #expect(fetch.label == "labelled" && fetch.tag == 31337)
            #expect(fetch.userInfo["planted"] as? String == "nowhere")
        }
    }

    @Test("a failure ends the events with the error that the response gives (ASI-EVT-03)", .timeLimit(.minutes(2)))
    func failures() async throws {
        let bed = try Bed.current
        let fetch = bed.coordinator.start(Request(bed.url("/truncate")))
        let words = await allEvents(of: fetch).map(word).filter { $0 != "progress" }
        #expect(words == ["started", "attempt 1", "head 200", "failed truncated"])
        await failure(.truncated) { try await fetch.response }
        await failure(.truncated) { try await fetch.response }
    }

    @Test("a request that cannot be sent fails through its handle (ASI-RUN-06)", .timeLimit(.minutes(2)))
    func unsendable() async throws {
        let bed = try Bed.current
        let fetch = bed.coordinator.start(Request("http://"))
        #expect(await allEvents(of: fetch).map(word) == ["started", "failed invalid_url"])
        await failure(.invalidURL) { try await fetch.response }
    }

    @Test("events read late are all there", .timeLimit(.minutes(2)))
    func lateReader() async throws {
        let bed = try Bed.current
        let fetch = bed.coordinator.start(Request(bed.url("/bytes/100")))
        _ = try await fetch.response
        let words = await allEvents(of: fetch).map(word).filter { $0 != "progress" }
        #expect(words == ["started", "attempt 1", "head 200", "ended"])
    }

    @Test(
        "the response may be asked for many times, and a cancel after the end changes nothing", .timeLimit(.minutes(2)))
    func cancelAfterEnd() async throws {
        let bed = try Bed.current
        let fetch = bed.coordinator.start(Request(bed.url("/bytes/100")))
        let first = try await fetch.response
        fetch.cancel()
        let second = try await fetch.response
        #expect(first.body.bytes == second.body.bytes)
        #expect(await allEvents(of: fetch).map(word).last == "ended")
    }

    @Test("a fetch cancelled at once ends cancelled (ULS-LIFE-13)", .timeLimit(.minutes(2)), arguments: Engine.allCases)
    func cancelAtOnce(engine: Engine) async throws {
        let bed = try Bed.current
        let fetch = bed.coordinator(engine).start(Request(bed.url("/stall?at-once=1")))
        fetch.cancel()
        fetch.cancel()
        let error = await failure(.cancelled) { try await fetch.response }
        #expect(error?.legacyCode == 4)
        #expect(error?.urlErrorCode == -999)
        let words = await allEvents(of: fetch).map(word).filter { !$0.hasPrefix("attempt") }
        #expect(words == ["started", "failed cancelled"])
    }

    @Test("cancelling the task cancels the fetch", .timeLimit(.minutes(2)), arguments: Engine.allCases)
    func cancelTask(engine: Engine) async throws {
        let bed = try Bed.current
        let mark = "/stall?cancel-task=\(engine)".replacing(" ", with: "")
        let request = Request(bed.url(mark))
        let task = Task { try await bed.coordinator(engine).send(request) }
        #expect(try await eventually { try !bed.origin.log(prefix: mark).isEmpty })
        task.cancel()
        await failure(.cancelled) { try await task.value }
    }

    @Test("a task cancelled before it asks gets its error without a request", .timeLimit(.minutes(2)))
    func cancelledBefore() async throws {
        let bed = try Bed.current
        let request = Request(bed.url("/stall?cancelled-before=1"))
        let task = Task {
            _ = await eventually(within: .seconds(30)) { Task.isCancelled }
            return try await bed.coordinator.send(request)
        }
        task.cancel()
        await failure(.cancelled) { try await task.value }
    }

    @Test(
        "cancelling works in every state", .timeLimit(.minutes(2)),
        arguments: [
            "/stall", "/stall?head=0&after=20", "/stall?head=1", "/stall?after=100000", "/endless",
            "/endless?chunked=1",
            "/endless-head", "/delay/30000", "/drip?bytes=1000", "/gzip-bomb?size=20000000",
            "/redirect-to?url=/delay/30000",
        ])
    func cancelInState(target: String) async throws {
        let bed = try Bed.current
        for destination in [
            Destination.discard, .stream, .file(bed.outputDirectory + "/state"), .file(bed.directory.file("state")),
        ] {
            var request = Request(bed.url(target))
            request.options.sizeLimits.headBytes = 1 << 20
            request.options.sizeLimits.headFields = 1 << 20
            let fetch = bed.coordinator.start(request, into: destination)
            for await event in fetch.events {
                if case .attempt = event { break }
            }
            fetch.cancel()
            do {
                _ = try await fetch.response
                Issue.record("\(target) ended well")
            } catch {
                // The endless head and the bomb may have met their limits first.
                #expect([.cancelled, .tooLarge, .decoding].contains(error.code), "\(error)")
            }
        }
        #expect(try await eventually { try !bed.directory.names().contains { $0.contains("state") } })
    }

    @Test("letting go of a stream's handle cancels it", .timeLimit(.minutes(2)), arguments: Engine.allCases)
    func dropStream(engine: Engine) async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: engine.workers) { coordinator in
                do {
                    let fetch = coordinator.start(Request(origin.url("/endless")), into: .stream)
                    for await event in fetch.events { if case .data = event { break } }
                }
                let isFree = try await eventually { try origin.concurrency().now == 0 }
                #expect(isFree)
            }
        }
    }

    @Test("letting go of another handle lets the fetch go on", .timeLimit(.minutes(2)))
    func dropFile() async throws {
        let bed = try Bed.current
        let name = "let-go"
        _ = bed.coordinator.start(Request(bed.url("/bytes/200000?rate=2000000")), into: .file(bed.directory.file(name)))
        let isThere = await eventually { bed.directory.content(name)?.count == 200_000 }
        let log = try bed.origin.log(prefix: "/bytes/200000?rate=2000000")
        #expect(isThere, "asked for \(log.count) times")
    }
}
