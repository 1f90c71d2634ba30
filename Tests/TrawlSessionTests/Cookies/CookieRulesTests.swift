import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Which cookies are stored, RFC 6265bis §5.7")
struct CookieRulesTests {
    private let conditions = CookieConditions(suffixes: suffixes)

    private func receive(
        _ line: String, _ url: String, _ conditions: CookieConditions? = nil
    ) throws -> (cookie: Cookie, received: ReceivedCookie) {
        try CookieTarget.with(url) { target in
            try line.latin1.withUnsafeBytes { line in
                let received = try CookieRules.receive(
                    line, from: target, under: conditions ?? self.conditions, at: noon)
                return (received.record.withView { Cookie($0) }, received)
            }
        }
    }

    @Test(
        "domains and who may name them",
        arguments: [
            ("http://a.example.org/", "", "a.example.org", true),
            ("http://a.example.org/", "domain=example.org", "example.org", false),
            ("http://a.example.org/", "domain=.EXAMPLE.org", "example.org", false),
            ("http://a.example.org/", "domain=a.example.org", "a.example.org", false),
            ("http://10.0.0.1/", "domain=10.0.0.1", "10.0.0.1", true),
            ("http://co.uk/", "domain=co.uk", "co.uk", true), ("http://intranet/", "domain=intranet", "intranet", true),
        ])
    func domains(url: String, attribute: String, domain: String, isHostOnly: Bool) throws {
        let cookie = try receive("a=b; \(attribute)", url).cookie
        #expect(cookie.domain == domain)
        #expect(cookie.isHostOnly == isHostOnly)
    }

    @Test(
        "a cookie that comes again changes nothing when it is the same, and ends in the same second",
        arguments: [
            ("a=1", 0, true), ("a=1", 1_000_000, true), ("a=2", 0, false), ("a=1; Path=/x", 0, false),
            ("a=1; HttpOnly", 0, false), ("a=1; Max-Age=60", 0, false),
        ])
    func comesAgain(line: String, after: Int64, changesNothing: Bool) throws {
        try #expect(self.changesNothing(line, after: after, "a=1") == changesNothing)
    }

    @Test("of a cookie whose time begins anew it is the second that counts", arguments: [(999, true), (1000, false)])
    func beginsAnew(after: Int64, changesNothing: Bool) throws {
        try #expect(self.changesNothing("a=1; Max-Age=60", after: after, "a=1; Max-Age=60") == changesNothing)
        try #expect(!self.changesNothing("a=1", after: after, "a=1; Max-Age=60"))
        try #expect(!self.changesNothing("a=1; Max-Age=0", after: after, "a=1; Max-Age=60"))
    }

    private func changesNothing(_ line: String, after milliseconds: Int64, _ before: String) throws -> Bool {
        let later = noon.advanced(byMilliseconds: milliseconds)
        let old = try receive(before, "http://h/").received
        let new = try CookieTarget.with("http://h/") { target in
            try line.latin1.withUnsafeBytes {
                try CookieRules.receive($0, from: target, under: conditions, at: later)
            }
        }
        return old.record.withView { old in
            new.record.withView { CookieRules.changesNothing($0, replacing: old, at: later) }
        }
    }

    @Test(
        "refusals",
        arguments: [
            ("http://a.co.uk/", "a=b; domain=co.uk", CookieRefusal.publicSuffix),
            ("http://a.org./", "a=b; domain=org.", .publicSuffix), ("http://a.org/", "a=b; domain=org", .publicSuffix),
            ("http://a.org/", "a=b; domain=b.a.org", .foreignDomain),
            ("http://a.org/", "a=b; domain=b.org", .foreignDomain),
            ("http://ba.org/", "a=b; domain=a.org", .foreignDomain),
            ("http://10.0.0.1/", "a=b; domain=0.1", .foreignDomain),
            ("http://a.org/", "a=b; domain=\u{E9}.org", .foreignDomain),
            ("http://a.org/", "a=b; secure", .insecureOrigin),
            ("http://a.org/", "a=b; SameSite=None", .insecureSameSiteNone),
            ("https://a.org/", "a=b; SameSite=None", .insecureSameSiteNone),
            ("https://a.org/", "a=b; samesite=lax; SAMESITE=NONE", .insecureSameSiteNone),
            ("http://localhost/", "a=b; SameSite=None; Max-Age=0", .insecureSameSiteNone),
            ("https://a.org/", "__Secure-a=b", .securePrefix), ("https://a.org/", "__sEcure-a=b", .securePrefix),
            ("https://a.org/", "__Secure-a; secure", .securePrefix), ("https://a.org/", "=__secure-", .securePrefix),
            ("https://a.org/", "__Host-a=b; secure", .hostPrefix),
            ("https://a.org/", "__host-a=b; path=/", .hostPrefix),
            ("https://a.org/", "__Host-a=b; path=/x; secure", .hostPrefix),
            ("https://a.org/", "__Host-a=b; path=/; secure; domain=a.org", .hostPrefix),
            ("https://127.0.0.1/", "__Host-a=b; path=/; secure; domain=127.0.0.1", .hostPrefix),
            ("https://a.org/", "__Host-a; path=/; secure", .hostPrefix),
            ("http://\(String(repeating: "a", count: 256))/", "a=b", .domain),
            ("http://a.org/\(String(repeating: "a", count: 4096))/b", "a=b", .path),
        ])
    func refusals(url: String, line: String, reason: CookieRefusal) {
        #expect(throws: reason) { try receive(line, url) }
    }

    @Test(
        "the path is that of the attribute, else of the request, parameters and all",
        arguments: [
            ("http://a.org/shop;lang=en/item", "a=b", "/shop;lang=en"), ("http://a.org/x;y", "a=b", "/"),
            ("http://a.org/;/x", "a=b; path=q", "/;"), ("http://a.org/x;y/z", "a=b; path=/p;q", "/p"),
        ])
    func paths(url: String, line: String, path: String) throws {
        let received = try receive(line, url).received
        let record = try CookieRecord(bytes: received.record.bytes)
        #expect(record.withView { Cookie($0).path } == path)
    }

    @Test(
        "SameSite is kept; None is taken with Secure, and the last attribute counts",
        arguments: [
            ("https://a.org/", "a=b; samesite=none; Secure", SameSite.none),
            ("http://localhost/", "a=b; Secure; SameSite=None", .none),
            ("http://a.org/", "a=b; SameSite=None; SameSite=Lax", .lax),
            ("http://a.org/", "a=b; SameSite=None; SameSite=x", .unset), ("http://a.org/", "a=b", .unset),
        ])
    func sameSite(url: String, line: String, kept: SameSite) throws {
        #expect(try receive(line, url).cookie.sameSite == kept)
    }

    @Test("SameSite=None without Secure is the program's own affair")
    func ownSameSite() throws {
        let cookie = Cookie(name: [97], value: [98], domain: "a.org", sameSite: .none, creation: noon)
        #expect(try cookie.record(suffixes).withView { Cookie($0).sameSite } == .none)
    }

    @Test("prefixes that keep their promise")
    func prefixes() throws {
        #expect(try receive("__Secure-a=b; secure; domain=a.org", "https://x.a.org/").cookie.isSecure)
        #expect(try receive("__HOST-a=b; secure; path=/", "https://x.a.org/y/z").cookie.path == "/")
        #expect(try receive("__Host-a=b; secure; path=/", "http://localhost/y/z").cookie.isHostOnly)
        #expect(try receive("__Hos=b", "http://a.org/").cookie.nameText == "__Hos")
    }

    @Test("policies (ASI-COOK-08)")
    func policies() throws {
        func outcome(_ policy: CookieAcceptPolicy, _ url: String, _ document: String?) -> Bool {
            let conditions = CookieConditions(policy: policy, mainDocumentHost: document, suffixes: suffixes)
            return (try? receive("a=b", url, conditions)) != nil
        }
        #expect(outcome(.always, "http://a.org/", "b.org"))
        #expect(!outcome(.never, "http://a.org/", nil))
        #expect(outcome(.onlyFromMainDocument, "http://a.org/", nil))
        #expect(outcome(.onlyFromMainDocument, "http://x.a.org/", "y.a.org"))
        #expect(!outcome(.onlyFromMainDocument, "http://a.org/", "b.org"))
        #expect(!outcome(.onlyFromMainDocument, "http://a.co.uk/", "b.co.uk"))
        #expect(!outcome(.onlyFromMainDocument, "http://10.0.0.1/", "11.0.0.1"))
        #expect(!outcome(.onlyFromMainDocument, "http://a.org./", "b.org."))
    }

    @Test("the record says which session accepted it, and all that the line said")
    func facts() throws {
        let conditions = CookieConditions(suffixes: suffixes, session: 7)
        let cookie = try receive(
            "a=b; domain=x.org; path=/p; max-age=5; secure; httponly; samesite=lax", "https://y.x.org/", conditions
        ).cookie
        #expect(
            cookie
                == Cookie(
                    name: Array("a".utf8), value: Array("b".utf8), domain: "x.org", isHostOnly: false, path: "/p",
                    isSecure: true, isHTTPOnly: true, sameSite: .lax, expiry: noon.plus(seconds: 5), creation: noon,
                    session: 7))
    }

    @Test("what is over removes, and what replaces keeps the age of the old one")
    func settling() throws {
        var over = try receive("a=b; max-age=0", "http://a.org/").received
        var new = try receive("a=c", "http://a.org/").received
        var old = try receive("a=b", "http://a.org/").received
        #expect(over.isExpired)
        #expect(over.settle(replacing: nil, order: 1, at: noon) == .nothing)
        #expect(old.settle(replacing: nil, order: 5, at: noon) == .insert)
        var earlier = old.record
        earlier.withView { #expect($0.order == 5) }
        earlier.touch(at: noon.plus(seconds: 9))
        earlier.withView { view in
            #expect(over.settle(replacing: view, order: 6, at: noon) == .remove)
            #expect(new.settle(replacing: view, order: 6, at: noon) == .replace)
        }
        var another = try receive("a=d", "http://a.org/").received
        let brief = try receive("a=b; max-age=5", "http://a.org/").received.record
        brief.withView { #expect(another.settle(replacing: $0, order: 8, at: noon.plus(seconds: 5)) == .replace) }
        another.record.withView { #expect($0.order == 8) }
        new.record.withView { view in
            #expect(view.order == 5)
            #expect(view.lastAccess == noon)
            #expect(Array(view.value) == Array("c".utf8))
        }
    }

    @Test("the response's cookies are those that the rules allow")
    func response() throws {
        var fields = FieldLines()
        try fields.append("Set-Cookie", "a=b")
        try fields.append("X", "c=d")
        try fields.append("set-cookie", "e=f; max-age=0")
        try fields.append("SET-COOKIE", "g=h; domain=b.org")
        try fields.append("Set-Cookie", "i=j, k=l")
        let cookies = CookieTarget.with("http://a.org/") { CookieRules.cookies(in: fields, from: $0, at: noon) }
        #expect(cookies.map(\.nameText) == ["a", "i"])
        #expect(cookies.last?.valueText == "j, k=l")
    }

    @Test("what goes first when there are too many")
    func excess() {
        func candidate(
            _ place: Int, expired: Bool = false, secure: Bool = false, crowded: Bool = false, _ access: Int64
        ) throws -> EvictionCandidate {
            let cookie = Cookie(
                name: [97], value: [], domain: "a.org", isSecure: secure,
                expiry: expired ? noon : nil, creation: noon, lastAccess: noon.plus(seconds: access))
            var candidate = try cookie.record(suffixes).withView { EvictionCandidate($0, place: place, at: noon) }
            candidate.isCrowded = crowded
            return candidate
        }
        let all =
            (try? [
                candidate(0, 1), candidate(1, secure: true, crowded: true, 2), candidate(2, crowded: true, 4),
                candidate(3, crowded: true, 3), candidate(4, expired: true, 9), candidate(5, expired: true, 8),
                candidate(6, 0),
            ]) ?? []
        #expect(CookieRules.excess(all, keeping: 0) == [5, 4, 3, 2, 1, 6, 0])
        #expect(CookieRules.excess(all, keeping: 4) == [5, 4, 3])
        #expect(CookieRules.excess(all, keeping: 100) == [5, 4])
        let length = all.first?.length ?? 0
        #expect(CookieRules.excess(all, keeping: 100, bytes: 3 * length) == [5, 4, 3, 2])
        #expect(CookieRules.excess(all, keeping: 100, bytes: 3 * length - 1) == [5, 4, 3, 2, 1])
        #expect(CookieRules.excess(all, keeping: 2, bytes: 5 * length) == [5, 4, 3, 2, 1])
        // A domain with too many bytes has more than it should, be they in few cookies; in all, a number counts.
        let few = (try? [candidate(0, secure: true, 1), candidate(1, 2), candidate(2, 3)]) ?? []
        #expect(CookieRules.excess(ofDomain: few, CookieLimits(bytesPerDomain: 2 * length)) == [1, 2])
        #expect(CookieRules.excess(ofAll: [few], CookieLimits(total: 2, crowded: 3)) == [0])
        #expect(CookieRules.excess(ofAll: [few], CookieLimits(total: 2, crowded: 2)) == [1])
    }
}
