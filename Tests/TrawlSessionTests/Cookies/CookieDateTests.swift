import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Dates in Expires, RFC 6265bis §5.1.1")
struct CookieDateTests {
    @Test(
        "dates",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("1994-Nov-6 8:9:7", "Sun, 06 Nov 1994 08:09:07 GMT"),
            ("6 november 1994x 08:49:37z", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("6 Nov 69 00:00:00", "Wed, 06 Nov 2069 00:00:00 GMT"),
            ("6 Nov 70 00:00:00", "Fri, 06 Nov 1970 00:00:00 GMT"),
            ("29 Feb 2024 23:59:59", "Thu, 29 Feb 2024 23:59:59 GMT"),
            ("1 Jan 1601 0:0:0", "Mon, 01 Jan 1601 00:00:00 GMT"),
            ("1 Jan 1600 0:0:0", nil), ("29 Feb 2023 0:0:0", nil), ("31 Apr 2024 0:0:0", nil),
            ("0 Jan 2024 0:0:0", nil),
            ("32 Jan 2024 0:0:0", nil), ("1 Jan 2024 24:0:0", nil), ("1 Jan 2024 0:60:0", nil),
            ("1 Jan 2024 0:0:60", nil), ("1 Jan 2024", nil), ("1 Jan 0:0:0", nil), ("Jan 2024 0:0:0", nil),
            ("1 2024 0:0:0", nil), ("", nil), ("1 Jan 02024 0:0:0", nil), ("1 Jan 2024 0:0", nil),
        ] as [(String, String?)])
    func dates(text: String, date: String?) {
        #expect(text.latin1.withUnsafeBytes(CookieDate.parse).map(HTTPDate.format) == date)
    }
}
