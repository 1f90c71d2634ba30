import Foundation
import Testing
import Trawl

/// A program that follows redirects with a token of its own.
private final class WritingByHand: FetchDecisions {
    func redirect(_ proposal: RedirectProposal) async -> RedirectChoice {
        .send(Request(proposal.request.url, fields: ["Authorization": "Bearer X"]))
    }
}

@Suite("Challenges are answered, ASI-AUTH-01, 02, 05, 09, 10, 12, 13, 19, ULS-AUTH-06", .timeLimit(.minutes(2)))
struct AuthenticationTests {
    private static let right = ChallengingOrigin.basic("me", "pass")

    private static func options(
        user: String = "me", password: String = "pass",
        _ adjust: (inout RequestOptions.Authentication) -> Void = { _ in }
    ) -> (inout RequestOptions) -> Void {
        var authentication = RequestOptions.Authentication()
        authentication.credential = Credential(user: user, password: password)
        authentication.allowsClearText = true
        adjust(&authentication)
        return { [authentication] in $0.authentication = authentication }
    }

    @Test(
        "a password is sent when it is asked for, kept for the session, and sent ahead then", arguments: Engine.allCases
    )
    func rounds(engine: Engine) async throws {
        try await withScene(engine, answering: ChallengingOrigin.taking(Self.right)) { scene, coordinator in
            let first = try await coordinator.get(scene.origin.url("/a/one"), Self.options())
            #expect(first.bodyText == "welcome /a/one")
            #expect(first.authentication?.scheme == "Basic" && first.authentication?.realm == "here")
            #expect(first.authentication?.rounds == 1 && first.authentication?.source == .request)
            #expect(first.metrics.map(\.status) == [401, 200])
            // Beneath the same directory nobody has to ask (RFC 7617 §2.2), and no credentials have to be given.
            let ahead = try await coordinator.get(scene.origin.url("/a/b/two"), Self.clear)
            #expect(ahead.bodyText == "welcome /a/b/two" && ahead.metrics.count == 1)
            #expect(ahead.authentication?.isAhead == true && ahead.authentication?.source == .session)
            // Elsewhere they are asked for, and found.
            let elsewhere = try await coordinator.get(scene.origin.url("/c"), Self.clear)
            #expect(elsewhere.bodyText == "welcome /c" && elsewhere.metrics.map(\.status) == [401, 200])
            // Who does not use the session has none.
            let without = try await coordinator.get(scene.origin.url("/a/three")) {
                Self.clear(&$0)
                $0.authentication.usesSession = false
            }
            #expect(without.status == 401 && without.bodyText == "who?")
        }
    }

    private static func clear(_ options: inout RequestOptions) { options.authentication.allowsClearText = true }

    @Test("user and password of a URL are used, and never sent in it (ASI-AUTH-01)")
    func url() async throws {
        let field = ChallengingOrigin.basic("m@e", "p:s/")
        try await withScene(answering: ChallengingOrigin.taking(field)) { scene, coordinator in
            let url = scene.origin.url("/x").replacingOccurrences(of: "http://", with: "http://m%40e:p%3as%2F@")
            let response = try await coordinator.get(url, Self.clear)
            #expect(response.bodyText == "welcome /x" && response.authentication?.source == .url)
            #expect(!response.url.contains("@") && !response.originalURL.contains("@"))
            #expect(scene.origin.seen().allSatisfy { $0.fields["host"]?.contains("@") == false && $0.target == "/x" })
        }
    }

    @Test("wrong ones fail with error 3, or the challenge is the answer; no right one is asked for twice (ASI-RSP-07)")
    func wrong() async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene, coordinator in
            let error = await #expect(throws: FetchError.self) {
                try await coordinator.get(scene.origin.url("/w"), Self.options(password: "no"))
            }
            #expect(error?.code == .authentication && error?.legacyCode == 3 && error?.urlErrorCode == -1013)
            #expect(scene.count == 2)
            let delivered = try await coordinator.get(
                scene.origin.url("/w"), Self.options(password: "no") { $0.whenRefused = .delivers })
            #expect(delivered.status == 401 && delivered.bodyText == "who?")
            // Nobody has anything to do with credentials: an answer like any other.
            let plain = try await coordinator.get(scene.origin.url("/w"))
            #expect(plain.status == 401 && plain.bodyText == "who?" && plain.authentication == nil)
            // In clear only where that is allowed.
            let secret = await #expect(throws: FetchError.self) {
                try await coordinator.get(scene.origin.url("/w"), Self.options { $0.allowsClearText = false })
            }
            #expect(secret?.code == .authentication)
            #expect(!scene.origin.seen().contains { $0.fields["authorization"] == Self.right })
        }
    }

    @Test("a 401 without a challenge is a response, and so is any to a field written by hand (ULS-AUTH-06)")
    func unasked() async throws {
        try await withScene(answering: { seen in
            seen.target == "/bare" ? ScriptedOrigin.Answer(401, "bare") : ChallengingOrigin.challenge()
        }) { scene, coordinator in
            let bare = try await coordinator.get(scene.origin.url("/bare"), Self.options())
            #expect(bare.status == 401 && bare.bodyText == "bare" && scene.count == 1)
            var request = Request(scene.origin.url("/hand"))
            try request.setAuthorization(token: "abc")
            Self.options()(&request.options)
            let hand = try await coordinator.send(request)
            #expect(hand.status == 401 && hand.bodyText == "who?")
            #expect(scene.origin.seen("/hand").map { $0.fields["authorization"] } == [#"Token token="abc""#])
        }
    }

    @Test("a field written by hand is of Basic, Bearer or a token, each in place of the one before (AFC-04)")
    func byHand() async throws {
        try await withScene(answering: { _ in ScriptedOrigin.Answer(200, "in") }) { scene, coordinator in
            var request = Request(scene.origin.url("/hand"), fields: ["Authorization": "Old one"])
            Self.options()(&request.options)
            try request.setAuthorization(token: "abc")
            try request.setAuthorization(user: "Aladdin", password: "open sesame")
            _ = try await coordinator.send(request)
            try request.setAuthorization(bearer: "mF_9.B5f-4.1JqM")
            _ = try await coordinator.send(request)
            request.clearAuthorization()
            _ = try await coordinator.send(request)
            // The examples of RFC 7617 §2 and RFC 6750 §2.1.
            #expect(
                scene.origin.seen("/hand").map { $0.fields["authorization"] } == [
                    "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Bearer mF_9.B5f-4.1JqM", nil,
                ])
            #expect(throws: FetchError.self) { try request.setAuthorization(bearer: "a b") }
            #expect(throws: FetchError.self) { try request.setAuthorization(user: "a:b", password: "c") }
            #expect(request.fields["Authorization"] == nil)
        }
    }

    @Test("where the body of the answer goes, the challenge's does not (ASI-EVT-01)", arguments: Engine.allCases)
    func bodies(engine: Engine) async throws {
        try await withScene(engine, answering: ChallengingOrigin.taking(Self.right)) { scene, coordinator in
            var request = Request(scene.origin.url("/s"))
            Self.options { $0.usesSession = false }(&request.options)
            let fetch = coordinator.start(request, into: .stream)
            let words = await allEvents(of: fetch).map(word).filter { $0 != "progress" }
            #expect(
                words == [
                    "started", "attempt 1", "forwarded", "authenticating Basic", "attempt 2", "forwarded", "head 200",
                    "data", "ended",
                ])
            let found1 = try await readStream(coordinator.start(request, into: .stream))
            #expect(found1 == Array("welcome /s".utf8))
            // Beneath an output directory and elsewhere; errors are saved too, so only the answer may appear.
            var options = Destination.FileOptions()
            options.savesErrorBodies = true
            options.replaces = false
            for path in [scene.directory.file("out/inside"), scene.directory.file("outside")] {
                let response = try await coordinator.send(request, into: .file(path, options: options))
                #expect(response.status == 200 && response.file == path)
                #expect(FileManager.default.contents(atPath: path) == Data("welcome /s".utf8))
            }
            request.options.authentication.credential = nil
            let path = scene.directory.file("out/refused")
            let refused = try await coordinator.send(request, into: .file(path, options: options))
            #expect(refused.status == 401 && FileManager.default.contents(atPath: path) == Data("who?".utf8))
        }
    }

    @Test("the body of a request goes out again (ASI-REQ-07)", arguments: [10, 200_000])
    func replay(size: Int) async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene, coordinator in
            var request = Request(.post, scene.origin.url("/p"))
            request.body = .bytes([UInt8](repeating: 7, count: size))
            Self.options()(&request.options)
            let found2 = try await coordinator.send(request).status
            #expect(found2 == 200)
            #expect(scene.origin.seen().map { $0.fields["content-length"] } == ["\(size)", "\(size)"])
        }
    }

    @Test(
        "a body over 1 MiB waits for the server's word, and goes out once after a challenge (ASI-REQ-09, ASI-PROG-07)",
        arguments: Engine.allCases)
    func largeBody(engine: Engine) async throws {
        try await withScene(engine, answering: ChallengingOrigin.taking(Self.right)) { scene, coordinator in
            let size = 3 << 20
            var request = Request(.put, scene.origin.url("/p"))
            request.body = .bytes([UInt8](repeating: 7, count: size))
            Self.options()(&request.options)
            let fetch = coordinator.start(request)
            let response = try await fetch.response
            #expect(response.status == 200)
            #expect(scene.origin.seen().map { $0.fields["expect"] } == ["100-continue", "100-continue"])
            let sent = response.metrics.map(\.bytesSent)
            try #require(sent.count == 2)
            #expect(sent[0] < 2_000 && sent[1] > UInt64(size), "\(sent)")
            // So progress need not go back, ASI-PROG-07.
            #expect(fetch.currentProgress.upload.completed == Int64(size))
        }
    }

    @Test(
        "credentials do not follow a redirect to another origin, nor come back from there, by the session either",
        arguments: [false, true])
    func redirects(usesSession: Bool) async throws {
        let other = try ScriptedOrigin { seen in
            seen.target == "/back"
                ? ScriptedOrigin.Answer(302, "", [("Location", seen.fields["x-home"] ?? "")])
                : ChallengingOrigin.challenge()
        }
        defer { other.stop() }
        try await withScene(answering: { seen in
            switch seen.target {
            case "/away": ScriptedOrigin.Answer(302, "", [("Location", other.url("/secret"))])
            case "/round": ScriptedOrigin.Answer(302, "", [("Location", other.url("/back"))])
            case "/user":
                ScriptedOrigin.Answer(
                    302, "", [("Location", other.url("/s2").replacingOccurrences(of: "//", with: "//a:b@"))])
            default: ChallengingOrigin.taking(Self.right)(seen)
            }
        }) { scene, coordinator in
            let home = scene.origin.url("/home")
            if usesSession {
                let known = try await coordinator.get(scene.origin.url("/in"), Self.options())
                #expect(known.status == 200)
            }
            for target in ["/away", "/round", "/user"] {
                var request = Request(scene.origin.url(target), fields: ["X-Home": home])
                Self.options {
                    $0.whenRefused = .delivers
                    $0.usesSession = usesSession
                }(&request.options)
                let found3 = try await coordinator.send(request).status
                #expect(found3 == 401, "\(target)")
            }
            #expect(other.seen().allSatisfy { $0.fields["authorization"] == nil } && other.seen().count == 3)
            #expect(scene.origin.seen("/home").allSatisfy { $0.fields["authorization"] == nil })
        }
    }

    @Test(
        "a fetch that begins anew after a redirect is made as who it was made as (ASI-AUTH-09)",
        arguments: [true, false])
    func begunAnew(isOtherKnown: Bool) async throws {
        let other = try ScriptedOrigin { seen in
            seen.number == 1 ? ScriptedOrigin.Answer(503, "later") : ScriptedOrigin.Answer(200, "there")
        }
        defer { other.stop() }
        let known = [Self.right, ChallengingOrigin.basic("bob", "b")]
        try await withScene(answering: { seen in
            guard let field = seen.fields["authorization"], known.contains(field) else {
                return ChallengingOrigin.challenge()
            }
            return seen.target == "/start"
                ? ScriptedOrigin.Answer(302, "", [("Location", other.url("/b"))]) : ScriptedOrigin.Answer(200, "in")
        }) { scene, coordinator in
            if isOtherKnown {
                let bob = try await coordinator.get(
                    scene.origin.url("/bob"), Self.options(user: "bob", password: "b"))
                #expect(bob.status == 200)
            }
            var request = Request(scene.origin.url("/start"))
            Self.options {
                $0.credential = Credential(user: "me", password: "pass", persistence: .none)
                $0.usesSession = isOtherKnown
            }(&request.options)
            request.options.retry = .init(1)
            request.options.retry.delay = .milliseconds(10)
            let response = try await coordinator.send(request)
            #expect(response.bodyText == "there" && response.retryCount == 1)
            let fields = scene.origin.seen("/start").compactMap { $0.fields["authorization"] }
            #expect(fields == [Self.right, Self.right])
        }
    }

    @Test("what a program writes by hand in place of a redirect's request is left alone (ULS-AUTH-06)")
    func byHandInRedirect() async throws {
        try await withScene(
            adjust: { $0.decisions = WritingByHand() },
            answering: { seen in
                switch seen.target {
                case "/from": ScriptedOrigin.Answer(302, "", [("Location", "/to")])
                default: ChallengingOrigin.taking(Self.right)(seen)
                }
            }
        ) { scene, coordinator in
            let kept = try await coordinator.get(scene.origin.url("/in"), Self.options())
            #expect(kept.status == 200)
            let response = try await coordinator.get(scene.origin.url("/from"), Self.clear)
            #expect(response.status == 401 && response.authentication == nil)
            #expect(scene.origin.seen("/from").map { $0.fields["authorization"] } == [Self.right])
            #expect(scene.origin.seen("/to").map { $0.fields["authorization"] } == ["Bearer X"])
        }
    }

    @Test("TRACE, which is sent back, tells nobody who asks, and has no cookies, RFC 9110 §9.3.8")
    func trace() async throws {
        try await withScene(answering: { seen in
            seen.target == "/in"
                ? ScriptedOrigin.Answer(200, "in", [("Set-Cookie", "a=1; Path=/")]) : ChallengingOrigin.challenge()
        }) { scene, coordinator in
            for _ in 0..<2 {
                _ = try await coordinator.get(scene.origin.url("/in"), Self.options { $0.schemes = .basic })
            }
            let known = scene.origin.seen("/in").last?.fields
            #expect(known?["authorization"] == Self.right && known?["cookie"] == "a=1")
            let url = scene.origin.url("/t")
            var request = Request("TRACE", url)
            Self.options { $0.schemes = .basic }(&request.options)
            request.options.cookies.manual = [RequestCookie("b", "2")]
            for other in [url, url.replacingOccurrences(of: "//", with: "//me:pass@")] {
                request.url = other
                let response = try await coordinator.send(request)
                #expect(response.status == 401 && response.bodyText == "who?" && response.authentication == nil)
            }
            // What the caller writes is the caller's.
            request.fields = ["Authorization": "Bearer X", "Cookie": "c=3"]
            _ = try await coordinator.send(request)
            let seen = scene.origin.seen("/t")
            #expect(seen.map { $0.fields["authorization"] } == [nil, nil, "Bearer X"])
            #expect(seen.map { $0.fields["cookie"] } == [nil, nil, "c=3"])
        }
    }

    @Test("a token goes out at once, and Basic when nothing else is allowed (ASI-AUTH-12)")
    func ahead() async throws {
        try await withScene(answering: { _ in ScriptedOrigin.Answer(200, "fine") }) { scene, coordinator in
            _ = try await coordinator.get(scene.origin.url("/bearer")) {
                Self.clear(&$0)
                $0.authentication.credential = Credential(bearer: "tok")
            }
            _ = try await coordinator.get(scene.origin.url("/basic"), Self.options { $0.schemes = .basic })
            _ = try await coordinator.get(scene.origin.url("/any"), Self.options { $0.usesSession = false })
            // Not in clear unless that is allowed.
            _ = try await coordinator.get(scene.origin.url("/clear")) {
                $0.authentication.credential = Credential(bearer: "tok")
                $0.authentication.usesSession = false
            }
            #expect(
                scene.origin.seen().map { $0.fields["authorization"] } == ["Bearer tok", Self.right, nil, nil])
        }
    }

    @Test("an answer out of the store proves nothing about who asks (ASI-AUTH-09)", arguments: [true, false])
    func stored(isStreamed: Bool) async throws {
        let body = String(repeating: "x", count: 200_000)
        try await withScene(answering: { seen in
            switch seen.target {
            case "/pub": ScriptedOrigin.Answer(200, body, [("Cache-Control", "public, max-age=600")])
            case "/old" where seen.number > 1: ScriptedOrigin.Answer(503, "gone")
            case "/old":
                ScriptedOrigin.Answer(
                    200, body, [("Cache-Control", "public, max-age=0, stale-if-error=600"), ("ETag", "\"1\"")])
            default: ScriptedOrigin.Answer(200, "open")
            }
        }) { scene, coordinator in
            for target in ["/pub", "/old"] {
                _ = try await coordinator.get(scene.origin.url(target))
                var request = Request(scene.origin.url(target))
                Self.options(password: "wrong") { $0.schemes = .basic }(&request.options)
                if isStreamed {
                    let read = try await readStream(coordinator.start(request, into: .stream))
                    #expect(read.count == body.utf8.count)
                } else {
                    let response = try await coordinator.send(request)
                    #expect(response.status == 200 && response.source == (target == "/pub" ? .cache : .stale))
                }
                let kept = await coordinator.credentials.list()
                #expect(kept.isEmpty, "\(target)")
                _ = try await coordinator.get(scene.origin.url("/other"), Self.clear)
                #expect(scene.origin.seen("/other").allSatisfy { $0.fields["authorization"] == nil })
            }
            // What the server says itself counts.
            _ = try await coordinator.get(scene.origin.url("/open"), Self.options { $0.schemes = .basic })
            let kept = await coordinator.credentials.list()
            #expect(kept.count == 1)
        }
    }

    @Test("no count of a nonce is used twice, whichever worker sends it (ASI-AUTH-05)")
    func nonceCounts() async throws {
        let challenge = #"Digest realm="d", nonce="the same for all", qop="auth", algorithm=SHA-256"#
        try await withScene(
            workers: 8,
            answering: { seen in
                seen.fields["authorization"] == nil
                    ? ChallengingOrigin.challenge(challenge) : ScriptedOrigin.Answer(200, "fine")
            }
        ) { scene, coordinator in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<400 {
                    group.addTask {
                        try await coordinator.get(
                            scene.origin.url("/n/\(number)"), .doNotRead, Self.options()
                        ).status
                    }
                }
                for try await status in group { #expect(status == 200) }
            }
            let fields = scene.origin.seen().compactMap { $0.fields["authorization"] }
            let counts = fields.compactMap { ChallengingOrigin.parameter("nc", of: $0) }
            #expect(counts.count == 400 && Set(counts).count == 400, "\(counts.count), \(Set(counts).count)")
            #expect(fields.allSatisfy { ChallengingOrigin.parameter("realm", of: $0) == "d" })
        }
    }

    @Test("where a server wants bodies protected, it asks once, and no count of its nonce is left out (ASI-AUTH-05)")
    func protectedBodies() async throws {
        let challenge = #"Digest realm="d", nonce="n", qop="auth-int", algorithm=SHA-256"#
        try await withScene(answering: { seen in
            seen.fields["authorization"] == nil
                ? ChallengingOrigin.challenge(challenge) : ScriptedOrigin.Answer(200, "fine")
        }) { scene, coordinator in
            for number in 0..<3 {
                var request = Request(.post, scene.origin.url("/\(number)"), body: .text("body \(number)"))
                Self.options()(&request.options)
                let status = try await coordinator.send(request).status
                #expect(status == 200)
            }
            let fields = scene.origin.seen().map { $0.fields["authorization"] ?? "" }
            let counts = fields.map { ChallengingOrigin.parameter("nc", of: $0) }
            #expect(counts == [nil, "00000001", "00000002", "00000003"])
            #expect(fields.dropFirst().allSatisfy { ChallengingOrigin.parameter("qop", of: $0) == "auth-int" })
        }
    }

    @Test("a nonce that is too old is renewed without asking, and endless challenges come to an end (ASI-AUTH-05)")
    func stale() async throws {
        try await withScene(answering: { seen in
            let field = seen.fields["authorization"] ?? ""
            switch seen.target {
            case "/stale" where field.contains("second"): return ScriptedOrigin.Answer(200, "fine")
            case "/stale":
                let nonce = field.isEmpty ? "first" : "second"
                return ChallengingOrigin.challenge(
                    "Digest realm=d, nonce=\(nonce), qop=\"auth\", stale=\(!field.isEmpty)")
            default:
                return ChallengingOrigin.challenge("Digest realm=d, nonce=\(seen.number), qop=\"auth\", stale=true")
            }
        }) { scene, coordinator in
            let response = try await coordinator.get(scene.origin.url("/stale"), Self.options())
            #expect(response.status == 200 && scene.count == 3 && response.authentication?.failures == 0)
            let error = await #expect(throws: FetchError.self) {
                try await coordinator.get(scene.origin.url("/endless"), Self.options())
            }
            #expect(error?.code == .authentication && scene.origin.seen("/endless").count < 30)
        }
    }

    @Test(
        "ten thousand challenges and nonsense cost little and answer nothing",
        arguments: [
            String(repeating: "Basic realm=x, ", count: 6000), String(repeating: "A,", count: 40000), "=", "Basic",
            "Digest realm=\"unended", "Digest nonce=", "Basic realm=\"\\\"", ",,,,", "Negotiate !!!",
        ])
    func nonsense(value: String) async throws {
        try await withScene(answering: { _ in ChallengingOrigin.challenge(value) }) { scene, coordinator in
            let response = try await coordinator.get(
                scene.origin.url("/bad"), Self.options { $0.whenRefused = .delivers })
            #expect(response.status == 401 && response.bodyText == "who?" && scene.count <= 3)
        }
    }
}

extension Coordinator {
    fileprivate func get(_ url: String, _ adjust: (inout RequestOptions) -> Void) async throws -> Response {
        try await get(url, [], adjust)
    }

    fileprivate func get(
        _ url: String, _ policy: CachePolicy, _ adjust: (inout RequestOptions) -> Void
    ) async throws -> Response {
        try await get(url, policy, fields: [:], into: .memory, adjust)
    }
}
