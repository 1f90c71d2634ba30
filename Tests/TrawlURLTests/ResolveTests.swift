import Testing
import TrawlHTTP

@testable import TrawlURL

@Suite("Resolving references, RFC 3986 §5.4")
struct ResolveTests {
    @Test(
        "the examples of the standard",
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
            ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
            ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
            ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
            ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
            ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/../x", "http://a/b/c/g"), ("https://h/x", "https://h/x"), ("//u:p@h:81/x", "http://h:81/x"),
        ])
    func examples(reference: String, expected: String) throws {
        let parser = URLParser()
        let base = try parser.parse("http://a/b/c/d;p?q")
        #expect(try parser.resolve(reference, against: base).text == expected)
    }

    @Test(
        "a dot segment is one with its dots percent-encoded, URL Standard",
        arguments: [
            ("/b/%2e%2e/g", "http://a/g"), ("%2E./g", "http://a/b/g"), ("%2e/g", "http://a/b/c/g"),
            ("%2e%2e", "http://a/b/"), ("g?y/%2e%2e/x", "http://a/b/c/g?y/%2e%2e/x"),
            ("?%2e%2e", "http://a/b/c/d;p?%2e%2e"),
        ])
    func encodedDots(reference: String, expected: String) throws {
        let parser = URLParser()
        let base = try parser.parse("http://a/b/c/d;p?q")
        #expect(try parser.resolve(reference, against: base).text == expected)
    }

    @Test("a fragment is inherited unless the reference has one")
    func fragment() throws {
        let parser = URLParser()
        let base = try parser.parse("http://a/b#old")
        #expect(try parser.resolve("c", against: base).fragment == "old")
        #expect(try parser.resolve("c#new", against: base).fragment == "new")
        #expect(try parser.resolve("/y#a b", against: base).textWithFragment == "http://a/y#a%20b")
        #expect(try parser.resolve("//other/c", against: base).fragment == "old")
    }

    @Test("what was resolved before is the same again, and another in another context")
    func again() throws {
        let parser = URLParser()
        for (base, reference, expected) in [
            ("http://a/b", "c", "http://a/c"), ("http://a/b#f", "c", "http://a/c#f"),
            ("http://a/b/", "c", "http://a/b/c"), ("http://a/b/", "d", "http://a/b/d"),
            ("https://a/b/", "d", "https://a/b/d"),
        ] {
            let base = try parser.parse(base)
            for _ in 0..<3 { #expect(try parser.resolve(reference, against: base).textWithFragment == expected) }
            #expect(throws: URLFailure.self) { try parser.resolve("//", against: base) }
            #expect(try parser.resolve(reference, against: base).textWithFragment == expected)
        }
    }

    @Test("what was resolved before is of the same bytes, not of another form of the same text")
    func otherForm() throws {
        let parser = URLParser()
        let base = try parser.parse("http://a/b")
        for (reference, expected) in [
            ("/\u{e9}", "http://a/%C3%A9"), ("/e\u{301}", "http://a/e%CC%81"), ("/\u{e9}", "http://a/%C3%A9"),
        ] {
            #expect(try parser.resolve(reference, against: base).text == expected)
        }
    }

    @Test("user information does not come from a reference, nor from its base")
    func userInformation() throws {
        let parser = URLParser()
        let base = try parser.parse("http://me:secret@a/b")
        let target = try parser.resolve("http://x:y@a/c", against: base)
        #expect(target.user == nil)
        #expect(target.password == nil)
        #expect(try parser.resolve("d", against: base).user == nil)
    }

    @Test(
        "user information that cannot be decoded is no more in the way than other",
        arguments: [
            "http://%e9@a/c", "http://a%0ab@a/c", "http://u:%00@a/c", "//%ff:%ff@a/c", "http://\u{e9}:p@a/c",
            "//%e9@b:%ff@a/c",
        ])
    func undecodable(reference: String) throws {
        let parser = URLParser()
        let target = try parser.resolve(reference, against: try parser.parse("http://a/b"))
        #expect(target.text == "http://a/c" && target.user == nil && target.password == nil)
    }

    @Test(
        "references that lead nowhere are refused", arguments: ["http:g", "javascript:1", "//", "http:///x", "/\u{0}"])
    func refused(reference: String) throws {
        let parser = URLParser()
        let base = try parser.parse("http://a/b")
        #expect(throws: URLFailure.self) { try parser.resolve(reference, against: base) }
    }
}
