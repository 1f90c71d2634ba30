import Testing
import TrawlCache
import TrawlHTTP

@Suite("Invalidation, RFC 9111 §4.4, and coalescing, ASI-CACHE-27")
struct InvalidationTests {
    @Test(
        "unsafe methods that succeed make stored responses invalid",
        arguments: [
            ("PUT", 200, true), ("DELETE", 204, true), ("POST", 303, true), ("PATCH", 200, true),
            ("M-SEARCH", 200, true),
            ("PUT", 500, false), ("DELETE", 404, false), ("GET", 200, false), ("HEAD", 200, false),
            ("OPTIONS", 200, false), ("TRACE", 200, false),
        ] as [(String, UInt16, Bool)])
    func methods(name: String, status: UInt16, isInvalidating: Bool) throws {
        let references = rules.invalidations(request(method: try #require(Method(name))), head(status: status))
        #expect((references != nil) == isInvalidating)
    }

    @Test("so do the URIs they name, of the same origin alone")
    func references() throws {
        let answer = head([("Location", "b"), ("Content-Location", "/c")])
        #expect(rules.invalidations(request(method: .post), answer) == ["b", "/c"])
        let own = target("https://example.org/a")
        #expect(rules.isInvalidated(target("https://example.org/b"), by: own))
        #expect(!rules.isInvalidated(target("https://example.com/b"), by: own))
        #expect(!rules.isInvalidated(target("http://example.org/b"), by: own))
    }

    @Test("what they name is read as a redirect reads it, and an empty field names nothing")
    func bytes() throws {
        var answer = head([("Content-Location", "")])
        let (name, value) = (Array("Location".utf8), Array("/caf".utf8) + [0xE9])
        let isTaken = name.withUnsafeBytes { name in
            value.withUnsafeBytes { value in (try? answer.fields.append(name: name, value: value)) != nil }
        }
        #expect(isTaken)
        #expect(rules.invalidations(request(method: .post), answer) == ["/caf%E9"])
    }

    @Test(
        "Clear-Site-Data",
        arguments: [
            ("\"cache\"", true), ("\"cookies\", \"cache\"", true), ("\"*\"", true), ("cache", false),
            ("\"cookies\"", false), ("", false),
        ])
    func clearSiteData(value: String, clears: Bool) {
        let answer = fields([("Clear-Site-Data", value)])
        for (url, isLocal, isTrustworthy) in [
            ("https://example.org/a", false, true), ("http://example.org/a", false, false),
            // Secure Contexts §3.1: loopback is trustworthy, unless a proxy is between.
            ("http://localhost/a", true, true), ("http://localhost/a", false, false),
        ] {
            let isCleared = rules.clearsStoredResponses(request(to: url), isLocal: isLocal, answer)
            #expect(isCleared == (clears && isTrustworthy), "\(url) \(isLocal)")
        }
    }

    @Test(
        "an answer for another authority makes nothing invalid and clears nothing, RFC 9110 §7.1",
        arguments: [
            ("b.example", true), ("example.org:81", true), ("", true), ("example.org", false),
            ("EXAMPLE.org:443", false),
        ])
    func otherHost(host: String, isOther: Bool) {
        let answer = head([("Location", "b"), ("Clear-Site-Data", "\"cache\"")])
        for method in [Method.put, .post, .delete, .patch] {
            let asked = request([("Host", host)], method: method, to: "https://example.org/a")
            #expect((rules.invalidations(asked, answer) == nil) == isOther)
            #expect(rules.clearsStoredResponses(asked, isLocal: false, answer.fields) == !isOther)
        }
        let asked = request([("Host", host)], to: "https://example.org/a")
        #expect(rules.clearsStoredResponses(asked, isLocal: true, answer.fields) == !isOther)
    }

    @Test("plain requests may be led and followed")
    func coalescing() {
        #expect(rules.mayFollow(request([("X", "1")]), request([("X", "2")])))
        #expect(!rules.mayFollow(request([("Accept", "a")]), request([("Accept", "b")])))
        #expect(!rules.mayFollow(request([("Cookie", "a")]), request()))
        #expect(!rules.mayFollow(request([("Cookie", "a=e\u{301}")]), request([("Cookie", "a=\u{E9}")])))
        #expect(!rules.mayFollow(request([("Authorization", "a")]), request([("Authorization", "b")])))
        #expect(rules.mayFollow(request([("Authorization", "a")]), request([("Authorization", "a")])))
        #expect(!rules.mayFollow(request(to: "http://example.org/b"), request()))
    }

    @Test(
        "others go alone",
        arguments: [
            request(method: .head), request(method: .post), request([("Range", "bytes=0-1")]),
            request([("If-None-Match", "\"a\"")]), request([("Cache-Control", "no-cache")]),
            request([("Cache-Control", "no-store")]), request([("Cache-Control", "max-age=0")]),
            request(policy: CachePolicy([.doNotRead])), request(policy: CachePolicy([.doNotWrite])),
            request(policy: CachePolicy([.askServerIfModified])), request(hasBody: true),
        ])
    func alone(request: CacheRequest) {
        #expect(!rules.mayLead(request))
    }

    @Test(
        "a response is for others when they could use it fresh, stale by its own leave, or validated",
        arguments: [
            ([("Cache-Control", "max-age=60")], 200, true), ([], 200, false),
            ([("Cache-Control", "max-age=60"), ("Age", "60")], 200, false),
            ([("Cache-Control", "max-age=0, stale-while-revalidate=5")], 200, true),
            ([("Cache-Control", "max-age=60, no-cache")], 200, false),
            ([("Cache-Control", "no-cache"), ("ETag", "\"a\"")], 200, true),
            ([("Last-Modified", date(-100))], 200, true), ([("ETag", "\"a\"")], 404, false),
            ([("Cache-Control", "max-age=60"), ("Content-Length", "1001")], 200, false),
            ([("Cache-Control", "max-age=60"), ("Content-Length", "1000")], 200, true),
        ] as [([(String, String)], UInt16, Bool)])
    func forOthers(lines: [(String, String)], status: UInt16, isForOthers: Bool) {
        #expect(mayServeOthers(request(), lines, status: status) == isForOthers)
    }

    @Test("where any age is right, each response is for others that is not too long")
    func forOthersOfAnyAge() {
        var careless = CachePolicy()
        careless.respectsCacheControl = false
        for asked in [
            request(policy: CachePolicy([.onlyLoadIfNotCached])), request(policy: careless),
            request([("Cache-Control", "max-stale")]), request([("Cache-Control", "max-stale=5")]),
        ] {
            #expect(mayServeOthers(asked, [], status: 200))
            #expect(!mayServeOthers(asked, [("Content-Length", "1001")], status: 200))
        }
    }

    private func mayServeOthers(_ request: CacheRequest, _ lines: [(String, String)], status: UInt16) -> Bool {
        let decision = rules.storing(
            request, head(lines, status: status), requestTime: noon, responseTime: noon, resolving: { _ in nil })
        guard case .store(let storing) = decision else {
            Issue.record("not stored: \(decision)")
            return false
        }
        return rules.mayServeOthers(request, storing, longestBody: 1000)
    }
}
