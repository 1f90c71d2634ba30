import Foundation
import HTTPTypes
import Testing

@testable import Trawl

@Suite("Requests as values")
struct RequestTests {
    @Test("without a method it is GET, or POST once there is a body; a method that was set stays")
    func method() throws {
        var request = Request("http://a/")
        #expect(request.effectiveMethod == .get)
        try request.append([])
        #expect(request.effectiveMethod == .get)
        try request.append("ab".utf8)
        try request.append("c".utf8)
        #expect(request.effectiveMethod == .post)
        #expect(request.body.bytes == Array("abc".utf8))
        request.method = .put
        #expect(request.effectiveMethod == .put)
        request.body = .text("whole")
        #expect(throws: FetchError.self) { try request.append([1]) }
        #expect(request.body.bytes == Array("whole".utf8))
    }

    @Test("what becomes POST with a body says so, and its description too (ASI-REQ-02)")
    func upgradedMethod() {
        let methods: [(Request.Method, String)] = [
            (.get, "POST"), (.head, "POST"), (.delete, "POST"), (.put, "PUT"),
        ]
        for (method, upgraded) in methods {
            var request = Request(method, "http://a/", body: .text("x"))
            #expect(request.effectiveMethod == method)
            request.options.upgradesMethodForBody = true
            #expect(request.effectiveMethod.name == upgraded && "\(request)" == "\(upgraded) http://a/")
            request.body = .bytes([])
            #expect(request.effectiveMethod == method)
        }
    }

    @Test("a copy has all settings, and a request survives being written and read (ASI-RUN-09)")
    func codable() throws {
        var request = Request("PURGE", "http://a/?q", fields: ["A": "1", "a": "2"], body: .bytes([0, 255]))
        request.options.redirects.limit = 3
        request.options.timeLimits.inactivity = .milliseconds(1500)
        let copy = request
        request.options.redirects.limit = 4
        #expect(copy.options.redirects.limit == 3)
        #expect(copy != request)
        request.options.redirects.mode = .preserve
        request.options.sizeLimits.headFields = 7
        request.options.contentDecoding = .off
        request.options.acceptsCompressedResponses = false
        request.options.reusesConnection = false
        request.options.transport.version = .http2
        request.options.transport.resolve = ["a:80:127.0.0.1"]
        request.options.authentication.netrc = .file("/n")
        request.options.tls.caFile = "/ca"
        request.options.waitsForConnectivity = true
        let read = try JSONDecoder().decode(Request.self, from: JSONEncoder().encode(request))
        #expect(read == request)
        #expect(read.fields.values("a") == ["1", "2"] && read.body.bytes == [0, 255])
    }

    @Test("what is written of a proxy script's place has no user in it (ASI-PRX-05)")
    func scriptPlace() throws {
        var request = Request("http://a/")
        for (given, kept) in [
            ("http://me:hidden@h.test/p.pac", "http://h.test/p.pac"), ("/a:hid@den/p.pac", "/a:hid@den/p.pac"),
        ] {
            request.options.proxy = ProxyPolicy(script: given)
            let written = try JSONEncoder().encode(request)
            #expect(!String(decoding: written, as: UTF8.self).contains("hidden"))
            #expect(try JSONDecoder().decode(Request.self, from: written).options.proxy?.script == kept)
        }
    }

    @Test("printed, reflected or dumped it shows no secret; encoded it has those it is sent with (ASI-RUN-09)")
    func secrets() throws {
        var request = Request(
            "http://me:planted1@a.test/path?key=planted2#planted3", fields: ["Authorization": "Bearer planted4"])
        request.options.cookies.manual = [RequestCookie("session", "planted5")]
        request.options.authentication.credential = Credential(user: "me", password: "planted6")
        for value in [request, request.fields, request.options, request.options.cookies.manual[0]] as [Any] {
            var text = "\(value) \(String(reflecting: value)) \([value])"
            dump(value, to: &text)
            #expect(!text.contains("planted"), "\(text)")
            // Nor as bytes.
            #expect(!text.contains("112, 108, 97"))
        }
        #expect("\(request)" == "GET http://a.test/path?…")
        #expect("\(request.fields)" == "[Authorization]")
        let encoded = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
        for number in 1...5 { #expect(encoded.contains("planted\(number)")) }
        #expect(!encoded.contains("planted6"))
    }

    @Test(
        "what is shown of a URL, whether it is one or not",
        arguments: [
            ("http://a.test", "http://a.test"), ("https://u@a.test:8443/@x", "https://a.test:8443/@x"),
            ("u:p@a.test/x", "a.test/x"), ("http:/u:p@a.test/", "http:/a.test/"), ("//u:p@a.test/", "//a.test/"),
            ("http://[::1]/", "http://[::1]/"),
            ("http://u:p@x@[::1]:80/", "http://[::1]:80/"), ("http://u:p?w@a.test/", "http://a.test/"),
            ("http://u:p/w@a.test/?x", "http://a.test/?…"), ("http://u:p#w@a.test", "http://a.test"), ("", ""),
            ("http://", "http://"), ("http://h#u", "http://h#…"), ("http://h?u:p@x", "http://h?…"),
        ])
    func shown(url: String, shown: String) {
        #expect(Request.shown(url) == shown)
    }

    @Test("field lines keep order and spelling, compare without case, and refuse what would break a message")
    func fields() {
        var fields: Fields = ["Accept": "a", "X-One": "1", "accept": "b"]
        #expect(fields.values("ACCEPT") == ["a", "b"])
        fields.set("aCCept", "c")
        #expect(fields.all.map(\.name) == ["aCCept", "X-One"])
        fields["x-one"] = nil
        #expect(fields.count == 1)
        #expect(fields.refused == nil)
        for (name, value) in [("A", "b\r\nC: d"), ("A", "b\0"), ("A b", "c"), ("", "c"), ("A\n", "")] {
            var bad = Fields()
            bad.add(name, value)
            #expect(bad.isEmpty && bad.refused != nil)
        }
    }

    @Test("field lines come from and go to swift-http-types")
    func interchange() {
        var http = HTTPFields()
        http.append(HTTPField(name: .accept, value: "a"))
        http.append(HTTPField(name: .accept, value: "b"))
        let fields = Fields(http)
        #expect(fields.values("accept") == ["a", "b"])
        #expect(fields.httpFields == http)
    }

    @Test("the preset after ASIHTTPRequest (ASI-RED-06, ASI-RTY-01)")
    func preset() {
        #expect(RequestOptions.asi.timeLimits.inactivity == .seconds(10))
        #expect(RequestOptions.asi.redirects.limit == 5)
        #expect(RequestOptions.default.redirects.limit == 20)
        #expect(RequestOptions.default.timeLimits.resource == .seconds(604_800))
    }
}
