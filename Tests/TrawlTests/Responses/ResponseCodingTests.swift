import Testing
import TrawlHTTP

@testable import Trawl

@Suite("The content codings that a response names")
struct ResponseCodingTests {
    private func response(_ values: [String]) throws -> Response {
        var lines = FieldLines()
        for value in values { try lines.append("Content-Encoding", value) }
        let head = TrawlHTTP.ResponseHead(status: 200, version: .http1_1, reason: "OK", fields: lines)
        return Response(
            Response.Content(
                head: head, body: .empty, file: nil, url: "http://a.test/", originalURL: "http://a.test/",
                redirects: [], interim: [], trailers: [:], receivedLength: 0, source: .network,
                metrics: HopReports(), defaultCharset: "utf-8"))
    }

    @Test(
        "they are all of the field's, in order, but for those that change nothing and empty elements (RFC 9110 §8.4)",
        arguments: [
            ([], []), (["identity"], []), (["gzip, ,br"], ["gzip", "br"]), (["compress, gzip"], ["compress", "gzip"]),
            (["X-Gzip", "Identity, br"], ["gzip", "br"]), ([","], []),
        ] as [([String], [String])])
    func names(values: [String], names: [String]) throws {
        let response = try response(values)
        #expect(response.contentCodings == names)
        #expect(response.isCompressed == !names.isEmpty)
    }
}
