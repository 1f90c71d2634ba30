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
