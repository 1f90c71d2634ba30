import Foundation
import Glibc
import Testing
import Trawl

/// A program that decides about redirects as a test says.
private struct Deciding: FetchDecisions {
    let asked = Locked([RedirectProposal]())
    let answer: @Sendable (RedirectProposal) async -> RedirectChoice

    init(_ answer: @escaping @Sendable (RedirectProposal) async -> RedirectChoice) { self.answer = answer }

    func redirect(_ proposal: RedirectProposal) async -> RedirectChoice {
        asked.withLock { $0.append(proposal) }
        return await answer(proposal)
    }

    var count: Int { asked.withLock { $0.count } }
}

/// A decider that tells when it is gone.
private final class Passing: FetchDecisions {
    let gone: Locked<Int>

    init(_ gone: Locked<Int>) { self.gone = gone }

    deinit { gone.withLock { $0 += 1 } }
}

@Suite("A program decides about redirects, ASI-RED-08, ULS-LIFE-05", .timeLimit(.minutes(2)))
struct RedirectDecisionTests {
    /// An origin whose `/go…` redirect to what follows `to=`, and which echoes everything else.
    private static func answer(_ seen: ScriptedOrigin.Seen) -> ScriptedOrigin.Answer {
        if seen.target.hasPrefix("/go") {
            let location = seen.target.components(separatedBy: "to=").last ?? ""
            let status = Int(seen.target.components(separatedBy: "status=").dropFirst().first?.prefix(3) ?? "") ?? 302
            var fields = [("Location", location)]
            if seen.target.contains("kept") { fields.append(("Cache-Control", "max-age=600")) }
            return ScriptedOrigin.Answer(status, "moved", fields)
        }
        let secrets = [seen.fields["authorization"], seen.fields["cookie"]].compactMap { $0 }.joined(separator: ",")
        let length = seen.fields["content-length"] ?? "-"
        return ScriptedOrigin.Answer(200, "\(seen.method) \(seen.target) \(length) \(secrets)")
    }

    private func run(
        _ decisions: Deciding, _ engine: Engine = .workers, adjust: (inout Configuration) -> Void = { _ in },
        _ body: (CacheScene, Coordinator) async throws -> Void
    ) async throws {
        try await withScene(
            engine,
            adjust: {
                $0.decisions = decisions
                adjust(&$0)
            }, answering: Self.answer, body)
    }

    /// Has a worker running before there are limits of time.
    private func warmUp(_ coordinator: Coordinator, _ scene: CacheScene) async throws {
        _ = try await coordinator.get(scene.origin.url("/warm"))
    }

    @Test("the time a decision takes is not the fetch's, also at its next attempt", arguments: Engine.allCases)
    func time(engine: Engine) async throws {
        let asked = Locked(0)
        let decisions = Deciding { _ in
            let count = asked.withLock { count in
                count += 1
                return count
            }
            // Longer than the whole fetch may take.
            if count == 1 { try? await Task.sleep(for: .seconds(6)) }
            return .follow
        }
        try await withScene(
            engine, adjust: { $0.decisions = decisions },
            answering: { seen in
                if seen.target == "/go" { return ScriptedOrigin.Answer(302, "", [("Location", "/there")]) }
                return seen.number == 1 ? ScriptedOrigin.Answer(503) : ScriptedOrigin.Answer(200, "there")
            },
            { scene, coordinator in
                try await warmUp(coordinator, scene)
                var request = Request(scene.origin.url("/go"))
                request.options.timeLimits.resource = .seconds(5)
                request.options.retry = .init(1)
                request.options.retry.delay = .milliseconds(10)
                let response = try await coordinator.send(request)
                #expect(response.bodyText == "there" && response.retryCount == 1)
            })
    }

    @Test("nor is it the time of those that wait for the same response", arguments: Engine.allCases)
    func timeOfOthers(engine: Engine) async throws {
        let (begun, asked) = (Locked(false), Locked(0))
        let decisions = Deciding { _ in
            let count = asked.withLock { count in
                count += 1
                return count
            }
            // Longer than each of them may take.
            if count == 1 {
                _ = await eventually { begun.withLock { $0 } }
                try? await Task.sleep(for: .seconds(6))
            }
            return .follow
        }
        try await withScene(
            engine, adjust: { $0.decisions = decisions },
            answering: { seen in
                guard seen.target == "/go" else { return ScriptedOrigin.Answer(200, "there") }
                return ScriptedOrigin.Answer(301, "", [("Location", "/there"), ("Cache-Control", "max-age=60")])
            },
            { scene, coordinator in
                try await warmUp(coordinator, scene)
                var request = Request(scene.origin.url("/go"))
                request.options.timeLimits.resource = .seconds(5)
                // One that comes before the program is asked, and one that comes after that.
                var fetches = [coordinator.start(request), coordinator.start(request)]
                let isAsked = await eventually { decisions.count == 1 }
                try #require(isAsked)
                fetches.append(coordinator.start(request))
                begun.withLock { $0 = true }
                for fetch in fetches {
                    let response = try await fetch.response
                    #expect(response.bodyText == "there")
                }
                #expect(scene.origin.seen("/go").count == 1)
            })
    }

    @Test("its worker may die while the program decides: the next one has the time that was left when it was asked")
    func workerDies() async throws {
        let gate = Gate(width: 0)
        let decisions = Deciding { _ in
            await gate.enter()
            return .follow
        }
        try await run(decisions) { scene, coordinator in
            try await warmUp(coordinator, scene)
            var request = Request(scene.origin.url("/go?to=/there"))
            request.options.timeLimits.resource = .seconds(5)
            let fetch = coordinator.start(request)
            #expect(await eventually { decisions.count == 1 })
            try await Task.sleep(for: .seconds(6))
            coordinator.signalWorkers(SIGKILL)
            // The next worker meets the redirect again.
            #expect(await eventually { decisions.count == 2 })
            for _ in 0..<2 { gate.leave() }
            let response = try await fetch.response
            #expect(response.status == 200)
        }
    }

    @Test("time that is a decision's and a suspension's at once is given back once")
    func overlapping() async throws {
        let gate = Gate(width: 0)
        let decisions = Deciding { _ in
            await gate.enter()
            return .follow
        }
        let rest = Occasion()
        try await withScene(
            adjust: { $0.decisions = decisions },
            answering: { seen in
                if seen.target == "/go" { return ScriptedOrigin.Answer(302, "", [("Location", "/there")]) }
                if seen.target == "/there" { rest.wait() }
                return ScriptedOrigin.Answer(200, "there")
            },
            { scene, coordinator in
                defer { rest.open() }
                try await warmUp(coordinator, scene)
                var request = Request(scene.origin.url("/go"))
                request.options.timeLimits.resource = .seconds(3)
                let fetch = coordinator.start(request)
                #expect(await eventually { decisions.count == 1 })
                fetch.suspend()
                try await Task.sleep(for: .seconds(5))
                gate.leave()
                fetch.resume()
                let clock = ContinuousClock()
                let begun = clock.now
                await failure(.timeout) { try await fetch.response }
                // Given back twice it would be eight seconds.
                #expect(clock.now - begun < .milliseconds(7500))
            })
    }

    @Test("a body that breaks off matters where the redirect is stopped", arguments: Engine.allCases)
    func brokenBody(engine: Engine) async throws {
        let decisions = Deciding { $0.request.url.hasSuffix("/stopped") ? .stop : .follow }
        try await withScene(
            engine, adjust: { $0.decisions = decisions },
            answering: { seen in
                guard seen.target.hasPrefix("/go/") else { return ScriptedOrigin.Answer(200, "there") }
                var answer = ScriptedOrigin.Answer(302, "", [("Location", String(seen.target.dropFirst(3)))])
                answer.announced = 99
                return answer
            },
            { scene, coordinator in
                let followed = try await coordinator.send(Request(scene.origin.url("/go/plain")))
                #expect(followed.bodyText == "there" && followed.redirects.count == 1)
                await failure(.truncated) {
                    try await coordinator.send(Request(scene.origin.url("/go/stopped")))
                }
                #expect(decisions.count == 2)
            })
    }

    @Test("followed, sent elsewhere, stopped with its body, cancelled (ULS-CONN-02)", arguments: Engine.allCases)
    func choices(engine: Engine) async throws {
        let decisions = Deciding { proposal in
            switch proposal.request.url.split(separator: "/").last {
            case "elsewhere":
                var request = proposal.request
                request.url = request.url.replacingOccurrences(of: "elsewhere", with: "changed")
                return .send(request)
            case "stopped": return .stop
            case "cancelled": return .cancel
            default: return .follow
            }
        }
        try await run(decisions, engine) { scene, coordinator in
            let origin = scene.origin
            let followed = try await coordinator.send(Request(origin.url("/go?to=/plain")))
            #expect(followed.bodyText == "GET /plain - " && followed.redirects.count == 1)
            let changed = try await coordinator.send(Request(origin.url("/go?to=/elsewhere")))
            #expect(changed.bodyText == "GET /changed - " && changed.url == origin.url("/changed"))
            #expect(changed.redirects.map(\.location) == [origin.url("/changed")])
            let stopped = try await coordinator.send(Request(origin.url("/go?to=/stopped")))
            #expect(stopped.status == 302 && stopped.bodyText == "moved" && stopped.redirects.isEmpty)
            await failure(.cancelled) { try await coordinator.send(Request(origin.url("/go?to=/cancelled"))) }
            #expect(origin.seen("/cancelled").isEmpty && origin.seen("/elsewhere").isEmpty)
            let proposals = decisions.asked.withLock { $0 }
            #expect(proposals.map(\.response.status) == [302, 302, 302, 302])
            #expect(proposals.first?.url == origin.url("/go?to=/plain"))
            // Nobody is asked on behalf of who blocks a thread, nor where nothing is followed.
            #expect(try await coordinator.sendFromThread(Request(origin.url("/go?to=/stopped"))).status == 200)
            var manual = Request(origin.url("/go?to=/plain"))
            manual.options.redirects.mode = .manual
            #expect(try await coordinator.send(manual).status == 302)
            #expect(decisions.count == 4)
        }
    }

    @Test("every redirect of a chain is asked about, and the limit holds for what the program sends")
    func chain() async throws {
        let decisions = Deciding { proposal in
            var request = proposal.request
            request.url = request.url.components(separatedBy: "/x")[0] + "/go?n=\(proposal.count)&to=/x"
            return .send(request)
        }
        try await run(decisions) { scene, coordinator in
            var request = Request(scene.origin.url("/go?to=/x"))
            request.options.redirects.limit = 3
            await failure(.tooManyRedirects) { try await coordinator.send(request) }
            #expect(decisions.asked.withLock { $0.map(\.count) } == [0, 1, 2])
        }
    }

    @Test("a stopped redirect's body goes where others go: a stream, or memory in place of a file (ULS-NDL-08)")
    func stoppedSinks() async throws {
        try await run(Deciding { _ in .stop }) { scene, coordinator in
            let url = scene.origin.url("/go?to=/x")
            let fetch = coordinator.start(Request(url), into: .stream)
            var words: [String] = []
            var bytes: [UInt8] = []
            for await event in fetch.events {
                words.append(word(event))
                if case .data(let piece) = event { bytes += piece }
            }
            #expect(words == ["started", "attempt 1", "forwarded", "head 302", "data", "ended"])
            #expect(bytes == Array("moved".utf8))
            for path in [scene.directory.file("out/name"), scene.directory.file("name")] {
                let response = try await coordinator.send(Request(url), into: .file(path))
                #expect(response.status == 302 && response.bodyText == "moved" && response.file == nil)
                #expect(!FileManager.default.fileExists(atPath: path))
            }
        }
    }

    @Test("the body goes along as proposed, or as the program has it", arguments: [302, 307, 308])
    func bodies(status: Int) async throws {
        let bytes = ReferenceBytes.bytes(1 << 20, seed: 11)
        let decisions = Deciding { proposal in
            guard proposal.request.url.contains("/own") else { return .send(proposal.request) }
            var request = proposal.request
            request.method = .put
            request.body = .text("own")
            return .send(request)
        }
        try await run(decisions) { scene, coordinator in
            let along = try await coordinator.send(
                Request(.post, scene.origin.url("/go?status=\(status)&to=/along"), body: .bytes(bytes)))
            #expect(along.bodyText == (status == 302 ? "GET /along - " : "POST /along \(bytes.count) "))
            let own = try await coordinator.send(
                Request(.post, scene.origin.url("/go?status=\(status)&to=/own"), body: .bytes(bytes)))
            #expect(own.bodyText == "PUT /own 3 ")
            #expect(decisions.asked.withLock { $0.map(\.keepsBody) } == [status != 302, status != 302])
        }
    }

    @Test("what the program sends is checked, and secrets of the request before stay at their origin")
    func checks() async throws {
        let other = try ScriptedOrigin(Self.answer)
        defer { other.stop() }
        let elsewhere = other.url("/x")
        let decisions = Deciding { proposal in
            var request = proposal.request
            switch proposal.request.url.split(separator: "/").last {
            case "scheme": request.url = "ftp://127.0.0.1/"
            case "field": request.fields.add("A", "b\r\nc: d")
            case "secret":
                request.url = elsewhere
                request.fields["Authorization"] = "Bearer secret"
            case "own":
                request.url = elsewhere
                request.fields["Authorization"] = "Bearer own"
            default: break
            }
            return .send(request)
        }
        try await run(decisions) { scene, coordinator in
            func go(_ name: String) -> Request {
                Request(scene.origin.url("/go?to=/\(name)"), fields: ["Authorization": "Bearer secret"])
            }
            await failure(.unsupportedURL) { try await coordinator.send(go("scheme")) }
            await failure(.badRequest) { try await coordinator.send(go("field")) }
            let secret = try await coordinator.send(go("secret"))
            #expect(secret.bodyText == "GET /x - ")
            let own = try await coordinator.send(go("own"))
            #expect(own.bodyText == "GET /x - Bearer own")
            let same = try await coordinator.send(go("same"))
            #expect(same.bodyText == "GET /same - Bearer secret")
        }
    }

    @Test(
        "a program that sends the proposed request itself tells nobody what is another origin's",
        arguments: [false, true])
    func sentByProgram(ownCache: Bool) async throws {
        let other = try ScriptedOrigin { seen in
            let parts = seen.target.components(separatedBy: "to=")
            return parts.count > 1
                ? ScriptedOrigin.Answer(302, "", [("Location", parts[1])]) : ScriptedOrigin.Answer(200, "there")
        }
        defer { other.stop() }
        let elsewhere = "http://two.test:\(other.port)"
        let decisions = Deciding { $0.url.hasSuffix("/round") ? .follow : .stop }
        try await withScene(
            adjust: {
                $0.decisions = decisions
                if ownCache { $0.downloadCache = MemoryCache() }
            },
            answering: { seen in
                let home = "http://\(seen.fields["host"] ?? "")/end"
                let places: [String: String] = [
                    "/away": elsewhere + "/end", "/round": elsewhere + "/back?to=" + home, "/near": home,
                ]
                return places[seen.target].map { ScriptedOrigin.Answer(302, "", [("Location", $0)]) }
                    ?? ScriptedOrigin.Answer(200, "here")
            },
            { scene, coordinator in
                var request = Request(scene.origin.url("/near"))
                request.options.authentication.credential = Credential(bearer: "secret")
                request.options.authentication.allowsClearText = true
                request.options.authentication.usesSession = false
                request.options.cookies.manual = [RequestCookie("id", "secret")]
                request.options.cookies.repeatsManual = true
                request.options.tls.verification = .none
                // Who has one does not use a cache of the program's own.
                if !ownCache { request.options.tls.identity = ClientIdentity(file: "/no/such/certificate") }
                request.options.transport.resolve = ["two.test:\(other.port):127.0.0.1"]
                let given = request
                /// What was proposed where the fetch was stopped.
                func proposed(_ target: String, repeats: Bool = true) async throws -> Request {
                    var request = given
                    request.url = scene.origin.url(target)
                    request.options.cookies.repeatsManual = repeats
                    let response = try await coordinator.send(request)
                    #expect(response.status == 302)
                    return try #require(decisions.asked.withLock { $0.last }).request
                }
                let near = try await proposed("/near")
                #expect(near.options == given.options)
                let once = try await proposed("/near", repeats: false)
                #expect(once.options.cookies.manual.isEmpty)
                #expect(once.options.authentication == given.options.authentication)
                for target in ["/away", "/round"] {
                    let far = try await proposed(target)
                    let (authentication, tls) = (far.options.authentication, far.options.tls)
                    #expect(authentication.credential == nil && far.options.cookies.manual.isEmpty, "\(target)")
                    #expect(tls.identity == nil && tls.verification == .full, "\(target)")
                    let response = try await coordinator.send(far)
                    #expect(response.status == 200)
                }
                #expect(scene.origin.seen("/away").first?.fields["authorization"] == "Bearer secret")
                let sent = other.seen("/end") + scene.origin.seen("/end")
                #expect(sent.count == 2)
                #expect(sent.allSatisfy { $0.fields["authorization"] == nil && $0.fields["cookie"] == nil })
            })
    }

    @Test(
        "no clock runs while the program decides; without a decision in time the fetch fails",
        arguments: Engine.allCases)
    func clocks(engine: Engine) async throws {
        async let undecided: Void = noDecision(engine)
        let gate = Gate(width: 1)
        await gate.enter()
        let decisions = Deciding { _ in
            await gate.enter()
            gate.leave()
            return .follow
        }
        try await run(decisions, engine) { scene, coordinator in
            try await warmUp(coordinator, scene)
            let request = Self.limited(scene)
            let fetch = coordinator.start(request)
            #expect(await eventually { decisions.count == 1 })
            // Longer than its limits.
            try await Task.sleep(for: .seconds(3))
            gate.leave()
            #expect(try await fetch.response.bodyText == "GET /x - ")
            // A fetch that is cancelled does not wait for the program.
            await gate.enter()
            let cancelled = coordinator.start(request)
            #expect(await eventually { decisions.count == 2 })
            cancelled.cancel()
            await failure(.cancelled) { try await cancelled.response }
            gate.leave()
        }
        try await undecided
    }

    /// A request with little time.
    private static func limited(_ scene: CacheScene) -> Request {
        var request = Request(scene.origin.url("/go?to=/x"))
        request.options.timeLimits.resource = .seconds(2)
        request.options.timeLimits.inactivity = .seconds(2)
        return request
    }

    /// Fails for want of a decision, not because the limits of the request are over before.
    private func noDecision(_ engine: Engine) async throws {
        let gate = Gate(width: 0)
        let decisions = Deciding { _ in
            await gate.enter()
            return .follow
        }
        try await run(decisions, engine, adjust: { $0.decisionTimeout = .seconds(3) }) { scene, coordinator in
            try await warmUp(coordinator, scene)
            let late = await failure(.timeout) { try await coordinator.send(Self.limited(scene)) }
            #expect(late?.detail.contains("no decision") == true)
            gate.leave()
        }
    }

    @Test("redirects out of the cache are asked about as well")
    func stored() async throws {
        let decisions = Deciding { proposal in
            proposal.request.url.hasSuffix("/stopped") ? .stop : .follow
        }
        try await run(decisions) { scene, coordinator in
            for name in ["plain", "stopped"] {
                let url = scene.origin.url("/go?kept&to=/\(name)")
                let first = try await coordinator.get(url)
                let second = try await coordinator.get(url)
                #expect(scene.origin.seen("/go?kept&to=/\(name)").count == 1)
                #expect(first.status == second.status && first.bodyText == second.bodyText)
                #expect(second.status == (name == "stopped" ? 302 : 200))
            }
            #expect(decisions.count == 4)
        }
    }

    @Test("who decides for one fetch is let go of at its end, though its handle is kept, ASI-CAN-04")
    func letGo() async throws {
        try await withScene(answering: Self.answer) { scene, coordinator in
            let gone = Locked(0)
            var kept: [Fetch] = []
            let targets = ["/go?to=/plain", "/plain", "/go?to=file:///etc/passwd", "/plain#cancelled"]
            for target in targets {
                let fetch = coordinator.start(Request(scene.origin.url(target)), decisions: Passing(gone))
                kept.append(fetch)
                if target.hasSuffix("cancelled") { fetch.cancel() }
                _ = try? await fetch.response
            }
            // A request that cannot be sent, and one that waits in a queue until that is cancelled.
            kept.append(coordinator.start(Request("http://"), decisions: Passing(gone)))
            let queue = FetchQueue(on: coordinator)
            kept.append(queue.add(Request(scene.origin.url("/plain")), decisions: Passing(gone)).fetch)
            #expect(gone.withLock { $0 } < targets.count + 2)
            queue.cancelAll()
            // Whom a decision was asked of may be held for a moment by the call itself.
            let areGone = await eventually { gone.withLock { $0 } == targets.count + 2 }
            #expect(areGone && kept.count == targets.count + 2)
        }
    }
}
