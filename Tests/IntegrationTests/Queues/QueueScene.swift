import Foundation
import Testing
import Trawl

/// An origin that a test scripts, a coordinator without a store, and queues on it.
struct QueueScene {
    let origin: ScriptedOrigin
    let coordinator: Coordinator
    let directory: TemporaryDirectory
    /// Beneath it workers create files themselves.
    let output: String

    func request(_ target: String, _ adjust: (inout Request) -> Void = { _ in }) -> Request {
        var request = Request(origin.url(target))
        adjust(&request)
        return request
    }

    func queue(_ adjust: (inout FetchQueue.Settings) -> Void = { _ in }) -> FetchQueue {
        var settings = FetchQueue.Settings()
        adjust(&settings)
        return FetchQueue(on: coordinator, settings)
    }

    var targets: [String] { origin.seen().map { "\($0.method) \($0.target)" } }
}

/// Runs `body` with a scene.
func withQueueScene(
    adjust: (inout Configuration) -> Void = { _ in },
    answering: @escaping @Sendable (ScriptedOrigin.Seen) -> ScriptedOrigin.Answer = {
        ScriptedOrigin.Answer(200, "page \($0.target)")
    },
    _ body: (QueueScene) async throws -> Void
) async throws {
    let directory = try TemporaryDirectory()
    let output = try directory.makeDirectory("out")
    let origin = try ScriptedOrigin(answering)
    defer { origin.stop() }
    try await withTestCoordinator(outputDirectories: [output], adjust: adjust) { coordinator in
        try await body(
            QueueScene(origin: origin, coordinator: coordinator, directory: directory, output: output))
    }
}

/// An event of a queue in short, with the names a test gave its fetches.
func word(_ event: FetchQueue.Event, _ names: [FetchQueue.FetchID: String] = [:]) -> String {
    func name(_ id: FetchQueue.FetchID) -> String { names[id].map { $0 + " " } ?? "" }
    return switch event {
    case .started(let id): name(id) + "started"
    case .willRedirect(let id, let hop): name(id) + "redirect \(hop.status)"
    case .head(let id, let head): name(id) + "head \(head.status)"
    case .finished(let id, let response): name(id) + "finished \(response.status)"
    case .failed(let id, let error): name(id) + "failed \(error.code.rawValue)"
    case .queueFinished: "queue finished"
    }
}

/// Reads a queue's events up to the next end of the queue.
func eventsToEnd(_ events: AsyncStream<FetchQueue.Event>) async -> [FetchQueue.Event] {
    var read: [FetchQueue.Event] = []
    for await event in events {
        read.append(event)
        if case .queueFinished = event { break }
    }
    return read
}

/// A decider that a test writes.
struct QueueDecider: FetchDecisions {
    var asked = Locked(0)
    var credential: @Sendable () async -> CredentialDecision = { .useStored }
    var redirect: @Sendable () async -> RedirectChoice = { .follow }

    func credentials(for challenge: AuthenticationChallenge) async -> CredentialDecision {
        asked.withLock { $0 += 1 }
        return await credential()
    }

    func redirect(_ proposal: RedirectProposal) async -> RedirectChoice {
        asked.withLock { $0 += 1 }
        return await redirect()
    }

    var count: Int { asked.withLock { $0 } }
}

/// A URL where nobody listens.
func closedURL() -> String { "http://127.0.0.1:\(ClosedPort.number)/" }
