import Foundation
import Glibc
import Testing
import Trawl

/// Hosts that ask for rest, and hosts that fail.
@Suite("Hosts that are left alone for a while", .serialized, .timeLimit(.minutes(5)))
struct HostPauseTests {
    @Test(
        "503 and 429 with Retry-After keep everybody away from that origin, and from no other", arguments: [503, 429])
    func retryAfter(status: Int) async throws {
        try await withOrigin(addresses: 3) { origin in
            try await withTestCoordinator { coordinator in
                // The second rests for longer than all this takes.
                for (address, rest) in [(1, 2), (2, 60)] {
                    let target = "/status/\(status)?field=Retry-After:%20\(rest)"
                    let refused = try await coordinator.send(Request(origin.url(target, address: address)))
                    #expect(refused.status == status)
                }
                let kept = coordinator.start(Request(origin.url("/kept", address: 2)))
                await HostLimitTests.fetchAll(
                    (0..<10).map { origin.url("/bytes/9?\($0)", address: 1 + 2 * ($0 % 2)) }, coordinator)
                #expect(try origin.log(prefix: "/kept").isEmpty)
                kept.cancel()
            }
            let asked = try #require(try origin.log(prefix: "/status").first).ms
            let log = try origin.log(prefix: "/bytes")
            let here = log.filter { $0.host?.hasPrefix("127.0.0.1:") == true }.map(\.ms)
            let there = log.filter { $0.host?.hasPrefix("127.0.0.3:") == true }.map(\.ms)
            #expect(here.count == 5 && there.count == 5)
            #expect((here.min() ?? 0) - asked >= 2000)
        }
    }

    @Test("a Retry-After of a million years is capped, and one that is not respected is not waited for")
    func limits() async throws {
        let origin = try ScriptedOrigin { request in
            request.number == 1 ? .init(503, "no", [("Retry-After", "31536000000000")]) : .init(200, "yes")
        }
        defer { origin.stop() }
        try await withTestCoordinator {
            $0.politeness.longestRetryAfter = .milliseconds(300)
        } _: { coordinator in
            let start = ContinuousClock.now
            let first = try await coordinator.send(Request(origin.url("/a"))).status
            let second = try await coordinator.send(Request(origin.url("/a"))).status
            #expect(first == 503 && second == 200)
            #expect(ContinuousClock.now - start >= .milliseconds(300))
        }
        try await withTestCoordinator {
            $0.politeness.respectsRetryAfter = false
            $0.politeness.longestRetryAfter = .seconds(3600)
        } _: { coordinator in
            let first = try await coordinator.send(Request(origin.url("/b"))).status
            let second = try await coordinator.send(Request(origin.url("/b"))).status
            #expect(first == 503 && second == 200)
        }
    }

    @Test(
        "a redirect with Retry-After is followed when its time has come, also through a program's own cache",
        arguments: [false, true])
    func redirect(ownCache: Bool) async throws {
        let origin = try ScriptedOrigin { request in
            request.target == "/from"
                ? .init(302, "", [("Location", "/to"), ("Retry-After", "1")]) : .init(200, "there")
        }
        defer { origin.stop() }
        try await withTestCoordinator {
            if ownCache { $0.downloadCache = MemoryCache() }
        } _: { coordinator in
            let start = ContinuousClock.now
            let text = try await coordinator.send(Request(origin.url("/from"))).text()
            #expect(text == "there")
            #expect(ContinuousClock.now - start >= .seconds(1))
        }
    }

    @Test("the circuit of a host that fails opens, one probe goes out at a time, and an answer closes it")
    func circuit() async throws {
        struct State {
            var count = 0
            var active = 0
            var times: [ContinuousClock.Instant] = []
            /// The most at once among the first five.
            var most = 0
        }
        let state = Locked(State())
        let origin = try ScriptedOrigin { _ in
            let number = state.withLock { state in
                state.count += 1
                state.active += 1
                state.times.append(.now)
                if state.count <= 5 { state.most = max(state.most, state.active) }
                return state.count
            }
            // Long enough for others to come, if they could.
            if number <= 5 { usleep(50_000) }
            state.withLock { $0.active -= 1 }
            return .init(number < 5 ? 503 : 200, "answer")
        }
        defer { origin.stop() }
        try await withTestCoordinator {
            var circuit = HostPoliteness.Circuit()
            circuit.failuresInRow = 3
            circuit.firstPause = .milliseconds(400)
            $0.politeness.circuit = circuit
        } _: { coordinator in
            for number in 0..<3 { #expect(try await coordinator.send(Request(origin.url("/\(number)"))).status == 503) }
            let statuses = try await withThrowingTaskGroup(of: Int.self, returning: [Int].self) { group in
                for number in 3..<13 {
                    group.addTask { try await coordinator.send(Request(origin.url("/\(number)"))).status }
                }
                var statuses: [Int] = []
                for try await status in group { statuses.append(status) }
                return statuses
            }
            // The first probe fails, the second is answered, then come the others.
            #expect(statuses.count { $0 == 503 } == 1 && statuses.count { $0 == 200 } == 9)
        }
        let seen = state.withLock { $0 }
        #expect(seen.count == 13 && seen.most == 1)
        // Chance takes off half at most.
        #expect(seen.times[3] - seen.times[2] >= .milliseconds(200))
        #expect(seen.times[4] - seen.times[3] >= .milliseconds(400))
    }

    @Test(
        "503 with Retry-After keeps everybody away also where what is stored answers in its place",
        arguments: [false, true])
    func hiddenRetryAfter(isDate: Bool) async throws {
        try await withScene(answering: { request in
            guard request.target == "/page" else { return ScriptedOrigin.Answer(200, "other") }
            if request.number == 1 { return page("one", "max-age=0, stale-if-error=60", to: request) }
            let now = ScriptedOrigin.date(secondsFromNow: 0)
            let wait = isDate ? ScriptedOrigin.date(secondsFromNow: 3) : "2"
            return ScriptedOrigin.Answer(503, "no", [("Date", now), ("Retry-After", wait), ("Set-Cookie", "a=b")])
        }) { scene, coordinator in
            _ = try await coordinator.send(Request(scene.origin.url("/page")))
            let start = ContinuousClock.now
            let stale = try await coordinator.send(Request(scene.origin.url("/page")))
            #expect(stale.source == .stale && stale.bodyText == "one")
            let other = try await coordinator.send(Request(scene.origin.url("/other")))
            #expect(other.bodyText == "other")
            #expect(ContinuousClock.now - start >= .milliseconds(1500))
        }
    }

    @Test("a failure that what is stored stands in for counts for its host, and a 304 is an answer of it")
    func hiddenEnds() async throws {
        try await withScene(
            workers: 1,
            adjust: {
                var circuit = HostPoliteness.Circuit()
                circuit.failuresInRow = 2
                circuit.retiresAfter = 0
                $0.politeness.circuit = circuit
            },
            answering: { request in
                switch request.target {
                case "/same": return page("one", "max-age=0", to: request)
                case "/page" where request.number == 1:
                    return page("one", "max-age=0, stale-if-error=60", to: request)
                // On a connection that was used before it is asked for once more.
                case "/page" where request.number <= 3: return .nothing
                default: return ScriptedOrigin.Answer(503, "no")
                }
            }
        ) { scene, coordinator in
            for target in ["/same", "/page"] { _ = try await coordinator.send(Request(scene.origin.url(target))) }
            // No two failures in a row.
            for target in ["/a", "/same", "/b", "/same"] {
                let response = try await coordinator.send(Request(scene.origin.url(target)))
                #expect(target == "/same" ? response.source == .revalidated : response.status == 503)
            }
            for _ in 0..<2 {
                let stale = try await coordinator.send(Request(scene.origin.url("/page")))
                #expect(stale.source == .stale && stale.bodyText == "one")
            }
            await failure(.hostGivenUp) { try await coordinator.send(Request(scene.origin.url("/c"))) }
        }
    }

    @Test("a host that is given up is asked no more, until it is taken back")
    func retired() async throws {
        try await withOrigin { origin in
            try await withTestCoordinator {
                var circuit = HostPoliteness.Circuit()
                circuit.failuresInRow = 2
                circuit.retiresAfter = 0
                $0.politeness.circuit = circuit
                $0.connectionsPerHost = 1
            } _: { coordinator in
                let dead = "http://127.0.0.1:1/"
                let codes = await withTaskGroup(of: FetchError.Code?.self, returning: [FetchError.Code?].self) {
                    group in
                    for number in 0..<6 { group.addTask { await Self.code(of: dead + "\(number)", coordinator) } }
                    var codes: [FetchError.Code?] = []
                    for await code in group { codes.append(code) }
                    return codes
                }
                #expect(
                    codes.count { $0 == .cannotConnect } == 2 && codes.count { $0 == .hostGivenUp } == 4, "\(codes)")
                #expect(await Self.code(of: dead, coordinator) == .hostGivenUp)
                #expect(try await coordinator.send(Request(origin.url("/bytes/1"))).status == 200)
                try coordinator.restoreHost(of: dead)
                #expect(await Self.code(of: dead, coordinator) == .cannotConnect)
            }
        }
    }

    @Test("rules that make no sense are refused")
    func nonsense() throws {
        for change in [
            { $0.politeness.delay = HostDelay(.seconds(-1)) },
            { $0.politeness.longestRetryAfter = .seconds(-1) },
            { (configuration: inout Configuration) in
                configuration.politeness.circuit = .init()
                configuration.politeness.circuit?.failureShare = .nan
            },
            { (configuration: inout Configuration) in
                configuration.politeness.circuit = .init()
                configuration.politeness.circuit?.retiresAfter = 300
            },
        ] as [(inout Configuration) -> Void] {
            var configuration = try testConfiguration()
            change(&configuration)
            let wrong = configuration
            #expect(throws: FetchError.self) { _ = try Coordinator(wrong) }
        }
    }

    private static func code(of url: String, _ coordinator: Coordinator) async -> FetchError.Code? {
        do throws(FetchError) {
            _ = try await coordinator.send(Request(url))
            return nil
        } catch {
            return error.code
        }
    }
}
