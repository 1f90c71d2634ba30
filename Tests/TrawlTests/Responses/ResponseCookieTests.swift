import Testing
import TrawlHTTP
import TrawlPlatform

@testable import Trawl

@Suite("The cookies that a response sets, RFC 6265bis §5.6.2, ASI-COOK-03")
struct ResponseCookieTests {
    private func response(
        _ source: Response.Source, age: String? = nil, receivedAt: WallTime? = nil
    ) throws -> Response {
        var lines = FieldLines()
        for line in ["a=1; Max-Age=60", "b=2; Max-Age=3600", "c=3"] { try lines.append("Set-Cookie", line) }
        if let age { try lines.append("Age", age) }
        let head = TrawlHTTP.ResponseHead(status: 200, version: .http1_1, reason: "OK", fields: lines)
        return Response(
            Response.Content(
                head: head, body: .empty, file: nil, url: "http://a.test/", originalURL: "http://a.test/",
                redirects: [], interim: [], trailers: [:], receivedLength: 0, source: source,
                metrics: HopReports(), defaultCharset: "utf-8", receivedAt: receivedAt))
    }

    @Test("their times count from when it came, whenever they are read")
    func kept() throws {
        let received = WallClock.time().advanced(byMilliseconds: -100_000)
        let response = try response(.network, receivedAt: received)
        let cookies = response.cookies
        #expect(cookies.map(\.name) == ["b", "c"])
        #expect(cookies.first?.expires == received.milliseconds + 3_600_000)
        #expect(cookies.allSatisfy { $0.created == 0 && $0.lastUsed == 0 })
        #expect(response.cookies == cookies)
    }

    @Test("what was stored came as long ago as its age says, and what a server says of it is none")
    func stored() throws {
        #expect(try response(.network, age: "100").cookies.map(\.name) == ["a", "b", "c"])
        for source in [Response.Source.cache, .stale, .revalidated] {
            #expect(try response(source, age: "100").cookies.map(\.name) == ["b", "c"])
            #expect(try response(source, age: "0").cookies.map(\.name) == ["a", "b", "c"])
            #expect(try response(source, age: "999999999").cookies.map(\.name) == ["c"])
        }
    }
}
