import Testing
import Trawl
import TrawlHTTP

@testable import TrawlCommand

@Suite("--write-out")
struct WriteOutTests {
    private let values = WriteOutValues(
        url: "http://h/", method: "GET", error: FetchError(.timeout, "too slow"), exitCode: 28,
        total: .microseconds(1_020_300))

    private func written(_ format: WriteOut, _ values: WriteOutValues? = nil) -> (output: String, error: String) {
        let bytes = format.bytes(values ?? self.values)
        return (String(decoding: bytes.output, as: UTF8.self), String(decoding: bytes.error, as: UTF8.self))
    }

    @Test(
        "text, escapes and variables",
        arguments: [
            ("%{http_code}\\n", "000\n"), ("a\\tb\\r\\\\", "a\tb\r\\\\"), ("\\\\n\\", "\\\\n\\"), ("100%%", "100%"),
            ("%", "%"), ("%x", "%x"),
            ("%{exitcode} %{errormsg}", "28 too slow"), ("%{time_total}", "1.020300"), ("\\q", "\\q"),
            ("%{url_effective}|%{size_download}|%{num_redirects}", "http://h/|0|0"), ("%header{x}.", "."), ("%{", "%{"),
            ("%{method}%{scheme}", "GETHTTP"), ("%{HTTP_CODE}%{Method}", "000GET"), ("a%{nope}b", "ab"),
        ])
    func output(format: String, text: String) {
        #expect(written(WriteOut(format)).output == text)
    }

    @Test("without a response, what is known of the last one counts")
    func refused() {
        var values = values
        values.error = FetchError(.tooManyRedirects, "more than 1 redirects", url: "https://h/2")
        values.redirects = 1
        let text = written(WriteOut("%{url_effective} %{scheme} %{num_redirects} %{http_code}"), values).output
        #expect(text == "https://h/2 HTTPS 1 000")
    }

    @Test("the head that ended the fetch counts, and heads are counted where they were seen")
    func heads() throws {
        var values = values
        var fields = FieldLines()
        try fields.append("Location", "/next")
        values.head = Response.ResponseHead(
            TrawlHTTP.ResponseHead(status: 302, version: .http1_0, reason: "", fields: fields))
        let format = WriteOut("%{http_version} %{redirect_url} %{size_header}")
        // The status line, the field line and the empty one.
        #expect(written(format, values).output == "1 http://h/next 33")
        values.headLength = 90
        #expect(written(format, values).output == "1 http://h/next 90")
    }

    @Test("fields keep their bytes, but for a terminal")
    func fieldBytes() throws {
        var values = values
        let value: [UInt8] = [0x61, 0xE9, 0x1B]
        var fields = FieldLines()
        try Array("Content-Type".utf8).withUnsafeBytes { name in
            try value.withUnsafeBytes { try fields.append(name: name, value: $0) }
        }
        values.head = Response.ResponseHead(
            TrawlHTTP.ResponseHead(status: 200, version: .http1_1, reason: "", fields: fields))
        let format = WriteOut("%{content_type}%header{content-type}")
        #expect(format.bytes(values).output == value + value)
        let safe = format.bytes(values, escapes: (true, true)).output
        #expect(!safe.contains(0x1B) && String(validating: safe, as: UTF8.self) != nil)
    }

    @Test("the output is switched between the two streams")
    func streams() {
        let text = written(WriteOut("a%{stderr}b%{stdout}c"))
        #expect(text.output == "ac")
        #expect(text.error == "b")
    }

    @Test("variables that do not exist are known as such")
    func unknown() {
        #expect(WriteOut("%{nope}%{Nor}%{url}%{STDERR}").unknown == ["nope", "Nor"])
    }

    @Test("what is for failures is left out after a success")
    func onError() {
        let format = WriteOut("a%{onerror}b%{stderr}c")
        #expect(written(format, values) == ("ab", "c"))
        var values = values
        values.exitCode = 0
        #expect(written(format, values) == ("a", ""))
    }

    @Test("addresses are cut from their ports")
    func addresses() {
        #expect(WriteOutValues.address("127.0.0.1:80") == ("127.0.0.1", "80"))
        #expect(WriteOutValues.address("[::1]:443") == ("::1", "443"))
    }
}
