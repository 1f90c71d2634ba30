import Testing
import Trawl

/// A program whose decisions about URLs that end in `/broken` throw.
private struct Breaking: FetchDecisions {
    struct Problem: Error, CustomStringConvertible {
        let description = "the disk is gone"
    }

    /// Opened when the question for credentials may be answered.
    let gate = Gate(width: 0)
    /// Whom credentials were wanted for.
    let asked = Locked([String]())

    private func check(_ url: String) throws {
        if url.hasSuffix("/broken") { throw Problem() }
    }

    func storing(
        _ response: Response.ResponseHead, from url: String, proposal: StoringChoice
    ) async throws -> StoringChoice? {
        try check(url)
        return proposal
    }

    func redirect(_ proposal: RedirectProposal) async throws -> RedirectChoice {
        try check(proposal.request.url)
        return .follow
    }

    func credentials(for challenge: AuthenticationChallenge) async throws -> CredentialDecision {
        asked.withLock { $0.append(challenge.url) }
        await gate.enter()
        try check(challenge.url)
        return .use(Credential(user: "me", password: "pass"))
    }
}

/// A program that decides on the main actor.
@MainActor private final class OnMainActor: FetchDecisions {
    var count = 0

    @MainActor func redirect(_ proposal: RedirectProposal) async -> RedirectChoice {
        MainActor.assertIsolated()
        count += 1
        return .follow
    }
}

@Suite("Decisions that throw, and where decisions are called, ASI-EVT-02, 05", .timeLimit(.minutes(2)))
struct DecisionFailureTests {
    /// Redirects `/go/x` to `/x`, asks beneath `/login` who it is, and lets everything be stored.
    private static func answer(_ seen: ScriptedOrigin.Seen) -> ScriptedOrigin.Answer {
        if seen.target.hasPrefix("/go/") {
            return ScriptedOrigin.Answer(302, "", [("Location", String(seen.target.dropFirst(3)))])
        }
        if seen.target.hasPrefix("/login/") {
            return ChallengingOrigin.taking(ChallengingOrigin.basic("me", "pass"))(seen)
        }
        return ScriptedOrigin.Answer(200, "there", [("Cache-Control", "max-age=600")])
    }

    @Test(
        "what a decision throws is what its fetch fails with, and no other",
        arguments: [(Engine.workers, false), (.inProcess, false), (.workers, true)])
    func thrown(engine: Engine, ownCache: Bool) async throws {
        let decisions = Breaking()
        let adjust: (inout Configuration) -> Void = {
            $0.decisions = decisions
            if ownCache { $0.downloadCache = MemoryCache() }
        }
        try await withScene(engine, adjust: adjust, answering: Self.answer) { scene, coordinator in
            for path in ["/go/broken", "/stored/broken"] {
                let url = scene.origin.url(path)
                let error = await failure(.hookFailed) { try await coordinator.send(Request(url)) }
                #expect(error?.detail.contains("the disk is gone") == true && error?.url == url)
                #expect(error?.legacyCode == 10 && error?.isRetryable == false)
            }
            // Nothing was stored of it, and all else goes on.
            let asked = scene.origin.seen("/stored/broken").count
            await failure(.hookFailed) { try await coordinator.send(Request(scene.origin.url("/stored/broken"))) }
            #expect(scene.origin.seen("/stored/broken").count == asked + 1)
            let followed = try await coordinator.send(Request(scene.origin.url("/go/whole")))
            #expect(followed.bodyText == "there" && followed.redirects.count == 1)
            #expect(scene.origin.seen("/broken").isEmpty)
            let again = try await coordinator.send(Request(scene.origin.url("/whole")))
            #expect(again.source == .cache)
        }
    }

    @Test("who asks for credentials in vain fails; of those that wait the next one asks")
    func credentials() async throws {
        let decisions = Breaking()
        try await withScene(adjust: { $0.decisions = decisions }, answering: Self.answer) { scene, coordinator in
            func get(_ name: String) async throws -> Response {
                var request = Request(scene.origin.url("/login/\(name)"))
                request.options.authentication.allowsClearText = true
                return try await coordinator.send(request)
            }
            let broken = Task { await failure(.hookFailed) { try await get("broken") } }
            #expect(await eventually { decisions.asked.withLock { $0.count } == 1 })
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<5 { group.addTask { try await get("\(number)").bodyText } }
                // All have been refused and wait for what the first one is told.
                let haveAsked = await eventually { scene.count == 6 }
                #expect(haveAsked)
                decisions.gate.leave()
                let failed = await broken.value
                #expect(failed?.detail.contains("credentials") == true)
                decisions.gate.leave()
                for try await text in group { #expect(text.hasPrefix("welcome")) }
            }
            #expect(decisions.asked.withLock { $0.count } == 2)
        }
    }

    @Test("decisions that belong to the main actor are called there (ASI-MISC-05)")
    func mainActor() async throws {
        let decisions = OnMainActor()
        try await withScene(adjust: { $0.decisions = decisions }, answering: Self.answer) { scene, coordinator in
            for number in 0..<3 { _ = try await coordinator.send(Request(scene.origin.url("/go/\(number)"))) }
            let count = await decisions.count
            #expect(count == 3)
        }
    }
}
