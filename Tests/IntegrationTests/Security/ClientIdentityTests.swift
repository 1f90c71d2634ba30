import Foundation
import Testing
import Trawl

/// A program that chooses client certificates as a test says.
private struct Identifying: FetchDecisions {
    let asked = Locked([IdentityQuestion]())
    let answer: @Sendable (IdentityQuestion) async throws -> ClientIdentity?

    init(_ answer: @escaping @Sendable (IdentityQuestion) async throws -> ClientIdentity?) { self.answer = answer }

    func identity(for server: IdentityQuestion) async throws -> ClientIdentity? {
        asked.withLock { $0.append(server) }
        return try await answer(server)
    }

    var ports: [Int] { asked.withLock { $0.map(\.port) } }
}

@Suite(
    "Client certificates, ASI-TLS-03, ULS-AUTH-09", .enabled(if: RecordingOrigin.canRun, RecordingOrigin.missing),
    .timeLimit(.minutes(2)))
struct ClientIdentityTests {
    /// The member's certificate in all forms, and each with its passphrase.
    private func identities(_ scene: TrustScene) throws -> [String: ClientIdentity] {
        let directory = scene.directory
        func file(_ name: String) -> String { directory.file(name) }
        func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
        let (certificate, key) = scene.member
        try directory.put("both.pem", try bytes(key) + bytes(certificate))
        try TestAuthority.openssl(
            ["pkey", "-in", key, "-aes256", "-passout", "pass:sesame", "-out", file("locked.pem")], directory)
        try TestAuthority.openssl(
            ["pkcs12", "-export", "-in", certificate, "-inkey", key, "-passout", "pass:sesame", "-out", file("m.p12")],
            directory)
        try TestAuthority.openssl(
            ["x509", "-in", certificate, "-outform", "der", "-out", file("member.der")], directory)
        try TestAuthority.openssl(["pkey", "-in", key, "-outform", "der", "-out", file("key.der")], directory)
        var der = ClientIdentity(file: file("member.der"), format: .der, key: file("key.der"))
        der.keyFormat = .der
        return [
            "two files": ClientIdentity(file: certificate, key: key),
            "one file": ClientIdentity(file: file("both.pem")),
            "locked key": ClientIdentity(file: certificate, key: file("locked.pem"), passphrase: "sesame"),
            "PKCS#12": ClientIdentity(file: file("m.p12"), format: .pkcs12, passphrase: "sesame"),
            "DER": der,
            "data": ClientIdentity(data: try bytes(certificate), key: try bytes(key)),
            "data in one": ClientIdentity(data: try bytes(file("both.pem"))),
            "locked data": ClientIdentity(
                data: try bytes(certificate), key: try bytes(file("locked.pem")), passphrase: "sesame"),
            "PKCS#12 data": ClientIdentity(data: try bytes(file("m.p12")), format: .pkcs12, passphrase: "sesame"),
        ]
    }

    @Test("certificates in every form, from files and memory, with and without a passphrase")
    func forms() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            for (form, identity) in try identities(scene) {
                try scene.origin.reset()
                let response = try await coordinator.send(scene.request("members") { $0.identity = identity })
                #expect(response.status == 200, "\(form)")
                #expect(try scene.members("members") == ["member"], "\(form)")
            }
        }
    }

    @Test("a certificate is shown with its chain: of a PEM file, of PEM in memory, and of PKCS#12")
    func chains() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            let directory = scene.directory
            func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
            let below = try scene.between.issue("below", subjects: "DNS:below")
            let chain = try TrustScene.chain(below, scene.between, in: directory)
            let packed = directory.file("below.p12")
            try TestAuthority.openssl(
                ["pkcs12", "-export", "-in", below.certificate, "-inkey", below.key, "-certfile", scene.between.root]
                    + ["-passout", "pass:sesame", "-out", packed], directory)
            // Servers know the root alone.
            await failure(.tlsClientCertificate) {
                try await coordinator.send(
                    scene.request("members") {
                        $0.identity = ClientIdentity(file: below.certificate, key: below.key)
                    })
            }
            #expect(try scene.members("members").isEmpty)
            for (form, identity) in [
                "PEM": ClientIdentity(file: chain.certificate, key: chain.key),
                "PEM data": ClientIdentity(data: try bytes(chain.certificate), key: try bytes(chain.key)),
                "PKCS#12": ClientIdentity(file: packed, format: .pkcs12, passphrase: "sesame"),
                "PKCS#12 data": ClientIdentity(data: try bytes(packed), format: .pkcs12, passphrase: "sesame"),
            ] {
                try scene.origin.reset()
                let response = try await coordinator.send(scene.request("members") { $0.identity = identity })
                #expect(response.status == 200, "\(form)")
                #expect(try scene.members("members") == ["below"], "\(form)")
            }
        }
    }

    @Test("a wrong passphrase, none, and what is no certificate: an error, and nobody is asked at a terminal")
    func unusable() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            let all = try identities(scene)
            for form in ["locked key", "PKCS#12", "locked data", "PKCS#12 data"] {
                for passphrase in [nil, "wrong"] as [String?] {
                    var identity = try #require(all[form])
                    identity.passphrase = passphrase
                    let error = await failure(.tlsClientCertificate) {
                        try await coordinator.send(scene.request("members") { $0.identity = identity })
                    }
                    #expect(error?.urlErrorCode == -1205 && error?.detail.contains("wrong") != true, "\(form)")
                    #expect(error?.detail.contains("pass") == true, "\(form): \(error?.detail ?? "")")
                }
            }
            try scene.directory.put("broken.p12", ReferenceBytes.bytes(2000, seed: 3))
            for identity in [
                ClientIdentity(file: scene.directory.file("broken.p12"), format: .pkcs12, passphrase: "x"),
                ClientIdentity(file: scene.directory.file("broken.p12"), key: scene.member.key),
                ClientIdentity(file: "/no/such/file"), ClientIdentity(data: [1, 2, 3], format: .der),
                ClientIdentity(file: scene.member.certificate, key: scene.outsider.key),
            ] {
                await failure(.tlsClientCertificate) {
                    try await coordinator.send(scene.request("members") { $0.identity = identity })
                }
            }
            #expect(try scene.origin.seen().isEmpty)
        }
    }

    @Test("a server that wants a certificate, and one that refuses ours, say so", arguments: ["members", "members12"])
    func wanted(listener: String) async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            let outsider = ClientIdentity(file: scene.outsider.certificate, key: scene.outsider.key)
            let refused = await failure(.tlsClientCertificate) {
                try await coordinator.send(scene.request(listener) { $0.identity = outsider })
            }
            #expect(refused?.urlErrorCode == -1205)
            let missing = await failure { try await coordinator.send(scene.request(listener)) }
            // TLS 1.2 has no word for it: a handshake failure is all there is.
            #expect(
                missing?.code == (listener == "members" ? .tlsClientCertificateRequired : .tls), "\(missing as Any)")
            #expect(missing?.urlErrorCode == (listener == "members" ? -1206 : -1200))
        }
    }

    @Test("no connection is shared by different identities, keys or passphrases", arguments: Engine.allCases)
    func connections(engine: Engine) async throws {
        try await TrustScene.with(adjust: { $0.workers = engine == .workers ? 1 : 0 }) { scene, coordinator in
            try scene.origin.reset()
            let other = try scene.authority.issue("second", subjects: "DNS:second")
            let all = try identities(scene)
            let member = try #require(all["two files"])
            let second = ClientIdentity(file: other.certificate, key: other.key)
            for identity in [member, nil, second, member, nil, second] {
                _ = try await coordinator.send(scene.request("asking") { $0.identity = identity })
            }
            #expect(try scene.members("asking") == ["member", nil, "second", "member", nil, "second"])
            // libcurl does not look at the key when it looks for a connection with this certificate.
            await failure(.tlsClientCertificate) {
                try await coordinator.send(
                    scene.request("asking") {
                        $0.identity = ClientIdentity(file: scene.member.certificate, key: scene.outsider.key)
                    })
            }
            let locked = try #require(all["locked key"])
            _ = try await coordinator.send(scene.request("asking") { $0.identity = locked })
            var wrong = locked
            wrong.passphrase = "wrong"
            await failure(.tlsClientCertificate) {
                try await coordinator.send(scene.request("asking") { $0.identity = wrong })
            }
            #expect(try scene.members("asking").count == 7)
            // Those that are the same do share.
            try scene.origin.reset()
            for _ in 0..<3 { _ = try await coordinator.send(scene.request("asking") { $0.identity = member }) }
            #expect(Set(try scene.origin.seen().map(\.connection)).count == 1)
        }
    }

    @Test("a certificate stays at the origin it was given for, and does not come back", arguments: [302, 307])
    func redirects(status: Int) async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            let member = ClientIdentity(file: scene.member.certificate, key: scene.member.key)
            func go(_ listener: String, _ target: String = "/") -> Request {
                scene.request("asking", scene.redirect(to: listener, target, status: status)) { $0.identity = member }
            }
            _ = try await coordinator.send(go("asking"))
            #expect(try scene.members("asking") == ["member", "member"])
            try scene.origin.reset()
            _ = try await coordinator.send(go("otherAsking"))
            #expect(try scene.members("otherAsking") == [nil])
            try scene.origin.reset()
            _ = try await coordinator.send(go("otherAsking", scene.redirect(to: "asking", status: status)))
            #expect(try scene.members("asking") == ["member", nil])
            // Nor does it wait in http for an https to come.
            try scene.origin.reset()
            let up = scene.request("clear", scene.redirect(to: "asking", status: status)) { $0.identity = member }
            _ = try await coordinator.send(up)
            #expect(try scene.members("asking") == [nil])
        }
    }

    @Test("certificates by host are for every hop that goes there, and no other")
    func byHost() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            let other = try scene.authority.issue("second", subjects: "DNS:second")
            let table = [
                "127.0.0.1": ClientIdentity(file: scene.member.certificate, key: scene.member.key),
                "127.0.0.2:\(scene.origin.port("otherAsking"))": ClientIdentity(
                    file: other.certificate, key: other.key),
            ]
            let target = scene.redirect(to: "otherAsking", scene.redirect(to: "asking"))
            _ = try await coordinator.send(scene.request("asking", target) { $0.identities = table })
            #expect(try scene.members("asking") == ["member", "member"])
            #expect(try scene.members("otherAsking") == ["second"])
        }
    }

    @Test("a program chooses for each origin, once, and what it chose goes nowhere else", arguments: Engine.allCases)
    func byDecision(engine: Engine) async throws {
        let chosen = Locked([Int: ClientIdentity]())
        let decisions = Identifying { server in chosen.withLock { $0[server.port] } }
        let adjust: (inout Configuration) -> Void = {
            $0.workers = engine == .workers ? 1 : 0
            $0.decisions = decisions
        }
        try await TrustScene.with(adjust: adjust) { scene, coordinator in
            try scene.origin.reset()
            let other = try scene.authority.issue("second", subjects: "DNS:second")
            let second = ClientIdentity(file: other.certificate, key: other.key)
            let (asking, askingToo) = (scene.origin.port("asking"), scene.origin.port("askingToo"))
            let member = ClientIdentity(file: scene.member.certificate, key: scene.member.key)
            chosen.withLock { $0 = [asking: member, askingToo: second] }
            func ask(_ listener: String, _ target: String = "/") -> Request {
                scene.request(listener, target) { $0.asksForIdentity = true }
            }
            let back = scene.redirect(to: "askingToo", scene.redirect(to: "asking"))
            _ = try await coordinator.send(ask("asking", scene.redirect(to: "otherAsking", back)))
            #expect(try scene.members("asking") == ["member", "member"])
            #expect(try scene.members("otherAsking") == [nil])
            #expect(try scene.members("askingToo") == ["second"])
            #expect(decisions.ports == [asking, scene.origin.port("otherAsking"), askingToo])
            #expect(decisions.asked.withLock { $0.map(\.host) } == ["127.0.0.1", "127.0.0.2", "127.0.0.1"])
            // It is for who has the option, over https, and says nothing else.
            try scene.origin.reset()
            _ = try await coordinator.send(scene.request("asking"))
            _ = try await coordinator.send(
                scene.request("asking") {
                    $0.asksForIdentity = true
                    $0.identity = second
                })
            _ = try await coordinator.send(
                scene.request("asking") {
                    $0.asksForIdentity = true
                    $0.identities = ["127.0.0.1": second]
                })
            _ = try await coordinator.send(ask("asking"))
            _ = try await coordinator.send(ask("clear"))
            #expect(try scene.members("asking") == [nil, "second", "second", "member"])
            #expect(decisions.ports.count == 3)
        }
    }

    @Test("of many fetches one asks which certificate to show; who blocks a thread asks nobody")
    func oneQuestion() async throws {
        let gate = Gate(width: 0)
        let chosen = Locked<ClientIdentity?>(nil)
        let decisions = Identifying { _ in
            await gate.enter()
            return chosen.withLock { $0 }
        }
        try await TrustScene.with(adjust: { $0.decisions = decisions }) { scene, coordinator in
            try scene.origin.reset()
            chosen.withLock { $0 = ClientIdentity(file: scene.member.certificate, key: scene.member.key) }
            let request = scene.request("asking") { $0.asksForIdentity = true }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<10 { group.addTask { try await coordinator.send(request).status } }
                #expect(await eventually { decisions.ports.count == 1 })
                gate.leave()
                for try await status in group { #expect(status == 200) }
            }
            #expect(decisions.ports.count == 1)
            #expect(try await coordinator.sendFromThread(request).status == 200)
            #expect(try scene.members("asking") == Array(repeating: "member", count: 11))
            let unasked = scene.request("askingToo") { $0.asksForIdentity = true }
            #expect(try await coordinator.sendFromThread(unasked).status == 200)
            #expect(try scene.members("askingToo") == [nil])
            #expect(decisions.ports.count == 1)
        }
    }

    @Test("a program that throws, or chooses too late, fails the fetch; what a server refuses is asked about again")
    func decisionFailures() async throws {
        typealias Answer = @Sendable (_ time: Int) async throws -> ClientIdentity?
        let answers = Locked<[Int: Answer]>([:])
        let counts = Locked<[Int: Int]>([:])
        let decisions = Identifying { server in
            let time = counts.withLock { counts in
                counts[server.port, default: 0] += 1
                return counts[server.port, default: 0]
            }
            let answer = answers.withLock { $0[server.port] }
            return try await answer?(time)
        }
        let adjust: (inout Configuration) -> Void = {
            $0.decisions = decisions
            $0.decisionTimeout = .seconds(4)
        }
        try await TrustScene.with(adjust: adjust) { scene, coordinator in
            try scene.origin.reset()
            let member = ClientIdentity(file: scene.member.certificate, key: scene.member.key)
            answers.withLock {
                $0[scene.origin.port("asking")] = { _ in throw CancellationError() }
                $0[scene.origin.port("askingToo")] = { _ in
                    try await Task.sleep(for: .seconds(60))
                    return nil
                }
                $0[scene.origin.port("otherAsking")] = { $0 == 1 ? ClientIdentity(file: "/no/such/file") : member }
                $0[scene.origin.port("members")] = { $0 == 1 ? nil : member }
            }
            func ask(_ listener: String) -> Request { scene.request(listener) { $0.asksForIdentity = true } }
            let thrown = await failure(.hookFailed) { try await coordinator.send(ask("asking")) }
            #expect(thrown?.url == scene.request("asking").url)
            let late = await failure(.timeout) { try await coordinator.send(ask("askingToo")) }
            #expect(late?.detail.contains("no decision about the client certificate") == true)
            #expect(try scene.origin.seen().isEmpty)
            await failure(.tlsClientCertificate) { try await coordinator.send(ask("otherAsking")) }
            await failure(.tlsClientCertificateRequired) { try await coordinator.send(ask("members")) }
            for listener in ["otherAsking", "members"] {
                for _ in 0..<2 { #expect(try await coordinator.send(ask(listener)).status == 200) }
                #expect(try scene.members(listener) == ["member", "member"])
                #expect(decisions.ports.filter { $0 == scene.origin.port(listener) }.count == 2)
            }
        }
    }

    @Test("passphrases and keys in memory show nowhere")
    func secrets() async throws {
        let secret = "planted-passphrase"
        var request = Request("https://127.0.0.1/")
        request.options.tls.identity = ClientIdentity(file: "/a.pem", key: "/b.pem", passphrase: secret)
        var text = "\(request) \(String(reflecting: request))"
        dump(request, to: &text)
        text += String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
        #expect(!text.contains(secret) && text.contains("a.pem"))
        let decoded = try JSONDecoder().decode(Request.self, from: try JSONEncoder().encode(request))
        #expect(decoded.options.tls.identity?.keyFile == "/b.pem" && decoded.options.tls.identity?.passphrase == nil)
        request.options.tls.identity = ClientIdentity(data: Array(secret.utf8), key: Array(secret.utf8))
        var other = "\(request) \(String(reflecting: request))"
        dump(request, to: &other)
        #expect(!other.contains(secret) && !other.contains("112, 108, 97"))
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(request) }
    }
}
