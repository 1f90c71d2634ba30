import CTrawlCurl
import Testing

@testable import TrawlTransfer

@Suite("Origins that requests went to lately")
struct RequestOriginTests {
    private func find(_ url: String, in origins: inout RequestOrigins) -> (host: String, target: String)? {
        url.withCString { text in
            let url = UnsafeBufferPointer(start: text, count: url.utf8.count)
            guard let (origin, length) = origins.find(url) else { return nil }
            return (String(decoding: origin.host, as: UTF8.self), String(cString: text + (length - 1)))
        }
    }

    @Test(
        "one is known from its second request on, by the host that libcurl would name",
        arguments: [
            ("http://a.example/b?c", "a.example", "/b?c"), ("https://a.example:8443//", "a.example:8443", "//"),
            ("http://a.example:80/", "a.example", "/"), ("https://a.example:443/x", "a.example", "/x"),
            ("http://[::1]:81/?", "[::1]:81", "/?"), ("http://127.0.0.1/%2f", "127.0.0.1", "/%2f"),
        ])
    func known(url: String, host: String, target: String) throws {
        var origins = RequestOrigins()
        #expect(find(url, in: &origins) == nil)
        for _ in 0..<2 {
            let found = try #require(find(url, in: &origins))
            #expect(found.host == host && found.target == target)
        }
    }

    @Test(
        "what libcurl might write in another way is left to it",
        arguments: [
            "http://a.example", "http://a.example?b", "http://a.example?b/c", "http://a.example/#b",
            "http://a.example/ b",
            "http://a.example/\u{7F}", "http://a.example/\r\nX: y", "http://\u{FC}.example/", "http://u@a.example/",
            "http:///a", "http://a.example:x/", "http://0x7f.1/", "http://a%2eexample/", "http://a.example:081/",
            "http://[::0:1]/",
        ])
    func other(url: String) {
        var origins = RequestOrigins()
        for _ in 0..<3 { #expect(find(url, in: &origins) == nil) }
    }

    @Test(
        "an origin is written as libcurl reads it, zone and all",
        arguments: [
            ("http://[fe80::1%25eth0]:81/", "http://[fe80::1%25eth0]:81/a", true),
            ("http://a.example/", "http://a.example/b?c", true),
            ("https://a.example:8443/", "https://a.example:8443/", true),
            ("http://127.0.0.1/", "http://0x7f.1/", false), ("http://a.example/", "http://%61.example/", false),
        ])
    func written(origin: String, url: String, isSame: Bool) throws {
        let parsed = try #require(curl_url())
        defer { curl_url_cleanup(parsed) }
        let code = curl_url_set(parsed, CURLUPART_URL, url, EasyHandle.urlFlags)
        #expect(code == CURLUE_OK)
        let read = try #require(RequestOrigin.text(of: parsed))
        #expect(String(decoding: read.map { UInt8(bitPattern: $0) }, as: UTF8.self) == origin)
        let found = [-1, 0].map { RequestOrigin.isWritten(read, in: url, length: read.count + $0) }
        #expect(found == [isSame, false])
    }

    @Test("a URL of the origin that was found last is looked at behind it alone, and as strictly")
    func latest() throws {
        var origins = RequestOrigins()
        #expect(find("http://a.example/", in: &origins) == nil)
        #expect(find("http://a.example/", in: &origins)?.target == "/")
        #expect(find("http://a.example/b?c=/", in: &origins)?.target == "/b?c=/")
        for rest in ["#b", "b#", "b c", "\u{7F}", "\u{E9}"] {
            #expect(find("http://a.example/\(rest)", in: &origins) == nil, "\(rest)")
        }
        for other in ["http://a.example", "http://a.example:81/", "http://a.example.org/", "https://a.example/"] {
            #expect(find(other, in: &origins) == nil, "\(other)")
        }
        #expect(find("http://a.example.org/x", in: &origins)?.host == "a.example.org")
        #expect(find("http://a.example/x", in: &origins)?.host == "a.example")
    }

    @Test("origins that share a place are told apart")
    func places() throws {
        var origins = RequestOrigins()
        for turn in 0..<2 {
            for number in 0..<2000 {
                let url = "http://host\(number).example/a"
                guard let found = find(url, in: &origins) else { continue }
                #expect(found.host == "host\(number).example" && found.target == "/a", "turn \(turn)")
            }
        }
        #expect(find("http://host1999.example/", in: &origins)?.host == "host1999.example")
    }
}
