import TestSupport
import Testing
import TrawlHTTP

@Suite("Retry-After, RFC 9110 §10.2.3")
struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT
    private let now = WallTime(seconds: 784_111_777)
    private let day = Duration.seconds(86_400)

    private func parse(_ text: String) -> RetryAfter? {
        var text = text
        return text.withUTF8 { RetryAfter.parse(UnsafeRawBufferPointer($0), now: now) }
    }

    private func wait(_ lines: [(String, String)], longest: Duration? = nil) throws -> Duration? {
        var fields = FieldLines()
        for (name, value) in lines { try fields.append(name, value) }
        return RetryAfter.wait(in: fields, now: now, longest: longest ?? day)
    }

    @Test("seconds, and as many as anybody likes")
    func seconds() {
        #expect(parse("0") == .seconds(0))
        #expect(parse(" 120\t") == .seconds(120))
        #expect(parse("007") == .seconds(7))
        #expect(parse("31557600000000") == .seconds(31_557_600_000_000))
        #expect(parse(String(repeating: "9", count: 200)) == .seconds(.max))
    }

    @Test("dates of all three forms")
    func dates() {
        let date = WallTime(seconds: 784_111_777)
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ] {
            #expect(parse(text) == .date(date))
        }
    }

    @Test(
        "what is neither is nothing",
        arguments: [
            "", " ", "-1", "+5", "1.5", "1e3", "10s", "10, 20", "0x10", "soon", "Sun, 06 Nov 1994", "Infinity", "１０",
            "Sun, 31 Feb 2021 08:49:37 GMT", "2021-01-01T00:00:00Z",
        ])
    func garbage(_ text: String) { #expect(parse(text) == nil) }

    @Test("a wait lies between nothing and the cap")
    func waits() throws {
        #expect(try wait([]) == nil)
        #expect(try wait([("Retry-After", "soon")]) == nil)
        #expect(try wait([("retry-after", "120")]) == .seconds(120))
        #expect(try wait([("Retry-After", "31557600000000")]) == day)
        #expect(try wait([("Retry-After", String(repeating: "9", count: 30))]) == day)
        #expect(try wait([("Retry-After", "Sun, 06 Nov 1994 08:50:37 GMT")]) == .seconds(60))
        #expect(try wait([("Retry-After", "Sun, 06 Nov 1994 08:00:00 GMT")]) == .zero)
        #expect(try wait([("Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT")]) == day)
        #expect(try wait([("Retry-After", "5")], longest: .zero) == .zero)
        #expect(try wait([("Retry-After", "5")], longest: .seconds(-5)) == .zero)
    }

    @Test("a date is read by the server's clock where the response has it")
    func serverClock() throws {
        let date = ("Retry-After", "Sat, 01 Jan 2000 00:01:00 GMT")
        #expect(try wait([date, ("Date", "Sat, 01 Jan 2000 00:00:00 GMT")]) == .seconds(60))
        #expect(try wait([date, ("Date", "nonsense")]) == day)
        #expect(try wait([("Date", "Sat, 01 Jan 2000 00:00:00 GMT"), ("Retry-After", "7")]) == .seconds(7))
    }

    @Test("of several the one that asks for most counts")
    func several() throws {
        #expect(try wait([("Retry-After", "5"), ("Retry-After", "x"), ("Retry-After", "9")]) == .seconds(9))
    }

    @Test("what has to wait, by status")
    func reach() {
        for status in [429, 503] as [UInt16] { #expect(RetryAfter.reach(of: status) == .origin) }
        for status in [300, 301, 302, 303, 307, 308] as [UInt16] {
            #expect(RetryAfter.reach(of: status) == .redirectedRequest)
        }
        for status in [200, 202, 304, 408, 413, 500, 502, 504] as [UInt16] {
            #expect(RetryAfter.reach(of: status) == .request)
        }
    }

    @Test("whatever a server sends, a wait keeps to its bounds")
    func bytes() throws {
        var random = SeededGenerator(seed: 9)
        for _ in 0..<3000 {
            let bytes = random.bool() ? random.bytes(upTo: 40) : Array(random.text(upTo: 40).utf8)
            guard let value = bytes.withUnsafeBytes({ RetryAfter.parse($0, now: now) }) else { continue }
            let wait = value.wait(since: now, longest: day)
            #expect(wait >= .zero && wait <= day)
        }
        for extreme in [
            RetryAfter.date(WallTime(milliseconds: .max)), .date(WallTime(milliseconds: .min)), .seconds(.max),
        ] {
            for moment in [Int64.min, 0, .max] {
                let wait = extreme.wait(since: WallTime(milliseconds: moment), longest: day)
                #expect(wait >= .zero && wait <= day)
            }
        }
    }
}
