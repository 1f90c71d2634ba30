import Foundation
import Testing
import Trawl

@Suite("Servers that were not written for this", .timeLimit(.minutes(3)))
struct RealServerTests {
    private func request(
        _ url: String, _ credential: Credential? = Credential(user: "mé", password: "pä ss:1"),
        _ adjust: (inout RequestOptions.Authentication) -> Void = { _ in }
    ) -> Request {
        var request = Request(url)
        request.options.authentication.allowsClearText = true
        request.options.authentication.credential = credential
        adjust(&request.options.authentication)
        return request
    }

    @Test(
        "apache: Basic and Digest with words beyond ASCII, two realms, many at once (ASI-AUTH-04, 05)",
        .enabled(if: ApacheServer.canRun, ApacheServer.missing))
    func apache() async throws {
        let server = try await ApacheServer { directory in
            let site = try directory.makeDirectory("site")
            for name in ["basic", "digest"] {
                _ = try directory.makeDirectory("site/\(name)")
                try directory.put("site/\(name)/page", Array("\(name) page".utf8))
            }
            let hash = try Self.md5("mé:the realm:pä ss:1")
            try directory.put("digest.users", Array("mé:the realm:\(hash)\n".utf8))
            try directory.put("basic.users", Array("mé:\(try Self.crypt("pä ss:1"))\n".utf8))
            return """
                <Directory \(site)>
                    Require all granted
                </Directory>
                <Location /basic>
                    AuthType Basic
                    AuthName "the other realm"
                    AuthUserFile \(directory.file("basic.users"))
                    Require valid-user
                </Location>
                <Location /digest>
                    AuthType Digest
                    AuthName "the realm"
                    AuthDigestProvider file
                    AuthUserFile \(directory.file("digest.users"))
                    Require valid-user
                </Location>
                """
        }
        defer { server.stop() }
        try await withTestCoordinator(workers: 4) { coordinator in
            let basic = try await coordinator.send(request(server.url("/basic/page")))
            #expect(basic.status == 200 && basic.authentication?.scheme == "Basic", "\(basic.status)")
            let digest = try await coordinator.send(request(server.url("/digest/page")))
            #expect(digest.status == 200 && digest.authentication?.scheme == "Digest", "\(digest.status)")
            #expect(digest.authentication?.realm == "the realm")
            try await withThrowingTaskGroup(of: Response.self) { group in
                for number in 0..<200 {
                    let target = number.isMultiple(of: 2) ? "/digest/page?\(number)" : "/basic/page?\(number)"
                    group.addTask { try await coordinator.send(self.request(server.url(target), nil)) }
                }
                for try await response in group { #expect(response.status == 200) }
            }
            let wrong = try await coordinator.send(
                request(server.url("/digest/page"), Credential(user: "mé", password: "no")) {
                    $0.usesSession = false
                    $0.whenRefused = .delivers
                })
            #expect(wrong.status == 401)
        }
        // A program's request says by `auth` who it is.
        let line =
            #"{"id":1,"url":"\#(server.url("/digest/page"))","auth":{"username":"mé","password":"pä ss:1"}}"#
        let answers = try await PipeProcess.answers([line])
        let answer = try #require(answers["1"])
        #expect(answer.status == 200 && answer.body == Array("digest page".utf8), "\(answer.text)")
    }

    @Test(
        "apache: a body of 5 MiB goes along again once Digest is answered (ASI-AUTH-05, ASI-REQ-07)",
        .enabled(if: ApacheServer.canRun, ApacheServer.missing), arguments: Engine.allCases)
    func digestBody(engine: Engine) async throws {
        let server = try await ApacheServer { directory in
            _ = try directory.makeDirectory("site")
            try directory.put("site/page", Array("page".utf8))
            try directory.put("users", Array("me:r:\(try Self.md5("me:r:pass"))\n".utf8))
            return """
                <Location />
                    AuthType Digest
                    AuthName "r"
                    AuthDigestProvider file
                    AuthUserFile \(directory.file("users"))
                    Require valid-user
                </Location>
                LogFormat "%m %>s %I" received
                CustomLog \(directory.file("access.log")) received
                """
        }
        defer { server.stop() }
        let length = 5 << 20
        var post = request(server.url("/page"), Credential(user: "me", password: "pass"))
        post.method = .post
        post.body = .bytes(ReferenceBytes.bytes(length, seed: 5))
        var again = post
        again.options.authentication.credential = nil
        let (sent, sentAgain) = (post, again)
        try await withTestCoordinator(workers: engine.workers) { coordinator in
            let first = try await coordinator.send(sent)
            #expect(first.bodyText == "page" && first.authentication?.scheme == "Digest", "\(first.status)")
            #expect(first.metrics.map(\.status) == [401, 200])
            // What the session knows goes ahead of the challenge.
            let second = try await coordinator.send(sentAgain)
            #expect(second.bodyText == "page" && second.metrics.map(\.status) == [200])
        }
        func received() -> [[Substring]] {
            String(decoding: server.directory.content("access.log") ?? [], as: UTF8.self).split(separator: "\n")
                .map { $0.split(separator: " ") }.filter { $0.first == "POST" && $0.dropFirst().first == "200" }
        }
        // A line is written when its request is over, which may be after the answer.
        #expect(await eventually { received().count == 2 })
        #expect(received().allSatisfy { $0.last.flatMap { Int($0) } ?? 0 > length })
    }

    @Test(
        "nginx: the session's rules (ASI-AUTH-09, 10, 12)",
        .enabled(if: NginxServer.executable != nil, NginxServer.missing))
    func nginx() async throws {
        let server = try await NginxServer { port, directory in
            try directory.put("users", Array("me:{PLAIN}pass\nyou:{PLAIN}word\n".utf8))
            return """
                http {
                    log_format short '$uri $status $remote_user';
                    access_log \(directory.file("access.log")) short;
                    default_type text/plain;
                    auth_basic_user_file \(directory.file("users"));
                    server {
                        listen 127.0.0.1:\(port);
                        location /one { auth_basic "one"; try_files $uri @said; }
                        location /two { auth_basic "two"; try_files $uri @said; }
                        location @said { return 200 "for $remote_user"; }
                    }
                }
                """
        }
        defer { server.stop() }
        let base = "http://127.0.0.1:\(server.port)"
        let (me, you) = (Credential(user: "me", password: "pass"), Credential(user: "you", password: "word"))
        func delivered(_ options: inout RequestOptions.Authentication) { options.whenRefused = .delivers }
        try await withTestCoordinator { coordinator in
            // None, wrong, right.
            let none = try await coordinator.send(request(base + "/one/a", nil))
            #expect(none.status == 401)
            let wrong = try await coordinator.send(
                request(base + "/one/a", Credential(user: "me", password: "x"), delivered))
            #expect(wrong.status == 401)
            let right = try await coordinator.send(request(base + "/one/a", me))
            #expect(right.status == 200 && right.bodyText == "for me")
            // Ahead beneath the same directory, and only where the realm is the same.
            let ahead = try await coordinator.send(request(base + "/one/b", nil))
            #expect(ahead.bodyText == "for me" && ahead.metrics.count == 1)
            let other = try await coordinator.send(request(base + "/two/b", nil, delivered))
            #expect(other.status == 401)
            // Others than those of the session are meant when they are given.
            let given = try await coordinator.send(request(base + "/one/b", you))
            #expect(given.bodyText == "for you")
            // Off, and on.
            let off = try await coordinator.send(request(base + "/one/b", nil) { $0.usesSession = false })
            #expect(off.status == 401)
            let notAhead = try await coordinator.send(request(base + "/one/c", nil) { $0.sendsAhead = false })
            #expect(notAhead.bodyText == "for you" && notAhead.metrics.map(\.status) == [401, 200])
            let kept = await coordinator.credentials.list()
            #expect(kept.map(\.space.realm) == ["one"] && kept.first?.user == "you")
            await coordinator.credentials.removeAll()
            let cleared = try await coordinator.send(request(base + "/one/b", nil))
            #expect(cleared.status == 401)
            try await coordinator.credentials.set(
                me, for: VaultItem(scheme: "http", host: "127.0.0.1", port: Int(server.port), realm: "two"),
                scheme: "Basic")
            let set = try await coordinator.send(request(base + "/two/x", nil))
            #expect(set.bodyText == "for me")
        }
        let log = String(decoding: server.directory.content("access.log") ?? [], as: UTF8.self)
        #expect(!log.contains("pass") && !log.contains("word"))
    }

    @Test(
        "httpbin: every algorithm, bodies that are protected, nonces that are too old, tokens (ASI-AUTH-05)",
        .enabled(if: HTTPBin.canRun, HTTPBin.missing))
    func httpbin() async throws {
        try await HTTPBin.with { server in
            try await withTestCoordinator { coordinator in
                let me = Credential(user: "user", password: "passwd")
                for target in [
                    "/basic-auth/user/passwd", "/digest-auth/auth/user/passwd", "/digest-auth/auth/user/passwd/MD5",
                    "/digest-auth/auth/user/passwd/SHA-256", "/digest-auth/auth-int/user/passwd/SHA-256",
                    "/digest-auth/auth/user/passwd/SHA-256/3",
                ] {
                    let response = try await coordinator.send(
                        request(server.url(target), me) { $0.usesSession = false })
                    #expect(
                        response.status == 200 && response.bodyText.contains("\"authenticated\": true"), "\(target)")
                }
                let token = try await coordinator.send(request(server.url("/bearer"), Credential(bearer: "abc")))
                #expect(token.status == 200 && token.metrics.count == 1)
                let plain = try await coordinator.send(request(server.url("/status/401"), nil))
                #expect(plain.status == 401)
            }
        }
    }

    /// By openssl, which is not what the product uses to make it.
    private static func md5(_ text: String) throws -> String {
        let directory = try TemporaryDirectory()
        try directory.put("text", Array(text.utf8))
        return String(try CommandRun(program: "/usr/bin/md5sum", [directory.file("text")]).text.prefix(32))
    }

    private static func crypt(_ password: String) throws -> String {
        let openssl = try #require(Certificate.openssl)
        let run = try CommandRun(program: openssl, ["passwd", "-apr1", password])
        return run.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
