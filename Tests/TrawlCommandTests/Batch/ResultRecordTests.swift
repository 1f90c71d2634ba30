import Foundation
import Testing
import TrawlHTTP
import TrawlJSON

@testable import Trawl
@testable import TrawlCommand

@Suite("Records of results")
struct ResultRecordTests {
    private func response(
        status: UInt16, url: String, type: [UInt8], redirects: [Response.RedirectHop] = [],
        source: Response.Source = .network
    ) throws -> Response {
        var fields = FieldLines()
        try Array("Content-Type".utf8).withUnsafeBytes { name in
            try type.withUnsafeBytes { try fields.append(name: name, value: $0) }
        }
        return Response(
            Response.Content(
                head: TrawlHTTP.ResponseHead(status: status, version: .http1_1, reason: "", fields: fields),
                body: ResponseBody(.bytes([])), file: nil, url: url, originalURL: url, redirects: redirects,
                interim: [], trailers: Fields(), receivedLength: 12, source: source, metrics: HopReports(),
                defaultCharset: "ISO-8859-1"))
    }

    private func text(_ record: ResultRecord, _ result: Result<Response, FetchError>) -> [UInt8] {
        var writer = JSONWriter()
        record.write(result, to: &writer)
        return writer.withUnsafeBytes { Array($0) }
    }

    private func parsed(_ bytes: [UInt8]) throws -> [String: Any] {
        #expect(bytes.last == 0x0A && bytes.count { $0 == 0x0A } == 1)
        #expect(bytes.starts(with: ResultRecord.beginning))
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    @Test(
        "what is written can be read by another parser, and by the next run",
        arguments: ["a/b.html", "ü\u{1F600}", "a\"b\\c\n\t\u{1}", "x\u{2028}y", String(repeating: "n", count: 4000)])
    func success(file: String) throws {
        let request = ListedRequest(
            url: "http://h/ü\"", id: RequestID(json: Array(#""i\u0041""#.utf8)), out: file, own: nil,
            key: RequestKey(bytes: file.utf8))
        let response = try response(status: 204, url: "http://h/%C3%BC", type: Array("text/ü\"".utf8) + [0xFF])
        let fetch = FetchInFlight(request, line: 7, isAgain: true, at: MonotonicInstant(nanoseconds: 0))
        fetch.attempts = 3
        let bytes = text(
            ResultRecord(
                fetch: fetch, file: file, isSuccess: true, time: RecordTime(microseconds: 1_795_266_000_000_001),
                elapsed: 21_338), .success(response))
        let members = try parsed(bytes)
        #expect(members["v"] as? Int == 1 && members["line"] as? Int == 7 && members["id"] as? String == "iA")
        #expect(members["url"] as? String == "http://h/ü\"" && members["final_url"] as? String == "http://h/%C3%BC")
        #expect(
            members["file"] as? String == file && members["ok"] as? Bool == true && members["status"] as? Int == 204)
        #expect(members["bytes"] as? Int == 12 && members["attempts"] as? Int == 3 && members["error"] == nil)
        #expect(members["key"] as? String == request.key.hexadecimal)
        #expect(String(decoding: bytes, as: UTF8.self).contains(#""time":1795266000.000001,"seconds":0.021338}"#))

        let record = try #require(bytes.dropLast().withUnsafeBytes { FinishedRecord($0) })
        #expect(record.key == request.key && record.isSuccess && record.isAgain && record.file == file)
    }

    @Test("a final URL is told where it is another than the record's, which has no user information")
    func finalURL() throws {
        for (asked, final, told) in [
            ("http://u:p@h/x", "http://h/x", nil), ("http://h/x", "http://h/x", nil),
            ("http://u:p@h/x", "http://h/y", "http://h/y"),
        ] as [(String, String, String?)] {
            let fetch = FetchInFlight(
                ListedRequest(url: asked, out: nil), line: 1, at: MonotonicInstant(nanoseconds: 0))
            let response = try response(status: 200, url: final, type: Array("text/plain".utf8))
            let record = ResultRecord(
                fetch: fetch, file: nil, isSuccess: true, time: RecordTime(microseconds: 1), elapsed: 1)
            let members = try parsed(text(record, .success(response)))
            #expect(members["final_url"] as? String == told, "\(asked)")
        }
    }

    @Test("members stand in their order, and those that say nothing are left out")
    func order() throws {
        let key = try #require(RequestKey(hexadecimal: "0123456789abcdef00000000ffffffff"))
        let fetch = FetchInFlight(
            ListedRequest(url: "http://h/", id: nil, out: nil, own: nil, key: key), line: 3,
            at: MonotonicInstant(nanoseconds: 0))
        let response = try response(status: 404, url: "http://h/", type: Array("text/html; charset=utf-8".utf8))
        let bytes = text(
            ResultRecord(
                fetch: fetch, file: "h/index", isSuccess: false, time: RecordTime(microseconds: 1_500_000),
                elapsed: 20), .success(response))
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"v":1,"line":3,"url":"http://h/","key":"0123456789abcdef00000000ffffffff","ok":false,"#
                + #""status":404,"file":"h/index","bytes":12,"content_type":"text/html; charset=utf-8","#
                + #""time":1.5,"seconds":0.00002}"# + "\n")
    }

    @Test("docs/results.md has the members there are, and no others")
    func members() throws {
        let request = ListedRequest(
            url: "http://h/", id: RequestID(json: Array("1".utf8)), out: nil, own: nil,
            key: RequestKey(bytes: "x".utf8))
        let fetch = FetchInFlight(request, line: 1, isAgain: true, at: MonotonicInstant(nanoseconds: 0))
        fetch.attempts = 2
        let record = ResultRecord(
            fetch: fetch, file: "h/x", isSuccess: true, time: RecordTime(microseconds: 1), elapsed: 1)
        let head = TrawlHTTP.ResponseHead(status: 302, version: .http1_1, reason: "", fields: FieldLines())
        let hop = Response.RedirectHop(
            url: "http://h/", status: 302, location: "/x", head: Response.ResponseHead(head))
        let response = try response(
            status: 200, url: "http://h/x", type: Array("text/plain".utf8), redirects: [hop], source: .cache)
        let fetched = try parsed(text(record, .success(response)))
        let failed = try parsed(text(record, .failure(FetchError(.hostNotFound, "nobody"))))
        var bad = JSONWriter()
        ResultRecord.write(
            BadLine(reason: "no request"), line: 2, isAgain: false, time: RecordTime(microseconds: 1), to: &bad)
        let refused = try parsed(bad.withUnsafeBytes { Array($0) })
        let documented = try MemberTableTests.documented("results.md")
        #expect(Set(fetched.keys).union(failed.keys) == documented)
        #expect(documented.isSuperset(of: refused.keys))
    }

    @Test("a failure tells its code and why")
    func failure() throws {
        let fetch = FetchInFlight(
            ListedRequest(url: "http://h/", out: nil), line: 1, at: MonotonicInstant(nanoseconds: 0))
        let bytes = text(
            ResultRecord(fetch: fetch, file: nil, isSuccess: false, time: RecordTime(), elapsed: 0),
            .failure(FetchError(.hostNotFound, "no \"h\"\u{1b}")))
        let members = try parsed(bytes)
        #expect((members["error"] as? [String: String]) == ["code": "dns", "message": "no \"h\"\u{1b}"])
        #expect(members["attempts"] == nil && members["status"] == nil && members["file"] == nil)
        let record = try #require(bytes.dropLast().withUnsafeBytes { FinishedRecord($0) })
        #expect(!record.isSuccess && record.file == nil)
    }

    @Test("a line that is no request has a record by its number")
    func bad() throws {
        var writer = JSONWriter()
        let bad = BadLine(reason: "no \u{0} url", id: RequestID(json: Array("1e3".utf8)))
        ResultRecord.write(bad, line: 9, isAgain: false, time: RecordTime(microseconds: 5), to: &writer)
        let bytes = writer.withUnsafeBytes { Array($0) }
        let members = try parsed(bytes)
        #expect(members["line"] as? Int == 9 && members["id"] as? Double == 1000 && members["url"] == nil)
        let record = try #require(bytes.dropLast().withUnsafeBytes { FinishedRecord($0) })
        #expect(record.key == ResultRecord.key(of: bad, line: 9) && record.key != ResultRecord.key(of: bad, line: 8))
    }

    @Test(
        "what is no record is none",
        arguments: [
            "", "{", "[]", "{}", #"{"v":1,"ok":true}"#, #"{"key":"00"#, #"{"key":"00","ok":true}"#,
            #"{"key":"0123456789abcdef0123456789abcdef","ok":1}"#,
            #"{"key":"0123456789abcdef0123456789abcdef","ok":true} x"#,
            #"{"key":"0123456789abcdef0123456789abcdef","ok":true,"file":3}"#,
            #"{"key":"+123456789abcdef0123456789abcdef","ok":true}"#,
        ])
    func none(line: String) {
        #expect(Array(line.utf8).withUnsafeBytes { FinishedRecord($0) } == nil)
    }

    @Test("members of later programs are passed over, and keys of either case are one")
    func unknown() throws {
        let line = #"{"v":1,"new":{"a":[1,{}]},"ok":false,"key":"0123456789ABCDEF0123456789abcdef"}"#
        let record = try #require(Array(line.utf8).withUnsafeBytes { FinishedRecord($0) })
        #expect(record.key == RequestKey(hexadecimal: "0123456789abcdef0123456789abcdef"))
    }
}
