import Testing
import Trawl

@Suite("Text of responses, ASI-RSP-05 and 06, AFC-22", .bed(), .timeLimit(.minutes(2)))
struct TextTests {
    /// A fetch of a body with the type given; none for nil.
    private func get(
        _ body: [UInt8], type: String?, coding: String? = nil, adjust: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Response {
        let bed = try Bed.current
        var head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n"
        if let type { head += "Content-Type: \(type)\r\n" }
        if let coding { head += "Content-Encoding: \(coding)\r\n" }
        var request = Request(.post, bed.url("/raw?keep=1"))
        request.body = .bytes(Array((head + "\r\n").utf8) + body)
        adjust(&request.options)
        return try await bed.coordinator.send(request)
    }

    @Test(
        "is in the charset of mark, type or default, in this order",
        arguments: [
            ("text/plain; charset=utf-8", [0xC3, 0xBC], "ü", "utf-8"),
            ("text/plain; charset=\"Shift_JIS\"; x=y", [0x93, 0xFA], "日", "cp932"),
            ("text/plain; charset=utf-16", [0x20, 0xAC], "€", "utf-16be"),
            ("text/plain; charset=us-ascii", [0xEF, 0xBB, 0xBF, 0xC3, 0xBC], "ü", "utf-8"),
            ("text/plain; charset=utf-16", [0xFF, 0xFE, 0xAC, 0x20], "€", "utf-16le"),
            ("text/plain", [0xFC], "ü", "iso-8859-1"), (nil, [0xFC], "ü", "iso-8859-1"),
            ("text/plain; charset=bogus", [0xFC], "ü", "iso-8859-1"),
            ("application/json; charset=iso-8859-1", [0x22, 0xC3, 0xBC, 0x22], "\"ü\"", "utf-8"),
            ("text/html; charset=utf-8", [], "", "utf-8"),
        ] as [(String?, [UInt8], String, String)])
    func order(type: String?, bytes: [UInt8], text: String, charset: String) async throws {
        let response = try await get(bytes, type: type)
        #expect(try response.text() == text)
        #expect(response.textLossy == text)
        #expect(response.charset == charset)
        #expect(response.body.bytes == bytes)
    }

    @Test("that cannot be decoded is an error, or has its damage replaced")
    func undecodable() async throws {
        let response = try await get([0x41, 0xFC, 0x42], type: "text/plain; charset=us-ascii")
        let error = #expect(throws: FetchError.self) { try response.text() }
        #expect(error?.code == .decoding && error?.detail == "the body is no text in us-ascii")
        #expect(response.textLossy == "A\u{FFFD}B")
    }

    @Test("has a default that the request may change")
    func changedDefault() async throws {
        let response = try await get([0xC3, 0xBC], type: "text/plain; charset=bogus") { $0.defaultCharset = "utf-8" }
        #expect(try response.text() == "ü")
        let unknown = try await get([0xC3, 0xBC], type: nil) { $0.defaultCharset = "bogus" }
        #expect(throws: FetchError.self) { try unknown.text() }
        #expect(unknown.textLossy == "Ã¼" && unknown.charset == nil)
    }

    @Test("is of the decoded bytes, whenever they are decoded", arguments: RequestOptions.ContentDecoding.all)
    func coded(decoding: RequestOptions.ContentDecoding) async throws {
        let bed = try Bed.current
        let plain = try await bed.get("/plain").text()
        #expect(plain.count == 30_800)
        let response = try await bed.get("/gzip") { $0.contentDecoding = decoding }
        #expect(try response.text() == plain)
        #expect(response.textLossy == plain)
    }

    @Test(
        "of a body whose coding is damaged is an error, or what came through before the damage was seen",
        arguments: [("/gzip-truncated", true), ("/gzip-badcrc", false)])
    func damaged(target: String, isLong: Bool) async throws {
        let bed = try Bed.current
        let response = try await bed.get(target) { $0.contentDecoding = .onRead }
        let error = #expect(throws: FetchError.self) { try response.text() }
        #expect(error?.code == .decoding)
        let plain = try await bed.get("/plain").text()
        #expect(plain.hasPrefix(response.textLossy))
        #expect(response.textLossy.count > (isLong ? 10_000 : -1))
    }

    @Test("of a large body is the whole of it")
    func large() async throws {
        let response = try await get([UInt8](repeating: 0xE4, count: 300_000), type: "text/plain")
        #expect(try response.text() == String(repeating: "ä", count: 300_000))
    }
}

extension RequestOptions.ContentDecoding {
    /// Those after which text can be had.
    fileprivate static let all: [Self] = [.streaming, .onRead]
}
