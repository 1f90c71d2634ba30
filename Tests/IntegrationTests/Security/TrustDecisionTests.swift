import Foundation
import Testing
import Trawl

/// A program that trusts whom a test says.
private struct Trusting: FetchDecisions {
    let asked = Locked([ServerTrust]())
    let answer: @Sendable (ServerTrust) async throws -> TrustChoice

    init(_ answer: @escaping @Sendable (ServerTrust) async throws -> TrustChoice) { self.answer = answer }

    func trust(_ server: ServerTrust) async throws -> TrustChoice {
        asked.withLock { $0.append(server) }
        return try await answer(server)
    }

    var problems: [FetchError.Code?] { asked.withLock { $0.map { $0.problem?.code } } }
}

@Suite(
    "A program decides about certificates, ASI-TLS-04", .enabled(if: RecordingOrigin.canRun, RecordingOrigin.missing),
    .timeLimit(.minutes(2)))
struct TrustDecisionTests {
    private func fingerprint(_ certificate: String, _ scene: TrustScene) throws -> String {
        let text = try TestAuthority.openssl(
            ["x509", "-in", certificate, "-noout", "-fingerprint", "-sha256"], scene.directory)
        return (text.split(separator: "=").last ?? "").filter { $0 != ":" }.lowercased()
    }

    @Test("one known certificate is accepted, others are refused, and those see no byte of the request")
    func byFingerprint() async throws {
        let known = Locked("")
        let decisions = Trusting { server in
            server.fingerprint == known.withLock { $0 } ? .accept : .refuse
        }
        try await TrustScene.with(adjust: { $0.decisions = decisions }) { scene, coordinator in
            try scene.origin.reset()
            let print = try fingerprint(scene.selfSigned.certificate, scene)
            known.withLock { $0 = print }
            func ask(_ listener: String) -> Request { scene.request(listener) { $0.question = .unlessVerified } }
            #expect(try await coordinator.send(ask("alone")).status == 200)
            #expect(try await coordinator.send(ask("alone")).status == 200)
            await failure(.tlsUntrusted) { try await coordinator.send(ask("unknown")) }
            await failure(.tlsCertificateDate) { try await coordinator.send(ask("expired")) }
            await failure(.tlsHostMismatch) { try await coordinator.send(ask("wrong")) }
            // What the rules have nothing against is not asked about.
            #expect(try await coordinator.send(ask("good")).status == 200)
            #expect(decisions.problems == [.tlsSelfSigned, .tlsUntrusted, .tlsCertificateDate, .tlsHostMismatch])
            let seen = try scene.origin.seen()
            #expect(seen.map(\.listener) == ["alone", "alone", "good"] && seen.allSatisfy { $0.bytes == nil })
            // It holds for that host and port, and for who asks: others are refused by rule.
            await failure(.tlsSelfSigned) { try await coordinator.send(scene.request("alone")) }
            await failure(.tlsSelfSigned) { try await coordinator.sendFromThread(scene.request("otherAlone")) }
            let first = decisions.asked.withLock { $0.first }
            #expect(first?.host == "127.0.0.1" && first?.port == scene.origin.port("alone"))
            #expect(first?.certificates.count == 1)
        }
    }

    @Test("a name with a dot at its end is the name of its certificate")
    func rooted() async throws {
        let decisions = Trusting { _ in .refuse }
        try await TrustScene.with(adjust: { $0.decisions = decisions }) { scene, coordinator in
            func ask(_ listener: String) -> Request {
                var request = Request(scene.origin.url(listener, host: "one.test."))
                request.options.tls.caFile = scene.authority.root
                request.options.tls.question = .unlessVerified
                request.options.transport.resolve = ["one.test.:\(scene.origin.port(listener)):127.0.0.1"]
                return request
            }
            let response = try await coordinator.send(ask("good"))
            #expect(response.status == 200)
            #expect(decisions.problems.isEmpty)
            await failure(.tlsHostMismatch) { try await coordinator.send(ask("wrong")) }
            #expect(decisions.problems == [.tlsHostMismatch])
        }
    }

    @Test("a program sees the chain as the server sends it, its own certificate first")
    func chain() async throws {
        let decisions = Trusting { _ in .asVerified }
        try await TrustScene.with(adjust: { $0.decisions = decisions }) { scene, coordinator in
            try scene.origin.reset()
            let response = try await coordinator.send(scene.request("chained") { $0.question = .always })
            #expect(response.status == 200)
            let server = try #require(decisions.asked.withLock { $0.first })
            #expect(server.certificates.count == 2 && Set(server.certificates).count == 2 && server.problem == nil)
            #expect(try server.fingerprint == fingerprint(scene.chained.certificate, scene))
        }
    }

    @Test("asked always, a good certificate is asked about once, however many fetches meet it (ULS-CONN-02)")
    func always() async throws {
        let gate = Gate(width: 1)
        await gate.enter()
        let decisions = Trusting { _ in
            await gate.enter()
            gate.leave()
            return .asVerified
        }
        try await TrustScene.with(adjust: { $0.decisions = decisions }) { scene, coordinator in
            try scene.origin.reset()
            let request = scene.request("good") { $0.question = .always }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<10 { group.addTask { try await coordinator.send(request).status } }
                #expect(await eventually { decisions.problems.count == 1 })
                gate.leave()
                for try await status in group { #expect(status == 200) }
            }
            #expect(decisions.problems == [nil])
            #expect(try await coordinator.send(request).status == 200)
            // Who blocks a thread is not asked: the rules hold.
            let unasked = try await coordinator.sendFromThread(scene.request("otherGood") { $0.question = .always })
            #expect(unasked.status == 200)
            await failure(.tlsSelfSigned) {
                try await coordinator.sendFromThread(scene.request("alone") { $0.question = .always })
            }
            #expect(decisions.problems.count == 1)
        }
    }

    /// A fetch of the self-signed certificate's server whose rules have nothing against it.
    private func loose(_ scene: TrustScene) -> Request {
        scene.request("alone") { tls in
            tls.verification = .none
            tls.question = .always
        }
    }

    @Test("what is left to the rules is left to those of each fetch, and not accepted")
    func leftToRules() async throws {
        let decisions = Trusting { _ in .asVerified }
        try await TrustScene.with(adjust: { $0.decisions = decisions }) { scene, coordinator in
            try scene.origin.reset()
            let (loose, full) = (loose(scene), scene.request("alone") { $0.question = .unlessVerified })
            for _ in 0..<2 {
                let status = try await coordinator.send(loose).status
                #expect(status == 200)
            }
            await failure(.tlsSelfSigned) { try await coordinator.send(full) }
            #expect(decisions.problems == [nil, .tlsSelfSigned])
            let seen = try scene.origin.seen()
            #expect(seen.map(\.listener) == ["alone", "alone"])
        }
    }

    @Test("what nobody was asked about is no answer for those who ask")
    func unasked() async throws {
        let decisions = Trusting { _ in .asVerified }
        try await TrustScene.with(adjust: { $0.decisions = decisions }) { scene, coordinator in
            try scene.origin.reset()
            let (loose, good) = (loose(scene), scene.request("good") { $0.question = .always })
            for request in [loose, good] {
                let status = try await coordinator.sendFromThread(request).status
                #expect(status == 200)
            }
            #expect(decisions.problems.isEmpty)
            await failure(.tlsSelfSigned) {
                try await coordinator.send(scene.request("alone") { $0.question = .unlessVerified })
            }
            let status = try await coordinator.send(good).status
            #expect(status == 200 && decisions.problems == [.tlsSelfSigned, nil])
        }
    }

    @Test("what is accepted by rules that have nothing against it is accepted by all")
    func acceptedUnderOthers() async throws {
        let decisions = Trusting { _ in .accept }
        try await TrustScene.with(adjust: { $0.decisions = decisions }) { scene, coordinator in
            try scene.origin.reset()
            for request in [loose(scene), scene.request("alone") { $0.question = .unlessVerified }] {
                let status = try await coordinator.send(request).status
                #expect(status == 200)
            }
            #expect(decisions.problems == [nil])
        }
    }

    @Test("whom servers are trusted by where a program decides is nothing to a proxy, which is checked by rule")
    func proxies() async throws {
        let decisions = Trusting { _ in .accept }
        try await TrustScene.with(adjust: { $0.decisions = decisions }) { scene, coordinator in
            try scene.origin.reset()
            // The proxy's certificate is the authority's, which the request trusts for servers.
            let policy = ProxyPolicy(try Proxy("https://127.0.0.1:\(scene.origin.port("good"))"))
            let data = try #require(scene.directory.content("authority.pem"))
            func ask(_ listener: String, trusting root: String) -> Request {
                var request = scene.request(listener) { tls in
                    tls.caFile = nil
                    tls.caData = data
                    tls.question = .always
                }
                request.options.proxy = policy
                request.options.transport.proxyCAFile = root
                return request
            }
            for listener in ["alone", "clear"] {
                let refused = await failure(.proxy) {
                    try await coordinator.send(ask(listener, trusting: scene.stranger.root))
                }
                #expect(refused?.detail.contains("TLS") == true)
            }
            #expect(try scene.origin.seen().isEmpty)
            #expect(decisions.problems.isEmpty)
            let trusted = try await coordinator.send(ask("clear", trusting: scene.authority.root))
            #expect(trusted.status == 200)
        }
    }

    @Test("without a decision in time the fetch fails, with one that throws, and refusing what is good (ASI-EVT-05)")
    func refusals() async throws {
        let decisions = Trusting { server in
            if server.problem == nil { return .refuse }
            if server.problem?.code == .tlsCertificateDate { throw CancellationError() }
            try? await Task.sleep(for: .seconds(60))
            return .accept
        }
        let adjust: (inout Configuration) -> Void = {
            $0.decisions = decisions
            // The other answers come at once, but a busy machine has them late.
            $0.decisionTimeout = .seconds(3)
        }
        try await TrustScene.with(adjust: adjust) { scene, coordinator in
            try scene.origin.reset()
            let late = await failure(.timeout) {
                try await coordinator.send(scene.request("alone") { $0.question = .unlessVerified })
            }
            #expect(late?.detail.contains("no decision") == true)
            let thrown = await failure(.hookFailed) {
                try await coordinator.send(scene.request("expired") { $0.question = .unlessVerified })
            }
            #expect(thrown?.url == scene.request("expired").url)
            await failure(.tlsUntrusted) { try await coordinator.send(scene.request("good") { $0.question = .always }) }
            #expect(try scene.origin.seen().isEmpty)
        }
    }
}
