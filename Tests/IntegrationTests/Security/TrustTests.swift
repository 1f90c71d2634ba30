import Foundation
import Testing
import Trawl

@Suite(
    "Whom TLS trusts, ASI-TLS-01, 02, 05, 06", .enabled(if: RecordingOrigin.canRun, RecordingOrigin.missing),
    .timeLimit(.minutes(2)))
struct TrustTests {
    @Test("each thing that is wrong with a certificate has an error of its own (ASI-RUN-07)")
    func errors() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            #expect(try await coordinator.send(scene.request("good")).status == 200)
            let cases: [(String, FetchError.Code, Int)] = [
                ("expired", .tlsCertificateDate, -1201), ("future", .tlsNotYetValid, -1204),
                ("wrong", .tlsHostMismatch, -1202), ("unknown", .tlsUntrusted, -1203),
                ("alone", .tlsSelfSigned, -1203),
            ]
            for (listener, code, number) in cases {
                let error = await failure(code) { try await coordinator.send(scene.request(listener)) }
                #expect(error?.urlErrorCode == number && error?.isTLSFailure == true && error?.legacyCode == 1)
            }
            let bad = await failure(.tlsUntrusted) { try await coordinator.send(Request(scene.origin.url("good"))) }
            #expect(bad?.isRetryable == false)
            // Nothing of a request reached any of them.
            #expect(try scene.origin.seen().map(\.listener) == ["good"])
        }
    }

    @Test("verification: all, the chain alone, nothing")
    func levels() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            let chain = scene.request("wrong") { $0.verification = .chainOnly }
            #expect(try await coordinator.send(chain).status == 200)
            for listener in ["unknown", "alone", "expired"] {
                await failure {
                    try await coordinator.send(scene.request(listener) { $0.verification = .chainOnly })
                }
                let any = scene.request(listener) { $0.verification = .none }
                #expect(try await coordinator.send(any).status == 200)
                // What one fetch allows, the next one does not find on a kept connection.
                await failure { try await coordinator.send(scene.request(listener)) }
            }
            await failure(.tlsHostMismatch) { try await coordinator.send(scene.request("wrong")) }
        }
    }

    @Test("what is not checked for the URL's host is checked for the hosts that redirects lead to")
    func unverifiedRedirects() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            func go(_ listener: String) -> Request {
                scene.request("alone", scene.redirect(to: listener)) { $0.verification = .none }
            }
            #expect(try await coordinator.send(go("unknown")).status == 200)
            await failure(.tlsSelfSigned) { try await coordinator.send(go("otherAlone")) }
            #expect(try await coordinator.send(go("otherGood")).status == 200)
            // Nor after a way round by another host.
            let round = scene.redirect(to: "otherGood", scene.redirect(to: "alone"))
            await failure(.tlsSelfSigned) {
                try await coordinator.send(scene.request("alone", round) { $0.verification = .none })
            }
            // Up from http, the host is the same.
            let up = scene.request("clear", scene.redirect(to: "alone")) { $0.verification = .none }
            #expect(try await coordinator.send(up).status == 200)
        }
    }

    @Test("trusted certificates by file, by directory, by data")
    func ownTrust() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            let place = try scene.directory.makeDirectory("trusted")
            try FileManager.default.copyItem(atPath: scene.stranger.root, toPath: place + "/one.pem")
            try TestAuthority.openssl(["rehash", place], scene.directory)
            let data = try #require(scene.directory.content("stranger.pem"))
            for kind in ["file", "directory", "data"] {
                func request(_ listener: String) -> Request {
                    scene.request(listener) { tls in
                        tls.caFile = kind == "file" ? scene.stranger.root : nil
                        tls.caDirectory = kind == "directory" ? place : nil
                        tls.caData = kind == "data" ? data : nil
                    }
                }
                #expect(try await coordinator.send(request("unknown")).status == 200, "\(kind)")
                await failure(.tlsUntrusted) { try await coordinator.send(request("good")) }
            }
        }
    }

    @Test("a file of trusted certificates is read for each connection, so that another in its place counts at once")
    func replacedTrust() async throws {
        try await TrustScene.with(adjust: { $0.workers = 1 }) { scene, coordinator in
            try scene.origin.reset()
            func trust(_ name: String) throws {
                let content = try #require(scene.directory.content(name))
                try scene.directory.put("changing.pem", content)
            }
            func request(_ listener: String) -> Request {
                scene.request(listener) { $0.caFile = scene.directory.file("changing.pem") }
            }
            try trust("authority.pem")
            #expect(try await coordinator.send(request("good")).status == 200)
            try trust("stranger.pem")
            #expect(try await coordinator.send(request("unknown")).status == 200)
            // At another place: with the first server a session could be taken up again.
            await failure(.tlsUntrusted) { try await coordinator.send(request("otherGood")) }
        }
    }

    @Test("public keys that are pinned count at every level of verification")
    func pins() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            func pin(_ pair: TestAuthority.Pair) throws -> String {
                let name = (pair.certificate as NSString).lastPathComponent
                let key = try TestAuthority.openssl(
                    ["x509", "-in", pair.certificate, "-pubkey", "-noout"], scene.directory)
                try scene.directory.put(name + ".pub", Array((key + "\n").utf8))
                try TestAuthority.openssl(
                    ["pkey", "-pubin", "-in", scene.directory.file(name + ".pub"), "-outform", "der"]
                        + ["-out", scene.directory.file(name + ".der")], scene.directory)
                try TestAuthority.openssl(
                    ["dgst", "-sha256", "-binary", "-out", scene.directory.file(name + ".sum")]
                        + [scene.directory.file(name + ".der")], scene.directory)
                return Data(try #require(scene.directory.content(name + ".sum"))).base64EncodedString()
            }
            let good = try pin((scene.directory.file("good.pem"), ""))
            let alone = try pin(scene.selfSigned)
            #expect(try await coordinator.send(scene.request("good") { $0.pins = [alone, good] }).status == 200)
            let wrong = await failure(.tlsPin) {
                try await coordinator.send(scene.request("good") { $0.pins = [alone] })
            }
            #expect(wrong?.urlErrorCode == -1202 && wrong?.cause == .curl(90))
            // It is no trust of its own, and holds without any other.
            await failure(.tlsSelfSigned) { try await coordinator.send(scene.request("alone") { $0.pins = [alone] }) }
            let unchecked = scene.request("alone") { tls in
                tls.verification = .none
                tls.pins = [alone]
            }
            #expect(try await coordinator.send(unchecked).status == 200)
            await failure(.tlsPin) {
                try await coordinator.send(
                    scene.request("unknown") { tls in
                        tls.verification = .none
                        tls.pins = [alone]
                    })
            }
            let file = scene.request("good") { $0.pinFile = scene.directory.file("good.pem.pub") }
            #expect(try await coordinator.send(file).status == 200)
            await failure(.badRequest) { try await coordinator.send(scene.request("good") { $0.pins = ["short"] }) }
        }
    }

    @Test("ciphers are chosen, up to TLS 1.2 and from 1.3 on")
    func ciphers() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            let fine = scene.request("good") { tls in
                tls.maximum = .tls1_2
                tls.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384"
            }
            #expect(try await coordinator.send(fine).status == 200)
            await failure(.tls) {
                try await coordinator.send(
                    scene.request("good") { tls in
                        tls.maximum = .tls1_2
                        tls.ciphers = "ECDHE-RSA-AES256-GCM-SHA384"
                    })
            }
            let newest = scene.request("good") { $0.ciphers13 = "TLS_CHACHA20_POLY1305_SHA256" }
            #expect(try await coordinator.send(newest).status == 200)
        }
    }

    @Test("what came from whom one caller trusts is no answer for another")
    func cache() async throws {
        let store = try TemporaryDirectory()
        try await TrustScene.with(adjust: { $0.store = .directory(store.file("store")) }) { scene, coordinator in
            try scene.origin.reset()
            let copy = scene.directory.file("copy.pem")
            try FileManager.default.copyItem(atPath: scene.authority.root, toPath: copy)
            let target = "/page?cache=max-age=600"
            func source(_ adjust: (inout RequestOptions.TLS) -> Void = { _ in }) async throws -> Response.Source {
                try await coordinator.send(scene.request("good", target, adjust)).source
            }
            #expect(try await source() == .network)
            #expect(try await source() == .cache)
            #expect(try await source { $0.caFile = copy } == .network)
            #expect(try await source { $0.caFile = copy } == .cache)
            #expect(try await source() == .cache)
            await failure(.tlsUntrusted) { try await coordinator.send(Request(scene.origin.url("good", target))) }
            // What is not verified is not stored at all.
            let other = "/other?cache=max-age=600"
            for _ in 0..<2 {
                let loose = scene.request("good", other) { $0.verification = .none }
                #expect(try await coordinator.send(loose).source == .network)
            }
            #expect(try await coordinator.send(scene.request("good", other)).source == .network)
        }
    }
}
