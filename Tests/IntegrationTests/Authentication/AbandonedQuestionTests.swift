import Foundation
import Testing
import Trawl

/// Who is asked for credentials and waits until nobody wants them any more, and then for something else.
private final class Abandoned: FetchDecisions, CredentialVault {
    private let asked = Locked(0)
    private let waited = Locked<Bool?>(nil)
    private let occasion = DispatchSemaphore(value: 0)

    /// How often it was asked.
    var count: Int { asked.withLock { $0 } }
    /// Whether what it waited for when it was cancelled has come; nil before that.
    var hasComeInTime: Bool? { waited.withLock { $0 } }

    func open() { occasion.signal() }

    private func wait() async {
        await withTaskCancellationHandler {
            asked.withLock { $0 += 1 }
            try? await Task.sleep(for: .seconds(600))
        } onCancel: {
            let isInTime = occasion.wait(timeout: .now() + 60) == .success
            waited.withLock { $0 = isInTime }
        }
    }

    func credentials(for challenge: AuthenticationChallenge) async -> CredentialDecision {
        await wait()
        return .useStored
    }

    func credential(for item: VaultItem) async -> Credential? {
        await wait()
        return nil
    }

    func save(_ credential: Credential, for item: VaultItem) async {}
    func remove(_ item: VaultItem) async {}
    func items() async -> [VaultItem] { [] }
}

@Suite("Questions for credentials that nobody needs an answer to any more", .timeLimit(.minutes(2)))
struct AbandonedQuestionTests {
    private func request(_ url: String, usesVault: Bool = false) -> Request {
        var request = Request(url)
        request.options.authentication.allowsClearText = true
        request.options.authentication.usesVault = usesVault
        return request
    }

    @Test("who is asked may wait when it is cancelled, and other fetches go on", arguments: [false, true])
    func cancelled(isVault: Bool) async throws {
        let abandoned = Abandoned()
        try await withScene(
            adjust: { if isVault { $0.vault = abandoned } else { $0.decisions = abandoned } },
            answering: { $0.target == "/open" ? ScriptedOrigin.Answer(200, "fine") : ChallengingOrigin.challenge() }
        ) { scene, coordinator in
            let first = coordinator.start(request(scene.origin.url("/first"), usesVault: isVault))
            #expect(await eventually { abandoned.count == 1 })
            first.cancel()
            let open = request(scene.origin.url("/open"))
            // On a thread, since what waits may have the pool's only one.
            Thread.detachNewThread {
                if (try? coordinator.sendBlocking(open)) != nil { abandoned.open() }
            }
            #expect(await eventually(within: .seconds(90)) { abandoned.hasComeInTime != nil })
            #expect(abandoned.hasComeInTime == true)
            await failure(.cancelled) { try await first.response }
        }
    }

    @Test("of many that wait for the answer of one, none is asked about when all end at once")
    func allAtOnce() async throws {
        let abandoned = Abandoned()
        abandoned.open()
        try await withScene(
            adjust: { $0.decisions = abandoned }, answering: { _ in ChallengingOrigin.challenge() }
        ) { scene, coordinator in
            let fetches = (0..<50).map { coordinator.start(request(scene.origin.url("/\($0)"))) }
            #expect(await eventually { scene.count == 50 && abandoned.count == 1 })
            await coordinator.shutdown(grace: .zero)
            for fetch in fetches { await failure(.shutDown) { try await fetch.response } }
            #expect(abandoned.count == 1)
        }
    }
}
