import Foundation
import Testing
import Trawl

/// A store of a test's own, and an origin whose answers the test writes.
final class CacheScene: Sendable {
    let directory: TemporaryDirectory
    let origin: ScriptedOrigin
    /// The store directory; nobody else has it.
    let store: String

    fileprivate init(_ answering: @escaping @Sendable (ScriptedOrigin.Seen) -> ScriptedOrigin.Answer) throws {
        directory = try TemporaryDirectory()
        store = directory.file("store")
        origin = try ScriptedOrigin(answering)
    }

    /// Runs `body` with a coordinator on the store.
    func withCoordinator<Value>(
        _ engine: Engine = .workers, workers: Int? = nil, adjust: (inout Configuration) -> Void = { _ in },
        _ body: (Coordinator) async throws -> Value
    ) async throws -> Value {
        let output = try directory.makeDirectory("out")
        return try await withTestCoordinator(workers: workers ?? engine.workers, outputDirectories: [output]) {
            $0.store = .directory(store)
            adjust(&$0)
        } _: {
            try await body($0)
        }
    }

    /// The targets of the origin's requests, in order.
    var targets: [String] { origin.seen().map(\.target) }
    /// How many requests the origin has had.
    var count: Int { origin.seen().count }
}

/// Runs `body` with a scene and a coordinator on its store.
func withScene(
    _ engine: Engine = .workers, workers: Int? = nil, adjust: (inout Configuration) -> Void = { _ in },
    answering: @escaping @Sendable (ScriptedOrigin.Seen) -> ScriptedOrigin.Answer,
    _ body: (CacheScene, Coordinator) async throws -> Void
) async throws {
    try await withScene(answering: answering) { scene in
        try await scene.withCoordinator(engine, workers: workers, adjust: adjust) { try await body(scene, $0) }
    }
}

/// Runs `body` with a scene; it starts its coordinators itself.
func withScene(
    answering: @escaping @Sendable (ScriptedOrigin.Seen) -> ScriptedOrigin.Answer,
    _ body: (CacheScene) async throws -> Void
) async throws {
    let scene = try CacheScene(answering)
    defer { scene.origin.stop() }
    try await body(scene)
}

/// A page whose body is its version, told by an entity tag; 304 to who has this version.
func page(
    _ version: String, _ cacheControl: String = "max-age=3600", to request: ScriptedOrigin.Seen,
    _ more: [(String, String)] = []
) -> ScriptedOrigin.Answer {
    let tag = "\"\(version)\""
    let fields = [("Cache-Control", cacheControl), ("ETag", tag), ("Content-Type", "text/plain")] + more
    return request.fields["if-none-match"] == tag
        ? ScriptedOrigin.Answer(304, "", fields) : ScriptedOrigin.Answer(200, version, fields)
}

extension Coordinator {
    /// A GET with a cache policy.
    func get(
        _ url: String, _ policy: CachePolicy = [], fields: Fields = [:], into destination: Destination = .memory,
        _ adjust: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Response {
        var request = Request(url, fields: fields)
        request.cachePolicy = policy
        adjust(&request.options)
        return try await send(request, into: destination)
    }
}

/// A response in short: where it came from and what it says.
func summary(_ response: Response) -> String {
    "\(response.source.rawValue) \(response.status) \(response.bodyText)"
}
