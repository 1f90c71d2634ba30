import Testing
import TrawlHTTP

@testable import TrawlCache

@Suite("Variants and Vary, RFC 9111 §4.1, ASI-CACHE-27")
struct SelectingFieldsTests {
    private func selects(_ vary: [(String, String)], _ first: [(String, String)], _ second: [(String, String)]) -> Bool
    {
        guard let response = stored([("Cache-Control", "max-age=60")] + vary, for: request(first)) else { return false }
        return word(lookUp(request(second), response, at: noon)) == "cache"
    }

    @Test(
        "values that mean the same select the same",
        arguments: [
            ("Foo", "1", "1"), ("foo", "1, 2", "1,2"), ("Foo", " 1 ,2", "1, 2"),
            ("Accept-Language", "en, de", "de, en"),
            ("Accept-Language", "en, de", " en ,   de"), ("Accept-Language", "EN;q=1.0", "en"),
            ("Accept-Encoding", "gzip, br;q=0.50", "br ; Q=0.5,GZIP"), ("Accept-Encoding", "gzip;q=1", "gzip"),
            ("Accept", "text/html; q=0.9, */*", "*/*,TEXT/html;q=0.9"),
            ("User-Agent", "A (b, c)", "A (b,c)"), ("Cookie", "a=b", "a=b"), ("Authorization", "Basic x", "Basic x"),
        ])
    func same(name: String, first: String, second: String) {
        #expect(selects([("Vary", name)], [(name, first)], [(name.uppercased(), second)]))
    }

    @Test(
        "values that may mean something else do not",
        arguments: [
            ("Foo", "1", "2"), ("Foo", "a", "A"), ("Foo", "1, 2", "2, 1"), ("Foo", "\"a, b\"", "\"a,b\""),
            ("Accept-Encoding", "gzip;q=0.5", "gzip"), ("Accept-Encoding", "gzip", "br"),
            ("Accept", "text/html;level=A", "text/html;level=a"), ("Cookie", "a=b", "a=c"),
        ])
    func different(name: String, first: String, second: String) {
        #expect(!selects([("Vary", name)], [(name, first)], [(name, second)]))
    }

    @Test("lines of one name are one list")
    func lines() {
        #expect(selects([("Vary", "Foo")], [("Foo", "1, 2")], [("Foo", "1"), ("foo", "2")]))
    }

    @Test("absent is a value of its own")
    func absent() {
        #expect(selects([("Vary", "Foo, Bar")], [("Bar", "1")], [("Bar", "1")]))
        #expect(!selects([("Vary", "Foo")], [("Foo", "1")], []))
        #expect(!selects([("Vary", "Foo")], [], [("Foo", "1")]))
        #expect(!selects([("Vary", "Foo")], [], [("Foo", "")]))
        #expect(selects([("Vary", "Foo")], [("Other", "1")], [("Other", "2")]))
    }

    @Test("an asterisk anywhere means no request selects it", arguments: ["*", "*, *", "*, Foo", "Foo,*", " * "])
    func asterisk(value: String) {
        #expect(refusal([("Cache-Control", "max-age=60"), ("Vary", value)]) == .variesOnEverything)
    }

    @Test("secrets are not in the record")
    func secrets() throws {
        let lines = [("Cookie", "token=sesame"), ("Authorization", "Bearer opensesame")]
        let response = try #require(
            stored([("Cache-Control", "max-age=60, public"), ("Vary", "Cookie, Authorization")], for: request(lines)))
        let text = String(decoding: response.encoded(), as: UTF8.self)
        #expect(!text.contains("sesame"))
        #expect(word(lookUp(request(lines), response, at: noon)) == "cache")
    }

    @Test(
        "of fields that services may take keys in no value is in the record, of others it is",
        arguments: [
            ("X-Api-Key", true), ("x-auth-token", true), ("X-Session", true), ("Referer", true), ("Foo", true),
            ("Secret", true), ("Accepted-Token", true), ("Accept", false), ("Accept-Language", false),
            ("User-Agent", false), ("origin", false), ("Sec-CH-UA", false),
        ])
    func keys(name: String, isHidden: Bool) throws {
        let vary = [("Cache-Control", "max-age=60"), ("Vary", name)]
        let response = try #require(stored(vary, for: request([(name, "sesame, 1")])))
        #expect(String(decoding: response.encoded(), as: UTF8.self).contains("sesame") == !isHidden)
        #expect(selects([("Vary", name)], [(name, "sesame, 1")], [(name, " sesame ,1")]))
        #expect(!selects([("Vary", name)], [(name, "sesame, 1")], [(name, "sesame, 2")]))
        #expect(!selects([("Vary", name)], [(name, "sesame")], []))
    }

    @Test("a new response takes the place of those it stands in for")
    func replaced() throws {
        func isReplaced(_ old: ([(String, String)], String?), _ new: ([(String, String)], String?)) throws -> Bool {
            func make(_ pair: ([(String, String)], String?)) throws -> StoredResponse {
                let vary = pair.1.map { [("Vary", $0)] } ?? []
                return try #require(stored([("Cache-Control", "max-age=60")] + vary, for: request(pair.0)))
            }
            let record = try make(old).encoded()
            let replacement = try make(new)
            return try record.withUnsafeBytes { try StoredView($0).isReplaced(by: replacement) }
        }
        #expect(try isReplaced(([], nil), ([], nil)))
        #expect(try isReplaced(([("Foo", "1")], "Foo"), ([("Foo", " 1")], "foo")))
        #expect(try !isReplaced(([("Foo", "1")], "Foo"), ([("Foo", "2")], "Foo")))
        #expect(try isReplaced(([("Foo", "1")], "Foo"), ([("Foo", "2")], nil)))
        #expect(try !isReplaced(([("Foo", "1")], nil), ([("Foo", "1")], "Foo")))
        #expect(try !isReplaced(([("Authorization", "a")], nil), ([("Authorization", "b")], nil)))
        #expect(try !isReplaced(([], "Foo"), ([("Foo", "1")], "Foo")))
    }
}
