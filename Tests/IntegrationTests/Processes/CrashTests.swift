import Foundation
import Glibc
import Testing
import Trawl

@Suite("Workers that die, POOL-03", .timeLimit(.minutes(5)))
struct CrashTests {
    @Test("the hop that two workers crash on fails, and those that were beside it succeed")
    func poison() async throws {
        // The first generation holds everything until the bad hop comes, so all are in flight at the first crash.
        try await withFaultyWorkers(["--on", "/bad", "--hold", "crash", "11"]) { coordinator in
            let good = (0..<20).map { fakeRequest("/good/\($0)") }
            let fetches = good.map { coordinator.start($0) }
            let bad = await follow(coordinator, fakeRequest("/bad"))
            #expect(bad.code == .workerLost && bad.attempts == 2 && bad.ends == 1)
            #expect(bad.response == nil)
            for (fetch, request) in zip(fetches, good) {
                let course = await follow(fetch)
                expectAnswered(course, request)
                #expect(course.attempts == 2)
            }
        }
    }

    @Test("a suspect has its turn, however many hits keep its only worker busy")
    func suspectBesideHits() async throws {
        // Longer than what the coordinator answers with by itself.
        let long = String(repeating: "x", count: 40_000)
        try await withScene(answering: { _ in .init(200, long, [("Cache-Control", "max-age=60")]) }) { scene in
            let url = scene.origin.url("/page")
            try await scene.withCoordinator { _ = try await $0.get(url) }
            let executable = try BuiltProducts.faultyWorker()
            try await scene.withCoordinator(workers: 1) { configuration in
                configuration.workerExecutable = executable
                configuration.workerArguments = ["--on", "/bad", "--generations", "1", "crash", "11"]
            } _: { coordinator in
                var request = Request(url)
                request.cachePolicy = .doNotLoad
                let hit = request
                let isOver = Locked(false)
                await withTaskGroup { group in
                    for _ in 0..<8 {
                        group.addTask {
                            repeat {
                                expectAnswered(await follow(coordinator, hit), hit)
                            } while !isOver.withLock { $0 }
                        }
                    }
                    let bad = fakeRequest("/bad")
                    let course = await follow(coordinator, bad)
                    isOver.withLock { $0 = true }
                    expectAnswered(course, bad)
                    #expect(course.attempts == 2)
                }
            }
        }
    }

    @Test("a request that must not be repeated fails once it was sent", arguments: [Request.Method.post, .patch])
    func notRepeatable(method: Request.Method) async throws {
        try await withFaultyWorkers(["--generations", "1", "--sent", "crash", "11"]) { coordinator in
            let course = await follow(coordinator, fakeRequest("/", method: method))
            #expect(course.code == .workerLost && course.attempts == 1 && course.ends == 1)
            if case .failure(let error) = course.result {
                #expect(!error.isRetryable && error.detail.contains("\(method.name) must not be repeated"))
            }
        }
    }

    @Test("a request that must not be repeated is repeated when nothing of it was sent")
    func notSent() async throws {
        try await withFaultyWorkers(["--generations", "1", "crash", "11"]) { coordinator in
            let request = fakeRequest("/", method: .post)
            let course = await follow(coordinator, request)
            expectAnswered(course, request)
            #expect(course.attempts == 2)
        }
    }

    @Test("an idempotent request is repeated although it was sent", arguments: [Request.Method.get, .put, .delete])
    func idempotent(method: Request.Method) async throws {
        try await withFaultyWorkers(["--generations", "1", "--sent", "crash", "11"]) { coordinator in
            let request = fakeRequest("/", method: method)
            let course = await follow(coordinator, request)
            expectAnswered(course, request)
            #expect(course.attempts == 2)
        }
    }

    @Test("a kill from outside is no reason to suspect the hop")
    func killedFromOutside() async throws {
        // Three generations are killed at the same hop.
        try await withFaultyWorkers(["--generations", "3", "crash", "9"]) { coordinator in
            let request = fakeRequest("/")
            let course = await follow(coordinator, request)
            expectAnswered(course, request)
            #expect(course.attempts == 4)
        }
    }

    @Test("nor is it that a worker had no descriptor for what it was sent")
    func shortOfDescriptors() async throws {
        try await withFaultyWorkers(["--generations", "3", "exit", "71"]) { coordinator in
            let request = fakeRequest("/")
            let course = await follow(coordinator, request)
            expectAnswered(course, request)
            #expect(course.attempts == 4)
        }
    }

    @Test("what a worker said before its end counts")
    func lastWords() async throws {
        // It answers the first lease and crashes at the second, so the answer and the end may be seen together.
        try await withFaultyWorkers(["--on", "/second", "--sent", "crash", "11"]) { coordinator in
            for round in 0..<20 {
                let first = fakeRequest("/\(round)/first", method: .post)
                let fetches = [coordinator.start(first), coordinator.start(fakeRequest("/second"))]
                let course = await follow(fetches[0])
                expectAnswered(course, first)
                #expect(course.attempts == 1)
                #expect(await follow(fetches[1]).code == .workerLost)
            }
        }
    }

    @Test("a worker that never ends a lease keeps its fetch no longer than the fetch's own limit")
    func never() async throws {
        try await withFaultyWorkers(["never", "--on", "/bad"]) { coordinator in
            let good = fakeRequest("/good")
            // The worker's start does not count against the limit.
            expectAnswered(await follow(coordinator, good), good)
            let bad = coordinator.start(fakeRequest("/bad", seconds: 2))
            expectAnswered(await follow(coordinator, good), good)
            let course = await follow(bad)
            #expect(course.code == .timeout && course.ends == 1 && course.attempts == 1)
            expectAnswered(await follow(coordinator, good), good)
        }
    }

    @Test("a worker that does not end a cancelled lease is ended, and its other fetches are done again")
    func ignoresCancel() async throws {
        try await withFaultyWorkers(["never", "--on", "/bad", "--generations", "1", "--hold"]) { configuration in
            configuration.tolerance.cancelGrace = .milliseconds(300)
        } _: { coordinator in
            let held = fakeRequest("/good")
            let fetch = coordinator.start(held)
            let bad = coordinator.start(fakeRequest("/bad"))
            let other = coordinator.start(fakeRequest("/other"))
            for await event in bad.events {
                if case .attempt = event { bad.cancel() }
            }
            await failure(.cancelled) { try await bad.response }
            // This one is ended when it is cancelled, so it is not what the worker is ended for.
            other.cancel()
            let course = await follow(fetch)
            expectAnswered(course, held)
            #expect(course.attempts == 2 && course.worker == "0.2")
        }
    }

    @Test("a worker that waits for a file is not ended for a cancel that it cannot read meanwhile")
    func cancelDuringFileCall() async throws {
        // Longer than the grace, which is longer than a busy machine lets the worker be silent.
        try await withFaultyWorkers(["file-call", "3500", "--on", "/slow", "--hold"]) { configuration in
            configuration.tolerance.cancelGrace = .seconds(2)
        } _: { coordinator in
            let other = coordinator.start(fakeRequest("/other"))
            let slow = coordinator.start(fakeRequest("/slow"))
            var attempts = 0
            for await event in slow.events {
                guard case .attempt = event else { continue }
                attempts += 1
                other.cancel()
            }
            let response = try await slow.response
            #expect(attempts == 1 && response.fields["X-Worker"] == "0.1")
            await failure(.cancelled) { try await other.response }
        }
    }

    @Test("a worker whose heartbeat stops is ended, and its fetches are done again")
    func frozen() async throws {
        try await withFaultyWorkers(["freeze", "--generations", "1"]) { configuration in
            // The next worker has to answer within it, too.
            configuration.tolerance.heartbeatDeadline = .seconds(4)
        } _: { coordinator in
            let request = fakeRequest("/")
            let course = await follow(coordinator, request)
            expectAnswered(course, request)
            #expect(course.worker == "0.2" && course.attempts == 2)
        }
    }

    @Test("a worker that reads nothing any more keeps the leases that it has, and all others go on without it")
    func readsNothing() async throws {
        let most = 4
        try await withFaultyWorkers(["freeze", "--on", "/stuck", "--generations", "1"], workers: 2) { configuration in
            configuration.transfersPerWorker = most
            // It is ended here when all is seen.
            configuration.tolerance.heartbeatDeadline = .seconds(200)
        } _: { coordinator in
            let first = coordinator.start(fakeRequest("/stuck"))
            for await event in first.events { if case .attempt = event { break } }
            let ended = Locked(0)
            let requests = (0..<50).map { number in
                var request = fakeRequest("/\(number)")
                // Few of them are more than a socket takes, so that there are some that wait in the coordinator.
                request.fields.set("X-Long", String(repeating: "x", count: 100_000))
                return request
            }
            let courses = requests.map { request in
                let fetch = coordinator.start(request)
                return Task {
                    let course = await follow(fetch)
                    ended.withLock { $0 += 1 }
                    return course
                }
            }
            let isBounded = await eventually {
                guard let status = await coordinator.status() else { return false }
                return status.waiting == 0 && (1...most).contains(status.inFlight)
                    && ended.withLock { $0 } == requests.count + 1 - status.inFlight
            }
            let held = requests.count + 1 - ended.withLock { $0 }
            #expect(isBounded, "\(held) fetches have not ended")
            let report = try #require(await coordinator.status()?.json)
            let worker = try #require(statusWorkers(report).first { $0.transfers > 0 })
            #expect(worker.transfers == held)
            // The other one would stop at it as well.
            first.cancel()
            #expect(kill(worker.pid, SIGKILL) == 0)
            for (request, course) in zip(requests, courses) { expectAnswered(await course.value, request) }
            await failure(.cancelled) { try await first.response }
        }
    }

    /// The workers in a status, as a program outside reads it.
    private func statusWorkers(_ json: [UInt8]) throws -> [(pid: Int32, transfers: Int)] {
        let report = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]
        let workers = report?["workers"] as? [[String: Any]] ?? []
        return workers.compactMap { worker in
            guard let pid = worker["pid"] as? Int, let transfers = worker["transfers"] as? Int else { return nil }
            return (Int32(pid), transfers)
        }
    }

    @Test("a worker that is still starting at shutdown gets SIGTERM, and time to leave")
    func startingAtShutdown() async throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let (started, asked) = (directory.file("started"), directory.file("asked"))
        // The trap does not wait for the end of what runs, as it would in the foreground.
        let script = "trap 'echo > \(asked); kill $!; exit 0' TERM; sleep 60 & echo > \(started); wait"
        try await withTestCoordinator(workers: 1) { configuration in
            configuration.workerExecutable = "/bin/sh"
            configuration.workerArguments = ["-c", script]
            configuration.tolerance.startDeadline = .seconds(60)
        } _: { coordinator in
            let fetch = coordinator.start(fakeRequest("/"))
            let hasStarted = await eventually { access(started, F_OK) == 0 }
            #expect(hasStarted)
            await coordinator.shutdown()
            #expect(access(asked, F_OK) == 0)
            #expect(await follow(fetch).code == .shutDown)
        }
    }

    @Test("a worker that ignores the end of its socket and SIGTERM is killed at shutdown")
    func stubborn() async throws {
        let clock = ContinuousClock()
        var start = clock.now
        try await withFaultyWorkers(["stay", "--lifetime", "120"], workers: 3) { coordinator in
            let request = fakeRequest("/")
            expectAnswered(await follow(coordinator, request), request)
            start = clock.now
        }
        // A second for the end of the socket, one for SIGTERM.
        #expect(start.duration(to: clock.now) > .milliseconds(1900))
        // Unless it is killed, it lives longer.
        #expect(start.duration(to: clock.now) < .seconds(60))
    }
}
