import Foundation
import Testing
import Trawl

@Suite(
    "Hosts that take secure transport only, RFC 6797", .enabled(if: RecordingOrigin.canRun, RecordingOrigin.missing),
    .timeLimit(.minutes(2)))
struct SecureHostTests {
    /// A request for `one.test` at a listener, which the scene's certificates name.
    private func request(_ scene: TrustScene, _ listener: String, _ target: String = "/", scheme: String? = nil)
        -> Request
    {
        var request = scene.request(listener, target)
        request.url = scene.origin.url(listener, target, host: "one.test")
        if let scheme { request.url = scheme + request.url.drop { $0 != ":" } }
        let port = scene.origin.port(listener)
        request.options.transport.resolve = ["one.test:\(port):127.0.0.1"]
        return request
    }

    private let hsts = "/?hsts=max-age%3D600"

    @Test("what a host asked for over verified TLS holds for its later URLs, and a redirect's too")
    func upgrade() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            let clear = request(scene, "good", scheme: "http")
            await failure { try await coordinator.send(clear) }
            _ = try await coordinator.send(request(scene, "good", hsts))
            #expect(coordinator.secureHosts.map(\.name) == ["one.test"])
            let secured = try await coordinator.send(clear)
            #expect(secured.status == 200 && secured.url.hasPrefix("https://one.test:"))
            #expect(secured.originalURL == clear.url)
            // Credentials of the URL's own go along: nothing has been sent in clear, and the host is the same.
            var own = clear
            own.fields.add("Authorization", "Bearer own")
            _ = try await coordinator.send(own)
            #expect(try scene.origin.seen().last?.values("authorization") == ["Bearer own"])
            // A redirect from https to http would be refused; it leads to https.
            let location = clear.url.percentEncoded
            let redirected = try await coordinator.send(request(scene, "good", "/go?status=302&to=" + location))
            #expect(redirected.url.hasPrefix("https://one.test:") && redirected.redirects.count == 1)
            // The port stays, also when nobody speaks TLS there: no way back to http.
            let other = request(scene, "clear")
            await failure(.tls) { try await coordinator.send(other) }
            // Other hosts are not meant.
            #expect(try await coordinator.send(scene.request("clear")).status == 200)
            #expect(coordinator.forgetSecureHost("ONE.test"))
            #expect(try await coordinator.send(other).status == 200)
        }
    }

    @Test("user and password of the URL stay, §8.3; those of a redirect are nobody's")
    func userInformation() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            _ = try await coordinator.send(request(scene, "good", hsts))
            var named = request(scene, "good", "/?challenge=Basic%20realm%3Dr", scheme: "http")
            named.url = named.url.replacingOccurrences(of: "//", with: "//me:pw@")
            let redirected = try await coordinator.send(
                request(scene, "good", "/go?status=302&to=" + named.url.percentEncoded))
            #expect(redirected.status == 401 && redirected.url.hasPrefix("https://one.test:"))
            let response = try await coordinator.send(named)
            #expect(response.status == 200 && response.url.hasPrefix("https://one.test:"))
            #expect(try scene.origin.seen().last?.values("authorization") == ["Basic bWU6cHc="])
        }
    }

    @Test("it is not believed in clear, from an address, without verification; max-age=0 ends it")
    func notBelieved() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            _ = try await coordinator.send(request(scene, "clear", hsts))
            _ = try await coordinator.send(scene.request("good", hsts))
            var loose = request(scene, "alone", hsts)
            loose.options.tls.verification = .none
            _ = try await coordinator.send(loose)
            loose.options.tls.verification = .chainOnly
            await failure { try await coordinator.send(loose) }
            #expect(coordinator.secureHosts.isEmpty)
            _ = try await coordinator.send(request(scene, "good", hsts + "%3BincludeSubDomains"))
            #expect(coordinator.secureHosts.map(\.includesSubdomains) == [true])
            _ = try await coordinator.send(request(scene, "good", "/?hsts=max-age%3D0"))
            #expect(coordinator.secureHosts.isEmpty)
        }
    }

    @Test("nobody can be talked into a bad certificate of such a host, §12.1")
    func strict() async throws {
        try await TrustScene.with { scene, coordinator in
            var loose = request(scene, "alone")
            loose.options.tls.verification = .none
            #expect(try await coordinator.send(loose).status == 200)
            _ = try await coordinator.send(request(scene, "good", hsts))
            await failure(.tlsSelfSigned) { try await coordinator.send(loose) }
        }
    }

    @Test("it can be switched off")
    func off() async throws {
        try await TrustScene.with(adjust: { $0.usesHSTS = false }) { scene, coordinator in
            _ = try await coordinator.send(request(scene, "good", hsts))
            #expect(coordinator.secureHosts.isEmpty)
            #expect(try await coordinator.send(request(scene, "clear")).status == 200)
        }
    }

    /// A request for `one.test` at the ports of the schemes: in clear it is answered by `clear`, else by `good`.
    private func requestByScheme(_ scene: TrustScene, _ url: String) -> Request {
        var request = scene.request("clear")
        request.url = url
        request.options.transport.connectTo = [
            "one.test:80:127.0.0.1:\(scene.origin.port("clear"))",
            "one.test:443:127.0.0.1:\(scene.origin.port("good"))",
        ]
        return request
    }

    /// A target that leads to where `one.test` asks for secure transport, and says that it is busy.
    private var toBusy: String {
        "/go?status=302&to=" + "https://one.test/?status=503&hsts=max-age%3D600".percentEncoded
    }

    @Test("an attempt that is made again does not go back to http")
    func retried() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            var request = requestByScheme(scene, "http://one.test" + toBusy)
            request.fields.add("Authorization", "Bearer own")
            request.options.retry = .init(1)
            request.options.retry.delay = .milliseconds(20)
            let response = try await coordinator.send(request)
            #expect(response.status == 503 && response.retryCount == 1)
            let seen = try scene.origin.seen()
            #expect(seen.map(\.listener) == ["clear", "good", "good", "good"])
            // It is no redirect of its own: what was for the first hop goes along.
            #expect(seen.map { $0.values("authorization") } == [["Bearer own"], [], ["Bearer own"], ["Bearer own"]])
        }
    }

    @Test("an attempt that would go by https is given up at once where its host is left alone for too long")
    func retriedTooLate() async throws {
        var circuit = HostPoliteness.Circuit()
        circuit.failuresInRow = 1
        circuit.firstPause = .seconds(600)
        try await TrustScene.with(adjust: { $0.politeness.circuit = circuit }) { scene, coordinator in
            try scene.origin.reset()
            var request = requestByScheme(scene, "http://one.test" + toBusy)
            request.options.retry = .init(1)
            request.options.retry.delay = .milliseconds(20)
            request.options.retry.longestTime = .seconds(60)
            let fetch = coordinator.start(request)
            var retries = 0
            for await event in fetch.events { if case .retrying = event { retries += 1 } }
            await failure(.timeout) { try await fetch.response }
            let listeners = try scene.origin.seen().map(\.listener)
            #expect(retries == 0 && listeners == ["clear", "good"])
        }
    }

    @Test("credentials of a request go along when its next attempt goes by https")
    func retriedWithCredentials() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            var request = requestByScheme(scene, "http://one.test" + toBusy + "&challenge=Basic%20realm%3Dr")
            request.options.authentication.credential = Credential(user: "me", password: "pw")
            request.options.authentication.allowsClearText = true
            request.options.retry = .init(1)
            request.options.retry.delay = .milliseconds(20)
            let response = try await coordinator.send(request)
            #expect(response.status == 503 && response.retryCount == 1)
            let seen = try scene.origin.seen().filter { $0.target?.hasPrefix("/go") == true }
            #expect(seen.map(\.listener) == ["clear", "clear", "good", "good"])
            #expect(seen.map { $0.values("authorization").isEmpty } == [true, false, true, false])
        }
    }

    @Test("what waits for its turn goes by https when its host has asked for that meanwhile")
    func waiting() async throws {
        try await TrustScene.with(adjust: { $0.connectionsPerHost = 1 }) { scene, coordinator in
            try scene.origin.reset()
            let first = coordinator.start(requestByScheme(scene, "http://one.test/?hold"))
            #expect(await eventually { (try? scene.origin.seen().count) == 1 })
            var second = requestByScheme(scene, "http://one.test/second")
            second.fields.add("Authorization", "Bearer own")
            let later = coordinator.start(second)
            _ = try await coordinator.send(requestByScheme(scene, "https://one.test" + hsts))
            try scene.origin.release()
            let status = try await first.response.status
            let response = try await later.response
            #expect(status == 200 && response.status == 200 && response.url == "https://one.test/second")
            #expect(response.originalURL == "http://one.test/second")
            let seen = try scene.origin.seen()
            #expect(seen.map(\.listener) == ["clear", "good", "good"])
            #expect(seen.last?.values("authorization") == ["Bearer own"])
        }
    }

    @Test(
        "who waits for its turn, or tries again, is talked into no bad certificate of a host that asks meanwhile",
        arguments: [0, 1])
    func waitingUnverified(retries: Int) async throws {
        try await TrustScene.with(adjust: { $0.connectionsPerHost = 1 }) { scene, coordinator in
            try scene.origin.reset()
            func loose(_ target: String) -> Request {
                var unverified = request(scene, "alone", target)
                unverified.options.tls.verification = .none
                unverified.options.retry = .init(retries)
                unverified.options.retry.delay = .milliseconds(20)
                unverified.options.retry.retriesAllErrors = true
                return unverified
            }
            let first = coordinator.start(loose("/?hold"))
            #expect(await eventually { (try? scene.origin.seen().count) == 1 })
            let later = coordinator.start(loose("/second"))
            _ = try await coordinator.send(request(scene, "good", hsts))
            try scene.origin.release()
            let status = try await first.response.status
            #expect(status == 200)
            await failure(.tlsSelfSigned) { try await later.response }
            let seen = try scene.origin.seen()
            #expect(seen.map(\.listener) == ["alone", "good"])
        }
    }

    @Test("what may not go by https fails, and does not go out in clear")
    func waitingInVain() async throws {
        try await TrustScene.with(adjust: { $0.connectionsPerHost = 1 }) { scene, coordinator in
            try scene.origin.reset()
            let first = coordinator.start(requestByScheme(scene, "http://one.test/?hold"))
            #expect(await eventually { (try? scene.origin.seen().count) == 1 })
            var second = requestByScheme(scene, "http://one.test/second")
            second.options.transport.allowsHTTPS = false
            let later = coordinator.start(second)
            _ = try await coordinator.send(requestByScheme(scene, "https://one.test" + hsts))
            try scene.origin.release()
            let status = try await first.response.status
            #expect(status == 200)
            await failure(.unsupportedURL) { try await later.response }
            let seen = try scene.origin.seen()
            #expect(seen.map(\.listener) == ["clear", "good"])
        }
    }

    @Test("what a 304 says counts, and not once more what is stored, §8.1")
    func validated() async throws {
        let store = try TemporaryDirectory()
        try await TrustScene.with(adjust: { $0.store = .directory(store.file("store")) }) { scene, coordinator in
            func twice(_ target: String, _ between: () -> Void = {}) async throws {
                let request = request(scene, "good", target)
                #expect(try await coordinator.send(request).source == .network)
                between()
                #expect(try await coordinator.send(request).source == .revalidated)
            }
            let tagged = "&cache=no-cache&etag=%22one%22"
            try await twice("/?stored" + tagged + "&hsts=max-age%3D600") {
                #expect(coordinator.forgetSecureHost("one.test"))
            }
            #expect(coordinator.secureHosts.isEmpty)
            try await twice("/?said" + tagged + "&hsts304=max-age%3D600")
            #expect(coordinator.secureHosts.map(\.name) == ["one.test"])
        }
    }

    @Test("all that use a store know them, at once and later")
    func shared() async throws {
        let store = try TemporaryDirectory()
        try await TrustScene.with(adjust: { $0.store = .directory(store.file("store")) }) { scene, coordinator in
            let clear = request(scene, "clear")
            try await withTestCoordinator(adjust: { $0.store = .directory(store.file("store")) }) { other in
                #expect(try await other.send(clear).status == 200)
                _ = try await coordinator.send(request(scene, "good", hsts))
                #expect(await eventually { other.secureHosts.map(\.name) == ["one.test"] })
                await failure(.tls) { try await other.send(clear) }
                #expect(other.forgetSecureHost("one.test"))
                #expect(await eventually { coordinator.secureHosts.isEmpty })
                _ = try await coordinator.send(request(scene, "good", hsts))
            }
            await coordinator.shutdown()
            let place = "one.test:\(scene.origin.port("clear")):127.0.0.1"
            let arguments = ["get", "--store", store.file("store"), "--resolve", place, clear.url]
            #expect(try CommandRun(arguments).status == 35)
            #expect(try CommandRun(arguments + ["--no-hsts"]).status == 0)
        }
    }

    @Test("the command keeps them in a file as curl does, and reads them again")
    func file() async throws {
        try await TrustScene.with { scene, _ in
            let file = scene.directory.file("hosts")
            let (good, clear) = (scene.origin.port("good"), scene.origin.port("clear"))
            let common = ["--cacert", scene.authority.root, "--hsts", file]
            let places = ["--resolve", "one.test:\(good):127.0.0.1", "--resolve", "one.test:\(clear):127.0.0.1"]
            let first = try CommandRun(["get"] + common + places + ["https://one.test:\(good)\(hsts)"])
            #expect(first.status == 0, "\(first.errors)")
            let text = String(decoding: scene.directory.content("hosts") ?? [], as: UTF8.self)
            #expect(text.contains("\none.test \"20"), "\(text)")
            let secured = try CommandRun(["get"] + common + places + ["http://one.test:\(good)/"])
            #expect(secured.status == 0 && secured.text == "good 200", "\(secured.errors)")
            #expect(try CommandRun(["get"] + common + places + ["http://one.test:\(clear)/"]).status == 35)
            let off = try CommandRun(["get", "--no-hsts"] + common + places + ["http://one.test:\(clear)/"])
            #expect(off.status == 0 && off.text == "clear 200")
        }
    }
}
