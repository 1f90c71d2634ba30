import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Sending ahead, RFC 7617 §2.2 and RFC 7616 §3.3, ASI-AUTH-12")
struct PreemptionScopeTests {
    private func space(
        _ scheme: AuthenticationScheme, _ side: AuthenticationSide = .server, realm: String? = "r"
    ) -> ProtectionSpace {
        ProtectionSpace(side: side, origin: secureOrigin, scheme: scheme, realm: realm?.raw)
    }

    @Test(
        "Basic goes along to paths at or beneath the directory that it worked in",
        arguments: [
            ("/docs/index.html", "/docs/", true), ("/docs/index.html", "/docs/test.doc", true),
            ("/docs/index.html", "/docs/a/b/c?d", true), ("/docs/index.html", "/docs", false),
            ("/docs/index.html", "/", false), ("/docs/index.html", "/docsx/a", false),
            ("/docs/index.html", "/other/docs/", false), ("/docs/", "/docs/x", true), ("/docs/", "/", false),
            ("/", "/anything/at/all", true), ("/x", "/y", true), ("/a/b?c=/d/e", "/a/x", true),
            ("/a/b?c=/d/e", "/a/b", true), ("/docs/index.html", "/Docs/x", false), ("/a/x", "/?q=/a/x", false),
        ])
    func basic(worked: String, next: String, isWithin: Bool) throws {
        for scheme in [AuthenticationScheme.basic, .bearer] {
            let scope = try #require(PreemptionScope(space(scheme), for: .at(worked), digest: nil))
            #expect((scope.depth(of: .at(next)) != nil) == isWithin)
        }
    }

    @Test("nothing goes to another scheme, host or port")
    func origins() throws {
        let origins = [
            plainOrigin, Origin(scheme: "https", host: "a.example", port: 444),
            Origin(scheme: "https", host: "b.a.example", port: 443),
            Origin(scheme: "https", host: "example", port: 443),
        ]
        let digest = try DigestChallenge(text: "Digest nonce=n, realm=r")
        for scheme in [AuthenticationScheme.basic, .bearer, .digest] {
            let scope = try #require(PreemptionScope(space(scheme), for: .at("/"), digest: digest))
            #expect(scope.depth(of: .at("/")) != nil)
            for origin in origins { #expect(scope.depth(of: .at("/", origin)) == nil, "\(scheme) \(origin)") }
        }
        // What worked for another origin than the space's has no scope.
        #expect(PreemptionScope(space(.basic), for: .at("/", plainOrigin), digest: nil) == nil)
    }

    @Test(
        "Digest goes where its domain says, and everywhere at the origin without one",
        arguments: [
            ("", "/any", true), ("/a /b/", "/a", true), ("/a /b/", "/ab", true), ("/a /b/", "/b/c", true),
            ("/a /b/", "/b", false), ("/a /b/", "/", false), ("https://other.example/", "/", false),
            ("https://a.example/x", "/x/y", true),
        ])
    func digest(domain: String, path: String, isWithin: Bool) throws {
        let challenge = try DigestChallenge(text: #"Digest nonce="n", realm="r", domain="\#(domain)""#)
        let scope = try #require(PreemptionScope(space(.digest), for: .at("/z"), digest: challenge))
        #expect((scope.depth(of: .at(path)) != nil) == isWithin)
    }

    @Test("a proxy wants the same for all, whatever is behind it")
    func proxies() throws {
        let challenge = try DigestChallenge(text: #"Digest nonce="n", realm="r", domain="/x""#)
        for scheme in [AuthenticationScheme.basic, .bearer, .digest] {
            let scope = try #require(
                PreemptionScope(space(scheme, .proxy), for: .at("/a/b", plainOrigin), digest: challenge))
            #expect(scope.depth(of: .at("/")) == 0)
            #expect(scope.depth(of: .at("/", plainOrigin)) == 0)
        }
    }

    @Test("NTLM and Negotiate send nothing ahead", arguments: [AuthenticationScheme.ntlm, .negotiate])
    func connections(scheme: AuthenticationScheme) {
        #expect(PreemptionScope(space(scheme), for: .at("/"), digest: nil) == nil)
    }

    @Test("a scope widens to other directories and keeps only what says something new")
    func widening() throws {
        func scope(_ path: String) throws -> PreemptionScope {
            try #require(PreemptionScope(space(.basic), for: .at(path), digest: nil))
        }
        var known = try scope("/a/b/x")
        known.widen(to: try scope("/a/b/c/x"))
        #expect(known.paths?.map(\.shown) == ["/a/b/"])
        known.widen(to: try scope("/d/x"))
        #expect(known.paths?.map(\.shown) == ["/a/b/", "/d/"])
        known.widen(to: try scope("/a/x"))
        #expect(known.paths?.map(\.shown) == ["/d/", "/a/"])
        known.widen(to: PreemptionScope(side: .server, origin: plainOrigin, paths: nil))
        known.widen(to: PreemptionScope(side: .proxy, origin: secureOrigin, paths: nil))
        #expect(known.paths?.count == 2)
        for number in 0..<100 { known.widen(to: try scope("/\(number)/x")) }
        #expect(known.paths?.count == 32)
        known.widen(to: PreemptionScope(side: .server, origin: secureOrigin, paths: nil))
        #expect(known.paths == nil)
        known.widen(to: try scope("/a/x"))
        #expect(known.paths == nil)
    }

    @Test("of several entries the one that says most about a path is sent")
    func best() throws {
        let entries = try ["/", "/a/", "/a/b/"].map { path in
            SessionEntry(
                space: space(.basic, realm: path), credentials: Credentials(user: path, password: "p"),
                scope: try #require(PreemptionScope(space(.basic), for: .at(path), digest: nil)))
        }
        for entries in [entries, entries.reversed()] {
            #expect(SessionEntry.best(of: entries, for: .at("/a/b/c")) { _ in true }?.credentials.user == "/a/b/")
            #expect(SessionEntry.best(of: entries, for: .at("/a/c")) { _ in true }?.credentials.user == "/a/")
            #expect(
                SessionEntry.best(of: entries, for: .at("/a/c")) { $0.credentials.user != "/a/" }?.credentials.user
                    == "/")
            #expect(SessionEntry.best(of: entries, for: .at("/", plainOrigin)) { _ in true } == nil)
        }
    }
}
