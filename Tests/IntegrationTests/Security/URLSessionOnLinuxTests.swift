import Foundation
import Testing
import Trawl

/// What Foundation's URLSession is known to get wrong on Linux, a test each that it is right here. Details are in the
/// suites of each subject.
@Suite(
    "What URLSession on Linux gets wrong", .enabled(if: RecordingOrigin.canRun, RecordingOrigin.missing),
    .timeLimit(.minutes(2)))
struct URLSessionOnLinuxTests {
    private func withStore(_ body: (TrustScene, Coordinator) async throws -> Void) async throws {
        let store = try TemporaryDirectory()
        try await TrustScene.with(adjust: { $0.store = .directory(store.file("store")) }, body)
    }

    @Test("responses are cached, and cache policies count")
    func cachePolicies() async throws {
        try await withStore { scene, coordinator in
            let url = scene.origin.url("clear", "/page?cache=max-age%3D600")
            let first = try await coordinator.get(url)
            let second = try await coordinator.get(url)
            let anew = try await coordinator.get(url, .doNotRead)
            #expect([first, second, anew].map(\.source) == [.network, .cache, .network])
        }
    }

    @Test("the cache knows queries and schemes apart")
    func cacheKeys() async throws {
        try await withStore { scene, coordinator in
            let one = try await coordinator.get(scene.origin.url("clear", "/p?cache=max-age%3D600&body=one"))
            let two = try await coordinator.get(scene.origin.url("clear", "/p?cache=max-age%3D600&body=two"))
            #expect([one, two].map(\.bodyText) == ["one", "two"])
            let port = scene.origin.port("good")
            func request(_ scheme: String, _ listener: String) -> Request {
                var request = scene.request(listener, "/p?cache=max-age%3D600")
                request.url = "\(scheme)://one.test:\(port)/p?cache=max-age%3D600"
                request.options.transport.connectTo = [
                    "one.test:\(port):127.0.0.1:\(scene.origin.port(listener))"
                ]
                return request
            }
            #expect(try await coordinator.send(request("https", "good")).bodyText == "good 200")
            #expect(try await coordinator.send(request("http", "clear")).bodyText == "clear 200")
            #expect(try await coordinator.send(request("https", "good")).source == .cache)
        }
    }

    @Test("cookies keep to their path, to secure connections, and to their time")
    func cookies() async throws {
        try await withStore { scene, coordinator in
            func get(_ listener: String, _ target: String) async throws {
                var request = scene.request(listener, target)
                request.url = scene.origin.url(listener, target, host: "one.test")
                request.options.transport.resolve = ["one.test:\(scene.origin.port(listener)):127.0.0.1"]
                _ = try await coordinator.send(request)
            }
            for cookie in ["a=1; Path=/in", "b=1; Secure", "c=1; Max-Age=600", "d=1; Max-Age=0", "e=1; Max-Age=-5"] {
                try await get("good", "/set?cookie=" + cookie.percentEncoded)
            }
            try scene.origin.reset()
            try await get("good", "/in/side")
            try await get("good", "/out")
            try await get("clear", "/out")
            let sent = try scene.origin.seen().map {
                $0.values("cookie").joined().components(separatedBy: "; ").sorted()
            }
            #expect(sent == [["a=1", "b=1", "c=1"], ["b=1", "c=1"], ["c=1"]])
        }
    }

    @Test("a relative Location is resolved against the URL, and not against the root")
    func relativeLocation() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            let target = "/a/b/go?status=302&to=" + "../c?x".percentEncoded
            let response = try await coordinator.send(Request(scene.origin.url("clear", target)))
            #expect(response.url == scene.origin.url("clear", "/a/c?x"))
        }
    }

    @Test("307 and 308 send the body again", arguments: [307, 308])
    func bodies(status: Int) async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            let url = scene.origin.url("clear", scene.redirect(to: "otherClear", "/end", status: status))
            _ = try await coordinator.send(Request(.post, url, body: .text("twelve bytes")))
            #expect(try scene.origin.seen().map(\.length) == [12, 12])
            #expect(try scene.origin.seen().map(\.method) == ["POST", "POST"])
        }
    }

    @Test("Authorization stays at its host")
    func authorization() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            let url = scene.origin.url("clear", scene.redirect(to: "otherClear"))
            _ = try await coordinator.send(Request(url, fields: ["Authorization": "Bearer own"]))
            #expect(try scene.origin.seen().map { $0.values("authorization") } == [["Bearer own"], []])
        }
    }

    @Test("challenges of all schemes reach who decides, the strongest first")
    func challenges() async throws {
        let answering = Answering {
            $0.authenticationScheme == "Basic" ? .use(Credential(user: "me", password: "pass")) : .reject
        }
        let all = #"Negotiate, NTLM, Digest realm="d", nonce="n", qop="auth", Basic realm="b""#
        try await withScene(
            adjust: { $0.decisions = answering },
            answering: ChallengingOrigin.taking(ChallengingOrigin.basic("me", "pass"), all)
        ) { scene, coordinator in
            let response = try await coordinator.get(scene.origin.url("/x")) {
                $0.authentication.allowsClearText = true
                $0.authentication.schemes = [.any, .ntlm]
            }
            #expect(response.status == 200)
        }
        #expect(answering.challenges.map(\.authenticationScheme) == ["Negotiate", "Digest", "NTLM", "Basic"])
    }

    @Test("a decision answers Digest", .enabled(if: ApacheServer.canRun, ApacheServer.missing))
    func digest() async throws {
        let server = try await ApacheServer { directory in
            let site = try directory.makeDirectory("site")
            try directory.put("site/page", Array("page".utf8))
            // The MD5 digest of `me:the realm:pass`, as htdigest writes it.
            try directory.put("users", Array("me:the realm:0e86e698aef63cda5d3671d99bd59cd8\n".utf8))
            return """
                <Directory \(site)>
                    AuthType Digest
                    AuthName "the realm"
                    AuthDigestProvider file
                    AuthUserFile \(directory.file("users"))
                    Require valid-user
                </Directory>
                """
        }
        defer { server.stop() }
        let answering = Answering { _ in .use(Credential(user: "me", password: "pass")) }
        try await withTestCoordinator(adjust: { $0.decisions = answering }) { coordinator in
            let response = try await coordinator.get(server.url("/page"))
            #expect(response.status == 200 && response.bodyText == "page")
            #expect(response.authentication?.scheme == "Digest")
        }
        #expect(answering.challenges.map(\.authenticationScheme) == ["Digest"])
    }

    @Test("a decision answers NTLM, with a domain", .enabled(if: NTLMServer.canRun, NTLMServer.missing))
    func ntlm() async throws {
        let server = try NTLMServer([("DOM", "ann", "secret-a")])
        defer { server.stop() }
        let answering = Answering { _ in .use(Credential(user: "ann", password: "secret-a", domain: "DOM")) }
        try await withTestCoordinator(adjust: { $0.decisions = answering }) { coordinator in
            let response = try await coordinator.get(server.url("/x")) { $0.authentication.schemes = .ntlm }
            #expect(response.status == 200 && response.authentication?.scheme == "NTLM")
        }
        #expect(answering.challenges.map(\.authenticationScheme) == ["NTLM"])
    }

    @Test("a redirect after Basic is followed, and is no loop")
    func redirectAfterBasic() async throws {
        let right = ChallengingOrigin.basic("me", "pass")
        try await withScene(answering: { seen in
            if seen.fields["authorization"] != right { return ChallengingOrigin.challenge() }
            return seen.target == "/in/go"
                ? ScriptedOrigin.Answer(302, "", [("Location", "/in/end")]) : ScriptedOrigin.Answer(200, "there")
        }) { scene, coordinator in
            let response = try await coordinator.get(scene.origin.url("/in/go")) {
                $0.authentication.allowsClearText = true
                $0.authentication.credential = Credential(user: "me", password: "pass")
            }
            #expect(response.status == 200 && response.bodyText == "there" && response.redirects.count == 1)
            // A challenge each at the most.
            #expect(scene.count <= 4, "\(scene.targets)")
        }
    }

    @Test("credentials are kept for good")
    func persistentCredentials() async throws {
        let right = ChallengingOrigin.basic("me", "pass")
        try await withScene(answering: ChallengingOrigin.taking(right)) { scene in
            func get(asking decisions: (any FetchDecisions)?) async throws -> Response {
                let vault = try SealedFileVault(path: scene.directory.file("vault"), passphrase: "open sesame")
                return try await scene.withCoordinator(adjust: {
                    $0.vault = vault
                    $0.decisions = decisions
                }) { coordinator in
                    try await coordinator.get(scene.origin.url("/x")) {
                        $0.authentication.allowsClearText = true
                        $0.authentication.usesVault = true
                    }
                }
            }
            let answering = Answering { _ in .use(Credential(user: "me", password: "pass", persistence: .permanent)) }
            #expect(try await get(asking: answering).status == 200)
            #expect(answering.challenges.map(\.authenticationScheme) == ["Basic"])
            let kept = try await get(asking: nil)
            #expect(kept.status == 200 && kept.authentication?.source == .vault)
        }
    }

    @Test("the proxy of a configuration is used, but for the hosts it leaves out")
    func proxies() async throws {
        let proxy = try ScriptedOrigin { _ in ScriptedOrigin.Answer(200, "by proxy") }
        defer { proxy.stop() }
        var policy = ProxyPolicy(try Proxy("127.0.0.1:\(proxy.port)"))
        policy.exceptions = ["127.0.0.1"]
        try await withScene(
            adjust: { $0.proxy = policy }, answering: { _ in ScriptedOrigin.Answer(200, "direct") }
        ) { scene, coordinator in
            let far = try await coordinator.get("http://far.test/x")
            #expect(far.bodyText == "by proxy")
            let near = try await coordinator.get(scene.origin.url("/x"))
            #expect(near.bodyText == "direct")
        }
        #expect(proxy.seen().map(\.target) == ["http://far.test/x"])
    }

    @Test("a download that breaks off leaves data to go on with")
    func resumeData() async throws {
        let content = ReferenceBytes.bytes(400_000, seed: 5)
        let origin = try ScriptedOrigin { seen in
            var answer = ScriptedOrigin.Answer(200, "", [("Accept-Ranges", "bytes"), ("ETag", "\"one\"")])
            if let first = seen.fields["range"].flatMap({ Int($0.dropFirst("bytes=".count).dropLast()) }) {
                answer.status = 206
                answer.fields.append(("Content-Range", "bytes \(first)-399999/400000"))
                answer.body = Array(content[first...])
            } else {
                answer.body = Array(content[..<250_000])
                answer.announced = content.count
            }
            return answer
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        var options = Destination.FileOptions()
        options.keepsPart = true
        let destination = Destination.file(directory.file("x"), options: options)
        try await withTestCoordinator { coordinator in
            let error = await failure(.truncated) {
                try await coordinator.send(Request(origin.url("/x")), into: destination)
            }
            let data = try #require(error?.resumeData)
            #expect(data.offset > 0)
            let response = try await coordinator.start(resuming: data).response
            #expect(response.status == 206 && directory.content("x") == content)
        }
    }

    @Test("the time limit of a whole fetch counts")
    func resourceTimeout() async throws {
        try await withScene(answering: { _ in
            Thread.sleep(forTimeInterval: 2)
            return ScriptedOrigin.Answer()
        }) { scene in
            try await scene.withCoordinator { coordinator in
                var request = Request(scene.origin.url("/"))
                request.options.timeLimits.resource = .milliseconds(200)
                let asked = request
                let error = await failure(.timeout) { try await coordinator.send(asked) }
                #expect(error?.urlErrorCode == -1001)
            }
        }
    }

    @Test("there are client certificates")
    func clientCertificates() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            let member = ClientIdentity(file: scene.member.certificate, key: scene.member.key)
            #expect(try await coordinator.send(scene.request("members") { $0.identity = member }).status == 200)
        }
    }

    private struct Trusting: FetchDecisions {
        func trust(_ server: ServerTrust) async -> TrustChoice { .accept }
    }

    @Test("a program is asked whom it trusts")
    func trustQuestions() async throws {
        try await TrustScene.with(adjust: { $0.decisions = Trusting() }) { scene, coordinator in
            try scene.origin.reset()
            let asking = scene.request("alone") { $0.question = .unlessVerified }
            #expect(try await coordinator.send(asking).status == 200)
        }
    }

    @Test("failures of TLS have numbers of their own")
    func tlsErrors() async throws {
        try await TrustScene.with { scene, coordinator in
            try scene.origin.reset()
            var numbers: [Int?] = []
            for listener in ["expired", "future", "wrong", "unknown", "members"] {
                numbers.append(await failure { try await coordinator.send(scene.request(listener)) }?.urlErrorCode)
            }
            #expect(numbers == [-1201, -1204, -1202, -1203, -1206])
        }
    }
}
