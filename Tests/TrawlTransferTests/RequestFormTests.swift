import CCurl
import Testing
import TrawlHTTP

@testable import TrawlTransfer

@Suite("Requests in libcurl's form")
struct RequestFormTests {
    private func lines(_ fields: [(String, String)], hasBody: Bool) throws -> [String] {
        var packed = FieldLines()
        for (name, value) in fields { try packed.append(name, value) }
        let list = FieldList(packed, hasBody: hasBody)
        var lines: [String] = []
        var node = list.head
        while let current = node {
            lines.append(String(cString: current.pointee.data))
            node = current.pointee.next
        }
        return lines
    }

    @Test("field lines keep order and spelling, and libcurl adds none of its own")
    func order() throws {
        #expect(
            try lines([("b", "1"), ("A", "2"), ("b", "3")], hasBody: false) == ["b: 1", "A: 2", "b: 3", "Accept:"])
        #expect(try lines([("accept", "x")], hasBody: true) == ["accept: x", "Content-Type:"])
        #expect(try lines([], hasBody: false) == ["Accept:"])
    }

    @Test("an empty value is sent as one, and fields of framing are left to libcurl")
    func special() throws {
        #expect(try lines([("Accept", ""), ("X", " ")], hasBody: false) == ["Accept;", "X;"])
        #expect(
            try lines([("Content-Length", "7"), ("Accept", "a"), ("transfer-encoding", "chunked")], hasBody: false)
                == ["Accept: a"])
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
                ":81:127.0.0.2:81", "d:1:[::1]:1",
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
