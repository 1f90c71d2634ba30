import Testing
import Trawl
import TrawlHTTP

@testable import TrawlCommand

@Suite("Heads as they are shown and written")
struct HeadTextTests {
    private func head(_ reason: String) throws -> Response.ResponseHead {
        var fields = FieldLines()
        try fields.append("A", "b")
        return Response.ResponseHead(
            TrawlHTTP.ResponseHead(status: 200, version: .http1_1, reason: reason, fields: fields))
    }

    @Test("the reason phrase is written in the bytes that came, and shown as text")
    func reason() throws {
        let head = try head("Gr\u{FC}n")
        var wanted = Array("HTTP/1.1 200 Gr".utf8)
        wanted.append(0xFC)
        wanted.append(contentsOf: "n\r\nA: b\r\n\r\n".utf8)
        #expect(HeadText.bytes(head) == wanted)
        #expect(HeadText.lines(head, prefix: "< ") == "< HTTP/1.1 200 Grün\n< A: b\n< \n")
        #expect(HeadText.bytes(try self.head("")).starts(with: Array("HTTP/1.1 200\r\n".utf8)))
    }
}
