import Testing
import TrawlCache
import TrawlHTTP

@Suite("What a download can go on with, RFC 9110 §13.1.5, §14")
struct ResumptionTests {
    private static let date = "Date: Sun, 22 Nov 2026 08:00:00 GMT"
    private static let old = "Last-Modified: Sun, 22 Nov 2026 07:00:00 GMT"

    private static func head(_ status: UInt16, _ lines: [String]) throws -> ResponseHead {
        var fields = FieldLines()
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            try fields.append(String(parts[0]), String(parts[1].drop { $0 == " " }))
        }
        return ResponseHead(status: status, version: .http1_1, reason: "", fields: fields)
    }

    @Test(
        "a strong validator makes it possible, and nothing else may speak against it",
        arguments: [
            (200, ["ETag: \"a\""], "\"a\""),
            (200, ["ETag: \"a\"", "Content-Encoding: identity"], "\"a\""),
            (200, ["ETag: W/\"a\""], nil),
            (200, ["ETag: W/\"a\"", date, old], nil),
            (200, [date, old], "Sun, 22 Nov 2026 07:00:00 GMT"),
            (200, [date, "Last-Modified: Sun, 22 Nov 2026 08:00:00 GMT"], nil),
            (200, [date, "Last-Modified: yesterday"], nil),
            (200, [old], nil),
            (200, [], nil),
            (200, ["ETag: \"a\"", "Content-Encoding: gzip"], nil),
            (404, ["ETag: \"a\""], nil),
        ] as [(UInt16, [String], String?)])
    func validator(status: UInt16, lines: [String], expected: String?) throws {
        let head = try Self.head(status, lines + ["Content-Length: 500", "Accept-Ranges: bytes"])
        let now = WallTime(seconds: 1_795_334_400)
        let resumption = Resumption(head, to: .get, now: now)
        #expect(resumption?.validator == expected)
        #expect(resumption == nil || resumption?.total == 500)
        #expect(Resumption(head, to: .post, now: now) == nil)
        for ranges in [[], ["Accept-Ranges: none"]] {
            #expect(Resumption(try Self.head(status, lines + ranges), to: .get, now: now) == nil)
        }
    }

    @Test(
        "the rest is told from the whole and from what is neither (ASI-RES-03)",
        arguments: [
            (206, ["Content-Range: bytes 100-499/500", "ETag: \"a\""], .goesOn),
            (206, ["Content-Range: bytes 100-499/500"], .goesOn),
            (206, ["Content-Range: bytes 100-499/*"], .goesOn),
            (206, ["Content-Range: bytes 100-499/500", "Content-Length: 400"], .goesOn),
            (206, ["Content-Range: bytes 100-499/500", "Content-Length: 401"], .asksAgain),
            (206, ["Content-Range: bytes 100-499/500", "Content-Length: 9223372036854775807"], .asksAgain),
            (206, ["Content-Range: bytes 100-499/500", "ETag: \"b\""], .asksAgain),
            (206, ["Content-Range: bytes 99-499/500"], .asksAgain),
            (206, ["Content-Range: bytes 100-400/500"], .asksAgain),
            (206, ["Content-Range: bytes 100-400/*"], .asksAgain),
            (206, ["Content-Range: bytes 100-599/600"], .asksAgain),
            (206, ["Content-Range: bytes 100-499/500", "Content-Encoding: gzip"], .asksAgain),
            (206, ["Content-Range: lines 100-499/500"], .asksAgain),
            (206, ["Content-Type: multipart/byteranges; boundary=x"], .asksAgain),
            (416, ["Content-Range: bytes */100"], .asksAgain),
            (200, [], .startsAnew), (203, [], .startsAnew),
            (202, [], .isOther), (204, [], .isOther), (226, [], .isOther),
            (302, [], .isOther), (401, [], .isOther), (503, [], .isOther), (304, [], .isOther),
        ] as [(UInt16, [String], Resumption.Step)])
    func steps(status: UInt16, lines: [String], expected: Resumption.Step) throws {
        let resumption = Resumption(validator: "\"a\"", total: 500)
        #expect(resumption.step(after: try Self.head(status, lines), from: 100) == expected)
    }

    @Test("where nobody has said how long the whole is, its rest has to")
    func unknownLength() throws {
        let resumption = Resumption(validator: "\"a\"", total: nil)
        for (range, expected) in [
            ("100-499/500", .goesOn), ("100-400/500", .asksAgain), ("100-499/*", .asksAgain),
        ] as [(String, Resumption.Step)] {
            let head = try Self.head(206, ["Content-Range: bytes \(range)"])
            #expect(resumption.step(after: head, from: 100) == expected, "\(range)")
        }
    }

    @Test("a date is compared as a tag is: byte for byte, where the rest has one")
    func dates() throws {
        let date = String(Self.old.dropFirst("Last-Modified: ".count))
        let resumption = Resumption(validator: date, total: 500)
        for (line, expected) in [
            (Self.old, .goesOn), ("Last-Modified: Sun, 22 Nov 2026 06:00:00 GMT", .asksAgain),
            ("Last-Modified: Sun, 22 Nov 2026 08:00:00 GMT", .asksAgain), ("ETag: \"a\"", .goesOn),
        ] as [(String, Resumption.Step)] {
            let head = try Self.head(206, ["Content-Range: bytes 100-499/500", line])
            #expect(resumption.step(after: head, from: 100) == expected, "\(line)")
        }
    }
}
