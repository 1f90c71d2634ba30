import Testing
import TrawlCache
import TrawlHTTP

@Suite("What a request gets from the store, RFC 9111 §4")
struct LookupTests {
    /// A response with an entity tag that is fresh for a minute, two minutes after noon or at noon.
    private func decision(
        _ lines: [(String, String)], control: String = "max-age=60", policy: CachePolicy = CachePolicy(),
        method: Method = .get, at seconds: Int64, others: [(String, String)] = [("ETag", "\"v1\"")]
    ) throws -> String {
        let response = try #require(stored([("Date", date(0)), ("Cache-Control", control)] + others))
        return word(lookUp(request(lines, method: method, policy: policy), response, at: after(seconds)))
    }

    @Test(
        "directives of the request",
        arguments: [
            ("", 30, "cache"), ("", 60, "validate"), ("no-cache", 30, "validate"), ("max-age=10", 5, "cache"),
            ("max-age=10", 30, "validate"), ("max-age=0", 0, "validate"), ("max-age=x", 30, "cache"),
            ("max-stale", 1000, "stale"), ("max-stale=60", 100, "stale"), ("max-stale=30", 100, "validate"),
            ("min-fresh=20", 30, "cache"), ("min-fresh=40", 30, "validate"), ("only-if-cached", 30, "cache"),
            ("only-if-cached", 100, "unsatisfiable"), ("only-if-cached, max-stale", 100, "stale"),
            ("no-store", 30, "cache"), ("max-age=10, max-stale=60", 5, "cache"),
        ] as [(String, Int64, String)])
    func requestDirectives(control: String, seconds: Int64, expected: String) throws {
        #expect(try decision(control.isEmpty ? [] : [("Cache-Control", control)], at: seconds) == expected)
    }

    @Test("Pragma counts where there is no Cache-Control")
    func pragma() throws {
        #expect(try decision([("Pragma", "no-cache")], at: 30) == "validate")
        #expect(try decision([("Pragma", "no-cache"), ("Cache-Control", "max-age=99")], at: 30) == "cache")
        #expect(try decision([("Pragma", "x")], at: 30) == "cache")
    }

    @Test(
        "directives of the response",
        arguments: [
            ("max-age=60, no-cache", 30, "validate"), ("max-age=60, must-revalidate", 30, "cache"),
            ("max-age=60, stale-while-revalidate=60", 100, "stale revalidating"),
            ("max-age=60, stale-while-revalidate=30", 100, "validate"),
            ("max-age=60, stale-while-revalidate=60, must-revalidate", 100, "validate"),
            ("max-age=60, no-cache=\"x\"", 30, "cache"),
        ] as [(String, Int64, String)])
    func responseDirectives(control: String, seconds: Int64, expected: String) throws {
        #expect(try decision([], control: control, at: seconds) == expected)
    }

    @Test("who says nothing of codings gets none, unless that is how the origin has it")
    func codings() throws {
        let lines = [("Cache-Control", "max-age=60"), ("Content-Encoding", "gzip")]
        let asked = try #require(stored(lines, for: request([("Accept-Encoding", "gzip")])))
        let unasked = try #require(stored(lines))
        let plain = request(decodesContent: false)
        #expect(word(lookUp(plain, asked, at: noon)) == "forward nothingStored")
        #expect(word(lookUp(plain, unasked, at: noon)) == "cache")
        #expect(word(lookUp(request([("Accept-Encoding", "gzip")], decodesContent: false), asked, at: noon)) == "cache")
        #expect(word(lookUp(request(), asked, at: noon)) == "cache")
    }

    @Test("stored parts, and what HEAD is answered with, are validated without bytes that nobody asked for")
    func validatedAlike() throws {
        let control = ("Cache-Control", "max-age=0, stale-while-revalidate=60")
        let plain = try #require(stored([control]))
        let tagged = try #require(stored([control, ("ETag", "\"v1\"")]))
        let lost = try #require(stored([control], status: 404))
        let ranged = request([("Range", "bytes=0-1")])
        let part = try #require(stored([control, ("Content-Range", "bytes 0-9/20")], status: 206, for: ranged))
        let head = request(method: .head)
        #expect(rules.isValidatedAlike(ranged, part.facts) && !rules.isValidatedAlike(ranged, plain.facts))
        #expect(!rules.isValidatedAlike(request(), plain.facts) && !rules.isValidatedAlike(request(), tagged.facts))
        #expect(rules.isValidatedAlike(head, plain.facts) && !rules.isValidatedAlike(head, tagged.facts))
        #expect(!rules.isValidatedAlike(head, lost.facts))
    }

    @Test("max-stale does not go over must-revalidate")
    func mustRevalidate() throws {
        let lines = [("Cache-Control", "max-stale")]
        #expect(try decision(lines, control: "max-age=60, must-revalidate", at: 100) == "validate")
    }

    @Test("what is immutable is not checked on a reload while it is fresh, RFC 8246")
    func immutable() throws {
        let reload = [("Cache-Control", "max-age=0")]
        #expect(try decision(reload, control: "max-age=60, immutable", at: 30) == "cache")
        #expect(try decision(reload, control: "max-age=60, immutable", at: 100) == "validate")
        #expect(try decision([("Cache-Control", "no-cache")], control: "max-age=60, immutable", at: 30) == "validate")
    }

    @Test(
        "what came more than a minute ahead of the clock is asked about, unless any age is right",
        arguments: [
            ("", -60, "cache"), ("", -61, "validate"), ("", -1_000_000, "validate"), ("max-stale", -61, "validate"),
            ("max-age=600", -61, "validate"), ("only-if-cached", -61, "unsatisfiable"),
        ] as [(String, Int64, String)])
    func clockAhead(control: String, seconds: Int64, expected: String) throws {
        let lines = control.isEmpty ? [] : [("Cache-Control", control)]
        let lasting = "max-age=60, immutable, stale-while-revalidate=600"
        #expect(try decision(lines, control: lasting, at: seconds) == expected)
        let anyAge = seconds < -60 ? "stale" : "cache"
        for option in [CachePolicy.Options.onlyLoadIfNotCached, .doNotLoad] {
            #expect(try decision(lines, control: lasting, policy: CachePolicy([option]), at: seconds) == anyAge)
        }
        var careless = CachePolicy()
        careless.respectsCacheControl = false
        #expect(try decision(lines, control: lasting, policy: careless, at: seconds) == "cache")
    }

    @Test("nothing to ask with means a plain request")
    func noValidator() throws {
        #expect(try decision([], at: 100, others: []) == "forward stale")
        #expect(word(lookUp(request(), nil, at: noon)) == "forward nothingStored")
    }

    @Test("errors and redirects are not validated: a 304 could not mean them", arguments: [301, 404, 410] as [UInt16])
    func notValidated(status: UInt16) throws {
        let response = try #require(
            stored([("Cache-Control", "max-age=60"), ("ETag", "\"v1\"")], status: status))
        #expect(word(lookUp(request(), response, at: after(100))) == "forward stale")
    }

    @Test(
        "methods",
        arguments: [
            ("HEAD", 30, "cache head"), ("HEAD", 100, "forward stale"), ("POST", 30, "forward notEligible"),
            ("OPTIONS", 30, "forward notEligible"),
        ] as [(String, Int64, String)])
    func methods(name: String, seconds: Int64, expected: String) throws {
        #expect(try decision([], method: try #require(Method(name)), at: seconds) == expected)
    }

    @Test("a body, another scheme and preconditions are for the origin")
    func ineligible() throws {
        let response = try #require(stored([("Cache-Control", "max-age=60")]))
        #expect(word(lookUp(request(hasBody: true), response, at: noon)) == "forward notEligible")
        #expect(word(lookUp(request([("If-Match", "\"v1\"")]), response, at: noon)) == "forward notEligible")
        #expect(word(lookUp(request([("If-Unmodified-Since", date(0))]), response, at: noon)) == "forward notEligible")
        #expect(word(lookUp(request(to: "ftp://example.org/a"), response, at: noon)) == "forward notEligible")
    }

    @Test("another URL is another key")
    func keys() throws {
        let response = try #require(stored([("Cache-Control", "max-age=60")]))
        for url in ["http://example.org/a/", "http://example.org/a?b", "https://example.org/a", "http://example.com/a"]
        {
            #expect(word(lookUp(request(to: url), response, at: noon)) == "forward nothingStored")
        }
    }

    // MARK: The caller's own conditions

    @Test(
        "conditions on a fresh response are answered here",
        arguments: [
            ([("If-None-Match", "\"v1\"")], "cache 304"), ([("If-None-Match", "W/\"v1\"")], "cache 304"),
            ([("If-None-Match", "\"a\", \"v1\" , \"b\"")], "cache 304"), ([("If-None-Match", "*")], "cache 304"),
            ([("If-None-Match", "\"a\"")], "cache"), ([("If-None-Match", "\"a\\\", \"v1\"")], "cache 304"),
            ([("If-Modified-Since", date(-100))], "cache 304"), ([("If-Modified-Since", date(-99))], "cache 304"),
            ([("If-Modified-Since", date(-101))], "cache"), ([("If-Modified-Since", "x")], "cache"),
            ([("If-Modified-Since", date(0)), ("If-Modified-Since", date(0))], "cache"),
            ([("If-None-Match", "\"v1\""), ("If-Modified-Since", date(-101))], "cache 304"),
            ([("If-None-Match", "\"a\""), ("If-Modified-Since", date(0))], "cache"),
        ] as [([(String, String)], String)])
    func conditions(lines: [(String, String)], expected: String) throws {
        let others = [("ETag", "\"v1\""), ("Last-Modified", date(-100))]
        #expect(try decision(lines, at: 30, others: others) == expected)
    }

    @Test(
        "conditions on a stale response",
        arguments: [
            ([("If-None-Match", "\"v1\"")], "validate"), ([("If-None-Match", "\"a\"")], "forward callerCondition"),
            ([("If-Modified-Since", date(-101))], "validate"), ([("If-None-Match", "*")], "forward callerCondition"),
        ] as [([(String, String)], String)])
    func staleConditions(lines: [(String, String)], expected: String) throws {
        let others = [("ETag", "\"v1\""), ("Last-Modified", date(-100))]
        #expect(try decision(lines, at: 100, others: others) == expected)
    }

    @Test("both validators are sent, in place of the caller's date")
    func validators() throws {
        let response = try #require(
            stored([("Cache-Control", "max-age=60"), ("ETag", "W/\"v1\""), ("Last-Modified", date(-100))]))
        let asked = request([("If-Modified-Since", date(-5)), ("X", "1")])
        guard case .send(let sending) = lookUp(asked, response, at: after(100)) else {
            Issue.record("not sent")
            return
        }
        let sent = rules.fieldsToSend(asked, sending)
        #expect(sent.values("If-None-Match") == ["W/\"v1\""])
        #expect(sent.values("If-Modified-Since") == [date(-100)])
        #expect(sent.first("X") == "1")
    }

    @Test("an empty ETag is none to ask with")
    func emptyTag() throws {
        let response = try #require(
            stored([("Cache-Control", "max-age=60"), ("ETag", ""), ("Last-Modified", date(-100))]))
        guard case .send(let sending) = lookUp(request(), response, at: after(100)) else {
            Issue.record("not sent")
            return
        }
        #expect(!sending.fields.contains("If-None-Match"))
        #expect(sending.fields.values("If-Modified-Since") == [date(-100)])
    }

    @Test("an empty ETag hides none behind it")
    func hiddenTag() throws {
        let tags = [("ETag", ""), ("ETag", "\"q\"")]
        for (lines, seconds, expected) in [
            ([("If-None-Match", "\"q\"")], 30, "cache 304"), ([("If-None-Match", "\"a\"")], 30, "cache"),
            ([("If-None-Match", "\"q\"")], 100, "validate"),
            ([("If-None-Match", "\"a\"")], 100, "forward callerCondition"),
            ([("Range", "bytes=2-3"), ("If-Range", "\"q\"")], 30, "cache 2..<4"),
        ] as [([(String, String)], Int64, String)] {
            #expect(try decision(lines, at: seconds, others: tags) == expected, "\(lines) \(seconds)")
        }
        let lines = [("Cache-Control", "max-age=60"), ("Content-Length", "20")] + tags
        for (isComplete, field) in [(true, "If-None-Match"), (false, "If-Range")] {
            let response = try #require(stored(lines, length: isComplete ? 20 : 10, isComplete: isComplete))
            guard case .send(let sending) = lookUp(request(), response, at: after(100)) else {
                Issue.record("not sent")
                continue
            }
            #expect(sending.fields.values(field) == ["\"q\""])
        }
    }

    // MARK: Ranges

    @Test(
        "ranges of a whole response",
        arguments: [
            ([("Range", "bytes=2-3")], 30, "cache 2..<4"), ([("Range", "bytes=-1")], 30, "cache 9..<10"),
            ([("Range", "bytes=20-")], 30, "forward range"), ([("Range", "bytes=0-1,4-5")], 30, "forward range"),
            ([("Range", "bytes=2-3"), ("Range", "bytes=4-5")], 30, "forward range"),
            ([("Range", "bytes=2-3")], 100, "validate"),
            ([("Range", "bytes=2-3"), ("If-Range", "\"v1\"")], 30, "cache 2..<4"),
            ([("Range", "bytes=2-3"), ("If-Range", "\"v2\"")], 30, "cache"),
            ([("Range", "bytes=2-3"), ("If-Range", date(-100))], 30, "cache 2..<4"),
            ([("Range", "bytes=2-3"), ("If-Range", date(-99))], 30, "cache"),
            ([("Range", "bytes=2-3"), ("If-None-Match", "\"v1\"")], 30, "cache 304"),
        ] as [([(String, String)], Int64, String)])
    func ranges(lines: [(String, String)], seconds: Int64, expected: String) throws {
        let others = [("ETag", "\"v1\""), ("Last-Modified", date(-100))]
        #expect(try decision(lines, at: seconds, others: others) == expected)
    }

    @Test(
        "a range that is ignored is answered with the whole, RFC 9110 §14.2",
        arguments: [
            ([("Range", "bytes=5-2")], 30, "cache"), ([("Range", "lines=1-2")], 30, "cache"),
            ([("Range", "")], 30, "cache"), ([("Range", "bytes=5-2")], 100, "validate"),
            ([("Range", "bytes=5-2"), ("If-Range", "\"v1\"")], 30, "cache"),
            ([("Range", "bytes=5-2"), ("If-None-Match", "\"v1\"")], 30, "cache 304"),
            ([("Range", "lines=1-2"), ("Range", "bytes=5-2")], 30, "forward range"),
            ([("Range", "bytes=10-")], 30, "forward range"), ([("Range", "bytes=-0")], 30, "forward range"),
        ] as [([(String, String)], Int64, String)])
    func ignoredRanges(lines: [(String, String)], seconds: Int64, expected: String) throws {
        #expect(try decision(lines, at: seconds) == expected)
    }

    @Test("a range that is ignored asks for all, of which a stored part is not enough")
    func ignoredRangeOfPart() throws {
        let lines = [("Cache-Control", "max-age=60"), ("ETag", "\"v1\""), ("Content-Range", "bytes 0-9/20")]
        let part = try #require(stored(lines, status: 206, for: request([("Range", "bytes=0-9")])))
        #expect(word(lookUp(request([("Range", "lines=1-2")]), part, at: noon)) == "forward range")
    }

    @Test("a range of a stored error is the error")
    func rangeOfError() throws {
        let response = try #require(stored([("Cache-Control", "max-age=60")], status: 404))
        #expect(word(lookUp(request([("Range", "bytes=2-3")]), response, at: noon)) == "cache")
    }

    // MARK: Credentials

    @Test("a response belongs to the credentials of its request")
    func credentials() throws {
        let alice = [("Authorization", "Basic alice")]
        let bob = [("Authorization", "Basic bob")]
        let response = try #require(stored([("Cache-Control", "max-age=60")], for: request(alice)))
        #expect(word(lookUp(request(alice), response, at: noon)) == "cache")
        #expect(word(lookUp(request(bob), response, at: noon)) == "forward nothingStored")
        #expect(word(lookUp(request(), response, at: noon)) == "forward nothingStored")
        let open = try #require(stored([("Cache-Control", "max-age=60")]))
        #expect(word(lookUp(request(alice), open, at: noon)) == "forward nothingStored")
    }

    @Test(
        "unless it says that it may be shared",
        arguments: [
            ("max-age=60, public", "cache"), ("max-age=60, s-maxage=60", "cache"),
            ("max-age=60, public, private", "forward nothingStored"),
            ("max-age=60, must-revalidate", "forward nothingStored"),
        ])
    func sharing(control: String, expected: String) throws {
        let response = try #require(
            stored([("Cache-Control", control)], for: request([("Authorization", "Basic alice")])))
        #expect(word(lookUp(request([("Authorization", "Basic bob")]), response, at: noon)) == expected)
    }

    @Test("cookies given by hand are credentials, those of a jar that all share are not")
    func cookies() throws {
        let (one, two) = ([("Cookie", "a=1")], [("Cookie", "a=2")])
        let byHand = try #require(stored([("Cache-Control", "max-age=60")], for: request(one)))
        #expect(word(lookUp(request(one), byHand, at: noon)) == "cache")
        #expect(word(lookUp(request(two), byHand, at: noon)) == "forward nothingStored")
        let jar = request(one, sharesCookies: true)
        let shared = try #require(stored([("Cache-Control", "max-age=60")], for: jar))
        #expect(word(lookUp(request(two, sharesCookies: true), shared, at: noon)) == "cache")
        let varying = try #require(stored([("Cache-Control", "max-age=60"), ("Vary", "Cookie")], for: jar))
        #expect(word(lookUp(request(two, sharesCookies: true), varying, at: noon)) != "cache")
        let authorized = request(two + [("Authorization", "Basic alice")], sharesCookies: true)
        #expect(word(lookUp(authorized, shared, at: noon)) == "forward nothingStored")
    }

    @Test("credentials known apart from the field count in its place")
    func knownCredentials() throws {
        let tag = SecretTag(high: 1, low: 2)
        func digest(_ value: String) -> CacheRequest { request([("Authorization", value)], credentials: tag) }
        let response = try #require(stored([("Cache-Control", "max-age=60")], for: digest("Digest nc=1")))
        #expect(word(lookUp(digest("Digest nc=2"), response, at: noon)) == "cache")
    }

    @Test(
        "what is answered by whom others do not ask is for none of them, and theirs not for it",
        arguments: ["", ", public"])
    func partitions(control: String) throws {
        let partitions: [[UInt8]] = [[], [1], [2]]
        for owner in partitions {
            let response = try #require(
                stored([("Cache-Control", "max-age=60" + control)], for: request(partition: owner)))
            for asker in partitions {
                let answer = word(lookUp(request(partition: asker), response, at: noon))
                #expect(answer == (asker == owner ? "cache" : "forward nothingStored"), "\(owner) \(asker)")
            }
        }
    }

    // MARK: Codings

    @Test(
        "who takes bodies as they are gets no coding that was not accepted",
        arguments: [
            (nil, true), ("gzip", true), ("*", true), ("br, *;q=0", false), ("identity", false), ("gzip;q=0", false),
        ] as [(String?, Bool)])
    func codings(accepted: String?, isServed: Bool) throws {
        let response = try #require(stored([("Cache-Control", "max-age=60"), ("Content-Encoding", "gzip")]))
        let lines = accepted.map { [("Accept-Encoding", $0)] } ?? []
        let raw = request(lines, decodesContent: false)
        #expect((word(lookUp(raw, response, at: noon)) == "cache") == isServed)
        #expect(word(lookUp(request(lines), response, at: noon)) == "cache")
    }

    @Test(
        "old names of a coding are its names, and identity is none, RFC 9110 §8.4",
        arguments: [
            ("gzip", "x-gzip", true), ("X-GZip", "gzip", true), ("x-gzip", "X-Gzip", true),
            ("compress", "x-compress", true), ("x-compress", "br, compress;q=0.5", true),
            ("x-gzip", "gzip;q=0, *", false), ("gzip", "x-gzip;q=0, *", false), ("br", "x-br", false),
            ("x-br", "br", false), ("gzip", "x-compress", false), ("gzip", nil, false),
            ("identity", "br", true), ("Identity", nil, true), ("", nil, true), ("identity, x-gzip", "gzip", true),
            ("gzip, identity", "br", false), ("identity, gzip", nil, false),
        ] as [(String, String?, Bool)])
    func codingNames(coding: String, accepted: String?, isServed: Bool) throws {
        let response = try #require(
            stored(
                [("Cache-Control", "max-age=60"), ("Content-Encoding", coding)],
                for: request([("Accept-Encoding", "gzip")])))
        let lines = accepted.map { [("Accept-Encoding", $0)] } ?? []
        for asked in [request(lines, decodesContent: false), request(lines + [("Range", "bytes=2-3")])] {
            #expect((word(lookUp(asked, response, at: noon)) != "forward nothingStored") == isServed)
        }
    }

    @Test(
        "a range of a coded response is for who takes its coding, RFC 9110 §12.5.3",
        arguments: [
            (nil, "forward nothingStored"), ("identity", "forward nothingStored"), ("gzip", "cache 2..<4"),
        ] as [(String?, String)])
    func codedRange(accepted: String?, expected: String) throws {
        let response = try #require(
            stored(
                [("Cache-Control", "max-age=60"), ("Content-Encoding", "gzip")],
                for: request([("Accept-Encoding", "gzip")])))
        let lines = [("Range", "bytes=2-3")] + (accepted.map { [("Accept-Encoding", $0)] } ?? [])
        #expect(word(lookUp(request(lines), response, at: noon)) == expected)
    }

    // MARK: What the caller sees

    @Test("heads have a generated Age, and a part says which one it is")
    func heads() throws {
        let lines = [
            ("Date", date(0)), ("Cache-Control", "max-age=60"), ("Age", "5"), ("Content-Length", "10"),
            ("ETag", "\"v1\""),
            ("Content-Type", "text/plain"),
        ]
        let response = try #require(stored(lines))
        try response.encoded().withUnsafeBytes { bytes in
            let view = try StoredView(bytes)
            let whole = try view.head(as: Reuse(form: .whole, age: 12_345, source: .cache))
            #expect(whole.fields.values("Age") == ["12345"])
            #expect(whole.status == 200)
            let part = try view.head(as: Reuse(form: .part(2..<4), age: 0, source: .cache))
            #expect(part.status == 206)
            #expect(part.fields.values("Content-Range") == ["bytes 2-3/10"])
            #expect(part.fields.values("Content-Length") == ["2"])
            #expect(part.fields.values("Age") == ["0"])
            let none = try view.head(as: Reuse(form: .notModified, age: 9, source: .cache))
            #expect(none.status == 304)
            #expect(none.fields.first("ETag") == "\"v1\"")
            #expect(none.fields.first("Content-Type") == nil)
            #expect(none.fields.first("Cache-Control") == "max-age=60")
            #expect(try view.head(as: Reuse(form: .whole, age: nil, source: .revalidated)).fields.first("Age") == nil)
        }
    }

    @Test("a part of what is stored has no digest of other content, RFC 9530 §2")
    func digests() throws {
        let digests = [("Content-Digest", "a"), ("Content-MD5", "b"), ("Repr-Digest", "c")]
        let lines = [("Cache-Control", "max-age=60"), ("ETag", "\"v1\"")] + digests
        let whole = try #require(stored(lines))
        let broken = try #require(stored(lines, isComplete: false))
        let all = try #require(
            stored(
                lines + [("Content-Range", "bytes 0-9/10")], status: 206, for: request([("Range", "bytes=0-")])))
        let cases: [(StoredResponse, Reuse.Form, [String?])] = [
            (whole, .whole, ["a", "b", "c"]), (whole, .part(0..<10), ["a", "b", "c"]),
            (whole, .part(2..<4), [nil, nil, "c"]), (broken, .part(0..<10), [nil, nil, "c"]),
            (all, .whole, ["a", "b", "c"]),
        ]
        for (response, form, expected) in cases {
            let fields = response.head(as: Reuse(form: form, age: nil, source: .cache)).fields
            #expect(digests.map { fields.first($0.0) } == expected)
        }
    }

    @Test("one without Vary does not answer when a newer one of the same URL has it, RFC 9111 §4.1")
    func forgotVary() throws {
        let control = ("Cache-Control", "max-age=60")
        let plain = try #require(stored([control, ("Date", date(-10))]))
        let varying = try #require(
            stored([control, ("Date", date(0)), ("Vary", "X-V")], for: request([("X-V", "1")])))
        let other = request([("X-V", "2")])
        try plain.encoded().withUnsafeBytes { bytes in
            let view = try StoredView(bytes)
            #expect(rules.prefers(view, over: nil, for: other))
            #expect(!rules.prefers(view, over: nil, beside: varying.facts, for: other))
            var older = varying.facts
            older.date = after(-20)
            #expect(rules.prefers(view, over: nil, beside: older, for: other))
        }
    }

    @Test("what may be stale for so long is not stale for longer while it is validated, RFC 9111 §5.2.1.2")
    func boundedStaleness() throws {
        let response = try #require(
            stored([
                ("Cache-Control", "max-age=10, stale-while-revalidate=1000"), ("Date", date(0)), ("ETag", "\"v1\""),
            ]))
        #expect(word(lookUp(request(), response, at: after(510))) == "stale revalidating")
        #expect(word(lookUp(request([("Cache-Control", "max-stale=600")]), response, at: after(510))) == "stale")
        #expect(word(lookUp(request([("Cache-Control", "max-stale=100")]), response, at: after(510))) == "validate")
    }
}
