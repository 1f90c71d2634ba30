import Testing
import Trawl

@Suite("The time of fetches through a cache of the program's own", .timeLimit(.minutes(3)))
struct DownloadCacheTimeTests {
    @Test(
        "the time of an exchange begins when its turn has come, with such a cache and without",
        arguments: [true, false])
    func turns(ownCache: Bool) async throws {
        let held = Occasion()
        try await withScene(
            .inProcess,
            adjust: {
                $0.connectionsPerHost = 1
                if ownCache { $0.downloadCache = MemoryCache() }
            }
        ) { request in
            if request.target == "/held" { held.wait() }
            return page("there", to: request)
        } _: { scene, coordinator in
            defer { held.open() }
            let first = Task { try await coordinator.get(scene.origin.url("/held")) }
            let isHeld = await eventually { scene.count == 1 }
            #expect(isHeld)
            let second = Task {
                try await coordinator.get(scene.origin.url("/next")) { $0.timeLimits.exchange = .seconds(4) }
            }
            // Longer than that.
            try await Task.sleep(for: .seconds(4.5))
            held.open()
            let texts = try await [first.value.bodyText, second.value.bodyText]
            #expect(texts == ["there", "there"])
        }
    }

    @Test(
        "a response is as old as since its request went out, with such a cache and without", arguments: [true, false])
    func ages(ownCache: Bool) async throws {
        let held = Occasion()
        try await withScene(
            .inProcess,
            adjust: {
                $0.connectionsPerHost = 1
                if ownCache { $0.downloadCache = MemoryCache() }
            }
        ) { request in
            if request.target == "/held" { held.wait() }
            return page("there", "max-age=600", to: request)
        } _: { scene, coordinator in
            defer { held.open() }
            let first = Task { try await coordinator.get(scene.origin.url("/held")) }
            let isHeld = await eventually { scene.count == 1 }
            #expect(isHeld)
            let second = Task { try await coordinator.get(scene.origin.url("/next")) }
            let waits = await eventually { await coordinator.status()?.waiting == 1 }
            #expect(waits)
            // That long its request is not sent.
            try await Task.sleep(for: .seconds(5))
            let opened = ContinuousClock.now
            held.open()
            _ = try await first.value
            _ = try await second.value
            let again = try await coordinator.get(scene.origin.url("/next"))
            #expect(summary(again) == "cache 200 there" && scene.count == 2)
            let age = try #require(again.fields["Age"].flatMap { Int($0) })
            // Times are told in whole seconds.
            let seconds = (ContinuousClock.now - opened) / .seconds(1)
            #expect(Double(age) < seconds + 2)
        }
    }

    @Test("no clock runs while the program decides, with such a cache and without", arguments: [true, false])
    func clocks(ownCache: Bool) async throws {
        let decisions = Hesitant()
        try await withScene(
            adjust: {
                if ownCache { $0.downloadCache = MemoryCache() }
                $0.decisions = decisions
            }
        ) { request in
            switch request.target {
            case "/a": ScriptedOrigin.Answer(301, "", [("Location", "/b"), ("Cache-Control", "max-age=60")])
            case "/c": page("there", to: request)
            case "/first": ScriptedOrigin.Answer(200, "", [("Cache-Control", "no-store")])
            case _ where request.fields["authorization"] == ChallengingOrigin.basic("me", "pass"):
                ScriptedOrigin.Answer(302, "", [("Location", "/c")])
            default: ChallengingOrigin.challenge()
            }
        } _: { scene, coordinator in
            // The start of a worker takes its time as well.
            _ = try await coordinator.get(scene.origin.url("/first"))
            let response = try await coordinator.get(scene.origin.url("/a")) {
                $0.authentication.allowsClearText = true
                $0.timeLimits.resource = .seconds(2.8)
                $0.timeLimits.exchange = .seconds(2.8)
            }
            #expect(response.bodyText == "there" && response.redirects.count == 2)
            let asked = decisions.asked.withLock { $0.sorted() }
            #expect(asked == ["credentials", "redirect", "storing"])
        }
    }

    @Test("who waits for the time that a redirect names can be cancelled, and ends with the coordinator")
    func waits() async throws {
        try await withScene(.inProcess, adjust: { $0.downloadCache = MemoryCache() }) { _ in
            ScriptedOrigin.Answer(302, "", [("Location", "/there"), ("Retry-After", "60")])
        } _: { scene, coordinator in
            let url = scene.origin.url("/a")
            func isWaiting(_ count: Int) async -> Bool {
                await eventually {
                    let status = await coordinator.status()
                    return scene.count == count && status?.waiting == 1
                }
            }
            let cancelled = Task { await failure(.cancelled) { try await coordinator.get(url) } }
            let waitsFirst = await isWaiting(1)
            #expect(waitsFirst)
            cancelled.cancel()
            _ = await cancelled.value
            let ended = Task { await failure(.shutDown) { try await coordinator.get(url) } }
            let waitsAgain = await isWaiting(2)
            #expect(waitsAgain)
            await coordinator.shutdown(grace: .zero)
            _ = await ended.value
            #expect(scene.targets == ["/a", "/a"])
        }
    }

    /// Takes longer for the first answer of each kind than a fetch may take in all.
    private struct Hesitant: FetchDecisions {
        let asked = Locked(Set<String>())

        private func hesitate(about kind: String) async {
            let isFirst = asked.withLock { $0.insert(kind).inserted }
            if isFirst { try? await Task.sleep(for: .seconds(2.9)) }
        }

        func storing(
            _ response: Response.ResponseHead, from url: String, proposal: StoringChoice
        ) async -> StoringChoice? {
            await hesitate(about: "storing")
            return proposal
        }

        func redirect(_ proposal: RedirectProposal) async -> RedirectChoice {
            await hesitate(about: "redirect")
            return .follow
        }

        func credentials(for challenge: AuthenticationChallenge) async -> CredentialDecision {
            await hesitate(about: "credentials")
            return .use(Credential(user: "me", password: "pass"))
        }
    }
}
