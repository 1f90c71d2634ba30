import Testing
import TrawlHTTP

@Suite("Redirects, RFC 9110 §15.4, ASI-RED-03 to 05")
struct RedirectTests {
    private static let methods: [Method] = [.get, .head, .post, .put, .delete, .patch, .options]

    /// Method and body of the next hop.
    private struct Next: Equatable, CustomTestStringConvertible {
        var method: Method
        var keepsBody: Bool
        var testDescription: String { "\(method.name) \(keepsBody ? "with" : "without") body" }
    }

    private static func expected(_ status: UInt16, _ method: Method, _ mode: RedirectMode) -> Next {
        let same = Next(method: method, keepsBody: true)
        let get = Next(method: .get, keepsBody: false)
        switch (status, mode) {
        case (301, .standard), (302, .standard): return method == .post ? get : same
        case (301, .preserve), (302, .preserve), (307, _), (308, _): return same
        case (303, .standard), (303, .preserve): return method == .head ? Next(method: .head, keepsBody: false) : get
        default: return get
        }
    }

    @Test(
        "method and body of the next hop: status × method × mode",
        arguments: [301, 302, 303, 307, 308] as [UInt16], [.standard, .classic, .preserve] as [RedirectMode])
    func matrix(status: UInt16, mode: RedirectMode) throws {
        for method in Self.methods {
            let redirect = try #require(Redirect(head: head(status), method: method, mode: mode))
            #expect(
                Next(method: redirect.method, keepsBody: redirect.keepsBody) == Self.expected(status, method, mode),
                "\(status) \(method.name) \(mode)")
            #expect(redirect.location == "../next?q")
        }
    }

    @Test("nothing is followed in manual mode", arguments: [301, 302, 303, 307, 308] as [UInt16])
    func manual(status: UInt16) throws {
        #expect(Redirect(head: try head(status), method: .get, mode: .manual) == nil)
    }

    @Test(
        "other statuses are answers, whatever Location says",
        arguments: [200, 201, 300, 304, 305, 306, 309, 399, 404] as [UInt16],
        [.standard, .classic, .preserve] as [RedirectMode])
    func answers(status: UInt16, mode: RedirectMode) throws {
        #expect(Redirect(head: try head(status), method: .get, mode: mode) == nil)
    }

    @Test("without Location there is nowhere to go")
    func noLocation() {
        let head = ResponseHead(status: 302, version: .http1_1, reason: "", fields: FieldLines())
        #expect(Redirect(head: head, method: .get, mode: .standard) == nil)
    }

    @Test("an empty Location is none, and the first that is not empty counts")
    func emptyLocation() throws {
        var head = ResponseHead(status: 302, version: .http1_1, reason: "", fields: FieldLines())
        try head.fields.append("Location", "")
        #expect(Redirect(head: head, method: .post, mode: .standard) == nil)
        try head.fields.append("location", "/next")
        try head.fields.append("Location", "/other")
        #expect(Redirect(head: head, method: .post, mode: .standard)?.location == "/next")
    }

    @Test(
        "a Location names its bytes: text where they are UTF-8, else percent-encoded one by one",
        arguments: [
            (Array("/caf\u{e9}".utf8), "/caf\u{e9}"), (Array("/caf".utf8) + [0xE9], "/caf%E9"),
            // One byte that is not UTF-8 makes all of it bytes.
            (Array("/\u{e9}?".utf8) + [0xFF, 0x80], "/%C3%A9?%FF%80"), (Array("/caf%E9".utf8), "/caf%E9"),
        ] as [([UInt8], String)])
    func bytesOfLocation(bytes: [UInt8], location: String) throws {
        let fields = try #require(packedLine("Location", bytes))
        let head = ResponseHead(status: 302, version: .http1_1, reason: "", fields: fields)
        #expect(Redirect(head: head, method: .get, mode: .standard)?.location == location)
    }

    private func packedLine(_ name: String, _ value: [UInt8]) -> FieldLines? {
        var fields = FieldLines()
        let isTaken = Array(name.utf8).withUnsafeBytes { name in
            value.withUnsafeBytes { value in (try? fields.append(name: name, value: value)) != nil }
        }
        return isTaken ? fields : nil
    }

    @Test("fields about the body go when the body goes")
    func bodyFields() throws {
        let about = [
            "Content-Type", "content-encoding", "CONTENT-LENGTH", "Content-Language", "Content-Location", "Content-MD5",
            "Content-Digest", "Content-Disposition", "Content-Range", "Digest", "Repr-Digest", "Last-Modified",
            "Expect",
            "Transfer-Encoding", "Trailer",
        ]
        let others = ["User-Agent", "Accept", "X-Content", "Contents", "Content", "Authorization"]
        let fields = try lines(about + others)
        let dropping = try #require(Redirect(head: head(303), method: .post, mode: .standard))
        #expect(names(dropping.fields(from: fields, at: here, to: here)) == others)
        let keeping = try #require(Redirect(head: head(307), method: .post, mode: .standard))
        #expect(names(keeping.fields(from: fields, at: here, to: here)) == about + others)
    }

    @Test("secrets do not leave their origin, and a cookie set by hand does not outlive its request")
    func secrets() throws {
        let fields = try lines(["authorization", "Cookie", "Proxy-Authorization", "Host", "Accept", "COOKIE"])
        let redirect = try #require(Redirect(head: head(302), method: .get, mode: .standard))
        #expect(names(redirect.fields(from: fields, at: here, to: there)) == ["Accept"])
        #expect(
            names(redirect.fields(from: fields, at: here, to: here))
                == ["authorization", "Proxy-Authorization", "Host", "Accept"])
    }

    @Test("a cookie set by hand that is for all hops stays with its origin, too")
    func repeatedCookies() throws {
        let fields = try lines(["Cookie", "Accept", "COOKIE"])
        let redirect = try #require(Redirect(head: head(302), method: .get, mode: .standard))
        let same = redirect.fields(from: fields, at: here, to: here, repeatsCookies: true)
        #expect(names(same) == ["Cookie", "Accept", "COOKIE"])
        #expect(names(redirect.fields(from: fields, at: here, to: there, repeatsCookies: true)) == ["Accept"])
    }

    @Test("a Referer goes wherever a redirect leads but from https to http, RFC 9110 §10.1.3")
    func referer() throws {
        let fields = try lines(["referer", "Accept"])
        let redirect = try #require(Redirect(head: head(302), method: .get, mode: .standard))
        for (from, to, names) in [
            (here, here, ["referer", "Accept"]), (here, there, ["referer", "Accept"]), (here, clear, ["Accept"]),
            (clear, here, ["referer", "Accept"]), (clear, clear, ["referer", "Accept"]),
        ] {
            #expect(self.names(redirect.fields(from: fields, at: from, to: to)) == names, "\(from) \(to)")
        }
    }

    private let here = Origin(scheme: "https", host: "a.test", port: 443)
    private let there = Origin(scheme: "https", host: "b.test", port: 443)
    private let clear = Origin(scheme: "http", host: "a.test", port: 80)

    private func head(_ status: UInt16) throws -> ResponseHead {
        var fields = FieldLines()
        try fields.append("location", "../next?q")
        return ResponseHead(status: status, version: .http1_1, reason: "", fields: fields)
    }

    private func lines(_ names: [String]) throws -> FieldLines {
        var fields = FieldLines()
        for name in names { try fields.append(name, "v") }
        return fields
    }

    private func names(_ fields: FieldLines) -> [String] {
        var names: [String] = []
        fields.forEach { name, _ in names.append(FieldLines.text(name)) }
        return names
    }
}
