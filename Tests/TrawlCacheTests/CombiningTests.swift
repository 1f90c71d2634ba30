import Testing
import TrawlHTTP

@testable import TrawlCache

@Suite("Parts made one, RFC 9111 §3.4")
struct CombiningTests {
    /// A stored part of ten bytes.
    private func part(
        _ range: Range<UInt64>, _ validator: (String, String)? = ("ETag", "\"v1\""), total: String = "10",
        others: [(String, String)] = []
    ) throws -> StoredResponse {
        var lines = [
            ("Date", date(0)), ("Cache-Control", "max-age=60"), ("Content-Length", "\(range.count)"),
            ("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"),
        ]
        if let validator { lines.append(validator) }
        return try #require(
            stored(
                lines + others, status: 206, for: request([("Range", "bytes=0-")]), length: UInt64(range.count)))
    }

    @Test("touching and overlapping parts are joined, whichever came first")
    func joined() throws {
        let cases: [(Range<UInt64>, Range<UInt64>, [Combination.Piece], Range<UInt64>)] = [
            (0..<5, 5..<8, [.stored(0..<5), .received(0..<3)], 0..<8),
            (0..<5, 3..<8, [.stored(0..<5), .received(2..<5)], 0..<8),
            (5..<8, 2..<5, [.received(0..<3), .stored(0..<3)], 2..<8),
            (4..<6, 2..<8, [.received(0..<2), .stored(0..<2), .received(4..<6)], 2..<8),
            (2..<8, 4..<6, [.stored(0..<6)], 2..<8),
        ]
        for (old, new, pieces, range) in cases {
            let combination = try #require(rules.combined(try part(old), try part(new)))
            #expect(combination.pieces == pieces)
            #expect(combination.response.facts.body.range == range)
            #expect(combination.response.head.status == 206)
            let expected = "bytes \(range.lowerBound)-\(range.upperBound - 1)/10"
            #expect(combination.response.head.fields.values("Content-Range") == [expected])
            #expect(combination.response.head.fields.values("Content-Length") == ["\(range.count)"])
        }
    }

    @Test("all of it makes a whole response")
    func whole() throws {
        let combination = try #require(rules.combined(try part(0..<5), try part(5..<10)))
        #expect(combination.response.facts.body == .complete(length: 10))
        #expect(combination.response.head.status == 200)
        #expect(combination.response.head.reason == "OK")
        #expect(combination.response.head.fields.values("Content-Length") == ["10"])
        #expect(combination.response.head.fields.first("Content-Range") == nil)
    }

    @Test("the newer fields win")
    func fields() throws {
        let old = try part(0..<5, others: [("X-A", "1"), ("X-B", "1")])
        let new = try part(5..<8, others: [("X-A", "2")])
        let fields = try #require(rules.combined(old, new)).response.head.fields
        #expect(fields.values("X-A") == ["2"])
        #expect(fields.values("X-B") == ["1"])
    }

    @Test(
        "digests of content stay with the bytes they are of, RFC 9530 §2",
        arguments: [
            (0..<5, 5..<8, [nil, nil]), (0..<5, 5..<10, [nil, nil]), (2..<8, 4..<6, ["old", nil]),
            (4..<6, 2..<8, [nil, "new"]),
        ] as [(Range<UInt64>, Range<UInt64>, [String?])])
    func digests(old: Range<UInt64>, new: Range<UInt64>, expected: [String?]) throws {
        let stored = try part(old, others: [("Content-Digest", "old"), ("Repr-Digest", "all")])
        let joined = try #require(rules.combined(stored, try part(new, others: [("Content-MD5", "new")])))
        let fields = joined.response.head.fields
        #expect([fields.first("Content-Digest"), fields.first("Content-MD5")] == expected)
        #expect(fields.first("Repr-Digest") == "all")
    }

    @Test("parts that do not belong together are not joined")
    func apart() throws {
        let old = try part(0..<5)
        #expect(rules.combined(old, try part(6..<8)) == nil)
        #expect(rules.combined(old, try part(5..<8, ("ETag", "\"v2\""))) == nil)
        #expect(rules.combined(old, try part(5..<8, nil)) == nil)
        #expect(rules.combined(old, try part(5..<8, total: "11")) == nil)
        #expect(rules.combined(try part(0..<5, nil), try part(5..<8, nil)) == nil)
        let weak = ("ETag", "W/\"v1\"")
        #expect(rules.combined(try part(0..<5, weak), try part(5..<8, weak)) == nil)
        #expect(rules.combined(old, try part(5..<8, ("Last-Modified", date(-100)))) == nil)
    }

    @Test("a date is a strong validator when it is old enough, RFC 9110 §8.8.2.2")
    func dates() throws {
        let strong = ("Last-Modified", date(-100))
        let weak = ("Last-Modified", date(0))
        #expect(rules.combined(try part(0..<5, strong), try part(5..<8, strong)) != nil)
        #expect(rules.combined(try part(0..<5, weak), try part(5..<8, weak)) == nil)
    }

    @Test("the rest is asked for, under the condition that it belongs to the part")
    func completion() throws {
        guard case .send(let sending) = lookUp(request(), try part(0..<5), at: after(10)) else { return }
        #expect(sending.purpose == .complete(from: 5))
        #expect(sending.fields.first("Range") == "bytes=5-")
        #expect(sending.fields.first("If-Range") == "\"v1\"")
    }

    @Test("without a strong validator a fresh part is tried without condition, a stale one given up")
    func completionWithoutValidator() throws {
        let response = try part(0..<5, nil)
        guard case .send(let sending) = lookUp(request(), response, at: after(10)) else { return }
        #expect(sending.purpose == .complete(from: 5))
        #expect(sending.fields.first("Range") == "bytes=5-")
        #expect(!sending.fields.contains("If-Range"))
        #expect(word(lookUp(request(), response, at: after(100))) == "forward stale")
    }

    @Test("a part whose start is missing is of no use for the whole")
    func withoutStart() throws {
        #expect(word(lookUp(request(), try part(5..<10), at: noon)) == "forward range")
        #expect(word(lookUp(request([("Range", "bytes=-2")]), try part(5..<10), at: noon)) == "cache 8..<10")
    }

    @Test("what the answer to the request for the rest means")
    func conclusions() throws {
        let response = try part(0..<5)
        guard case .send(let sending) = lookUp(request(), response, at: after(100)) else { return }
        func conclusion(_ lines: [(String, String)], _ status: UInt16) -> Conclusion {
            rules.conclude(
                request(), sending, stored: response, head(lines, status: status), requestTime: after(100),
                responseTime: after(100))
        }
        let rest = ("Content-Range", "bytes 5-9/10")
        guard case .completed(let combination, let reuse) = conclusion([rest, ("ETag", "\"v1\"")], 206) else {
            Issue.record("not completed")
            return
        }
        #expect(combination.pieces == [.stored(0..<5), .received(0..<5)])
        #expect(combination.response.facts.body.isComplete)
        #expect(reuse.form == .whole)
        #expect(conclusion([rest, ("ETag", "\"v2\"")], 206) == .repeatPlain)
        #expect(conclusion([rest], 206) == .repeatPlain)
        #expect(conclusion([("Content-Range", "bytes 6-9/10"), ("ETag", "\"v1\"")], 206) == .repeatPlain)
        #expect(conclusion([("ETag", "\"v1\"")], 206) == .repeatPlain)
        #expect(conclusion([], 416) == .repeatPlain)
        #expect(conclusion([("ETag", "\"v1\"")], 304) == .repeatPlain)
        #expect(conclusion([], 200) == .replace)
    }

    /// What a 206 makes of the first half of ten bytes.
    private func completion(
        _ answer: [(String, String)], _ asked: CacheRequest = request()
    ) throws -> Combination? {
        let lines = [("Date", date(0)), ("Cache-Control", "max-age=60"), ("ETag", "\"v1\""), ("Content-Length", "10")]
        let response = try #require(stored(lines, length: 5, isComplete: false))
        guard case .send(let sending) = lookUp(asked, response, at: noon) else { return nil }
        let all = [("ETag", "\"v1\""), ("Content-Range", "bytes 5-9/10")] + answer
        let conclusion = rules.conclude(
            asked, sending, stored: response, head(all, status: 206), requestTime: noon, responseTime: noon)
        guard case .completed(let combination, _) = conclusion else { return nil }
        return combination
    }

    @Test("the rest of a part needs none of the fields that the part has, RFC 9110 §15.3.7")
    func shortHead() throws {
        let lines = [
            ("Date", date(0)), ("Cache-Control", "max-age=60"), ("ETag", "\"v1\""), ("Content-Type", "text/plain"),
            ("Content-Encoding", "gzip"),
        ]
        let broken = try #require(stored(lines + [("Content-Length", "10")], length: 5, isComplete: false))
        let part = try #require(
            stored(
                lines + [("Content-Range", "bytes 0-4/10")], status: 206, for: request([("Range", "bytes=0-4")]),
                length: 5))
        // Without a range the caller's condition is none (RFC 9110 §13.1.5).
        for asked in [request(), request([("If-Range", "\"v0\"")])] {
            for response in [broken, part] {
                guard case .send(let sending) = lookUp(asked, response, at: noon) else {
                    Issue.record("nothing was sent")
                    continue
                }
                #expect(rules.fieldsToSend(asked, sending).values("If-Range") == ["\"v1\""])
                let conclusion = rules.conclude(
                    asked, sending, stored: response,
                    head([("ETag", "\"v1\""), ("Content-Range", "bytes 5-9/10")], status: 206), requestTime: noon,
                    responseTime: noon)
                guard case .completed(let combination, _) = conclusion else {
                    Issue.record("not completed")
                    continue
                }
                let whole = combination.response
                #expect(combination.mayBeStored && whole.facts.body == .complete(length: 10))
                #expect(whole.head.fields.first("Content-Type") == "text/plain")
                #expect(whole.head.fields.first("Content-Encoding") == "gzip" && whole.facts.flags.contains(.coded))
            }
        }
    }

    @Test("a 206 that completes a part may forbid that it is stored, RFC 9111 §5.2.2.5")
    func forbidden() throws {
        #expect(try completion([])?.mayBeStored == true)
        #expect(try completion([("Cache-Control", "no-store, max-age=60")])?.mayBeStored == false)
        #expect(try completion([("Cache-Control", "no-store, must-understand")])?.mayBeStored == true)
    }

    @Test("what it varies on selects the whole from then on, RFC 9111 §4.1")
    func varying() throws {
        let asked = request([("X-V", "1")])
        let whole = try #require(try completion([("Vary", "X-V")], asked)).response
        #expect(word(lookUp(asked, whole, at: noon)) == "cache")
        #expect(word(lookUp(request([("X-V", "2")]), whole, at: noon)) == "forward nothingStored")
        let never = try #require(try completion([("Vary", "*")], asked)).response
        #expect(word(lookUp(asked, never, at: noon)) == "validate")
    }

    @Test("a part with a weak tag is not asked for, whatever its date")
    func weak() throws {
        let lines = [
            ("Date", date(0)), ("Cache-Control", "max-age=60"), ("ETag", "W/\"v1\""), ("Last-Modified", date(-100)),
            ("Content-Length", "10"),
        ]
        let response = try #require(stored(lines, length: 5, isComplete: false))
        #expect(word(lookUp(request(), response, at: noon)).hasPrefix("forward"))
    }
}
