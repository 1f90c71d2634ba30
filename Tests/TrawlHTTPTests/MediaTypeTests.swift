import Testing
import TrawlHTTP

@Suite("Media types, RFC 9110 §8.3.1")
struct MediaTypeTests {
    @Test(
        "the charset is found wherever and however it stands",
        arguments: [
            "text/html;charset=utf-8", "text/html; charset=utf-8", "Text/HTML ;\t Charset=\"utf-8\"",
            "text/html; level=1; charset=utf-8", "text/html; charset=utf-8; level=1", "text/html;;; charset=utf-8;",
            "text/html; x=\"a;charset=no\"; charset=utf-8", "text/html; charset = utf-8 ",
            "text/html; charset=\"ut\\f-8\"",
            "text/html; junk; charset=utf-8", "text/html; charset=utf-8; charset=latin1",
            "text/html; =x; charset=utf-8",
            "text/html; charset=\"utf-8\"junk; x=y", "text/html; charset=\"utf-8", "text/html; a b=c; charset=utf-8",
        ])
    func charset(value: String) throws {
        let type = try #require(MediaType(value))
        #expect(type.essence == "text/html")
        #expect(type.parameter("charset") == "utf-8")
    }

    @Test("quoted values keep what a token could not have")
    func quoted() throws {
        let type = try #require(MediaType(#"multipart/mixed; boundary="a;b=\"c\\ é"; x="""#))
        #expect(type.parameter("boundary") == #"a;b="c\ é"#)
        #expect(type.parameter("x") == "")
        #expect(type.parameters.map(\.name) == ["boundary", "x"])
    }

    @Test("a parameter that is missing has no value")
    func none() throws {
        let type = try #require(MediaType("application/json"))
        #expect(type.essence == "application/json")
        #expect(type.parameters.isEmpty)
        #expect(type.parameter("charset") == nil)
    }

    @Test(
        "what is no type is refused",
        arguments: [
            "", " ", ";", "text", "text/", "/html", "text/html/x", "te xt/html", "text /html", "text/h\u{E9}",
            "text/html, a/b",
        ])
    func bad(value: String) {
        #expect(MediaType(value) == nil)
    }

    @Test("a combining mark after a semicolon hides nothing")
    func combining() throws {
        let type = try #require(MediaType("text/plain;\u{301}x=1; charset=utf-8"))
        #expect(type.essence == "text/plain")
        #expect(type.parameter("charset") == "utf-8")
    }

    @Test("a backslash at the end stands for itself")
    func backslash() throws {
        #expect(try #require(MediaType("a/b; x=\"y\\")).parameter("x") == "y\\")
    }

    @Test("equality is that of type and parameters")
    func equality() {
        #expect(MediaType("a/b; x=1") == MediaType("A/B;X=\"1\""))
        #expect(MediaType("a/b; x=1") != MediaType("a/b; x=2"))
        #expect(Set([MediaType("a/b"), MediaType("A/b"), MediaType("a/c")]).count == 2)
    }
}
