import Testing
import Trawl

/// What became of a program that never answers of itself.
private struct Unanswered: Sendable {
    var isAsked = false
    var isCancelled = false
    var isGone = false
}

/// A program of one fetch's own, which waits until nobody wants its answer any more.
private final class Waiting: FetchDecisions {
    private let state: Locked<Unanswered>

    init(_ state: Locked<Unanswered>) { self.state = state }

    deinit { state.withLock { $0.isGone = true } }

    func credentials(for challenge: AuthenticationChallenge) async -> CredentialDecision {
        state.withLock { $0.isAsked = true }
        try? await Task.sleep(for: .seconds(600))
        state.withLock { $0.isCancelled = Task.isCancelled }
        return .useStored
    }
}

@Suite("A program is asked for credentials, ASI-AUTH-13…16, ULS-AUTH-05, ASI-RUN-01", .timeLimit(.minutes(2)))
struct CredentialQuestionTests {
    private static let right = ChallengingOrigin.basic("me", "pass")
    private static let credential = Credential(user: "me", password: "pass")

    private func run(
        _ answering: Answering, origin: @escaping @Sendable (ScriptedOrigin.Seen) -> ScriptedOrigin.Answer,
        _ body: (CacheScene, Coordinator) async throws -> Void
    ) async throws {
        try await withScene(adjust: { $0.decisions = answering }, answering: origin, body)
    }

    private func get(
        _ coordinator: Coordinator, _ url: String, _ adjust: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Response {
        var request = clearTextRequest(url)
        adjust(&request.options)
        return try await coordinator.send(request)
    }

    @Test("a download asks as other fetches do, and its file has the answer alone (ULS-NDL-08)")
    func download() async throws {
        let answering = Answering { _ in .use(Self.credential) }
        try await run(answering, origin: ChallengingOrigin.taking(Self.right)) { scene, coordinator in
            var request = Request(scene.origin.url("/page"))
            request.options.authentication.allowsClearText = true
            let response = try await coordinator.send(request, into: .file(scene.directory.file("page")))
            #expect(response.status == 200 && response.file == scene.directory.file("page"))
            #expect(scene.directory.content("page") == Array("welcome /page".utf8))
            #expect(answering.challenges.count == 1)
        }
    }

    @Test("of many fetches one asks, and all take what worked")
    func oneQuestion() async throws {
        let gate = Gate(width: 0)
        let answering = Answering.knowing(Self.credential, behind: gate)
        try await run(answering, origin: ChallengingOrigin.taking(Self.right)) { scene, coordinator in
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<50 {
                    group.addTask { try await self.get(coordinator, scene.origin.url("/q/\(number)")).bodyText }
                }
                // All have been refused and wait; their places are free meanwhile.
                let isReached1 = await eventually { scene.count == 50 }
                #expect(isReached1)
                gate.leave()
                var count = 0
                for try await text in group where text.hasPrefix("welcome") { count += 1 }
                #expect(count == 50)
            }
            #expect(answering.challenges.count == 1)
            let challenge = try #require(answering.challenges.first)
            #expect(challenge.realm == "here" && challenge.authenticationScheme == "Basic" && !challenge.isSecure)
            #expect(!challenge.isProxy && challenge.response.status == 401 && challenge.previousFailures == 0)
        }
    }

    @Test("asked again after a refusal, up to five times; what was refused is not proposed again")
    func again() async throws {
        let answering = Answering { .use(Credential(user: "me", password: "pass\($0.previousFailures)")) }
        let fifth = ChallengingOrigin.basic("me", "pass4")
        try await run(
            answering,
            origin: { seen in
                seen.target == "/never" ? ChallengingOrigin.challenge() : ChallengingOrigin.taking(fifth)(seen)
            }
        ) { scene, coordinator in
            let found1 = try await get(coordinator, scene.origin.url("/fifth")).bodyText
            #expect(found1 == "welcome /fifth")
            let failures = answering.challenges.map(\.previousFailures)
            #expect(failures == [0, 1, 2, 3, 4])
            let error = await #expect(throws: FetchError.self) {
                try await get(coordinator, scene.origin.url("/never")) { $0.authentication.usesSession = false }
            }
            #expect(error?.code == .authentication && scene.origin.seen("/never").count == 6)
        }
    }

    @Test("no clock runs while somebody is asked")
    func clock() async throws {
        let answering = Answering { _ in
            try? await Task.sleep(for: .seconds(5))
            return .use(Self.credential)
        }
        let origin: @Sendable (ScriptedOrigin.Seen) -> ScriptedOrigin.Answer = { seen in
            seen.target == "/open" ? ScriptedOrigin.Answer(200) : ChallengingOrigin.taking(Self.right)(seen)
        }
        try await run(answering, origin: origin) { scene, coordinator in
            // The worker's start does not count against the limit.
            #expect(try await get(coordinator, scene.origin.url("/open")).status == 200)
            let response = try await get(coordinator, scene.origin.url("/slow")) {
                $0.timeLimits.resource = .seconds(4)
            }
            #expect(response.status == 200 && answering.challenges.count == 1)
        }
    }

    @Test("the four answers are four: use, as without, not this space, stop (ASI-AUTH-08)")
    func answers() async throws {
        let three = #"Negotiate, Digest realm="d", nonce="n", qop="auth", Basic realm="b""#
        let answering = Answering { challenge in
            switch challenge.url.split(separator: "/").last {
            case "reject": challenge.authenticationScheme == "Basic" ? .use(Self.credential) : .reject
            case "default": .useStored
            default: .cancel
            }
        }
        try await run(answering, origin: ChallengingOrigin.taking(Self.right, three)) { scene, coordinator in
            let found2 = try await get(coordinator, scene.origin.url("/reject")).status
            #expect(found2 == 200)
            let schemes = answering.challenges.map(\.authenticationScheme)
            #expect(schemes == ["Negotiate", "Digest", "Basic"])
            let none = await #expect(throws: FetchError.self) {
                try await get(coordinator, scene.origin.url("/default")) { $0.authentication.usesSession = false }
            }
            #expect(none?.code == .authentication)
            let delivered = try await get(coordinator, scene.origin.url("/default")) {
                $0.authentication.usesSession = false
                $0.authentication.whenRefused = .delivers
            }
            #expect(delivered.status == 401 && delivered.bodyText == "who?")
            let stopped = await #expect(throws: FetchError.self) {
                try await get(coordinator, scene.origin.url("/stop")) { $0.authentication.usesSession = false }
            }
            #expect(stopped?.code == .authenticationCancelled && stopped?.legacyCode == 3)
        }
    }

    @Test("who cancels cancels for those that wait, unasked")
    func cancels() async throws {
        let gate = Gate(width: 0)
        let answering = Answering { _ in
            await gate.enter()
            return .cancel
        }
        try await run(answering, origin: { _ in ChallengingOrigin.challenge() }) { scene, coordinator in
            await withTaskGroup(of: FetchError.Code?.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        do {
                            _ = try await self.get(coordinator, scene.origin.url("/c/\(number)"))
                            return nil
                        } catch {
                            return (error as? FetchError)?.code
                        }
                    }
                }
                let areAsked = await eventually { scene.count == 20 }
                #expect(areAsked)
                // One for each: whoever's challenge is met after the first answer asks again.
                for _ in 0..<20 { gate.leave() }
                for await code in group { #expect(code == .authenticationCancelled) }
            }
            // Who comes to the question when it is over asks again.
            #expect(answering.challenges.count < 20)
        }
    }

    /// Of these questions the first is cancelled, the next answered.
    private func cancellingFirst(_ gate: Gate) -> Answering {
        let asked = Locked(0)
        return Answering { _ in
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            await gate.enter()
            return number == 1 ? .cancel : .use(Self.credential)
        }
    }

    /// A queue that lets others go on when one fails.
    private func queue(on coordinator: Coordinator) -> FetchQueue {
        var settings = FetchQueue.Settings()
        settings.width = 5
        settings.cancelsOthersOnFailure = false
        let queue = FetchQueue(on: coordinator, settings)
        queue.start()
        return queue
    }

    @Test("where a queue lets others go on, who cancels cancels for one alone, and the next asks, ASI-AUTH-15")
    func cancelsAlone() async throws {
        let gate = Gate(width: 0)
        let answering = cancellingFirst(gate)
        try await run(answering, origin: ChallengingOrigin.taking(Self.right)) { scene, coordinator in
            let queue = queue(on: coordinator)
            let fetches = (0..<5).map { queue.add(clearTextRequest(scene.origin.url("/c/\($0)"))) }
            #expect(await eventually { scene.count == 5 })
            for _ in 0..<2 { gate.leave() }
            var (statuses, codes) = ([Int](), [FetchError.Code]())
            for fetch in fetches {
                do throws(FetchError) {
                    statuses.append(try await fetch.response.status)
                } catch {
                    codes.append(error.code)
                }
            }
            #expect(statuses == [200, 200, 200, 200] && codes == [.authenticationCancelled])
            #expect(answering.challenges.count == 2)
        }
    }

    @Test("fetches of such a queue are not cancelled with others that they wait for")
    func cancelledAlone() async throws {
        let gate = Gate(width: 0)
        let answering = cancellingFirst(gate)
        try await run(answering, origin: ChallengingOrigin.taking(Self.right)) { scene, coordinator in
            let first = coordinator.start(clearTextRequest(scene.origin.url("/first")))
            #expect(await eventually { answering.challenges.count == 1 })
            let queued = queue(on: coordinator).add(clearTextRequest(scene.origin.url("/queued")))
            #expect(await eventually { scene.origin.seen("/queued").count == 1 })
            for _ in 0..<2 { gate.leave() }
            await failure(.authenticationCancelled) { try await first.response }
            let allowed = try await queued.response
            #expect(allowed.status == 200)
            #expect(answering.challenges.count == 2)
        }
    }

    @Test("who is cancelled leaves the question to the next; nobody is asked for who blocks a thread (ULS-CONN-02)")
    func leaving() async throws {
        let gate = Gate(width: 0)
        let answering = Answering { challenge in
            if challenge.url.hasSuffix("/first") { await gate.enter() }
            return .use(Self.credential)
        }
        try await run(answering, origin: ChallengingOrigin.taking(Self.right)) { scene, coordinator in
            var request = Request(scene.origin.url("/first"))
            request.options.authentication.allowsClearText = true
            let first = coordinator.start(request)
            let isReached3 = await eventually { answering.challenges.count == 1 }
            #expect(isReached3)
            async let second = get(coordinator, scene.origin.url("/second"))
            let isReached4 = await eventually { scene.origin.seen("/second").count == 1 }
            #expect(isReached4)
            first.cancel()
            let found3 = try await second.bodyText
            #expect(found3 == "welcome /second")
            gate.leave()
            var blocking = Request(scene.origin.url("/blocking"))
            blocking.options.authentication.allowsClearText = true
            blocking.options.authentication.usesSession = false
            let asked = answering.challenges.count
            let response = try await coordinator.sendFromThread(blocking)
            #expect(response.status == 401 && answering.challenges.count == asked)
        }
    }

    @Test("whoever is asked is cancelled when the fetch ends, and let go of", arguments: [false, true])
    func abandoned(isShutdown: Bool) async throws {
        try await withScene(answering: { _ in ChallengingOrigin.challenge() }) { scene, coordinator in
            let state = Locked(Unanswered())
            let fetch = coordinator.start(clearTextRequest(scene.origin.url("/")), decisions: Waiting(state))
            #expect(await eventually { state.withLock { $0.isAsked } })
            if isShutdown { await coordinator.shutdown(grace: .zero) } else { fetch.cancel() }
            await failure(isShutdown ? .shutDown : .cancelled) { try await fetch.response }
            #expect(await eventually { state.withLock { $0.isCancelled && $0.isGone } })
        }
    }

    @Test("what was refused, or that nobody has judged, is tried by one alone")
    func unproved() async throws {
        let (wrong, count) = (ChallengingOrigin.basic("me", "wrong"), 20)
        // What is told first is wrong; a fetch may be refused once, or the first answer to it is a failure.
        for (isJudged, attempts) in [(true, 1), (false, 5)] {
            let gate = Gate(width: 0)
            let asked = Locked(0)
            let answering = Answering { _ in
                await gate.enter()
                let number = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                return .use(number == 1 ? Credential(user: "me", password: "wrong") : Self.credential)
            }
            let tried = Locked(0)
            let origin: @Sendable (ScriptedOrigin.Seen) -> ScriptedOrigin.Answer = { seen in
                guard seen.fields["authorization"] == wrong else { return ChallengingOrigin.taking(Self.right)(seen) }
                let number = tried.withLock { tried in
                    tried += 1
                    return tried
                }
                return isJudged || number > 1 ? ChallengingOrigin.challenge() : ScriptedOrigin.Answer(503, "later")
            }
            try await run(answering, origin: origin) { scene, coordinator in
                let statuses = try await withThrowingTaskGroup(of: Int.self) { group -> [Int] in
                    for number in 0..<count {
                        group.addTask {
                            try await self.get(coordinator, scene.origin.url("/u/\(number)")) {
                                $0.authentication.maxAttempts = attempts
                                $0.authentication.whenRefused = .delivers
                            }.status
                        }
                    }
                    #expect(await eventually { scene.count == count })
                    for _ in 0..<count { gate.leave() }
                    return try await group.reduce(into: [Int]()) { $0.append($1) }
                }
                #expect(statuses.filter { $0 == 200 }.count == count - 1, "\(statuses)")
                #expect(statuses.contains(isJudged ? 401 : 503), "\(statuses)")
                // By the one that was told; by the next, too, as long as nobody knows whether it is right.
                let (tries, questions) = (tried.withLock { $0 }, asked.withLock { $0 })
                #expect(tries <= (isJudged ? 1 : 2) && questions == 2)
            }
        }
    }

    @Test("when others are found in the session after a refusal, those that wait find them, and not what was refused")
    func foundElsewhere() async throws {
        let wrong = ChallengingOrigin.basic("me", "wrong")
        let gate = Gate(width: 0)
        let session = Locked<(Coordinator, VaultItem)?>(nil)
        let answering = Answering { _ in
            await gate.enter()
            if let (coordinator, item) = session.withLock({ $0 }) {
                try? await coordinator.credentials.set(Self.credential, for: item, scheme: "Basic")
            }
            return .use(Credential(user: "me", password: "wrong"))
        }
        try await run(answering, origin: ChallengingOrigin.taking(Self.right)) { scene, coordinator in
            let item = VaultItem(scheme: "http", host: "127.0.0.1", port: Int(scene.origin.port), realm: "here")
            session.withLock { $0 = (coordinator, item) }
            defer { session.withLock { $0 = nil } }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<10 {
                    group.addTask { try await self.get(coordinator, scene.origin.url("/f/\(number)")).status }
                }
                #expect(await eventually { scene.count == 10 })
                for _ in 0..<10 { gate.leave() }
                for try await status in group { #expect(status == 200) }
            }
            #expect(answering.challenges.count == 1)
            let tries = scene.origin.seen().filter { $0.fields["authorization"] == wrong }
            #expect(tries.count == 1)
        }
    }

    @Test("a challenge says whom the request names, and what was refused is not proposed, ULS-AUTH-04")
    func namedUser() async throws {
        let answering = Answering { _ in .use(Self.credential) }
        try await run(answering, origin: ChallengingOrigin.taking(Self.right)) { scene, coordinator in
            let place = scene.origin.url("").dropFirst("http://".count)
            #expect(try await get(coordinator, "http://me@\(place)/url").status == 200)
            let wrong = try await get(coordinator, scene.origin.url("/wrong")) {
                $0.authentication.credential = Credential(user: "you", password: "guess")
            }
            #expect(wrong.status == 200)
            let unnamed = try await get(coordinator, scene.origin.url("/nobody")) {
                $0.authentication.usesSession = false
            }
            #expect(unnamed.status == 200)
            #expect(answering.challenges.map(\.user) == ["me", "you", nil])
            // For a user without a password the program is asked before an empty one is tried.
            #expect(answering.challenges.map(\.previousFailures) == [0, 1, 0])
        }
    }

    @Test("changes of the session's credentials are told, ULS-AUTH-03")
    func changes() async throws {
        let answering = Answering { _ in .use(Self.credential) }
        try await run(answering, origin: ChallengingOrigin.taking(Self.right)) { scene, coordinator in
            let stream = coordinator.credentials.changes
            var changes = stream.makeAsyncIterator()
            #expect(try await get(coordinator, scene.origin.url("/x")).status == 200)
            let found = try #require(await changes.next())
            // What works again changes nothing, so the next is told of what is done by hand.
            #expect(try await get(coordinator, scene.origin.url("/y")).status == 200)
            let item = try #require(await coordinator.credentials.list().first)
            #expect(await coordinator.credentials.remove(item.space))
            #expect(await changes.next() == found + 1)
            await coordinator.shutdown()
            #expect(await changes.next() == nil)
            var late = coordinator.credentials.changes.makeAsyncIterator()
            #expect(await late.next() == nil)
        }
    }
}
