import Testing
import TrawlHTTP

@testable import TrawlCache

@Suite("Freshness and age in a private cache, RFC 9111 §4.2, ASI-CACHE-17")
struct FreshnessTests {
    /// Lifetime in seconds of a response that came at noon with that `Date`.
    private func lifetime(_ lines: [(String, String)], status: UInt16 = 200) -> Int64 {
        let reading = ResponseReading(fields([("Date", date(0))] + lines), now: noon)
        return reading.lifetime(status: status, arrival: noon).milliseconds / 1000
    }

    @Test(
        "explicit lifetimes, most specific first",
        arguments: [
            ([("Cache-Control", "max-age=60")], 60),
            ([("Cache-Control", "max-age=60, s-maxage=5")], 60),
            ([("Cache-Control", "s-maxage=60")], 0),
            ([("Cache-Control", "max-age=60"), ("Expires", "0")], 60),
            ([("Expires", date(90))], 90),
            ([("Expires", date(-90))], 0),
            ([("Expires", date(0))], 0),
            ([("Expires", "0"), ("Last-Modified", date(-1000))], 0),
            ([("Expires", date(90)), ("Expires", date(90))], 0),
            ([("Cache-Control", "max-age=x"), ("Expires", date(90))], 0),
            ([("CDN-Cache-Control", "max-age=60")], 0),
            ([], 0),
        ] as [([(String, String)], Int64)])
    func explicit(lines: [(String, String)], seconds: Int64) {
        #expect(lifetime(lines) == seconds)
    }

    @Test("without a valid Date, Expires counts from the arrival")
    func expiresWithoutDate() {
        let reading = ResponseReading(fields([("Date", "foo"), ("Expires", date(90))]), now: noon)
        #expect(reading.lifetime(status: 200, arrival: noon).milliseconds == 90_000)
    }

    @Test(
        "a guess is a tenth of the age of Last-Modified, at most a day",
        arguments: [
            (-1000, 200, 100), (-864_000, 200, 86_400), (-8_640_000, 200, 86_400), (100, 200, 0), (-1000, 202, 0),
            (-1000, 404, 100), (-1000, 410, 100), (-1000, 501, 100), (-1000, 302, 0), (-1000, 308, 100),
            (-1000, 503, 0), (-1000, 599, 0),
        ] as [(Int64, UInt16, Int64)])
    func heuristic(modified: Int64, status: UInt16, seconds: Int64) {
        #expect(lifetime([("Last-Modified", date(modified))], status: status) == seconds)
    }

    @Test("public allows the guess for any status")
    func heuristicPublic() {
        #expect(lifetime([("Last-Modified", date(-1000)), ("Cache-Control", "public")], status: 599) == 100)
    }

    @Test(
        "the age on arrival",
        arguments: [
            ([("Age", "30")], 30), ([("Age", "-30")], 0), ([("Age", "30.0")], 0), ([("Age", "30, 0")], 30),
            ([("Age", "0, 30")], 0), ([("Age", "0"), ("Age", "30")], 0), ([("Age", "2147483648")], 2_147_483_648),
            ([("Age", "99999999999999999999")], 2_147_483_648), ([("Age", "30;a=b")], 0), ([], 0),
            ([("Date", date(-40))], 40), ([("Date", date(-40)), ("Age", "30")], 40),
            ([("Date", date(-20)), ("Age", "30")], 30), ([("Date", date(40))], 0),
        ] as [([(String, String)], Int64)])
    func initialAge(lines: [(String, String)], seconds: Int64) {
        let reading = ResponseReading(fields(lines), now: noon)
        #expect(reading.initialAge(requestTime: noon, responseTime: noon) == seconds * 1000)
    }

    @Test("the time the answer took is part of its age")
    func delay() {
        let reading = ResponseReading(fields([("Age", "30")]), now: noon)
        #expect(reading.initialAge(requestTime: after(-5), responseTime: noon) == 35_000)
        #expect(reading.initialAge(requestTime: after(5), responseTime: noon) == 30_000)
    }

    @Test("a response is fresh up to its lifetime, not at it; a clock that goes back makes nothing younger")
    func fresh() throws {
        let response = try #require(stored([("Date", date(0)), ("Cache-Control", "max-age=60"), ("Age", "10")]))
        #expect(response.facts.isFresh(at: after(49)))
        #expect(!response.facts.isFresh(at: after(50)))
        #expect(response.facts.age(at: after(-1000)) == 10_000)
        #expect(response.facts.isFresh(at: after(-60)))
        #expect(!response.facts.isFresh(at: after(-61)))
        #expect(!response.facts.isFresh(at: WallTime(milliseconds: .max)))
    }
}
