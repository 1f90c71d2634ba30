import Foundation
import Testing
import Trawl

/// Fetches that are tried again.
@Suite("Further attempts of the library, ASI-RTY-03", .serialized, .timeLimit(.minutes(5)))
struct RetryTests {
    /// What came of a fetch.
    private struct Course {
        var attempts = 0
        var heads: [Int] = []
        var retries: [FailedAttempt] = []
        var bytes: [UInt8] = []
        var ends: [Result<Response, FetchError>] = []
        var code: FetchError.Code? { if case .failure(let error)? = ends.first { error.code } else { nil } }
        var response: Response? { try? ends.first?.get() }
    }

    private static func follow(_ fetch: Fetch, _ retrying: () -> Void = {}) async -> Course {
        var course = Course()
        for await event in fetch.events {
            switch event {
            case .attempt(let number): course.attempts = number
            case .head(let head): course.heads.append(head.status)
            case .data(let bytes): course.bytes += bytes
            case .retrying(let attempt):
                course.retries.append(attempt)
                retrying()
            case .ended(let result): course.ends.append(result)
            default: break
            }
        }
        return course
    }

    private static func request(_ url: String, _ count: Int, _ delay: Duration = .milliseconds(20)) -> Request {
        var request = Request(url)
        request.options.retry = .init(count)
        request.options.retry.delay = delay
        return request
    }

    @Test(
        "a status that may pass is tried again, and nothing of it is delivered (ASI-EVT-01)",
        arguments: ["memory", "stream", "file", "rooted"], Engine.allCases)
    func statuses(sink: String, engine: Engine) async throws {
        let origin = try ScriptedOrigin { request in
            request.number < 3 ? .init(502, String(repeating: "no", count: 100_000)) : .init(200, "yes")
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let root = try directory.makeDirectory("root")
        try await withTestCoordinator(workers: engine.workers, outputDirectories: [root]) { coordinator in
            let destination: Destination =
                switch sink {
                case "stream": .stream
                case "file": .file(directory.file("x"))
                case "rooted": .file(root + "/x")
                default: .memory
                }
            let fetch = coordinator.start(Self.request(origin.url("/a"), 5), into: destination)
            let course = await Self.follow(fetch)
            let response = try #require(course.response, "\(course)")
            #expect(response.status == 200 && response.retryCount == 2 && course.ends.count == 1)
            #expect(course.heads == [200] && course.attempts == 3)
            #expect(course.retries.map(\.status) == [502, 502] && course.retries.map(\.number) == [1, 2])
            #expect(course.retries.allSatisfy { $0.delay == .milliseconds(20) && $0.error == nil })
            #expect(response.metrics.map(\.status) == [502, 502, 200])
            switch sink {
            case "stream": #expect(course.bytes == Array("yes".utf8))
            case "memory":
                let text = try response.text()
                #expect(text == "yes")
            default:
                let content = FileManager.default.contents(atPath: response.file ?? "").map { Array($0) }
                #expect(content == Array("yes".utf8))
            }
        }
        #expect(
            try directory.names().filter { $0.hasSuffix("x") }.count == (sink == "file" || sink == "rooted" ? 1 : 0))
        #expect(origin.seen().count == 3)
    }

    @Test("the response of the last attempt is the answer, with its body; other statuses are at once")
    func last() async throws {
        let origin = try ScriptedOrigin { .init($0.target == "/a" ? 503 : 404, "no \($0.number)") }
        defer { origin.stop() }
        try await withTestCoordinator { coordinator in
            let response = try await coordinator.send(Self.request(origin.url("/a"), 2))
            let text = try response.text()
            #expect(response.status == 503 && text == "no 3" && response.retryCount == 2)
            let other = try await coordinator.send(Self.request(origin.url("/b"), 2))
            let otherText = try other.text()
            #expect(other.status == 404 && otherText == "no 1" && other.retryCount == 0)
            var all = Self.request(origin.url("/c"), 1)
            all.options.retry.retriesAllErrors = true
            all.options.retry.failsOnErrorStatus = true
            let allText = try await coordinator.send(all).text()
            #expect(allText == "no 2")
        }
    }

    @Test("a request that must not be sent twice is not, unless the caller says that it may")
    func methods() async throws {
        let origin = try ScriptedOrigin { request in .init(request.number < 2 ? 503 : 200, "") }
        defer { origin.stop() }
        try await withTestCoordinator { coordinator in
            var post = Self.request(origin.url("/a"), 3)
            post.body = .bytes(Array("x".utf8))
            let once = try await coordinator.send(post).status
            #expect(once == 503)
            post.url = origin.url("/b")
            post.options.retry.repeatsAnyMethod = true
            let twice = try await coordinator.send(post).status
            #expect(twice == 200)
            // What was not sent may be.
            post.url = "http://127.0.0.1:1/"
            post.options.retry.repeatsAnyMethod = false
            let patient = await Self.follow(coordinator.start(post))
            #expect(patient.retries.isEmpty && patient.code == .cannotConnect)
            post.options.retry.retriesRefusedConnections = true
            let refused = await Self.follow(coordinator.start(post))
            #expect(refused.retries.count == 3 && refused.code == .cannotConnect)
            #expect(refused.retries.allSatisfy { $0.status == nil && $0.error?.code == .cannotConnect })
        }
        #expect(origin.seen("/a").count == 1 && origin.seen("/b").count == 2)
    }

    @Test("a limit of time is one of each attempt: five more of them make six requests (ASI-RTY-02)")
    func timeouts() async throws {
        try await withOrigin { origin in
            try await withTestCoordinator { coordinator in
                _ = try await coordinator.send(Request(origin.url("/bytes/1")))
                var request = Self.request(origin.url("/delay/20000"), 5)
                request.options.timeLimits.exchange = .milliseconds(1000)
                let course = await Self.follow(coordinator.start(request))
                #expect(course.code == .timeout && course.retries.count == 5, "\(course)")
                let areSix = try await eventually { try origin.log(prefix: "/delay").count == 6 }
                #expect(areSix)
                // That of the whole is shared: there is no time for all of them.
                request.url = origin.url("/delay/20001")
                request.options.timeLimits.exchange = .milliseconds(500)
                request.options.timeLimits.resource = .milliseconds(2000)
                let whole = await Self.follow(coordinator.start(request))
                #expect(whole.code == .timeout && (1...4).contains(whole.retries.count), "\(whole)")
            }
        }
    }

    /// Follows redirects, after some time.
    private struct Hesitant: FetchDecisions {
        var time = Duration.milliseconds(500)

        func redirect(_ proposal: RedirectProposal) async -> RedirectChoice {
            try? await Task.sleep(for: time)
            return .follow
        }
    }

    @Test("the limit of the whole fetch holds while it waits for its next attempt, also when time was given back to it")
    func wholeLimit() async throws {
        let origin = try ScriptedOrigin { request in
            switch request.target {
            case "/warm": .init(200)
            case "/a": .init(302, "", [("Location", "/b")])
            default: .init(503, "later", [("Retry-After", "60")])
            }
        }
        defer { origin.stop() }
        try await withTestCoordinator {
            $0.decisions = Hesitant()
        } _: { coordinator in
            _ = try await coordinator.send(Request(origin.url("/warm")))
            var request = Self.request(origin.url("/a"), 1)
            request.options.timeLimits.resource = .seconds(4)
            request.options.timeLimits.exchange = .seconds(3)
            let clock = ContinuousClock()
            let begun = clock.now
            await failure(.timeout) { try await coordinator.send(request) }
            #expect(clock.now - begun < .seconds(30) && origin.seen().map(\.target) == ["/warm", "/a", "/b"])
        }
    }

    @Test("time that is not the fetch's own does not count for the time in which attempts are made")
    func longestTime() async throws {
        let asked = Locked(0)
        let origin = try ScriptedOrigin { request in
            if request.target == "/warm" { return .init(200) }
            if request.target == "/a" { return .init(302, "", [("Location", "/b")]) }
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            return number == 1 ? .init(503, "later") : .init(200, "there")
        }
        defer { origin.stop() }
        try await withTestCoordinator {
            $0.decisions = Hesitant(time: .seconds(4))
        } _: { coordinator in
            _ = try await coordinator.send(Request(origin.url("/warm")))
            var request = Self.request(origin.url("/a"), 1)
            request.options.retry.longestTime = .seconds(3)
            let response = try await coordinator.send(request)
            #expect(response.status == 200 && response.retryCount == 1)
        }
    }

    @Test("an attempt whose host asked for more rest than the longest time leaves is not waited for")
    func restingHost() async throws {
        let origin = try ScriptedOrigin { .init($0.number < 2 ? 503 : 200, "no \($0.number)", [("Retry-After", "60")]) }
        defer { origin.stop() }
        try await withTestCoordinator { coordinator in
            var request = Self.request(origin.url("/a"), 3)
            // Its own wait would be short.
            request.options.retry.longestRetryAfter = .milliseconds(20)
            request.options.retry.longestTime = .seconds(30)
            let response = try await coordinator.send(request)
            let text = try response.text()
            #expect(response.status == 503 && text == "no 1" && response.retryCount == 0)
        }
        #expect(origin.seen().count == 1)
    }

    @Test("so is one that is made again where a redirect led, through a program's cache")
    func restingHostElsewhere() async throws {
        let busy = try ScriptedOrigin { .init($0.number < 2 ? 503 : 200, "no \($0.number)", [("Retry-After", "60")]) }
        defer { busy.stop() }
        let origin = try ScriptedOrigin { _ in .init(302, "", [("Location", busy.url("/b"))]) }
        defer { origin.stop() }
        try await withTestCoordinator {
            $0.downloadCache = MemoryCache()
        } _: { coordinator in
            var request = Self.request(origin.url("/a"), 3)
            request.options.retry.longestRetryAfter = .milliseconds(20)
            request.options.retry.longestTime = .seconds(30)
            let response = try await coordinator.send(request)
            let text = try response.text()
            #expect(response.status == 503 && text == "no 1" && response.retryCount == 0)
        }
        #expect(origin.seen().count == 1 && busy.seen().count == 1)
    }

    @Test(
        "an attempt that an open circuit keeps from its host for longer than the longest time is given up at once",
        arguments: ["status", "truncated"])
    func openCircuit(ending: String) async throws {
        let origin = try ScriptedOrigin { _ in
            var answer = ScriptedOrigin.Answer(ending == "status" ? 503 : 200, "no")
            if ending == "truncated" { answer.announced = 100 }
            return answer
        }
        defer { origin.stop() }
        try await withTestCoordinator {
            var circuit = HostPoliteness.Circuit()
            circuit.failuresInRow = 1
            circuit.firstPause = .seconds(600)
            $0.politeness.circuit = circuit
        } _: { coordinator in
            var request = Self.request(origin.url("/a"), 3)
            request.options.retry.longestTime = .seconds(60)
            let course = await Self.follow(coordinator.start(request))
            // A status decides by its head, before the circuit opens.
            let expected: FetchError.Code = ending == "status" ? .timeout : .truncated
            #expect(course.code == expected, "\(course)")
            #expect(course.retries.isEmpty && course.ends.count == 1)
        }
        #expect(origin.seen().count == 1)
    }

    @Test("an attempt that waits behind others of its host is given up when the longest time is over")
    func crowdedHost() async throws {
        // How long a first attempt takes is the machine's business: where it is too long, there is no second one.
        for seconds in [2, 8, 32] {
            if try await hasSecondAttempt(longestTime: .seconds(seconds)) { return }
        }
        Issue.record("no first attempt was over within its longest time")
    }

    /// Fetches from a host that says once that it is busy, and has no place from then on.
    ///
    /// - Returns: Whether there was to be a second attempt, which was given up then.
    private func hasSecondAttempt(longestTime: Duration) async throws -> Bool {
        let (first, last) = (Occasion(), Occasion())
        let origin = try ScriptedOrigin { request in
            let isTried = request.target == "/a"
            (isTried ? first : last).wait()
            return .init(isTried ? 503 : 200)
        }
        defer { origin.stop() }
        defer { last.open() }
        let isPutOff = try await withTestCoordinator {
            $0.connectionsPerHost = 1
        } _: { coordinator in
            var request = Self.request(origin.url("/a"), 3)
            request.options.retry.longestTime = longestTime
            let tried = coordinator.start(request)
            #expect(await eventually { origin.seen("/a").count == 1 })
            // It has the host's only place before the next attempt begins.
            let other = coordinator.start(Request(origin.url("/b")))
            first.open()
            let course = await Self.follow(tried)
            last.open()
            let status = try await other.response.status
            #expect(status == 200)
            if course.retries.isEmpty, course.response?.status == 503 { return false }
            #expect(course.code == .timeout && course.retries.map(\.status) == [503], "\(course)")
            return true
        }
        #expect(origin.seen("/a").count == 1)
        return isPutOff
    }

    @Test("a lost connection is tried again")
    func lost() async throws {
        let origin = try ScriptedOrigin { $0.number < 3 ? .nothing : .init(200, "yes") }
        defer { origin.stop() }
        try await withTestCoordinator { coordinator in
            let response = try await coordinator.send(Self.request(origin.url("/a"), 4))
            let text = try response.text()
            #expect(text == "yes" && response.retryCount >= 1)
        }
    }

    @Test("attempts begin with the first request; after a POST they go on where it failed")
    func redirects() async throws {
        let origin = try ScriptedOrigin { request in
            switch request.target {
            case "/a": .init(302, "", [("Location", "/b")])
            case "/form": .init(303, "", [("Location", "/result")])
            default: .init(request.number < 2 ? 503 : 200, "there")
            }
        }
        defer { origin.stop() }
        try await withTestCoordinator { coordinator in
            let response = try await coordinator.send(Self.request(origin.url("/a"), 1))
            let text = try response.text()
            #expect(text == "there" && response.redirects.count == 1)
            var form = Self.request(origin.url("/form"), 1)
            form.body = .bytes(Array("x".utf8))
            let formText = try await coordinator.send(form).text()
            #expect(formText == "there")
        }
        #expect(origin.seen("/a").count == 2 && origin.seen("/b").count == 2)
        #expect(origin.seen("/form").count == 1 && origin.seen("/result").count == 2)
    }

    @Test("there is an end of time, and Retry-After says how long a wait is")
    func times() async throws {
        let origin = try ScriptedOrigin { request in
            request.number < 2 ? .init(503, "", [("Retry-After", request.target == "/soon" ? "1" : "100")]) : .init(200)
        }
        defer { origin.stop() }
        try await withTestCoordinator {
            $0.politeness.respectsRetryAfter = false
        } _: { coordinator in
            let soon = await Self.follow(coordinator.start(Self.request(origin.url("/soon"), 3)))
            #expect(soon.retries.map(\.delay) == [.seconds(1)] && soon.response?.status == 200)
            var request = Self.request(origin.url("/late"), 3)
            request.options.retry.longestTime = .seconds(50)
            let late = try await coordinator.send(request).status
            #expect(late == 503)
        }
        #expect(origin.seen("/late").count == 1)
    }

    @Test("a fetch that waits for its next attempt can be cancelled, and ends with the coordinator")
    func waiting() async throws {
        let origin = try ScriptedOrigin { _ in .init(503) }
        defer { origin.stop() }
        try await withTestCoordinator { coordinator in
            let fetch = coordinator.start(Self.request(origin.url("/a"), 3, .seconds(600)))
            let course = await Self.follow(fetch) { fetch.cancel() }
            #expect(course.code == .cancelled && course.ends.count == 1)
            let other = coordinator.start(Self.request(origin.url("/b"), 3, .seconds(600)))
            async let end = Self.follow(other)
            #expect(await eventually { !origin.seen("/b").isEmpty })
            await coordinator.shutdown()
            let ended = await end
            #expect(ended.code == .shutDown)
        }
        #expect(origin.seen().count == 2)
    }

    @Test(
        "a fetch that would be tried again while its coordinator closes ends with it, as one that waits",
        arguments: ["status", "truncated"], Engine.allCases)
    func closing(ending: String, engine: Engine) async throws {
        let gate = Occasion()
        let origin = try ScriptedOrigin { _ in
            gate.wait()
            var answer = ScriptedOrigin.Answer(ending == "status" ? 503 : 200, "later")
            if ending == "truncated" { answer.announced = 100 }
            return answer
        }
        defer { origin.stop() }
        try await withTestCoordinator(workers: engine.workers) { coordinator in
            let tried = coordinator.start(Self.request(origin.url("/a"), 3))
            let last = coordinator.start(Request(origin.url("/b")))
            #expect(await eventually { origin.seen().count == 2 })
            coordinator.beginShutdown(grace: .seconds(20))
            // Behind that, so the drain has begun.
            await failure(.shutDown) { try await coordinator.send(Request(origin.url("/c"))) }
            gate.open()
            let course = await Self.follow(tried)
            #expect(course.code == .shutDown && course.ends.count == 1 && course.retries.isEmpty, "\(course)")
            // What was to be the answer in any case is.
            let other = await Self.follow(last)
            if ending == "status" { #expect(other.response?.status == 503) } else { #expect(other.code == .truncated) }
        }
        #expect(origin.seen().count == 2)
    }
}
