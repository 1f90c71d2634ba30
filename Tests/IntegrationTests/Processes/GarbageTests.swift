import Foundation
import Testing
import Trawl

/// A program that accepts every certificate.
private struct TrustingAll: FetchDecisions {
    func trust(_ server: ServerTrust) async -> TrustChoice { .accept }
}

@Suite("Workers that break the protocol", .timeLimit(.minutes(5)))
struct GarbageTests {
    /// Each ends its worker, and the lease it happens at is not answered.
    static let lethal: [[String]] = [
        ["crash", "11"], ["exit", "0"], ["exit", "1"], ["half-frame", "0"], ["half-frame", "1"], ["garbage-then-exit"],
        ["garbage"], ["random-frame"], ["mutated-frame"], ["stray-descriptors"], ["two-heads"],
        ["data-without-credit"], ["stream-length"], ["no-head"], ["memory-unsealed"], ["memory-size"], ["memory-huge"],
        ["memory-on-disk"], ["memory-pipe"], ["memory-missing"], ["memory-surplus"], ["uninvited-file"],
        ["uninvited-descriptor"], ["close-socket"], ["interim-flood"], ["interim-bulk"], ["foreign-leases", "5000"],
        ["endless"], ["discarded-length"], ["two-forwards"], ["late-forwards"], ["given-up"], ["unwanted-closed"],
        ["unmetered-wish"], ["connections-flood", "5000"], ["undecided-certificate"],
    ]

    @Test("the worker is ended, its fetches are done again, and nobody else notices", arguments: lethal)
    func once(fault: [String]) async throws {
        try await withFaultyWorkers(["--generations", "1", "--on", "/bad"] + fault) { coordinator in
            let good = (0..<30).map { fakeRequest("/good/\($0)") }
            let bad = fakeRequest("/bad")
            let fetches = good.map { coordinator.start($0) }
            let course = await follow(coordinator, bad)
            expectAnswered(course, bad)
            #expect(course.attempts == 2 && course.worker == "0.2")
            for (fetch, request) in zip(fetches, good) { expectAnswered(await follow(fetch), request) }
            let later = fakeRequest("/later")
            expectAnswered(await follow(coordinator, later), later)
        }
    }

    @Test("a fetch at which two workers break fails alone", arguments: lethal)
    func always(fault: [String]) async throws {
        try await withFaultyWorkers(["--on", "/bad"] + fault, workers: 2) { coordinator in
            let good = (0..<30).map { fakeRequest("/good/\($0)") }
            let fetches = good.map { coordinator.start($0) }
            let course = await follow(coordinator, fakeRequest("/bad"))
            #expect(course.code == .workerLost, "\(String(describing: course.result))")
            #expect(course.ends == 1 && course.attempts == 2, "\(course.attempts) attempts")
            for (fetch, request) in zip(fetches, good) { expectAnswered(await follow(fetch), request) }
            let later = fakeRequest("/later")
            expectAnswered(await follow(coordinator, later), later)
        }
    }

    @Test("a worker that stops at a certificate that was decided about fails the fetch")
    func decidedCertificate() async throws {
        let decisions = TrustingAll()
        try await withFaultyWorkers(["--on", "/bad", "undecided-certificate"]) { configuration in
            configuration.decisions = decisions
        } _: { coordinator in
            var request = fakeRequest("/bad")
            request.url = "https://fake.invalid/bad"
            request.options.tls.question = .always
            let course = await follow(coordinator, request)
            #expect(course.code == .tlsUntrusted && course.attempts == 2)
        }
    }

    @Test("data beyond the credits of a stream ends the worker and fails the stream")
    func streamBeyondCredit() async throws {
        try await withFaultyWorkers(["--generations", "1", "--on", "/bad", "data-without-credit"]) { coordinator in
            let fetch = coordinator.start(fakeRequest("/bad"), into: .stream)
            // Not read yet, so no credits are given back. What came cannot be taken back, so it cannot start again.
            await failure(.workerLost) { try await fetch.response }
            let course = await follow(fetch)
            #expect(course.ends == 1 && course.code == .workerLost && course.attempts == 1)
            #expect(course.data.count == 256 << 10)
        }
    }

    @Test("a few frames about leases of others are ignored", arguments: [["foreign-leases", "5"], ["other-workers"]])
    func foreign(fault: [String]) async throws {
        try await withFaultyWorkers(fault, workers: 2) { coordinator in
            let requests = (0..<40).map { fakeRequest("/\($0)") }
            for (course, request) in zip(await followAll(coordinator, requests), requests) {
                expectAnswered(course, request)
                #expect(course.attempts == 1 && course.worker?.hasSuffix(".1") == true)
            }
        }
    }

    @Test("the second end of a lease is ignored")
    func twoEnds() async throws {
        try await withFaultyWorkers(["two-ends"]) { coordinator in
            for number in 0..<100 {
                let request = fakeRequest("/\(number)")
                let course = await follow(coordinator, request)
                expectAnswered(course, request)
                #expect(course.attempts == 1 && course.worker == "0.1")
            }
        }
    }

    @Test("a second greeting ends the worker")
    func twoGreetings() async throws {
        try await withFaultyWorkers(["two-greetings", "--generations", "1"]) { coordinator in
            let request = fakeRequest("/")
            let course = await follow(coordinator, request)
            expectAnswered(course, request)
            #expect(course.worker == "0.2")
        }
    }

    @Test("a worker that never stops talking, of leases nobody knows, is ended, and nobody else waits for it")
    func endless() async throws {
        try await withFaultyWorkers(["endless", "--on", "/bad"], workers: 2) { coordinator in
            let bad = (0..<4).map { coordinator.start(fakeRequest("/bad/\($0)")) }
            for number in 0..<20 {
                let request = fakeRequest("/good/\(number)")
                expectAnswered(await follow(coordinator, request), request)
            }
            for fetch in bad { #expect(await follow(fetch).code == .workerLost) }
        }
    }

    @Test("how many frames about leases of others are borne can be set, and proper ends make up for them")
    func tolerance() async throws {
        let requests = (0..<50).map { fakeRequest("/\($0)") }
        try await withFaultyWorkers(["foreign-leases", "1"]) { configuration in
            configuration.tolerance.strayFrames = 1
        } _: { coordinator in
            for request in requests {
                let course = await follow(coordinator, request)
                expectAnswered(course, request)
                #expect(course.worker == "0.1")
            }
        }
        try await withFaultyWorkers(["foreign-leases", "2", "--generations", "1"]) { configuration in
            configuration.tolerance.strayFrames = 1
        } _: { coordinator in
            let course = await follow(coordinator, requests[0])
            expectAnswered(course, requests[0])
            #expect(course.worker == "0.2" && course.attempts == 2)
        }
    }

    @Test("each lease that is held makes up for two words about connections that are no news")
    func connectionNews() async throws {
        let request = fakeRequest("/")
        for (count, worker) in [("2", "0.1"), ("3", "0.2")] {
            try await withFaultyWorkers(["connections-flood", count, "--generations", "1"]) { configuration in
                configuration.tolerance.strayFrames = 0
            } _: { coordinator in
                let course = await follow(coordinator, request)
                expectAnswered(course, request)
                #expect(course.worker == worker)
            }
        }
    }

    @Test("a file that is not as long as its worker says is not published", arguments: ["4000", "3", "0"])
    func fileLength(length: String) async throws {
        let directory = try TemporaryDirectory()
        let request = fakeRequest("/bad")
        try await withFaultyWorkers(["descriptor-length", length, "--generations", "1"]) { coordinator in
            let course = await follow(coordinator, request, into: .file(directory.file("whole")))
            #expect(course.attempts == 2 && course.worker == "0.2")
        }
        #expect(directory.content("whole") == Array(request.url.utf8))
        try await withFaultyWorkers(["descriptor-length", length], workers: 2) { coordinator in
            let course = await follow(coordinator, request, into: .file(directory.file("none")))
            #expect(course.code == .workerLost)
        }
        #expect(try directory.names() == ["whole"])
    }

    @Test("a file of a name that its lease did not allow is no answer")
    func fileName() async throws {
        let directory = try TemporaryDirectory()
        let out = try directory.makeDirectory("out")
        let request = fakeRequest("/bad")
        try await withFaultyWorkers(
            ["uninvited-name", "--generations", "1"], outputDirectories: [out]
        ) { coordinator in
            let course = await follow(coordinator, request, into: .file(out + "/whole"))
            #expect(course.attempts == 2 && course.worker == "0.2" && course.response?.file == out + "/whole")
        }
        try await withFaultyWorkers(["uninvited-name"], workers: 2, outputDirectories: [out]) { coordinator in
            let course = await follow(coordinator, request, into: .file(out + "/none"))
            #expect(course.code == .workerLost)
        }
        #expect(try directory.names() == ["out", "out/whole"])
    }

    @Test(
        "a lease given up with a part that is not as long as it says ends the worker, and nothing of it is used",
        arguments: ["short-part", "immense-part"])
    func falsePart(fault: String) async throws {
        let said = Locked<[String]>([])
        try await withFaultyWorkers([fault, "--generations", "1"]) { configuration in
            configuration.debugLog = DebugLog(.status) { line in said.withLock { $0.append(line) } }
        } _: { coordinator in
            let request = fakeRequest("/bad")
            let fetch = coordinator.start(request)
            var course = Course()
            for await event in fetch.events {
                switch event {
                case .attempt:
                    course.attempts += 1
                    guard course.attempts == 1 else { continue }
                    fetch.suspend()
                    // Its worker has its order then.
                    #expect(await eventually { said.withLock { $0.contains { $0.contains("suspended") } } })
                    fetch.resume()
                case .ended(let result):
                    course.ends += 1
                    course.result = result
                default: break
                }
            }
            expectAnswered(course, request)
            #expect(course.attempts == 2 && course.worker == "0.2")
        }
    }

    @Test("anything may stand in the shared segment: it is wrong numbers, and no fetch notices")
    func sharedSegment() async throws {
        try await withFaultyWorkers(["scribble", "--on", "/bad"], workers: 2) { configuration in
            configuration.bandwidth = BandwidthLimit(1_000_000)
        } _: { coordinator in
            let good = (0..<30).map { fakeRequest("/good/\($0)") }
            let fetches = good.map { coordinator.start($0) }
            for round in 0..<20 {
                let request = fakeRequest("/bad/\(round)")
                let fetch = coordinator.start(request, into: .stream)
                let course = await follow(fetch)
                #expect(course.ends == 1 && course.attempts == 1 && course.response?.status == 200)
                #expect(String(decoding: course.data, as: UTF8.self) == request.url)
                // Whatever reads the words.
                var last: TransferProgress?
                for await progress in fetch.progress { last = progress }
                #expect(last?.isComplete == true)
                #expect(await coordinator.status() != nil)
                #expect(coordinator.averageBytesPerSecond >= 0)
                _ = coordinator.isThrottled
                coordinator.setBandwidthLimit(BandwidthLimit(round % 2 == 0 ? 0 : 1_000_000 + UInt64(round)))
            }
            for (fetch, request) in zip(fetches, good) {
                let course = await follow(fetch)
                expectAnswered(course, request)
                #expect(course.attempts == 1)
            }
        }
    }

    @Test("nor is the end of a worker that wrote there mistaken for anything else")
    func sharedSegmentAtEnd() async throws {
        try await withFaultyWorkers(["scribble", "1", "--on", "/bad", "--generations", "1"]) { configuration in
            configuration.bandwidth = BandwidthLimit(1_000_000)
        } _: { coordinator in
            let request = fakeRequest("/bad")
            let course = await follow(coordinator, request)
            expectAnswered(course, request)
            #expect(course.attempts == 2 && course.worker == "0.2")
            #expect(await coordinator.status() != nil)
        }
    }

    @Test("good workers serve every destination after a bad start")
    func destinations() async throws {
        let directory = try TemporaryDirectory()
        let out = try directory.makeDirectory("out")
        let other = try directory.makeDirectory("other")
        try await withFaultyWorkers(
            ["garbage", "--generations", "1"], workers: 1, outputDirectories: [out]
        ) { coordinator in
            let request = fakeRequest("/file")
            for path in [out + "/a", other + "/b"] {
                let response = try await coordinator.send(request, into: .file(path))
                #expect(response.file == path && response.receivedLength == UInt64(request.url.utf8.count))
            }
            let stream = await follow(coordinator, request, into: .stream)
            #expect(stream.ends == 1 && String(decoding: stream.data, as: UTF8.self) == request.url)
            let discarded = try await coordinator.send(request, into: .discard)
            #expect(discarded.receivedLength == UInt64(request.url.utf8.count))
            let large = try await coordinator.send(fakeRequest("/memory/300000"))
            #expect(large.body.bytes == [UInt8](repeating: UInt8(ascii: "m"), count: 300_000))
        }
        #expect(try directory.names() == ["other", "other/b", "out", "out/a"])
    }
}
