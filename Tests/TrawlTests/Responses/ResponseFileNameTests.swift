import Testing
import TrawlHTTP

@testable import Trawl

@Suite("The file name of a response, ULS-PROTO-10")
struct ResponseFileNameTests {
    private func name(_ url: String, _ fields: (String, String)...) throws -> String {
        var lines = FieldLines()
        for (name, value) in fields { try lines.append(name, value) }
        let head = TrawlHTTP.ResponseHead(status: 200, version: .http1_1, reason: "OK", fields: lines)
        let content = Response.Content(
            head: head, body: .empty, file: nil, url: url, originalURL: url, redirects: [], interim: [], trailers: [:],
            receivedLength: 0, source: .network, metrics: HopReports(), defaultCharset: "utf-8")
        return Response(content).suggestedFilename
    }

    @Test(
        "the last part of the path, without query and fragment; else the host, without port and brackets",
        arguments: [
            ("http://example.org/a/b.txt", "b.txt"), ("http://example.org:8080/a/b.txt?c=/d.e#/f.g", "b.txt"),
            ("http://example.org/a%20b.txt#part", "a b.txt"), ("http://example.org", "example.org"),
            ("http://example.org/", "example.org"), ("http://example.org:8080/", "example.org"),
            ("http://example.org?q=/x.txt", "example.org"), ("http://example.org:8080#/x.txt", "example.org"),
            ("https://example.org/a/", "example.org"), ("http://192.0.2.1:80/?x", "192.0.2.1"),
            ("http://[2001:db8::1]/x", "x"), ("http://[2001:db8::1]/", "2001:db8::1"),
            ("http://[2001:db8::1]:8080/?q=/x", "2001:db8::1"), ("http://[::1]", "::1"),
        ])
    func ofURL(url: String, expected: String) throws {
        #expect(try name(url) == expected)
    }

    @Test("what the response says comes first, and its media type completes a name of the URL")
    func ofFields() throws {
        let disposition = ("Content-Disposition", "attachment; filename=\"../named.bin\"")
        #expect(try name("http://h/x.txt", disposition) == "named.bin")
        #expect(try name("http://h:80/x?y.z", ("Content-Type", "text/html; charset=utf-8")) == "x.html")
        #expect(try name("http://[::1]:80/", ("Content-Type", "application/json")) == "::1.json")
    }
}
