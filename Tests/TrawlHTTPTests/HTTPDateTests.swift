import TestSupport
import Testing
import TrawlHTTP

@Suite("HTTP dates, RFC 9110 §5.6.7, ASI-CACHE-18")
struct HTTPDateTests {
    /// 2026-11-21 12:00:00.
    private let now = WallTime(seconds: 1_795_262_400)

    private func parse(_ text: String) -> Int64? {
        Array(text.utf8).withUnsafeBytes { HTTPDate.parse($0, now: now)?.seconds }
    }

    @Test(
        "the three forms are read",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu Aug 18 02:01:18 2050", 2_544_400_878), ("thu, 18 aug 2050 02:01:18 gMT", 2_544_400_878),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), (" Thu, 01 Jan 1970 00:00:01 GMT\t", 1),
            ("Fri, 31 Dec 1999 23:59:60 GMT", 946_684_800), ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Wednesday, 09-Nov-77 00:00:00 GMT", 247_881_600),
            ("Wednesday, 09-Nov-76 00:00:00 GMT", 3_372_105_600),
            ("Saturday, 21-Nov-76 12:00:00 GMT", 3_373_185_600), ("Sunday, 21-Nov-76 12:00:01 GMT", 217_425_601),
            ("Thursday, 31-Dec-76 00:00:00 GMT", 220_838_400),
        ] as [(String, Int64)])
    func strict(text: String, seconds: Int64) {
        #expect(parse(text) == seconds)
    }

    @Test(
        "anything else is no date",
        arguments: [
            "", "0", "-1", "foo", "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18  Aug  2050 02:01:18 GMT",
            "Thu, 18 Aug 2050 2:01:18 GMT", "Thu, 18-Aug-2050 02:01:18 GMT", "Thu 18 Aug 2050 02:01:18 GMT",
            "Thu, 18 Aug 50 02:01:18 GMT", "Thu, 31 Feb 2050 02:01:18 GMT", "Thu, 18 Aug 2050 24:01:18 GMT",
            "Thu, 18 Aug 2050 02.01.18 GMT", "Thu, 18 Aug 2050 02:01:18 AEST", "Xyz, 18 Aug 2050 02:01:18 GMT",
            "Thu, 18 Foo 2050 02:01:18 GMT", "Mon, 29 Feb 2100 00:00:00 GMT", "Thu, 18 Aug 2050 02:01:61 GMT",
            "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 09:49 CET", "Sun, 06 Nov 1994 08:49:37",
            "Thursday, 18-Aug-50 02:01:18 EST", "Thurs, 18-Aug-50 02:01:18 GMT", "Thu Aug 18 02:01:18 2050 GMT",
        ])
    func refused(text: String) {
        #expect(parse(text) == nil)
    }

    @Test("what is written is read back the same")
    func roundTrip() {
        var generator = SeededGenerator(seed: 42)
        for _ in 0..<2000 {
            let seconds = Int64.random(in: -62_135_596_800...253_402_300_799, using: &generator)
            #expect(parse(HTTPDate.format(WallTime(seconds: seconds))) == seconds)
        }
        #expect(HTTPDate.format(WallTime(seconds: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.format(WallTime(milliseconds: .max)) == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(HTTPDate.format(WallTime(milliseconds: .min)) == "Mon, 01 Jan 0001 00:00:00 GMT")
    }

    @Test("garbage never traps")
    func garbage() {
        var generator = SeededGenerator(seed: 7)
        let letters = Array("Sun, 06-Nov 1994:08:49 GMT+\t\u{0}zé".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...36, using: &generator)).map { _ in
                letters.randomElement(using: &generator) ?? 0
            }
            bytes.withUnsafeBytes { _ = HTTPDate.parse($0, now: now) }
        }
    }
}

@Suite("Moments by the wall clock")
struct WallTimeTests {
    @Test("seconds are rounded down, before 1970 too")
    func seconds() {
        #expect(WallTime(milliseconds: 1999).seconds == 1)
        #expect(WallTime(milliseconds: -1).seconds == -1)
        #expect(WallTime(milliseconds: -1000).seconds == -1)
    }

    @Test("arithmetic stays within the range")
    func range() {
        let (first, last) = (WallTime(milliseconds: .min), WallTime(milliseconds: .max))
        #expect(last.advanced(byMilliseconds: 1) == last)
        #expect(first.advanced(byMilliseconds: -1) == first)
        #expect(last.milliseconds(since: first) == .max)
        #expect(first.milliseconds(since: last) == .min)
        #expect(WallTime(seconds: .max) == last)
        #expect(WallTime(seconds: .min) == first)
    }
}
