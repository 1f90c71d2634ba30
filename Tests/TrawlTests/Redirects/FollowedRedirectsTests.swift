import Testing
import TrawlHTTP

@testable import Trawl

@Suite("Redirects that were followed")
struct FollowedRedirectsTests {
    private func hop(_ number: Int, bytes: Int) throws -> Response.RedirectHop {
        var lines = FieldLines()
        try lines.append("X", String(repeating: "a", count: bytes))
        let head = TrawlHTTP.ResponseHead(status: 302, version: .http1_1, reason: "Found", fields: lines)
        return Response.RedirectHop(
            url: "http://h/\(number)", status: 302, location: "http://h/\(number + 1)",
            head: Response.ResponseHead(head))
    }

    @Test("their fields are kept as far as there is room, and all else of them")
    func room() throws {
        var redirects = FollowedRedirects()
        for number in 0..<20 { redirects.append(try hop(number, bytes: 300_000), keepsFields: true) }
        redirects.append(try hop(20, bytes: 100), keepsFields: true)
        #expect(redirects.count == 21)
        #expect(redirects.hops.map(\.url) == (0...20).map { "http://h/\($0)" })
        let lengths = redirects.hops.map { $0.head.fields["X"]?.utf8.count ?? 0 }
        #expect(lengths.prefix(3).allSatisfy { $0 == 300_000 } && lengths.last == 100)
        #expect(lengths[3..<20].allSatisfy { $0 == 0 })
        #expect(redirects.hops.allSatisfy { $0.head.status == 302 && $0.head.reason == "Found" })
    }

    @Test("no fields are kept where nobody is to see them")
    func unseen() throws {
        var redirects = FollowedRedirects()
        for number in 0..<3 { redirects.append(try hop(number, bytes: 100), keepsFields: false) }
        #expect(redirects.hops.map(\.status) == [302, 302, 302])
        #expect(redirects.hops.allSatisfy { $0.head.fields.count == 0 })
    }
}
