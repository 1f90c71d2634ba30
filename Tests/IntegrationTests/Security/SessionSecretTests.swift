import Foundation
import Testing
import Trawl

/// What a session knows is in its coordinator's memory; a worker has what its leases brought, and nobody else has
/// anything.
@Suite("Credentials of a session", .timeLimit(.minutes(2)))
struct SessionSecretTests {
    /// Given with each request that a worker carries out by Basic.
    private static let leased = "leased-by-basic-1"
    /// Proved by Digest: the worker has the proof, and never the password.
    private static let proved = "proved-by-digest-2"
    /// In the session, for servers nobody asks.
    private static let kept = "kept-for-later-3"
    private static let token = "kept-token-4"

    private static func basic(_ password: String) -> String { Data("me:\(password)".utf8).base64EncodedString() }
    private static var all: [String] { [proved, kept, basic(kept), token, leased, basic(leased)] }
    private static var unleased: [String] { [proved, basic(proved), kept, basic(kept), token] }

    /// An origin that rests at `/held` until the gate opens.
    private func with(
        _ body: (CacheScene, _ gate: DispatchSemaphore) async throws -> Void
    ) async throws {
        let gate = DispatchSemaphore(value: 0)
        try await withScene(answering: { seen in
            let said = seen.fields["authorization"]
            if seen.target.hasPrefix("/digest") {
                let isProved = said.map { ChallengingOrigin.parameter("nonce", of: $0) == "n1" } ?? false
                return isProved
                    ? ScriptedOrigin.Answer(200, "proved", [("Cache-Control", "max-age=600")])
                    : ScriptedOrigin.Answer(
                        401, "who?",
                        [("WWW-Authenticate", #"Digest realm="d", nonce="n1", qop="auth", algorithm=SHA-256"#)])
            }
            if seen.target.hasPrefix("/held") { gate.wait() }
            return ScriptedOrigin.Answer(200, said == nil ? "nobody" : "somebody", [("Cache-Control", "max-age=600")])
        }) { scene in
            defer { for _ in 0..<8 { gate.signal() } }
            try await body(scene, gate)
        }
    }

    private func request(_ url: String, _ password: String?, _ schemes: RequestOptions.Authentication.Schemes)
        -> Request
    {
        var request = Request(url)
        request.options.authentication.allowsClearText = true
        request.options.authentication.schemes = schemes
        request.options.authentication.credential = password.map { Credential(user: "me", password: $0) }
        return request
    }

    @Test("a worker holds what it was leased, and can learn nothing else of the session")
    func worker() async throws {
        try await with { scene, gate in
            try await scene.withCoordinator(workers: 1) { coordinator in
                await fill(coordinator)
                let digest = try await coordinator.send(request(scene.origin.url("/digest"), Self.proved, .digest))
                #expect(digest.bodyText == "proved" && digest.authentication?.scheme == "Digest")
                let held = Task {
                    try await coordinator.send(request(scene.origin.url("/held"), Self.leased, .basic))
                }
                let isHeld = await eventually { !scene.origin.seen("/held").isEmpty }
                #expect(isHeld)
                var foundLeased = 0
                for worker in ProcessTree.children() {
                    guard let found = ProcessMemory.texts(Self.unleased + [Self.basic(Self.leased)], in: worker) else {
                        continue
                    }
                    if found.contains(Self.basic(Self.leased)) { foundLeased += 1 }
                    #expect(found.isDisjoint(with: Self.unleased), "\(found)")
                    for file in ["environ", "cmdline"] {
                        let text = String(
                            decoding: FileManager.default.contents(atPath: "/proc/\(worker)/\(file)") ?? Data(),
                            as: UTF8.self)
                        for secret in Self.all { #expect(!text.contains(secret), "\(secret) in \(file)") }
                    }
                }
                // The look would have found what is there.
                #expect(foundLeased == 1)
                gate.signal()
                let answer = try await held.value
                #expect(answer.bodyText == "somebody")
                check(scene, while: "the session lives")
            }
        }
    }

    @Test("another session on the same store has none of it, and nothing is left when a session ends")
    func others() async throws {
        try await with { scene, gate in
            let url = scene.origin.url("/held/other")
            try await scene.withCoordinator(workers: 1) { coordinator in
                await fill(coordinator)
                _ = try await coordinator.send(request(scene.origin.url("/digest"), Self.proved, .digest))
                _ = try await coordinator.send(request(scene.origin.url("/basic"), Self.leased, .basic))
                // A program of its own: its coordinator and its worker.
                let other = try ChildProcess(
                    try BuiltProducts.trawl(), ["get", "-s", "--store", scene.store, url],
                    errors: scene.directory.file("errors"))
                defer { other.end() }
                let isHeld = await eventually { !scene.origin.seen("/held/other").isEmpty }
                #expect(isHeld)
                let processes = ProcessTree.children(of: other.pid) + [other.pid]
                #expect(processes.count == 2)
                for process in processes {
                    let found = try #require(ProcessMemory.texts(Self.all, in: process))
                    #expect(found.isEmpty, "\(found)")
                }
                #expect(scene.origin.seen("/held/other").allSatisfy { $0.fields["authorization"] == nil })
                gate.signal()
                _ = await eventually { !other.isRunning }
            }
            check(scene, while: "nobody is there")
            try await scene.withCoordinator(workers: 1) { coordinator in
                let known = await coordinator.credentials.list()
                #expect(known.isEmpty)
                var wanted = request(scene.origin.url("/basic"), nil, .any)
                wanted.options.caching.cache = .none
                let answer = try await coordinator.send(wanted)
                #expect(answer.bodyText == "nobody")
            }
        }
    }

    /// Puts something into the session that no worker needs.
    private func fill(_ coordinator: Coordinator) async {
        let place = VaultItem(scheme: "http", host: "later.test", port: 80, realm: "r")
        try? await coordinator.credentials.set(
            Credential(user: "me", password: Self.kept), for: place, scheme: "Basic")
        try? await coordinator.credentials.set(Credential(bearer: Self.token), for: place, scheme: "Bearer")
        let count = await coordinator.credentials.list().count
        #expect(count == 2)
    }

    /// No file has any of it: neither the store, nor what was said.
    private func check(_ scene: CacheScene, while what: String) {
        let names = (try? scene.directory.names()) ?? []
        #expect(names.contains { $0.contains("/cache/") })
        for name in names {
            let text = String(decoding: scene.directory.content(name) ?? [], as: Unicode.ASCII.self)
            for secret in Self.all + [Self.basic(Self.proved)] where text.contains(secret) {
                Issue.record("\(secret) is in \(name) while \(what)")
            }
        }
    }
}
