import Testing

@testable import TrawlCommand

@Suite("File names made of URLs")
struct FileNameTests {
    @Test(
        "the last part of the path is the name",
        arguments: [
            ("http://h/a/b.txt", "b.txt"), ("http://h/a/b.txt?x=1/2#f", "b.txt"), ("http://h/a%2Fb", "a%2Fb"),
            ("http://h/", "index.html"), ("http://h", "index.html"), ("http://h?x", "index.html"),
            ("http://h/a/", "index.html"), ("h/a", "a"),
        ])
    func ofURL(url: String, name: String) {
        #expect(FileName.ofURL(url) == name)
    }

    @Test(
        "nothing in a name leads out, hides it or drives a terminal",
        arguments: [
            ("..", "_."), (".", "_"), (".bashrc", "_bashrc"), ("a/b", "a_b"), ("a\\b", "a_b"), ("a\u{0}b", "a_b"),
            ("a\u{1b}[31m", "a_[31m"), ("a\u{202e}b", "a_b"), ("a\u{9b}b", "a_b"), ("grün", "grün"), ("a b", "a b"),
        ])
    func safe(text: String, name: String) {
        #expect(FileName.safe(text) == name)
    }

    @Test("an empty name is none")
    func empty() {
        #expect(FileName.safe("") == nil)
    }

    @Test("a long name is cut between characters")
    func long() {
        let name = FileName.safe(String(repeating: "ü", count: 300))
        #expect(name?.utf8.count == FileName.longest)
    }

    @Test("a name that was given is given again with a number")
    func taken() {
        var names = TakenNames()
        #expect(names.take("a") == "a")
        #expect(names.take("a") == "a.1")
        #expect(names.take("b") == "b")
        #expect(names.take("a") == "a.2")
    }

    @Test("a number that is another URL's own name is passed over")
    func takenSuffix() {
        var names = TakenNames()
        #expect(names.take("a") == "a")
        #expect(names.take("a.1") == "a.1")
        #expect(names.take("a") == "a.2")
        #expect(names.take("a.2") == "a.2.1")
        #expect(names.take("a.1") == "a.1.1")
    }
}

@Suite("URLs as people write them")
struct URLTextTests {
    @Test(
        "a URL without a scheme is one of http",
        arguments: [
            ("example.org", "http://example.org"), ("localhost:8080/x", "http://localhost:8080/x"),
            ("https://h/", "https://h/"), ("h/http://x", "http://h/http://x"), ("h?u=http://x", "http://h?u=http://x"),
            ("mailto:x", "http://mailto:x"), ("//h/x", "http:////h/x"),
        ])
    func completed(text: String, url: String) {
        #expect(URLText.completed(text) == url)
    }
}
