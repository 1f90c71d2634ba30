import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlCache

@Suite("Answers to questions about stored responses, RFC 9111 §4.3, ASI-CACHE-19")
struct FresheningTests {
    private let base = [
        ("Date", date(0)), ("Cache-Control", "max-age=60"), ("ETag", "\"v1\""), ("Last-Modified", date(-100)),
        ("Content-Length", "10"), ("Content-Encoding", "gzip"), ("X-A", "1"), ("X-B", "1"),
    ]

    private func conclude(
        _ answer: [(String, String)], status: UInt16 = 304, _ asked: CacheRequest = request(),
        stored lines: [(String, String)]? = nil, at seconds: Int64 = 100
    ) throws -> Conclusion {
        let response = try #require(stored(lines ?? base))
        guard case .send(let sending) = lookUp(asked, response, at: after(seconds)) else {
            Issue.record("nothing was sent")
            return .handOn
        }
        return rules.conclude(
            asked, sending, stored: response, head(answer, status: status), requestTime: after(seconds),
            responseTime: after(seconds))
    }

    private func word(_ conclusion: Conclusion) -> String {
        switch conclusion {
        case .freshened(_, let reuse): TrawlCacheTests.word(.serve(reuse))
        case .confirmed(_, let reuse): "for the caller: " + TrawlCacheTests.word(.serve(reuse))
        case .completed: "completed"
        case .fallBack(let reuse): "instead: " + TrawlCacheTests.word(.serve(reuse))
        case .handOn: "hand on"
        case .repeatPlain: "repeat"
        case .replace: "replace"
        }
    }

    @Test(
        "which answers are about the stored response",
        arguments: [
            ([("ETag", "\"v1\"")], 304, "revalidated"), ([("ETag", "W/\"v1\"")], 304, "revalidated"),
            ([("ETag", "\"v2\"")], 304, "repeat"), ([("Last-Modified", date(-100))], 304, "revalidated"),
            ([("ETag", ""), ("ETag", "\"v1\"")], 304, "revalidated"),
            ([("ETag", ""), ("ETag", "\"v2\"")], 304, "repeat"), ([("ETag", "")], 304, "revalidated"),
            ([("Last-Modified", date(-99))], 304, "repeat"), ([], 304, "revalidated"), ([], 200, "replace"),
            ([("ETag", "\"v1\"")], 200, "replace"), ([], 404, "replace"), ([], 503, "replace"),
            ([], 206, "replace"),
        ] as [([(String, String)], UInt16, String)])
    func selection(answer: [(String, String)], status: UInt16, expected: String) throws {
        #expect(word(try conclude(answer, status: status)) == expected)
    }

    @Test(
        "a tag that the stored response has not got leaves the choice to its date, which beside a strong tag must be strong",
        arguments: [
            ([("ETag", "\"v1\""), ("Last-Modified", date(-100))], true, "revalidated"),
            ([("ETag", "\"v1\""), ("Last-Modified", date(-100))], false, "repeat"),
            ([("ETag", "\"v1\""), ("Last-Modified", date(-99))], true, "repeat"),
            ([("ETag", "\"v1\"")], true, "repeat"),
            ([("ETag", "W/\"v1\""), ("Last-Modified", date(-100))], true, "revalidated"),
            ([("ETag", "W/\"v1\""), ("Last-Modified", date(-100))], false, "revalidated"),
            ([("ETag", "W/\"v1\""), ("Last-Modified", date(-99))], false, "repeat"),
            ([("ETag", "W/\"v1\"")], false, "repeat"),
            ([("ETag", ""), ("Last-Modified", date(-100))], true, "revalidated"),
        ] as [([(String, String)], Bool, String)])
    func newTag(answer: [(String, String)], isStrong: Bool, expected: String) throws {
        // RFC 9110 §8.8.2.2: strong is a date that is a second and more before that of the response.
        let lines = base.filter { $0.0 != "ETag" }.map { $0.0 == "Date" && !isStrong ? ("Date", date(-100)) : $0 }
        #expect(word(try conclude(answer, stored: lines)) == expected)
    }

    /// A server that knows no conditions sends the same again.
    private let repeated = [("ETag", "\"v1\""), ("Content-Encoding", "gzip"), ("Cache-Control", "max-age=500")]

    @Test("a 200 with the stored strong tag counts as a 304 where that is wanted, and never by itself")
    func equalTag() throws {
        #expect(word(try conclude(repeated, status: 200)) == "replace")
        var policy = CachePolicy()
        policy.stopsAtEqualTag = true
        guard case .freshened(let fresh, let reuse) = try conclude(repeated, status: 200, request(policy: policy))
        else {
            Issue.record("not freshened")
            return
        }
        #expect(TrawlCacheTests.word(.serve(reuse)) == "revalidated")
        #expect(fresh.facts.isFresh(at: after(599)) && !fresh.facts.isFresh(at: after(601)))
        #expect(fresh.facts.body == .complete(length: 10))
    }

    @Test(
        "what is not surely the stored representation is taken as a new one",
        arguments: [
            ([("ETag", "\"v2\""), ("Content-Encoding", "gzip")], 200, "\"v1\""),
            ([("ETag", "W/\"v1\""), ("Content-Encoding", "gzip")], 200, "\"v1\""),
            ([("ETag", "W/\"v1\""), ("Content-Encoding", "gzip")], 200, "W/\"v1\""),
            ([("ETag", "v1"), ("Content-Encoding", "gzip")], 200, "v1"),
            ([("Content-Encoding", "gzip")], 200, "\"v1\""),
            ([("ETag", "\"v1\"")], 200, "\"v1\""),
            ([("ETag", "\"v1\""), ("Content-Encoding", "br")], 200, "\"v1\""),
            ([("ETag", "\"v1\""), ("Content-Encoding", "gzip"), ("Content-Length", "11")], 200, "\"v1\""),
            ([("ETag", "\"v1\""), ("Content-Encoding", "gzip")], 203, "\"v1\""),
            ([("ETag", "\"v1\""), ("Content-Encoding", "gzip")], 404, "\"v1\""),
        ] as [([(String, String)], UInt16, String)])
    func otherTag(answer: [(String, String)], status: UInt16, tag: String) throws {
        var policy = CachePolicy()
        policy.stopsAtEqualTag = true
        let lines = base.map { $0.0 == "ETag" ? ($0.0, tag) : $0 }
        #expect(word(try conclude(answer, status: status, request(policy: policy), stored: lines)) == "replace")
    }

    @Test("a 304 updates the head, but not what the stored bytes depend on")
    func update() throws {
        let answer = [
            ("Date", date(100)), ("Cache-Control", "max-age=500"), ("X-A", "2"), ("X-A", "3"), ("X-C", "4"),
            ("Content-Length", "0"), ("Content-Encoding", "br"), ("Content-Range", "x"), ("Connection", "x-d"),
            ("X-D", "5"),
        ]
        guard case .freshened(let fresh, let reuse) = try conclude(answer) else {
            Issue.record("not freshened")
            return
        }
        let fields = fresh.head.fields
        #expect(fields.values("X-A") == ["2", "3"])
        #expect(fields.first("X-B") == "1")
        #expect(fields.first("X-C") == "4")
        #expect(fields.first("X-D") == nil)
        #expect(fields.first("Content-Length") == "10")
        #expect(fields.first("Content-Encoding") == "gzip")
        #expect(fields.first("Content-Range") == nil)
        #expect(fields.values("Date") == [date(100)])
        #expect(fresh.facts.isFresh(at: after(599)))
        #expect(!fresh.facts.isFresh(at: after(601)))
        #expect(fresh.head.status == 200)
        #expect(fresh.facts.body == .complete(length: 10))
        #expect(reuse.age == nil)
    }

    /// Where each stored field is looked for among all new ones, this takes minutes.
    @Test("a 304 of many fields updates as many in no time", .timeLimit(.minutes(10)))
    func manyFields() throws {
        let many = (100_000..<140_000).map { ("X-\($0)", "1") }
        let answer = [("Date", date(100)), ("X-100000", "2")] + (200_000..<240_000).map { ("x-\($0)", "1") }
        var conclusion: Conclusion?
        let time = try ProcessorTime.spent { conclusion = try conclude(answer, stored: base + many) }
        #expect(time < .seconds(60))
        guard case .freshened(let fresh, _)? = conclusion else {
            Issue.record("not freshened")
            return
        }
        #expect(fresh.head.fields.values("X-100000") == ["2"])
        #expect(fresh.head.fields.first("X-139999") == "1" && fresh.head.fields.first("X-239999") == "1")
        #expect(fresh.head.fields.count == base.count + 80_000)
    }

    @Test(
        "a 304 does not make a stored head longer than any that arrives",
        arguments: [(1 << 20, "repeat"), (1 << 19, "revalidated")])
    func growth(length: Int, expected: String) throws {
        let long = base + [("X-Old", String(repeating: "x", count: 1 << 20))]
        let answer = [("ETag", "\"v1\""), ("X-New", String(repeating: "x", count: length))]
        #expect(word(try conclude(answer, stored: long)) == expected)
        let response = try #require(stored(long))
        let update = rules.updatedByHead(
            request(method: .head), stored: response, head(answer, status: 200), requestTime: after(100),
            responseTime: after(100))
        #expect((update == .keep) == (expected == "repeat"))
    }

    @Test("a 304 never makes a stored weak tag strong: the bytes are still those of the weak one")
    func weakTag() throws {
        let weak = base.filter { $0.0 != "ETag" } + [("ETag", "W/\"v1\"")]
        guard case .freshened(let fresh, _) = try conclude([("ETag", "\"v1\"")], stored: weak) else {
            Issue.record("not freshened")
            return
        }
        #expect(fresh.head.fields.values("ETag") == ["W/\"v1\""])
        #expect(fresh.facts.flags.contains(.weakTag) && !fresh.facts.flags.contains(.strongTag))
        guard case .freshened(let weaker, _) = try conclude([("ETag", "W/\"v1\"")]) else {
            Issue.record("not freshened")
            return
        }
        #expect(weaker.head.fields.values("ETag") == ["W/\"v1\""])
    }

    @Test("an empty ETag of a 304 takes no stored tag away")
    func emptyTag() throws {
        guard case .freshened(let fresh, _) = try conclude([("ETag", ""), ("Date", date(100))]) else {
            Issue.record("not freshened")
            return
        }
        #expect(fresh.head.fields.values("ETag") == ["\"v1\""] && fresh.facts.flags.contains(.strongTag))
    }

    @Test("Vary: * of a 304 holds until a 304 takes it back")
    func varyOnEverything() throws {
        var fresh = try #require(stored(base))
        for (answer, isAsked) in [([("Vary", "*")], true), ([], true), ([("Vary", "Accept")], false)] {
            let asked = request([("Cache-Control", "no-cache")])
            guard case .send(let sending) = lookUp(asked, fresh, at: after(10)),
                case .freshened(let next, _) = rules.conclude(
                    asked, sending, stored: fresh, head(answer, status: 304), requestTime: after(10),
                    responseTime: after(10))
            else {
                Issue.record("not freshened")
                return
            }
            fresh = next
            #expect(TrawlCacheTests.word(lookUp(request(), fresh, at: after(11))) == (isAsked ? "validate" : "cache"))
        }
    }

    @Test(
        "a 206 is joined only when it begins where the stored part ends and is of the same representation",
        arguments: [
            ("bytes 5-9/10", [("ETag", "\"v1\"")], "completed"), ("bytes 4-9/10", [("ETag", "\"v1\"")], "repeat"),
            ("bytes 0-9/10", [("ETag", "\"v1\"")], "repeat"), ("bytes 6-9/10", [("ETag", "\"v1\"")], "repeat"),
            ("bytes 5-8/10", [("ETag", "\"v1\"")], "repeat"), ("bytes 5-9/11", [("ETag", "\"v1\"")], "repeat"),
            ("bytes 5-9/10", [("ETag", "\"v2\"")], "repeat"), ("bytes 5-9/10", [("ETag", "W/\"v1\"")], "repeat"),
            ("bytes 5-9/10", [], "repeat"), ("bytes 5-9/10", [("Last-Modified", date(-100))], "completed"),
            ("bytes 5-9/10", [("Last-Modified", date(-99))], "repeat"),
            ("bytes 5-9/10", [("ETag", "\"v1\""), ("Last-Modified", date(-99))], "completed"),
        ] as [(String, [(String, String)], String)])
    func parts(range: String, validators: [(String, String)], expected: String) throws {
        let lines = [
            ("Date", date(0)), ("Cache-Control", "max-age=60"), ("ETag", "\"v1\""), ("Last-Modified", date(-100)),
            ("Content-Length", "10"),
        ]
        let part = try #require(stored(lines, length: 5, isComplete: false))
        guard case .send(let sending) = lookUp(request(), part, at: after(10)) else {
            Issue.record("nothing was sent")
            return
        }
        #expect(sending.purpose == .complete(from: 5))
        let conclusion = rules.conclude(
            request(), sending, stored: part, head([("Content-Range", range)] + validators, status: 206),
            requestTime: after(10), responseTime: after(10))
        #expect(word(conclusion) == expected)
    }

    @Test("the age of a 304 from another cache counts")
    func age() throws {
        guard case .freshened(let fresh, let reuse) = try conclude([("Date", date(100)), ("Age", "50")]) else { return }
        #expect(reuse.age == 50)
        #expect(fresh.facts.isFresh(at: after(109)))
        #expect(!fresh.facts.isFresh(at: after(110)))
    }

    @Test(
        "what the origin has just validated has an Age only where the 304 has one, whatever its clock, RFC 9111 §5.1",
        arguments: [nil, 0, 7] as [Int64?], ["max-age=60", "no-store"])
    func ageOfValidated(age: Int64?, control: String) throws {
        let answer = [("Date", date(-7100)), ("Cache-Control", control)] + (age.map { [("Age", "\($0)")] } ?? [])
        let old = base.map { $0.0 == "Date" ? ($0.0, date(-7200)) : $0 }
        guard case .freshened(let fresh, let reuse) = try conclude(answer, stored: old) else {
            Issue.record("not freshened")
            return
        }
        #expect(reuse.age == age)
        #expect(fresh.facts.age(at: after(100)) >= 7_200_000)
    }

    @Test("nothing of a 304 with no-store is kept")
    func noStore() throws {
        let answer = [("Cache-Control", "no-store, max-age=500"), ("X-A", "2")]
        guard case .freshened(let fresh, _) = try conclude(answer) else { return }
        #expect(fresh == stored(base))
    }

    @Test("a lifetime given by a request outlives validation")
    func override() throws {
        var policy = CachePolicy()
        policy.secondsToCache = 10
        let response = try #require(stored(base, for: request(policy: policy)))
        guard case .send(let sending) = lookUp(request(), response, at: after(20)),
            case .freshened(let fresh, _) = rules.conclude(
                request(), sending, stored: response, head([("Cache-Control", "max-age=999")], status: 304),
                requestTime: after(20), responseTime: after(20))
        else {
            Issue.record("not freshened")
            return
        }
        #expect(fresh.facts.isFresh(at: after(29)))
        #expect(!fresh.facts.isFresh(at: after(30)))
    }

    @Test(
        "the caller's own conditions are answered after the question",
        arguments: [
            ([("If-None-Match", "\"v1\"")], [("ETag", "\"v1\"")], 304, "revalidated 304"),
            ([("If-None-Match", "\"v1\"")], [], 304, "revalidated 304"),
            ([("If-None-Match", "\"v0\", \"v1\"")], [], 304, "hand on"),
            ([("If-None-Match", "\"v0\", \"v1\"")], [("ETag", "\"v0\"")], 304, "hand on"),
            ([("If-None-Match", "\"v0\"")], [], 304, "hand on"), ([("If-None-Match", "*")], [], 304, "hand on"),
            ([("If-None-Match", "\"v0\"")], [], 200, "replace"),
            ([("If-Modified-Since", date(-50))], [], 304, "revalidated 304"),
            ([("If-Modified-Since", date(-500))], [], 304, "revalidated"),
            ([("Range", "bytes=2-3")], [], 304, "revalidated 2..<4"),
        ] as [([(String, String)], [(String, String)], UInt16, String)])
    func conditions(asked: [(String, String)], answer: [(String, String)], status: UInt16, expected: String) throws {
        #expect(word(try conclude(answer, status: status, request(asked))) == expected)
    }

    @Test("an origin that fails while it is asked")
    func failure() throws {
        let lines = base.map { $0.0 == "Cache-Control" ? ($0.0, "max-age=60, stale-if-error=100") : $0 }
        #expect(word(try conclude([], status: 503, stored: lines)) == "instead: stale")
        #expect(word(try conclude([], status: 503, stored: lines, at: 200)) == "replace")
        #expect(word(try conclude([], status: 501, stored: lines)) == "replace")
    }

    @Test("a Vary that comes with a 304 is taken over")
    func vary() throws {
        let asked = request([("Foo", "1")])
        guard case .freshened(let fresh, _) = try conclude([("Vary", "Foo"), ("Date", date(100))], asked) else {
            return
        }
        #expect(TrawlCacheTests.word(lookUp(request([("Foo", "1")]), fresh, at: after(100))) == "cache")
        #expect(TrawlCacheTests.word(lookUp(request([("Foo", "2")]), fresh, at: after(100))) == "forward nothingStored")
    }

    @Test("fields that the stored Cache-Control names are not kept of a 304 that has none, RFC 9111 §5.2.2.4")
    func namedFields() throws {
        let lines = [
            ("Date", date(0)), ("Cache-Control", "max-age=60, no-cache=\"X-Mine, ETag\""), ("ETag", "\"v1\""),
            ("Last-Modified", date(-100)), ("X-Mine", "1"),
        ]
        let response = try #require(stored(lines))
        #expect(response.facts.flags.isDisjoint(with: [.strongTag, .weakTag]))
        let answer = [("X-Mine", "2"), ("X-Other", "2"), ("Last-Modified", date(-100))]
        guard case .freshened(let fresh, _) = try conclude(answer, stored: lines) else {
            Issue.record("not about the stored response")
            return
        }
        #expect(fresh.head.fields.first("X-Mine") == nil && fresh.head.fields.first("X-Other") == "2")
    }

    @Test(
        "what is said to somebody's cookies changes what came without any only where it says that it is for all",
        arguments: [
            ("max-age=500", false), ("private, max-age=500", false), ("public, private", false), (nil, false),
            ("no-store", false), ("public, max-age=500", true), ("s-maxage=1, max-age=500", true),
        ] as [(String?, Bool)])
    func otherOwner(control: String?, isForAll: Bool) throws {
        let asked = request([("Cookie", "a=1")])
        let answer = [("Date", date(100)), ("X-A", "2")] + (control.map { [("Cache-Control", $0)] } ?? [])
        let conclusion = try conclude(answer, asked)
        #expect(word(conclusion) == (isForAll ? "revalidated" : "for the caller: revalidated"))
        switch conclusion {
        case .freshened(let fresh, _):
            // It is still nobody's.
            #expect(fresh.facts.ownCredentials == nil && fresh.head.fields.first("X-A") == "2")
            for cookies in [[], [("Cookie", "a=1")], [("Cookie", "a=2")]] {
                #expect(TrawlCacheTests.word(lookUp(request(cookies), fresh, at: after(110))) == "cache")
            }
        case .confirmed(let fresh, _):
            #expect(fresh.facts.ownCredentials == nil)
            #expect(fresh.head.fields.first("X-A") == (control == "no-store" ? "1" : "2"))
        default: Issue.record("\(conclusion)")
        }
        let update = rules.updatedByHead(
            request([("Cookie", "a=1")], method: .head), stored: try #require(stored(base)), head(answer, status: 200),
            requestTime: after(100), responseTime: after(100))
        guard case .freshened(let updated) = update else {
            #expect(update == .keep && !isForAll)
            return
        }
        #expect(isForAll && updated.facts.ownCredentials == nil)
    }

    @Test("a 200 that counts as a 304 changes no more than one, and what is of the same cookies is freshened")
    func sameOwner() throws {
        var policy = CachePolicy()
        policy.stopsAtEqualTag = true
        let asked = request([("Cookie", "a=1")], policy: policy)
        #expect(word(try conclude(repeated, status: 200, asked)) == "for the caller: revalidated")
        let own = try #require(stored(base, for: asked))
        guard case .send(let sending) = lookUp(asked, own, at: after(100)),
            case .freshened(let fresh, _) = rules.conclude(
                asked, sending, stored: own, head([], status: 304), requestTime: after(100), responseTime: after(100))
        else {
            Issue.record("not freshened")
            return
        }
        #expect(fresh.facts.ownCredentials == asked.credentials)
    }

    @Test("of two records of one second the one that was validated last is the newer, with and without Date")
    func newest() throws {
        let first = try #require(stored([("Cache-Control", "max-age=60"), ("ETag", "\"v1\"")]))
        guard
            case .freshened(let fresh, _) = try conclude(
                [], stored: [("Cache-Control", "max-age=60"), ("ETag", "\"v1\"")])
        else {
            Issue.record("not about the stored response")
            return
        }
        #expect(fresh.facts.isNewer(than: first.facts) && fresh.facts.date == after(100))
    }

    @Test("what was asked about is obsolete after a response of its own that is not stored, and not after a failure")
    func obsolete() throws {
        let response = try #require(stored(base))
        guard case .send(let sending) = lookUp(request(), response, at: after(100)) else {
            Issue.record("nothing was sent")
            return
        }
        for status: UInt16 in [200, 302, 403, 404, 410] { #expect(rules.isObsolete(sending, after: status)) }
        for status: UInt16 in [401, 407, 408, 425, 429, 500, 503] { #expect(!rules.isObsolete(sending, after: status)) }
        guard case .send(let plain) = rules.lookup(request(), stored: nil, at: noon) else { return }
        #expect(!rules.isObsolete(plain, after: 200))
    }
}
