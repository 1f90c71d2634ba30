import Testing
import TrawlHTTP

@testable import TrawlCache

@Suite("What a newer response replaces, RFC 9111 §3.4, §4")
struct ReplacingTests {
    private func part(
        _ range: Range<UInt64>, _ validator: (String, String)? = ("ETag", "\"v1\""), total: String = "100",
        others: [(String, String)] = [], asked: [(String, String)] = [], at time: WallTime = noon
    ) throws -> StoredResponse {
        var lines = [
            ("Date", HTTPDate.format(time)), ("Cache-Control", "max-age=60"),
            ("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"),
        ]
        if let validator { lines.append(validator) }
        let asking = request([("Range", "bytes=0-")] + asked)
        return try #require(
            stored(lines + others, status: 206, for: asking, length: UInt64(range.count), at: time))
    }

    private func whole(
        _ validator: (String, String)? = ("ETag", "\"v1\""), others: [(String, String)] = [],
        asked: [(String, String)] = [], at time: WallTime = noon
    ) throws -> StoredResponse {
        let lines = [("Date", HTTPDate.format(time)), ("Cache-Control", "max-age=60")] + others
        return try #require(
            stored(lines + (validator.map { [$0] } ?? []), for: request(asked), length: 100, at: time))
    }

    private func fate(
        _ old: StoredResponse, _ new: StoredResponse, at now: WallTime = after(200)
    ) throws -> StoredFate {
        try old.encoded().withUnsafeBytes { try rules.fate(of: StoredView($0), beside: new, at: now) }
    }

    private func word(_ fate: StoredFate) -> String {
        switch fate {
        case .stays: "stays"
        case .goes: "goes"
        case .prevails: "prevails"
        case .freshened: "freshened"
        }
    }

    @Test("a part of what is stored freshens it, where a strong validator says that it is one")
    func held() throws {
        for old in [try whole(), try part(0..<10)] {
            guard case .freshened(let fresh) = try fate(old, try part(2..<6, others: [("X", "1")], at: after(100)))
            else {
                Issue.record("not freshened")
                continue
            }
            #expect(fresh.facts.body == old.facts.body)
            #expect(fresh.head.status == old.head.status)
            #expect(fresh.head.fields.first("X") == "1")
            #expect(!old.facts.isFresh(at: after(110)) && fresh.facts.isFresh(at: after(110)))
        }
        #expect(word(try fate(try part(0..<10), try part(0..<10))) == "freshened")
    }

    @Test("what overlaps without such a validator is replaced by what is newer")
    func overlapping() throws {
        let weak = ("ETag", "W/\"v1\"")
        for validator in [nil, weak, ("ETag", "\"v2\"")] as [(String, String)?] {
            #expect(word(try fate(try whole(validator), try part(0..<10))) == "goes")
            #expect(word(try fate(try whole(), try part(0..<10, validator))) == "goes")
            #expect(word(try fate(try part(0..<10), try part(0..<10, validator))) == "goes")
        }
        #expect(word(try fate(try part(0..<10, nil), try part(0..<10, nil))) == "goes")
        #expect(word(try fate(try part(0..<10, weak), try part(9..<20, weak))) == "goes")
        #expect(word(try fate(try part(0..<10), try part(0..<10, others: [("Content-Encoding", "gzip")]))) == "goes")
    }

    @Test("parts beside each other stay, unless they are of two representations")
    func beside() throws {
        #expect(word(try fate(try part(0..<10, nil), try part(10..<20, nil))) == "stays")
        #expect(word(try fate(try part(0..<10), try part(10..<20))) == "stays")
        #expect(word(try fate(try part(0..<10), try part(5..<20))) == "stays")
        #expect(word(try fate(try part(0..<10), try part(10..<20, ("ETag", "\"v2\"")))) == "goes")
        #expect(word(try fate(try part(0..<10, nil), try part(10..<20, nil, total: "90"))) == "goes")
        let (monday, tuesday) = (("Last-Modified", date(-9000)), ("Last-Modified", date(-8000)))
        #expect(word(try fate(try part(0..<10, monday), try part(10..<20, tuesday))) == "goes")
    }

    @Test("a whole in another coding stays beside a part, where the tags say that nothing has changed")
    func codings() throws {
        let coded = [("Content-Encoding", "gzip")]
        for (validator, expected) in [
            (("ETag", "\"v1\""), "stays"), (("ETag", "W/\"v1\""), "stays"), (("ETag", "\"v2\""), "goes"),
            (("Last-Modified", date(-9000)), "goes"), (nil, "goes"),
        ] as [((String, String)?, String)] {
            #expect(word(try fate(try whole(validator, others: coded), try part(0..<10))) == expected)
            #expect(word(try fate(try whole(), try part(0..<10, validator, others: coded))) == expected)
        }
        // Codings differ in length.
        #expect(word(try fate(try whole(others: coded), try part(0..<10, total: "300"))) == "stays")
        #expect(word(try fate(try part(0..<10, others: coded), try part(0..<10))) == "goes")
        #expect(word(try fate(try whole(others: coded), try whole())) == "goes")
        let old = try whole(others: coded, asked: [("Authorization", "alice")])
        #expect(word(try fate(old, try part(0..<10, others: [("Cache-Control", "public")]))) == "goes")
    }

    @Test("a whole response, and a part with all bytes of another, take its place")
    func replaced() throws {
        #expect(word(try fate(try part(0..<10), try whole())) == "goes")
        #expect(word(try fate(try part(5..<10), try part(0..<20))) == "goes")
    }

    @Test("what was asked for later is not replaced by what was longer on its way, unless both are one")
    func overtaken() throws {
        let second = ("ETag", "\"v2\"")
        for validator in [second, nil] as [(String, String)?] {
            // The head of the older one may have come long before its end.
            for old in [try whole(validator, at: after(120)), try part(0..<10, validator, at: after(120))] {
                #expect(word(try fate(old, try whole())) == "prevails")
                #expect(word(try fate(old, try part(5..<20))) == "prevails")
            }
        }
        let old = try part(0..<10, at: after(120))
        #expect(word(try fate(old, try whole())) == "goes")
        #expect(word(try fate(old, try part(5..<20))) == "stays")
        let coded = try whole(others: [("Content-Encoding", "gzip")], at: after(120))
        #expect(word(try fate(coded, try part(0..<10))) == "stays")
        #expect(word(try fate(try part(0..<10, nil, at: after(120)), try part(10..<20, nil))) == "stays")
        // Stored by a clock that was wrong.
        #expect(word(try fate(try whole(second, at: after(120)), try whole(), at: noon)) == "goes")
    }

    @Test("what was asked for earlier takes the place of what is older by its date")
    func newerByDate() throws {
        var old = try whole(("ETag", "\"v2\""))
        old.facts.requestTime = after(5)
        #expect(word(try fate(old, try whole(at: after(1)))) == "goes")
    }

    @Test("what came for other credentials is neither freshened nor joined, whatever its tag")
    func credentials() throws {
        let alice = [("Authorization", "alice")]
        let open = [("Cache-Control", "public")]
        #expect(word(try fate(try part(0..<10, asked: alice), try part(0..<5))) == "stays")
        let (old, new) = (try part(0..<10, asked: alice), try part(10..<20, others: open))
        #expect(try !joins(old, new, on: .before))
        #expect(word(try fate(old, try part(0..<5, others: open))) == "goes")
    }

    private func joins(_ old: StoredResponse, _ new: StoredResponse, on side: PartSide) throws -> Bool {
        try old.encoded().withUnsafeBytes { try rules.neighbour(StoredView($0), of: new, on: side) != nil }
    }

    @Test("parts that touch or overlap are joined, on the side where they do")
    func neighbours() throws {
        for (old, isBefore, isBehind) in [
            (0..<10, true, false), (5..<12, true, false), (0..<9, false, false), (0..<30, false, false),
            (12..<15, false, false), (20..<30, false, true), (15..<30, false, true), (21..<30, false, false),
        ] as [(Range<UInt64>, Bool, Bool)] {
            #expect(try joins(try part(old), try part(10..<20), on: .before) == isBefore, "\(old)")
            #expect(try joins(try part(old), try part(10..<20), on: .behind) == isBehind, "\(old)")
        }
        #expect(try !joins(try part(0..<10, nil), try part(10..<20, nil), on: .before))
        let most = CacheRules.longestJoined
        let next = try part(most..<most + 5, total: "*")
        #expect(try joins(try part(0..<most, total: "*"), next, on: .before))
        #expect(try !joins(try part(0..<most + 1, total: "*"), next, on: .before))
    }

    @Test("of parts beside each other the one that has the bytes asked for answers")
    func chosen() throws {
        let (older, newer) = (try part(0..<10, nil), try part(50..<60, nil, at: after(5)))
        func isPreferred(
            _ one: StoredResponse, over other: StoredResponse, _ lines: [(String, String)]
        ) throws -> Bool {
            try one.encoded().withUnsafeBytes { one in
                let view = try StoredView(one)
                return try other.encoded().withUnsafeBytes { other in
                    try rules.prefers(view, over: StoredView(other), for: request(lines))
                }
            }
        }
        for (lines, isOlder) in [
            ([("Range", "bytes=2-4")], true), ([("Range", "bytes=52-54")], false),
            ([("Range", "bytes=20-24")], false),
            // What lacks the rest can be completed, what lacks the beginning cannot.
            ([], true),
        ] as [([(String, String)], Bool)] {
            #expect(try isPreferred(older, over: newer, lines) == isOlder, "\(lines)")
            #expect(try isPreferred(newer, over: older, lines) == !isOlder, "\(lines)")
        }
    }
}
