import Testing
import TrawlHTTP
import TrawlProtocol

@testable import Trawl
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
        let head = Response.ResponseHead(
            TrawlHTTP.ResponseHead(status: 302, version: .http1_1, reason: "", fields: FieldLines()))
        values.seen.note(.redirected(.init(url: "http://h/", status: 302, location: "https://h/2", head: head)))
        let text = written(WriteOut("%{url_effective} %{scheme} %{num_redirects} %{http_code}"), values).output
        #expect(text == "https://h/2 HTTPS 1 302")
    }

    @Test("the head that ended the fetch counts, and the bytes of all heads")
    func heads() throws {
        var values = values
        var fields = FieldLines()
        try fields.append("Location", "/next")
        let head = Response.ResponseHead(
            TrawlHTTP.ResponseHead(status: 302, version: .http1_0, reason: "", fields: fields))
        values.seen.note(.head(head))
        let format = WriteOut("%{http_version} %{redirect_url} %{size_header}")
        // The status line, the field line and the empty one.
        #expect(written(format, values).output == "1 http://h/next 33")
        values.seen.note(.interim(head))
        #expect(written(format, values).output == "1 http://h/next 66")
    }

    /// A hop of so many microseconds until each of its phases.
    private func hop(
        exchange: Int, _ times: [UInt32], _ firstByte: UInt64, _ ended: UInt64, isNew: Bool, status: Int = 302
    ) -> HopReport {
        var metrics = HopMetrics()
        (metrics.nameResolved, metrics.connected, metrics.secured) = (times[0], times[1], times[2])
        (metrics.requestSent, metrics.firstByte, metrics.ended) = (times[3], firstByte, ended)
        (metrics.connection, metrics.reusedConnection) = (1, !isNew)
        (metrics.bytesSent, metrics.bodyBytesSent) = (100, 20)
        return HopReport(
            url: "http://h/", status: status, version: "HTTP/1.1", slot: 0, exchange: exchange, metrics: metrics)
    }

    @Test("times and counts are those of all hops of the last attempt, as in curl, and of no other attempt")
    func hops() {
        var values = values
        values.error = FetchError(.timeout, "").reporting(
            HopReports([
                hop(exchange: 1, [1, 2, 3, 4], 5, 6, isNew: true),
                hop(exchange: 2, [10, 20, 30, 40], 50, 60, isNew: true),
                hop(exchange: 2, [0, 0, 0, 400], 500, 600, isNew: false),
                hop(exchange: 2, [1000, 2000, 3000, 4000], 5000, 6000, isNew: true),
            ]))
        let times = "%{time_namelookup} %{time_connect} %{time_appconnect} %{time_pretransfer} %{time_starttransfer}"
        #expect(written(WriteOut(times), values).output == "0.001010 0.002020 0.003030 0.004440 0.005550")
        let others = written(WriteOut("%{time_redirect} %{num_connects} %{size_request} %{size_upload}"), values)
        #expect(others.output == "0.000660 2 240 20")
    }

    @Test("what brought no response is no redirect")
    func failedHops() {
        var values = values
        values.error = FetchError(.timeout, "").reporting(
            HopReports([
                hop(exchange: 1, [0, 0, 0, 0], 0, 7, isNew: true, status: 0),
                hop(exchange: 1, [1, 2, 3, 4], 5, 60, isNew: true),
                hop(exchange: 1, [0, 0, 0, 0], 0, 700, isNew: true, status: 0),
            ]))
        #expect(written(WriteOut("%{time_redirect}"), values).output == "0.000060")
    }

    @Test("fields keep their bytes, but for a terminal")
    func fieldBytes() throws {
        var values = values
        let value: [UInt8] = [0x61, 0xE9, 0x1B]
        var fields = FieldLines()
        try Array("Content-Type".utf8).withUnsafeBytes { name in
            try value.withUnsafeBytes { try fields.append(name: name, value: $0) }
        }
        let head = TrawlHTTP.ResponseHead(status: 200, version: .http1_1, reason: "", fields: fields)
        values.seen.note(.head(Response.ResponseHead(head)))
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
