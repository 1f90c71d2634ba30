import Testing

@testable import TrawlCommand

@Suite("File names made of URLs")
struct FileNameTests {
    @Test(
        "the last part of the path is the name",
        arguments: [
            ("http://h/a/b.txt", "b.txt"), ("http://h/a/b.txt?x=1/2#f", "b.txt"), ("http://h/a%2Fb", "a%2Fb"),
            ("http://h/", "index.html"), ("http://h", "index.html"), ("http://h?x", "index.html"),
            ("http://h/a/", "index.html"), ("h/a", "a"), ("http://u:p/w@h", "index.html"), ("http://u@h/a@b", "a@b"),
        ])
    func ofURL(url: String, name: String) {
        #expect(FileName.ofURL(url) == name)
    }

    @Test(
        "nothing in a name leads out, hides it or drives a terminal",
        arguments: [
            ("http://h/..", "index.html"), ("http://h/.bashrc", "bashrc"), ("http://h/a\\b", "a_b"),
            ("http://h/a\u{1b}[31m", "a[31m"), ("http://h/a\u{202e}b", "ab"), ("http://h/grün", "grün"),
        ])
    func safe(url: String, name: String) {
        #expect(FileName.ofURL(url) == name)
    }

    @Test("a long name is cut between characters")
    func long() {
        #expect(FileName.ofURL("http://h/" + String(repeating: "ü", count: 300)).utf8.count == 240)
        #expect(FileName.ofURL("http://h/" + String(repeating: "a", count: 220) + ".pdf").utf8.count == 224)
    }
}

@Suite("URLs as people write them")
struct URLTextTests {
    @Test(
        "a URL without a scheme is one of http",
        arguments: [
            ("example.org", "http://example.org"), ("localhost:8080/x", "http://localhost:8080/x"),
            ("https://h/", "https://h/"), ("h/http://x", "http://h/http://x"), ("h?u=http://x", "http://h?u=http://x"),
            ("mailto:x", "http://mailto:x"), ("//h/x", "http:////h/x"), ("localhost:/x", "http://localhost:/x"),
            ("https:/u:pw@h/", "https:/u:pw@h/"), ("HTTP:/h", "HTTP:/h"), ("http:h/x", "http://http:h/x"),
        ])
    func completed(text: String, url: String) {
        #expect(URLText.completed(text) == url)
    }
}
