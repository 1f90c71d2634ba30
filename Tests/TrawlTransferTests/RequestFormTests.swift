import CTrawlCurl
import Testing
import TrawlHTTP

@testable import TrawlTransfer

@Suite("Requests in libcurl's form")
struct RequestFormTests {
    private func texts(_ fields: [(String, String)], hasBody: Bool = false, host: String? = nil) throws -> [String] {
        var packed = FieldLines()
        for (name, value) in fields { try packed.append(name, value) }
        return texts(FieldList(packed, hasBody: hasBody, host: host.map { Array($0.utf8) }))
    }

    private func texts(_ list: FieldList) -> [String] {
        var texts: [String] = []
        var node = list.head
        while let current = node {
            texts.append(String(cString: current.pointee.data))
            node = current.pointee.next
        }
        return texts
    }

    @Test("field lines keep order and spelling, and libcurl adds none of its own")
    func order() throws {
        #expect(try texts([("b", "1"), ("A", "2"), ("b", "3")]) == ["Accept:", "b: 1\r\nA: 2\r\nb: 3"])
        #expect(try texts([("accept", "x")], hasBody: true) == ["Accept:", "Content-Type:", "accept: x"])
        #expect(try texts([]) == ["Accept:"])
    }

    @Test("a known host is the first line, unless there is another")
    func host() throws {
        #expect(try texts([("A", "b")], host: "h:81") == ["Accept:", "Host:", "Host: h:81\r\nA: b"])
        #expect(
            try texts([("A", "b"), ("host", "x"), ("C", "d")], host: "h") == ["Accept:", "A: b", "host: x", "C: d"])
    }

    @Test("an empty value is sent as one, and fields of framing are left to libcurl")
    func special() throws {
        #expect(
            try texts([("Accept", ""), ("X", " "), ("Y", "1"), ("Expect", "z"), ("Z", "2")])
                == ["Accept:", "Accept;", "X;", "Y: 1", "Expect: z", "Z: 2"])
        #expect(
            try texts([("Content-Length", "7"), ("Accept", "a"), ("transfer-encoding", "chunked")])
                == ["Accept:", "Accept: a"])
    }

    @Test("an Expect without a value keeps libcurl from adding its own")
    func withoutExpectation() throws {
        #expect(
            try texts([("A", "1"), ("expect", " "), ("B", "2"), ("C", "3")], hasBody: true)
                == ["Accept:", "Content-Type:", "A: 1", "Expect:", "B: 2\r\nC: 3"])
    }

    @Test("lines for a proxy stand each for itself")
    func proxy() throws {
        var fields = FieldLines()
        try fields.append("A", "b")
        try fields.append("C", "d")
        #expect(texts(FieldList(fields, hasBody: false, isForProxy: true)) == ["Proxy-Connection:", "A: b", "C: d"])
    }

    @Test("a list is used again only for the same bytes and the same kind of request")
    func sameness() throws {
        var fields = FieldLines()
        try fields.append("A", "b")
        let list = FieldList(fields, hasBody: false)
        #expect(list.isSame(fields, hasBody: false))
        #expect(!list.isSame(fields, hasBody: true))
        try fields.append("C", "d")
        #expect(!list.isSame(fields, hasBody: false))
    }

    @Test("replaced name resolution becomes routes of the transfer alone")
    func routes() {
        let routes = ConnectRoutes(
            resolve: [
                "a.example:80:127.0.0.1", "b.example:443:::1,::2", "*:81:127.0.0.2", "-c.example:80", "+d:1:[::1]",
                "bad",
            ],
            connectTo: ["x:80:a.example:80", "y:80:other:8080"])
        #expect(
            routes.entries == [
                "x:80:127.0.0.1:80", "y:80:other:8080", "a.example:80:127.0.0.1:80", "b.example:443:[::1]:443",
                "d:1:[::1]:1", ":81:127.0.0.2:81",
            ])
        for (host, port, place) in [
            ("x", 80, "127.0.0.1:80" as String?), ("X", 80, "127.0.0.1:80"), ("y", 80, "other:8080"),
            ("y", 81, "127.0.0.2:81"),
            ("b.example", 443, "[::1]:443"), ("b.example", 80, nil), ("d", 1, "[::1]:1"),
        ] as [(String, UInt16, String?)] {
            #expect(routes.place(of: Origin(scheme: "http", host: host, port: port)) == place, "\(host):\(port)")
        }
        let parts = ConnectRoutes(resolve: [], connectTo: ["a:80::", "a:80::81", "b::c:", "[::1]:80:d:", "e:80:E:80"])
        for (host, place) in [
            ("a", "a:81"), ("b", "c:80"), ("[::1]", "d:80"), ("e", nil), ("f", nil),
        ] as [(String, String?)] {
            #expect(parts.place(of: Origin(scheme: "http", host: host, port: 80)) == place, "\(host)")
        }
    }
}
