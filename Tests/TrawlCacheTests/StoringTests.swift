import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlCache

@Suite("What is stored, RFC 9111 §3, ASI-CACHE-02")
struct StoringTests {
    @Test(
        "statuses without a lifetime",
        arguments: [
            (200, true), (203, true), (204, true), (300, true), (301, true), (308, true), (404, true), (405, true),
            (410, true), (414, true), (451, true), (501, true), (201, false), (202, false), (302, false), (303, false),
            (307, false), (400, false), (403, false), (500, false), (503, false), (999, false),
        ] as [(UInt16, Bool)])
    func statuses(status: UInt16, isStored: Bool) {
        #expect(refusal([], status: status) == (isStored ? nil : .noFreshness))
        #expect(refusal([("Cache-Control", "max-age=0")], status: status) == nil)
        #expect(refusal([("Expires", "0")], status: status) == nil)
    }

    @Test("statuses that are never stored", arguments: [100, 103, 304, 407, 412, 416, 428, 429, 431, 511] as [UInt16])
    func never(status: UInt16) {
        #expect(refusal([("Cache-Control", "max-age=60")], status: status) == .status)
    }

    @Test(
        "directives",
        arguments: [
            ("no-store", .responseNoStore), ("max-age=60, NO-STORE", .responseNoStore), ("private", nil),
            ("no-cache", nil), ("max-age=60, no-store, must-understand", nil), ("no-store=\"a\"", .responseNoStore),
        ] as [(String, NoStoreReason?)])
    func directives(control: String, reason: NoStoreReason?) {
        #expect(refusal([("Cache-Control", control)]) == reason)
    }

    @Test("the caller's lifetime is for answers and redirects, not for failures that pass")
    func lifetimes() {
        var policy = CachePolicy()
        policy.secondsToCache = 60
        for status: UInt16 in [200, 302, 303, 307, 404, 451] {
            #expect(refusal([], status: status, for: request(policy: policy)) == nil)
        }
        for status: UInt16 in [401, 403, 500, 503] {
            #expect(refusal([], status: status, for: request(policy: policy)) == .noFreshness)
        }
        policy.respectsCacheControl = false
        #expect(refusal([("Cache-Control", "no-store")], for: request(policy: policy)) == nil)
        #expect(refusal([("Cache-Control", "max-age=60")], status: 503, for: request(policy: policy)) == .status)
        policy.respectsCacheControl = true
        let failure = stored([("Cache-Control", "max-age=1")], status: 503, for: request(policy: policy))
        #expect(failure?.facts.lifetime == 1000)
    }

    @Test(
        "a field that says what the bytes are is kept, whoever names it",
        arguments: ["Content-Encoding", "content-type", "Vary"])
    func indispensable(name: String) throws {
        let lines = [
            ("Content-Encoding", "gzip"), ("Content-Type", "text/plain"), ("Vary", "Accept-Encoding"),
            ("Cache-Control", "max-age=60, no-cache=\"\(name)\""),
        ]
        let named = try #require(stored(lines))
        #expect(named.head.fields.contains(name))
        #expect(named.facts.flags.contains(.noCache))
        let connection = try #require(
            stored([("Connection", name), ("Cache-Control", "max-age=60")] + lines.prefix(3)))
        #expect(connection.head.fields.contains(name))
        #expect(!connection.facts.flags.contains(.noCache))
    }

    @Test("more names in Vary than anybody means are everything")
    func manyNames() {
        func vary(_ count: Int) -> NoStoreReason? {
            refusal([("Cache-Control", "max-age=60"), ("Vary", (0..<count).map { "x-\($0)" }.joined(separator: ","))])
        }
        #expect(vary(64) == nil)
        #expect(vary(65) == .variesOnEverything)
        #expect(vary(50_000) == .variesOnEverything)
    }

    @Test("a request whose Host names another authority has nothing to do with what is stored for its URI")
    func host() throws {
        for (host, isOther) in [
            ("example.org", false), ("EXAMPLE.org", false), ("example.org:80", false), ("example.org:81", true),
            ("b.example", true), ("", true), ("example.org:8", true),
        ] {
            let asked = request([("Host", host)])
            #expect(refusal([("Cache-Control", "max-age=60")], for: asked) == (isOther ? .notEligible : nil), "\(host)")
            let known = try #require(stored([("Cache-Control", "max-age=60")]))
            #expect(word(lookUp(asked, known, at: noon)) == (isOther ? "forward notEligible" : "cache"), "\(host)")
        }
    }

    @Test("what a cookie or a password brought answers those who send the same")
    func secrets() throws {
        let all = [
            [], [("Cookie", "a=1")], [("Cookie", "a=2")], [("Authorization", "a=1")],
            [("Authorization", "x"), ("Cookie", "a=1")], [("Cookie", "a=1"), ("Authorization", "x")],
        ]
        for (index, own) in all.enumerated() {
            let response = try #require(stored([("Cache-Control", "max-age=60")], for: request(own)))
            let open = try #require(stored([("Cache-Control", "max-age=60, public")], for: request(own)))
            for (other, lines) in all.enumerated() {
                let isAnswered = word(lookUp(request(lines), response, at: noon)) == "cache"
                // What came without secrets is for those with cookies too.
                let isAllowed = index == other || own.isEmpty && lines.allSatisfy { $0.0 == "Cookie" }
                #expect(isAnswered == isAllowed, "\(own) \(lines)")
                #expect(word(lookUp(request(lines), open, at: noon)) == "cache")
            }
        }
    }

    @Test("a status that is not understood is not stored when it must be")
    func mustUnderstand() {
        let lines = [("Cache-Control", "max-age=60, must-understand")]
        #expect(refusal(lines, status: 299) == .responseNoStore)
        for status: UInt16 in [404, 451] { #expect(refusal(lines, status: status) == nil, "\(status)") }
    }

    @Test("requests that are not stored")
    func requests() {
        let fresh = [("Cache-Control", "max-age=60")]
        #expect(refusal(fresh, for: request([("Cache-Control", "no-store")])) == .requestNoStore)
        #expect(refusal(fresh, for: request(policy: CachePolicy([.doNotWrite]))) == .notEligible)
        #expect(refusal(fresh, for: request(method: .head)) == .notEligible)
        #expect(refusal(fresh, for: request(method: .put)) == .notEligible)
        #expect(refusal(fresh, for: request(hasBody: true)) == .notEligible)
        #expect(refusal(fresh, for: request(to: "ftp://example.org/a")) == .notEligible)
    }

    @Test(
        "an answer to POST or PATCH is stored when it says that it is what GET would give, and for how long",
        arguments: [Method.post, .patch])
    func changes(method: Method) throws {
        let asked = request(method: method, hasBody: true)
        let fresh = ("Cache-Control", "max-age=60")
        let here = ("Content-Location", "http://example.org/a")
        #expect(refusal([fresh], for: asked) == .notEligible)
        #expect(refusal([here], for: asked) == .notEligible)
        for status: UInt16 in [204, 205, 206, 302, 404] {
            #expect(refusal([fresh, here], status: status, for: asked) == .notEligible, "\(status)")
        }
        let response = try #require(stored([fresh, here], for: asked))
        #expect(word(lookUp(request(), response, at: noon)) == "cache")
        #expect(word(lookUp(request(method: .head), response, at: noon)) == "cache head")
        // RFC 5789 §2: it answers no other method.
        #expect(word(lookUp(asked, response, at: noon)) == "forward notEligible")
    }

    @Test(
        "Content-Location names the target in every spelling, and where it is empty, RFC 9110 §4.2.3, §8.7",
        arguments: [
            ("/%7eq", ["http://example.org/~q"], true), ("/~q", ["http://example.org/%7Eq"], true),
            ("/%7eq", [""], true), ("/~q", ["http://example.org/q"], false),
            ("/a/b", ["http://example.org/a%2Fb"], false),
            ("/~q", ["http://example.com/~q"], false), ("/~q", ["https://example.org/~q"], false),
            ("/~q", ["http://example.org/~q", "http://example.org/b"], false),
            ("/~q", ["", "http://example.org/b"], false),
        ] as [(String, [String], Bool)])
    func contentLocation(path: String, locations: [String], isTarget: Bool) {
        let post = request(method: .post, to: "http://example.org" + path, hasBody: true)
        let lines = [("Cache-Control", "max-age=60")] + locations.map { ("Content-Location", $0) }
        #expect(refusal(lines, for: post) == (isTarget ? nil : .notEligible))
    }

    @Test("fields of the connection and the proxy are left out, all others kept, RFC 9111 §3.1")
    func fields() throws {
        let response = try #require(
            stored([
                ("Cache-Control", "max-age=60"), ("Connection", "close, A"), ("a", "1"), ("b", "2"),
                ("Keep-Alive", "1"),
                ("Proxy-Authenticate", "x"), ("Proxy-Authentication-Info", "x"), ("Proxy-Authorization", "x"),
                ("Proxy-Connection", "x"), ("TE", "x"), ("Trailer", "x"), ("Transfer-Encoding", "chunked"),
                ("Upgrade", "x"), ("Age", "3"), ("Set-Cookie", "c=d"), ("Set-Cookie", "e=f"), ("Date", date(0)),
                ("Content-Range", "junk"),
            ]))
        var names: [String] = []
        response.head.fields.forEach { name, _ in names.append(FieldLines.text(name)) }
        #expect(names == ["Cache-Control", "b", "Set-Cookie", "Set-Cookie", "Date", "Content-Range"])
    }

    @Test("fields that no-cache names are left out, the rest may be used")
    func noCacheFields() throws {
        let response = try #require(stored([("Cache-Control", "max-age=60, no-cache=\"a\""), ("A", "1"), ("b", "2")]))
        #expect(response.head.fields.first("a") == nil)
        #expect(response.head.fields.first("b") == "2")
        #expect(word(lookUp(request(), response, at: noon)) == "cache")
    }

    /// Where each field is looked for among all members, this takes minutes.
    @Test(
        "however many fields are named in a head of many fields, it is read in no time", .timeLimit(.minutes(10)),
        arguments: [false, true])
    func manyNamedFields(byNoCache: Bool) throws {
        let named = (100_000..<140_000).map { "x-\($0)" }.joined(separator: ",")
        let list = byNoCache ? ("Cache-Control", "max-age=60, no-cache=\"\(named)\"") : ("Connection", named)
        let others = (200_000..<240_000).map { ("X-\($0)", "1") }
        var found: StoredResponse?
        let time = ProcessorTime.spent {
            found = stored([("Date", date(0)), ("Cache-Control", "max-age=60"), list, ("X-139999", "1")] + others)
        }
        #expect(time < .seconds(60))
        let response = try #require(found)
        #expect(response.head.fields.first("X-139999") == nil)
        #expect(response.head.fields.first("X-200000") == "1")
        #expect(response.head.fields.count == others.count + (byNoCache ? 3 : 2))
    }

    @Test("a missing or wrong Date becomes the time of arrival, RFC 9110 §6.6.1")
    func dates() throws {
        #expect(try #require(stored([])).head.fields.values("Date") == [HTTPDate.format(noon)])
        #expect(try #require(stored([("Date", "x")])).head.fields.values("Date") == [HTTPDate.format(noon)])
        #expect(try #require(stored([("Date", date(-9))])).head.fields.values("Date") == [date(-9)])
    }

    @Test("a part is stored when it says which one it is")
    func parts() throws {
        let ranged = request([("Range", "bytes=0-4")])
        let lines = [("Cache-Control", "max-age=60"), ("Content-Range", "bytes 0-4/10")]
        let part = try #require(stored(lines, status: 206, for: ranged, length: 5))
        #expect(part.facts.body == BodyExtent.part(first: 0, length: 5, total: 10, reachesEnd: false))
        #expect(word(lookUp(request([("Range", "bytes=1-2")]), part, at: noon)) == "cache 1..<3")
        #expect(word(lookUp(request(), part, at: noon)) == "complete 5")
        #expect(refusal(lines, status: 206) == .range)
        #expect(refusal([("Content-Range", "bytes */10")], status: 206, for: ranged) == .range)
        #expect(refusal([("Content-Type", "multipart/byteranges")], status: 206, for: ranged) == .range)
        #expect(stored(lines, status: 206, for: ranged, length: 6) == nil)
        #expect(stored(lines, status: 206, for: ranged, length: 0) == nil)
        #expect(stored(lines, status: 206, for: ranged, length: 3, isComplete: false) == nil)
    }

    @Test(
        "a part that only the close of its connection ended has the bytes that came, and no end, RFC 9112 §8",
        arguments: [
            ([], .http1_1, false), ([], .http1_0, false), ([("Transfer-Encoding", "identity")], .http1_1, false),
            ([("Content-Length", "5")], .http1_1, true), ([("Transfer-Encoding", "Chunked")], .http1_1, true),
            ([], .http2, true),
        ] as [([(String, String)], HTTPVersion, Bool)])
    func shortPart(framing: [(String, String)], version: HTTPVersion, isBelieved: Bool) throws {
        let ranged = request([("Range", "bytes=0-9")])
        func part(received: UInt64, _ validators: [(String, String)]) -> StoredResponse? {
            let lines = [
                ("Cache-Control", "max-age=60"), ("Content-Range", "bytes 0-9/10"), ("Content-Digest", "all"),
            ]
            var message = head(lines + validators + framing, status: 206)
            message.version = version
            let decision = rules.storing(
                ranged, message, requestTime: noon, responseTime: noon, resolving: { target($0) })
            guard case .store(let storing) = decision else { return nil }
            return rules.finished(storing, received: received, isComplete: true)
        }
        let tag = [("ETag", "\"v1\"")]
        let short = try #require(part(received: 5, tag))
        #expect(short.facts.body == BodyExtent.part(first: 0, length: 5, total: 10, reachesEnd: isBelieved))
        #expect(short.head.fields.contains("Content-Digest") == isBelieved)
        for (range, served, isInside) in [
            ("1-3", "cache 1..<4", true), ("3-", "cache 3..<5", false), ("-2", "cache 3..<5", false),
            ("3-7", "cache 3..<5", false),
        ] {
            let isServed = isInside || isBelieved
            let outcome = word(lookUp(request([("Range", "bytes=\(range)")]), short, at: noon))
            #expect(outcome == (isServed ? served : "forward range"), "\(range)")
        }
        // What broke off is kept where the rest can be asked for.
        #expect((part(received: 5, []) != nil) == isBelieved)
        #expect(part(received: 10, [])?.facts.body == .complete(length: 10))
    }

    @Test(
        "a part that answers the caller's own If-Range may lack the fields that say what it is, RFC 9110 §15.3.7",
        arguments: ["\"a\"", "\"b\"", date(-100)])
    func partOfCondition(condition: String) throws {
        let asked = request([("Range", "bytes=0-"), ("If-Range", condition)])
        let lines = [("Cache-Control", "max-age=60"), ("ETag", "\"a\"")]
        #expect(refusal(lines + [("Content-Range", "bytes 0-2/3")], status: 206, for: asked) == .range)
        #expect(refusal(lines + [("Content-Range", "bytes 0-2/10")], status: 206, for: asked) == .range)
        // What comes in place of the part has all its fields.
        #expect(refusal(lines, for: asked) == nil)
        // It was asked about all the same.
        let stale = try #require(stored(lines))
        guard case .send(let sending) = lookUp(asked, stale, at: after(100)) else {
            Issue.record("nothing was sent")
            return
        }
        #expect(sending.purpose == .validate && rules.isObsolete(sending, after: 206))
    }

    @Test("lengths at the edge of what numbers hold do no harm")
    func hugeRanges() throws {
        let last = "18446744073709551614"
        let ranged = request([("Range", "bytes=0-")])
        let lines = [("Cache-Control", "max-age=60"), ("ETag", "\"v1\""), ("Content-Range", "bytes 0-\(last)/*")]
        #expect(stored(lines, status: 206, for: ranged, length: 5) != nil)
        let whole = try #require(stored(lines, status: 206, for: ranged, length: .max))
        let asked = request([("Range", "bytes=1-\(last)")])
        guard case .serve(let reuse) = lookUp(asked, whole, at: noon) else {
            Issue.record("not served")
            return
        }
        #expect(whole.head(as: reuse).fields.first("Content-Range") == "bytes 1-\(last)/*")
        #expect(whole.head(as: reuse).fields.first("Content-Length") == last)
    }

    @Test("a part that is all there is becomes whole")
    func wholePart() throws {
        let lines = [("Cache-Control", "max-age=60"), ("Content-Range", "bytes 0-9/10"), ("Content-Length", "10")]
        let response = try #require(stored(lines, status: 206, for: request([("Range", "bytes=0-")]), length: 10))
        #expect(response.head.status == 200)
        #expect(response.facts.body.isComplete)
        #expect(response.head.fields.first("Content-Range") == nil)
        #expect(word(lookUp(request(), response, at: noon)) == "cache")
    }

    @Test("an interrupted answer is a part when the rest can be asked for, RFC 9111 §3.3")
    func interrupted() throws {
        let lines = [("Cache-Control", "max-age=60"), ("Content-Length", "10")]
        #expect(stored(lines, length: 4, isComplete: false) == nil)
        let tagged = try #require(stored(lines + [("ETag", "\"v1\"")], length: 4, isComplete: false))
        #expect(word(lookUp(request(), tagged, at: noon)) == "complete 4")
        #expect(word(lookUp(request(), tagged, at: after(100))) == "complete 4")
        #expect(word(lookUp(request(method: .head), tagged, at: noon)) == "forward range")
        #expect(stored(lines + [("ETag", "W/\"v1\"")], length: 4, isComplete: false) == nil)
    }
}
