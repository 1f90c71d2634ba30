import Foundation
import Glibc
import Testing
import Trawl

@Suite("Identical fetches at once of which one fails, POOL-07", .timeLimit(.minutes(5)))
struct CacheCoalescingFailureTests {
    @Test("one takes the place of the first when that is cancelled")
    func cancelled() async throws {
        let (first, second) = (Occasion(), Occasion())
        try await withScene(workers: 8, adjust: CacheCoalescingTests.patient) { request in
            if request.number == 1 { first.wait() }
            if request.number == 2 { second.wait() }
            return page("one", to: request)
        } _: { scene, coordinator in
            defer {
                first.open()
                second.open()
            }
            let request = Request(scene.origin.url("/page"))
            let leader = coordinator.start(request)
            #expect(await eventually { scene.count == 1 })
            let followers = (0..<20).map { _ in coordinator.start(request) }
            leader.cancel()
            await failure(.cancelled) { try await leader.response }
            #expect(await eventually { scene.count == 2 })
            followers[7].cancel()
            await failure(.cancelled) { try await followers[7].response }
            second.open()
            for (index, fetch) in followers.enumerated() where index != 7 {
                let response = try await fetch.response
                #expect(response.bodyText == "one")
                #expect(await allEvents(of: fetch).map(word).count { $0 == "ended" } == 1)
            }
            #expect(
                scene.count == 2 || scene.count == 3, "one of them, or the one after it when that was cancelled too")
        }
    }

    // With each begun anew at the end of each before it, this takes many minutes.
    @Test("very many that wait for their turn can be cancelled one after the other")
    func manyCancelled() async throws {
        let rest = Occasion()
        try await withScene(adjust: { $0.connectionsPerHost = 1 }) { request in
            if request.target == "/busy" { rest.wait(atMost: .seconds(240)) }
            return page("one", to: request)
        } _: { scene, coordinator in
            defer { rest.open() }
            var lasting = Request(scene.origin.url("/busy"))
            lasting.options.timeLimits.inactivity = .seconds(300)
            let busy = coordinator.start(lasting)
            #expect(await eventually { scene.count == 1 })
            let request = Request(scene.origin.url("/page"))
            let fetches = (0..<20_000).map { _ in coordinator.start(request) }
            let last = coordinator.start(request)
            for fetch in fetches { fetch.cancel() }
            for fetch in fetches { await failure(.cancelled) { try await fetch.response } }
            #expect(scene.count == 1)
            rest.open()
            #expect(try await last.response.bodyText == "one")
            _ = try await busy.response
            #expect(scene.targets == ["/busy", "/page"])
        }
    }

    @Test("one goes out again when the worker of the first is killed")
    func killed() async {
        await #expect(processExitsWith: .success) {
            let held = Occasion()
            try await withScene(workers: 4, adjust: CacheCoalescingTests.patient) { request in
                if request.number == 1 { held.wait() }
                return page("one", to: request)
            } _: { scene, coordinator in
                let fetches = (0..<50).map { _ in coordinator.start(Request(scene.origin.url("/page"))) }
                expectInChild(await eventually { scene.count == 1 }, "no request")
                // All at once: none sends what another one has left behind.
                let workers = ProcessTree.children()
                for signal in [SIGSTOP, SIGKILL] { for worker in workers { kill(worker, signal) } }
                for fetch in fetches {
                    let text = try await fetch.response.bodyText
                    expectInChild(text == "one", text)
                    let ends = await allEvents(of: fetch).map(word).count { $0 == "ended" }
                    expectInChild(ends == 1, "\(ends) ends")
                }
                expectInChild(scene.count == 2, "\(scene.count) requests")
                held.open()
            }
        }
    }

    @Test("what only concerns the first does not make the others fail")
    func ownFailures() async throws {
        let held = [Occasion(), Occasion()]
        try await withScene(workers: 2) { request in
            if request.number == 1 { held[request.target == "/page0" ? 0 : 1].wait() }
            return page("one", to: request)
        } _: { scene, coordinator in
            defer { for occasion in held { occasion.open() } }
            let adjustments: [(inout RequestOptions) -> Void] = [
                { $0.sizeLimits.bodyBytes = 1 }, { $0.timeLimits.resource = .seconds(2) },
            ]
            for (index, adjust) in adjustments.enumerated() {
                let url = scene.origin.url("/page\(index)")
                var request = Request(url)
                adjust(&request.options)
                let leader = coordinator.start(request)
                #expect(await eventually { scene.count > index })
                let followers = (0..<5).map { _ in coordinator.start(Request(url)) }
                if index == 0 { held[0].open() }
                await failure { try await leader.response }
                for fetch in followers {
                    let response = try await fetch.response
                    #expect(response.bodyText == "one")
                }
            }
        }
    }

    @Test("all fail when the server fails the first, and nobody asks again and again")
    func sharedFailure() async throws {
        let held = Occasion()
        try await withScene(workers: 2, adjust: CacheCoalescingTests.patient) { request in
            if request.number == 1 { held.wait() }
            return .nothing
        } _: { scene, coordinator in
            let fetches = (0..<20).map { _ in coordinator.start(Request(scene.origin.url("/page"))) }
            #expect(await eventually { scene.count == 1 })
            held.open()
            for fetch in fetches { await failure { try await fetch.response } }
            #expect(scene.count < 20)
        }
    }

    @Test("waiting in vain for an identical fetch is no part of an exchange")
    func vainWait() async throws {
        // With more time where the machine alone took so much.
        for seconds in [2.0, 10, 40] where try await areAnswered(within: .seconds(seconds), answers: seconds * 0.6) {
            return
        }
        Issue.record("those who waited had no time of their own")
    }

    /// Whether identical fetches have their answers, which are for nobody else, each so long after its request.
    private func areAnswered(within limit: Duration, answers delay: Double) async throws -> Bool {
        var answers = 0
        try await withScene { request in
            Thread.sleep(forTimeInterval: delay)
            return page("one", "no-store", to: request)
        } _: { scene, coordinator in
            var request = Request(scene.origin.url("/page"))
            request.options.timeLimits.exchange = limit
            let fetches = (0..<3).map { [request] _ in coordinator.start(request) }
            for fetch in fetches where (try? await fetch.response) != nil { answers += 1 }
        }
        return answers == 3
    }

    @Test("who waited for as long as an exchange may take fails with the first, and nobody asks again and again")
    func sharedTimeout() async throws {
        let held = Occasion()
        try await withScene(adjust: CacheCoalescingTests.patient) { request in
            held.wait()
            return page("one", to: request)
        } _: { scene, coordinator in
            defer { held.open() }
            var request = Request(scene.origin.url("/page"))
            request.options.timeLimits.exchange = .seconds(1)
            let fetches = (0..<50).map { [request] _ in coordinator.start(request) }
            for fetch in fetches { await failure(.timeout) { try await fetch.response } }
            // Whoever came when the first was under way has some time left.
            #expect(scene.count <= 2)
        }
    }

    @Test("who waits for one that fails makes its own further attempts", arguments: Engine.allCases)
    func ownAttempts(engine: Engine) async throws {
        let held = Occasion()
        try await withScene(engine, adjust: CacheCoalescingTests.patient) { request in
            guard request.target == "/page", request.number < 3 else { return page("one", to: request) }
            if request.number == 1 { held.wait() }
            return .raw("HTTP/1.1 200 OK\r\nno colon in this line\r\n\r\n")
        } _: { scene, coordinator in
            defer { held.open() }
            var request = Request(scene.origin.url("/page"))
            let leader = coordinator.start(request)
            #expect(await eventually { scene.count == 1 })
            let other = coordinator.start(request)
            request.options.retry = RequestOptions.Retry(2)
            request.options.retry.delay = .zero
            let inVain = coordinator.start(request)
            request.options.retry.retriesAllErrors = true
            let follower = coordinator.start(request)
            // Whatever is asked for after them is answered after they came.
            _ = try await coordinator.send(Request(scene.origin.url("/other")))
            held.open()
            for fetch in [leader, other, inVain] { await failure(.protocolViolation) { try await fetch.response } }
            let response = try await follower.response
            #expect(response.bodyText == "one")
            let events = await allEvents(of: follower).map(word)
            #expect(events.filter { $0.hasPrefix("retrying") } == ["retrying 1", "retrying 2"])
            #expect(scene.origin.seen("/page").count == 3)
        }
    }

    @Test("one broken connection breaks one fetch", arguments: Engine.allCases)
    func brokenOnce(engine: Engine) async throws {
        let held = Occasion()
        try await withScene(engine, adjust: CacheCoalescingTests.patient) { request in
            guard request.target == "/page", request.number == 1 else { return page("one", to: request) }
            held.wait()
            var answer = page("one", to: request)
            answer.announced = 1000
            return answer
        } _: { scene, coordinator in
            defer { held.open() }
            let leader = coordinator.start(Request(scene.origin.url("/page")))
            #expect(await eventually { scene.count == 1 })
            let followers = (0..<10).map { _ in coordinator.start(Request(scene.origin.url("/page"))) }
            // Whatever is asked for after them is answered after they came.
            _ = try await coordinator.send(Request(scene.origin.url("/other")))
            held.open()
            await failure(.truncated) { try await leader.response }
            for fetch in followers {
                let response = try await fetch.response
                #expect(response.bodyText == "one")
            }
            #expect(scene.origin.seen("/page").count == 2)
        }
    }
}
