import Testing
import TrawlHTTP
import TrawlStore

@testable import TrawlCommand

/// ASI-CACHE-24.
@Suite("Files named by what a response is found by, ASI-CACHE-24")
struct KeyedNameTests {
    @Test(
        "the URL's extension stays, unless it is that of a program",
        arguments: [
            ("/a.png", "png"), ("/a.tar.gz", "gz"), ("/A.JPG", "JPG"), ("/d.ir/a.css", "css"), ("/", "html"),
            ("/a", "html"),
            ("/a.", "html"), ("/.htaccess", "html"), ("/d.ir/", "html"), ("/d.ir/a", "html"), ("/a.b%20c", "html"),
            ("/a.é", "html"), ("/a.12345678901234567", "html"), ("/a.asp", "html"), ("/a.aspx", "html"),
            ("/a.jsp", "html"), ("/a.PHP", "html"), ("/a.rb", "html"), ("/a.py", "html"), ("/a.pl", "html"),
            ("/a.cgi", "html"), ("/a.phps", "phps"), ("", "html"),
        ])
    func extensions(path: String, expected: String) {
        #expect(KeyedName.fileExtension(of: path) == expected)
    }

    @Test("the name is the SHA-256 of the URL; a slash at its end and the query count")
    func names() throws {
        let fixture = try StoreFixture()
        // printf %s URL | sha256sum
        let wanted = [
            ("http://h/a.png", "c5ec8c0af1a43c67cf2bbd939190f94c4b220203519121e3b515364902e6ab7c.png"),
            ("http://h/a.png?b=c", "156d907c5066470393cf060c1c7bd3785b123c44c62ced3e5c8dbd29ecd1d061.png"),
            ("http://h/a", "c43fa283946b81455781ee66e2429e922951961b9f11ec301adaef81f333835e.html"),
            ("http://h/a/", "f48b4dec5add5583d281d906aad0a78dd5af210f6ad3a53f870e68007fc9e606.html"),
        ]
        for (url, _) in wanted { try fixture.store(url) }
        #expect(try fixture.listings().map { KeyedName.name(of: $0.response) } == wanted.map { $0.1 })
    }

    @Test("variants have names of their own")
    func variants() throws {
        let fixture = try StoreFixture()
        let fields = [("Cache-Control", "max-age=60"), ("Vary", "Accept-Language")]
        for language in ["de", "en", "fr"] {
            try fixture.store("http://h/a", [1], fields, request: [("Accept-Language", language)])
        }
        let names = try fixture.listings().map { KeyedName.name(of: $0.response) }
        #expect(names.count == 3 && Set(names).count == 3 && names.allSatisfy { $0?.hasSuffix(".html") == true })
    }
}
