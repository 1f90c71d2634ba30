import Testing
import Trawl

@Suite("A fetch is suspended while a program is asked for credentials", .timeLimit(.minutes(2)))
struct SuspendedQuestionTests {
    private static let credential = Credential(user: "me", password: "pass")
    private static let taking = ChallengingOrigin.taking(ChallengingOrigin.basic("me", "pass"))

    private func run(
        _ answering: Answering,
        origin: @escaping @Sendable (ScriptedOrigin.Seen) -> ScriptedOrigin.Answer = SuspendedQuestionTests.taking,
        _ body: (CacheScene, Coordinator) async throws -> Void
    ) async throws {
        try await withScene(adjust: { $0.decisions = answering }, answering: origin, body)
    }

    @Test("who is suspended while somebody is asked for it holds nobody up", arguments: [true, false])
    func suspendedWhileAsked(isAlone: Bool) async throws {
        let gate = Gate(width: 0)
        let answering = Answering.knowing(Self.credential, behind: gate)
        try await run(answering) { scene, coordinator in
            let first = coordinator.start(clearTextRequest(scene.origin.url("/first")))
            #expect(await eventually { answering.challenges.count == 1 })
            let second = isAlone ? nil : coordinator.start(clearTextRequest(scene.origin.url("/second")))
            #expect(await eventually { scene.count == (isAlone ? 1 : 2) })
            first.suspend()
            // One for each: the other may come to the question when it is over.
            for _ in 0..<2 { gate.leave() }
            if let second {
                let waited = try await second.response
                #expect(waited.status == 200)
            }
            #expect(first.state == .suspended && scene.origin.seen("/first").count == 1)
            first.resume()
            let resumed = try await first.response
            #expect(resumed.status == 200)
            // What it was told it has tried itself, when it was alone.
            if isAlone { #expect(answering.challenges.count == 1) }
        }
    }

    @Test("who is suspended while it tries what it was told leaves that to those that wait")
    func suspendedWhileTrying() async throws {
        let occasion = Occasion()
        defer { occasion.open() }
        let answering = Answering { _ in .use(Self.credential) }
        let origin: @Sendable (ScriptedOrigin.Seen) -> ScriptedOrigin.Answer = { seen in
            if seen.target == "/first", seen.fields["authorization"] != nil { occasion.wait() }
            return Self.taking(seen)
        }
        try await run(answering, origin: origin) { scene, coordinator in
            let first = coordinator.start(clearTextRequest(scene.origin.url("/first")))
            #expect(await eventually { scene.origin.seen("/first").count == 2 })
            let second = coordinator.start(clearTextRequest(scene.origin.url("/second")))
            #expect(await eventually { scene.origin.seen("/second").count == 1 })
            first.suspend()
            let waited = try await second.response
            #expect(waited.status == 200 && first.state == .suspended)
            occasion.open()
            first.resume()
            let resumed = try await first.response
            #expect(resumed.status == 200)
        }
    }

    @Test("who is suspended while it waits for another's answer is passed over, and finds it when it is resumed")
    func suspendedWhileWaiting() async throws {
        let gate = Gate(width: 0)
        let answering = Answering.knowing(Self.credential, behind: gate)
        try await run(answering) { scene, coordinator in
            let first = coordinator.start(clearTextRequest(scene.origin.url("/first")))
            #expect(await eventually { answering.challenges.count == 1 })
            let others = ["/second", "/third"].map { coordinator.start(clearTextRequest(scene.origin.url($0))) }
            #expect(await eventually { scene.count == 3 })
            others[0].suspend()
            first.cancel()
            // One for each: some may come to the question when it is over.
            for _ in 0..<3 { gate.leave() }
            let third = try await others[1].response
            #expect(third.status == 200 && others[0].state == .suspended)
            others[0].resume()
            let second = try await others[0].response
            #expect(second.status == 200)
        }
    }
}
