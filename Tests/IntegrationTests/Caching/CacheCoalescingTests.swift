import Testing
import Trawl

/// POOL-07.
@Suite("Identical fetches at once, POOL-07", .timeLimit(.minutes(5)))
struct CacheCoalescingTests {
    /// Who waits for another's response does not send its own because a busy machine is slow.
    static func patient(_ configuration: inout Configuration) {
        configuration.tolerance.sharedHeadWait = .seconds(120)
    }

    @Test("one request goes out for all of them", arguments: Engine.allCases, [3, 200_000])
    func one(engine: Engine, size: Int) async throws {
        let text = String(repeating: "x", count: size)
        try await withScene(engine, workers: engine == .workers ? 8 : 0, adjust: Self.patient) {
            Self.long(text, to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let sources = try await Self.all(50, on: coordinator, Request(url)) { response in
                #expect(response.bodyText == text)
                return response.source
            }
            #expect(sources.count { $0 == .network } == 1)
            #expect(sources.count { $0 == .cache } == 49)
            #expect(scene.count == 1)
        }
    }

    @Test(
        "each sends its own when the answer is not for others, and all of them at once",
        arguments: ["no-store", "no-cache", "max-age=0", "varies"])
    func released(control: String) async throws {
        let rest = Occasion()
        try await withScene(workers: 8) { request in
            if request.number > 1 { rest.wait(atMost: .seconds(90)) }
            return page(
                "one", control == "varies" ? "max-age=3600" : control, to: request,
                control == "varies" ? [("Vary", "*")] : [])
        } _: { scene, coordinator in
            defer { rest.open() }
            try await Self.eachGoes(50, scene, coordinator, then: rest)
            #expect(scene.count == 50)
        }
    }

    /// Starts identical fetches, which are all sent before there is an answer for them.
    private static func eachGoes(
        _ count: Int, _ scene: CacheScene, _ coordinator: Coordinator, then answers: Occasion
    ) async throws {
        let fetches = (0..<count).map { _ in coordinator.start(Request(scene.origin.url("/page"))) }
        let areThere = await eventually(within: .seconds(60)) { scene.count == count }
        #expect(areThere, "\(scene.count) requests at once")
        answers.open()
        for fetch in fetches {
            let response = try await fetch.response
            #expect(response.bodyText == "one")
        }
    }

    @Test("nobody waits without end for a response that does not begin")
    func silent() async throws {
        // It answers none before it has all: without a limit to that wait they would hang.
        let all = Occasion()
        try await withScene(workers: 2, adjust: { $0.tolerance.sharedHeadWait = .milliseconds(1) }) { request in
            all.wait()
            return page("one", to: request)
        } _: { scene, coordinator in
            defer { all.open() }
            try await Self.eachGoes(10, scene, coordinator, then: all)
        }
    }

    @Test("who is under other limits of bandwidth does not wait at the pace of one that is slowed down")
    func limited() async throws {
        let text = String(repeating: "x", count: 1 << 20)
        try await withScene(workers: 2) {
            Self.long(text, to: $0)
        } _: { scene, coordinator in
            try coordinator.setBandwidthLimit(BandwidthLimit(10 << 10), ofShare: "slow")
            var request = Request(scene.origin.url("/page"))
            request.options.bandwidthShare = "slow"
            // It takes minutes.
            let slow = coordinator.start(request)
            #expect(await eventually { scene.count == 1 })
            request.options.isExemptFromBandwidthLimits = true
            let exempt = try await coordinator.send(request)
            #expect(exempt.bodyText == text && slow.state == .running)
            request = Request(scene.origin.url("/page?other"))
            request.options.bandwidthShare = "slow"
            // It leads those that wait for its page, whether it waits for bandwidth itself or not.
            let other = coordinator.start(request)
            request.options.bandwidthShare = "without a limit"
            let unlimited = try await coordinator.send(request)
            #expect(unlimited.bodyText == text && slow.state == .running)
            for fetch in [slow, other] { fetch.cancel() }
        }
    }

    @Test("fetches of groups without a limit wait for one another")
    func unlimitedGroups() async throws {
        let rest = Occasion()
        try await withScene(workers: 2, adjust: Self.patient) { request in
            if request.target == "/page" { rest.wait() }
            return page("one", to: request)
        } _: { scene, coordinator in
            defer { rest.open() }
            let fetches = [nil, "one", "other"].map { share in
                var request = Request(scene.origin.url("/page"))
                request.options.bandwidthShare = share
                return coordinator.start(request)
            }
            // What is asked for after them is answered: they wait for the first by now.
            _ = try await coordinator.send(Request(scene.origin.url("/more")))
            rest.open()
            for fetch in fetches {
                let response = try await fetch.response
                #expect(response.bodyText == "one")
            }
            #expect(scene.origin.seen("/page").count == 1)
        }
    }

    @Test("nobody waits for an answer that was not for others the last time", arguments: ["no-store", "no-cache"])
    func remembered(control: String) async throws {
        let first = Occasion()
        let rest = Occasion()
        try await withScene(workers: 2) { request in
            if request.target == "/page", request.number == 1 { first.wait() }
            if request.number > 2 { rest.wait(atMost: .seconds(90)) }
            return page("one", control, to: request)
        } _: { scene, coordinator in
            defer {
                first.open()
                rest.open()
            }
            let request = Request(scene.origin.url("/page"))
            let pair = (0..<2).map { _ in coordinator.start(request) }
            // What is asked for after both is answered: the second waits for the first by now.
            _ = try await coordinator.send(Request(scene.origin.url("/other")))
            first.open()
            for fetch in pair { _ = try await fetch.response }
            let fetches = (0..<5).map { _ in coordinator.start(request) }
            let areThere = await eventually(within: .seconds(60)) { scene.origin.seen("/page").count == 7 }
            #expect(areThere, "\(scene.count) requests")
            rest.open()
            for fetch in fetches { _ = try await fetch.response }
        }
    }

    @Test("nobody waits for the body of a response whose head says that it is for one", arguments: Engine.allCases)
    func head(engine: Engine) async throws {
        let (first, last) = (Occasion(), Occasion())
        try await withScene(engine, adjust: Self.patient) { request in
            if request.number == 1 { first.wait() }
            var answer = page("begins ", "no-store", to: request)
            answer.rest = (Array("and ends".utf8), last)
            return answer
        } _: { scene, coordinator in
            try await expectOwnRequests(scene, coordinator, head: first, end: last) { response in
                #expect(response.bodyText == "begins and ends")
            }
        }
    }

    /// Fetches that wait for a first one send their own requests as soon as its head is there.
    ///
    /// - Parameters:
    ///   - head: What the head of the first response waits for.
    ///   - end: What the ends of all wait for.
    private func expectOwnRequests(
        _ scene: CacheScene, _ coordinator: Coordinator, head: Occasion, end: Occasion, _ check: (Response) -> Void
    ) async throws {
        defer {
            head.open()
            end.open()
        }
        let request = Request(scene.origin.url("/page"))
        let fetches = (0..<5).map { _ in coordinator.start(request) }
        #expect(await eventually { scene.count == 1 })
        head.open()
        // The first is not over: its end is still to come.
        #expect(await eventually { scene.count == 5 }, "\(scene.count) requests")
        end.open()
        for fetch in fetches { check(try await fetch.response) }
    }

    @Test(
        "nor for one that nobody else could use: neither fresh nor to be validated, or too long to be stored",
        arguments: [(nil, 9), ("no-cache", 9), ("max-age=0", 9), ("max-age=3600", 600_000)] as [(String?, Int)])
    func useless(control: String?, length: Int) async throws {
        let (first, last) = (Occasion(), Occasion())
        let rest = [UInt8](repeating: UInt8(ascii: "x"), count: length)
        // A body may take an eighth of it.
        try await withScene(adjust: {
            Self.patient(&$0)
            $0.cache.byteBudget = 4 << 20
        }) { request in
            if request.number == 1 { first.wait() }
            var answer = ScriptedOrigin.Answer(200, "begins ", control.map { [("Cache-Control", $0)] } ?? [])
            answer.rest = (rest, last)
            return answer
        } _: { scene, coordinator in
            try await expectOwnRequests(scene, coordinator, head: first, end: last) { response in
                #expect(response.bodyText.utf8.count == 7 + length)
            }
        }
    }

    @Test("a stream nobody reads holds nobody up", arguments: Engine.allCases)
    func unread(engine: Engine) async throws {
        let text = String(repeating: "x", count: 2_000_000)
        try await withScene(engine) {
            Self.long(text, to: $0)
        } _: { scene, coordinator in
            let request = Request(scene.origin.url("/page"))
            let stream = coordinator.start(request, into: .stream)
            #expect(await eventually { scene.count == 1 })
            // The stream rests when its window is full, and nobody reads.
            let response = try await coordinator.send(request)
            #expect(response.bodyText == text)
            #expect(scene.count == 2)
            stream.cancel()
        }
    }

    @Test("what is too long for memory goes into a file all the same", arguments: Engine.allCases)
    func sinks(engine: Engine) async throws {
        let held = Occasion()
        let text = String(repeating: "x", count: 100_000)
        try await withScene(engine, adjust: Self.patient) { request in
            if request.target == "/page", request.number == 1 { held.wait() }
            return Self.long(text, to: request)
        } _: { scene, coordinator in
            defer { held.open() }
            var request = Request(scene.origin.url("/page"))
            request.options.sizeLimits.memoryBytes = 1000
            request.options.caching.storesDownloads = true
            let leader = coordinator.start(request)
            #expect(await eventually { scene.count == 1 })
            let place = scene.directory.file("out/page")
            let follower = coordinator.start(request, into: .file(place))
            var other = Request(scene.origin.url("/other"))
            other.options.sizeLimits.bodyBytes = 1_000_000
            _ = try await coordinator.send(other)
            held.open()
            await failure(.tooLarge) { try await leader.response }
            _ = try await follower.response
            #expect(scene.directory.content("out/page")?.count == text.utf8.count)
        }
    }

    @Test("redirects are followed by all, with one request for each step")
    func redirects() async throws {
        try await withScene(workers: 8, adjust: Self.patient) { request in
            request.target == "/from"
                ? ScriptedOrigin.Answer(301, "", [("Location", "/to"), ("Cache-Control", "max-age=3600")])
                : page("there", to: request)
        } _: { scene, coordinator in
            let texts = try await Self.all(30, on: coordinator, Request(scene.origin.url("/from"))) {
                #expect($0.redirects.count == 1)
                return $0.bodyText
            }
            #expect(texts == Array(repeating: "there", count: 30))
            #expect(scene.targets == ["/from", "/to"])
        }
    }

    @Test("requests that differ in what answers depend on do not wait for one another")
    func different() async throws {
        let held = Occasion()
        try await withScene(workers: 2, adjust: Self.patient) { request in
            held.wait(atMost: .seconds(90))
            return page("one", to: request)
        } _: { scene, coordinator in
            defer { held.open() }
            let url = scene.origin.url("/page")
            var requests = [Request(url), Request(url, fields: ["Accept-Language": "de"])]
            requests += [Request(url, fields: ["Authorization": "a"]), Request(url, fields: ["Range": "bytes=0-1"])]
            requests += [Request(.head, url), Request(.post, url, body: .text("x")), Request(url + "?q")]
            requests += [Request(url, options: .with(.doNotRead)), Request(url, options: .with(.doNotWrite))]
            let fetches = requests.map { coordinator.start($0) }
            #expect(await eventually(within: .seconds(60)) { scene.count == requests.count }, "\(scene.count)")
            held.open()
            for fetch in fetches { _ = try await fetch.response }
        }
    }

    @Test(
        "requests that answers tell apart are one for each group of the same",
        arguments: [("Accept-Language", 2), ("Authorization", 2), ("X-A", 5)])
    func groups(name: String, count: Int) async throws {
        let held = Occasion()
        try await withScene(workers: 2, adjust: Self.patient) { request in
            if request.target == "/page", request.number == 1 { held.wait() }
            return page(request.fields[name.lowercased()] ?? "none", to: request, [("Vary", name)])
        } _: { scene, coordinator in
            defer { held.open() }
            let url = scene.origin.url("/page")
            let fetches = (0..<10 * count).map { number in
                coordinator.start(Request(url, fields: [name: "value-\(number % count)"]))
            }
            // Whatever is asked for after them is answered after they came.
            _ = try await coordinator.send(Request(scene.origin.url("/other")))
            held.open()
            for (number, fetch) in fetches.enumerated() {
                let response = try await fetch.response
                #expect(response.bodyText == "value-\(number % count)")
            }
            #expect(scene.origin.seen("/page").count == count)
        }
    }

    private static func long(_ text: String, to _: ScriptedOrigin.Seen) -> ScriptedOrigin.Answer {
        ScriptedOrigin.Answer(200, text, [("Cache-Control", "max-age=3600")])
    }

    private static func all<Value: Sendable>(
        _ count: Int, on coordinator: Coordinator, _ request: Request, _ use: @escaping @Sendable (Response) -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: Value.self) { group in
            for _ in 0..<count { group.addTask { try await use(coordinator.send(request)) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
