import Testing
import TrawlHTTP

@testable import TrawlURL

@Suite("URL parsing and normalisation")
struct URLParserTests {
    @Test(
        "URLs come out in normal form",
        arguments: [
            ("http://example.org", "http://example.org/"),
            ("HTTP://EXAMPLE.org/A", "http://example.org/A"),
            ("http://example.org:80/", "http://example.org/"),
            ("https://example.org:443/a", "https://example.org/a"),
            ("https://example.org:8443/a", "https://example.org:8443/a"),
            ("http://example.org/a/./b/../c", "http://example.org/a/c"),
            ("http://example.org/../../x", "http://example.org/x"),
            ("http://example.org/a b?c d", "http://example.org/a%20b?c%20d"),
            ("http://example.org/\u{e9}?\u{e9}", "http://example.org/%C3%A9?%C3%A9"),
            ("http://example.org/\u{301}?\u{301} a+b%c3", "http://example.org/%CC%81?%CC%81%20a+b%c3"),
            ("http://example.org?\u{e9} #", "http://example.org/?%C3%A9%20"),
            ("http://b\u{fc}cher.example/", "http://xn--bcher-kva.example/"),
            ("http://B\u{dc}CHER.example/", "http://xn--bcher-kva.example/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://2130706433/", "http://127.0.0.1/"),
            // U+FF10 and the like are digits to IDNA (UTS 46 §4), and a percent-encoded one is a digit.
            ("http://\u{FF10}x7f.1/", "http://127.0.0.1/"),
            ("http://\u{FF11}\u{FF12}\u{FF17}.1:81/x?y", "http://127.0.0.1:81/x?y"),
            ("http://%30x7f.1/", "http://127.0.0.1/"),
            ("http://127%2e1/", "http://127.0.0.1/"),
            ("http://ex%41mple.org/", "http://example.org/"),
            ("http://a\u{3002}b.test/", "http://a.b.test/"),
            // URL Standard: a dot behind an address is not part of it; a label is a number or it is not.
            ("http://127.0.0.1./", "http://127.0.0.1/"), ("http://0X7F.1.:81/x", "http://127.0.0.1:81/x"),
            ("http://1%2e2.3./", "http://1.2.0.3/"), ("http://1.2.3.4x/", "http://1.2.3.4x/"),
            ("http://a.0xg/", "http://a.0xg/"), ("http://1.2.3.4.a./", "http://1.2.3.4.a./"),
            ("http://[::1]:8080/", "http://[::1]:8080/"),
            ("http://[FE80::1%25eth0]/", "http://[fe80::1%25eth0]/"),
            ("http://user:secret@example.org/x", "http://example.org/x"),
            ("http://example.org?q=1", "http://example.org/?q=1"),
            ("http://example.org/?", "http://example.org/?"),
            ("http://example.org/%7Euser/%2f", "http://example.org/%7Euser/%2f"),
            ("http://example.org//a//b", "http://example.org//a//b"),
            // URL Standard: in a segment that is nothing else, `%2e` is a dot.
            ("http://example.org/a/%2e%2E/b", "http://example.org/b"),
            ("http://example.org/a/.%2e/%2e./%2E/b/%2e", "http://example.org/b/"),
            ("http://example.org/%2e%2e", "http://example.org/"),
            ("http://example.org/%2ea/%2e%2e%2f/..%2e/?/%2e/", "http://example.org/%2ea/%2e%2e%2f/..%2e/?/%2e/"),
            ("http://example.org/%252e/a", "http://example.org/%252e/a"),
            ("foo://example.org/x", "foo://example.org/x"),
        ])
    func normalForm(text: String, expected: String) throws {
        #expect(try URLParser().parse(text).text == expected)
    }

    @Test("the parts are told apart, user information decoded")
    func parts() throws {
        let uri = try URLParser().parse("https://us%40er:p%3Aw@Example.org:8443/a/b?x=1&y#frag")
        #expect(uri.origin == Origin(scheme: "https", host: "example.org", port: 8443))
        #expect(uri.path == "/a/b")
        #expect(uri.query == "x=1&y")
        #expect(uri.fragment == "frag")
        #expect(uri.user == "us@er")
        #expect(uri.password == "p:w")
        #expect(uri.text == "https://example.org:8443/a/b?x=1&y")
    }

    @Test(
        "the last @ ends user information, and what is empty names nobody, URL Standard",
        arguments: [
            ("http://user:p@ss@h/x@y?z@#@", "user", "p@ss"), ("http://me@h:pw@h/", "me@h", "pw"),
            ("http://@@h/", "@", nil), ("http://a@b%40c:d@:e@@h:80/", "a@b@c", "d@:e@"),
            ("http://\u{e9}@\u{fc}:\u{f1}@@h", "\u{e9}@\u{fc}", "\u{f1}@"),
            ("http://@h/", nil, nil), ("http://:@h/", nil, nil), ("http://h/@", nil, nil),
        ] as [(String, String?, String?)])
    func userInformation(text: String, user: String?, password: String?) throws {
        let target = try URLParser().parse(text)
        #expect(target.user == user && target.password == password)
        #expect(target.origin == Origin(scheme: "http", host: "h", port: 80))
        let guessed = try URLParser().parse(String(text.dropFirst(7)), guessingScheme: true)
        #expect(guessed == target)
    }

    @Test(
        "a fragment is encoded as the rest is, and an empty one is none",
        arguments: [
            ("http://h/x?y a#c d", "c%20d"), ("http://h/#a#b", "a#b"), ("http://h#f/g?h", "f/g?h"), ("http://h/#", nil),
            ("http://h/#\u{e9}", "%C3%A9"), ("http://h/#%zz%20", "%zz%20"), ("http://h/#\u{301}x", "%CC%81x"),
        ] as [(String, String?)])
    func fragments(text: String, fragment: String?) throws {
        let uri = try URLParser().parse(text)
        #expect(uri.fragment == fragment)
        #expect(!uri.text.contains("#"))
    }

    @Test(
        "what is not a URL with a host is refused",
        arguments: [
            ("", URLFailure.empty),
            ("http:///path", .noHost),
            ("http://", .noHost),
            ("file:///etc/passwd", .unsupportedScheme("file")),
            ("mailto:someone@example.org", .unsupportedScheme("mailto")),
            ("JavaScript:alert(1)", .unsupportedScheme("javascript")),
            ("http:/example.org/", .noHost), ("https:/h", .noHost), ("HTTP:h", .noHost), ("https:", .noHost),
            ("gopher:/h", .unsupportedScheme("gopher")),
            (String(repeating: "a", count: 65_536), .tooLong),
        ])
    func refused(text: String, expected: URLFailure) {
        #expect(throws: expected) { try URLParser().parse(text) }
    }

    @Test(
        "damaged URLs are refused",
        arguments: [
            "example.org", "/path", "http://exa mple.org/", "http://example.org:99999/", "http://example.org:x/",
            "http://example.org:0/", "http://example.org/\u{1}", "http://example.org/\n", "http://example.org/\u{7f}",
            "http://[::1", "http://[zz]/", "http://a\\@b/", "http://a\\b/", "http://exa<mple/", "http://%00/",
            "http://:80/", "http://@/", "http://user@/", "http://a|b/", "http://a%7fb/",
            "http://%e9@h/", "http://a%0ab@h/", "http://h\\\u{301}@b/", "http://a@@/", "http://%e9@@h/",
        ])
    func malformed(text: String) {
        #expect(throws: URLFailure.self) { try URLParser().parse(text) }
    }

    @Test(
        "a host that ends in a number and is no IPv4 address is refused, URL Standard",
        arguments: [
            "256.1.1.1", "192.168.1.1.1", "08.1.1.1", "1.2.3.09", "0x100000000", "a.1", "a.0x", "a.0XfF.", "1..2",
            "1.2.3.4.5.", "1.2.3.%32%35%36", "\u{FF12}56.1.1.1", "1_.2",
        ])
    func numbers(host: String) throws {
        #expect(throws: URLFailure.self) { try URLParser().parse("http://u:p@\(host):81/x") }
        let base = try URLParser().parse("http://b.test/")
        #expect(throws: URLFailure.self) { try URLParser().resolve("//\(host)/", against: base) }
    }

    @Test(
        "a host in which decoding or IDNA makes a delimiter is refused",
        arguments: [
            "http://a\u{FF0F}b.test/", "http://a%EF%BC%8Fb.test/", "http://a\u{FF1A}1\u{FF0F}b.test/",
            "http://x\u{FF20}h/", "http://a\u{2100}.test/", "http://b%2561nk.test/", "http://a\u{FF05}2fb.test/",
            "http://127.0.0.1%EF%BC%9A80%EF%BC%8F.b.test/", "http://\u{FF3B}::1\u{FF3D}/", "http://\u{FF1F}b.test/",
            "http://loc%2561lhost/", "http://a\u{A0}b.test/", "http://\u{AD}/", "http://a%2fb.test/",
        ])
    func delimiters(text: String) throws {
        #expect(throws: URLFailure.self) { try URLParser().parse(text) }
        let base = try URLParser().parse("http://b.test/")
        #expect(throws: URLFailure.self) { try URLParser().resolve(text, against: base) }
    }

    @Test(
        "whatever a character does to a host, its normal form is read as the same one",
        arguments: [("http://a", "b.test/"), ("https://", "27.1:8443/")])
    func readAgain(before: String, after: String) throws {
        let parser = URLParser(usesFastPath: false)
        var others: [String] = []
        for value in UInt32(0x20)...0xFFFF {
            guard let character = Unicode.Scalar(value) else { continue }
            let text = "\(before)\(character)\(after)"
            guard let target = try? parser.parse(text) else { continue }
            let again = try? parser.parse(target.text)
            if again?.origin != target.origin || !target.origin.host.utf8.allSatisfy({ $0 < 0x80 }) {
                others.append(String(value, radix: 16))
            }
        }
        #expect(others.isEmpty)
    }

    @Test(
        "a host has 255 bytes at most, whatever follows it",
        arguments: [
            (String(repeating: "a", count: 255), true), (String(repeating: "a", count: 256), false),
            (String(repeating: "A", count: 9000), false), (String(repeating: "a.", count: 127) + "a", true),
            (String(repeating: "a.", count: 128), false),
        ])
    func hostLength(host: String, isRight: Bool) throws {
        for scheme in ["http", "https", "foo"] {
            let target = try? URLParser().parse("\(scheme)://\(host)/\(String(repeating: "p", count: 20_000))")
            #expect((target != nil) == isRight, "\(scheme)")
            #expect(target.map { $0.origin.host == host } ?? true)
        }
        let base = try URLParser().parse("http://h/")
        #expect(((try? URLParser().resolve("//\(host)/", against: base)) != nil) == isRight)
    }

    @Test(
        "a scheme is guessed on demand",
        arguments: [
            ("example.org", "http://example.org/"),
            ("localhost:8080/x", "http://localhost:8080/x"),
            ("ftp.example.org", "http://ftp.example.org/"),
            ("example.org/?u=http://other/", "http://example.org/?u=http://other/"),
            ("https://example.org", "https://example.org/"),
        ])
    func guessing(text: String, expected: String) throws {
        #expect(try URLParser().parse(text, guessingScheme: true).text == expected)
    }

    @Test("the short way gives libcurl's answer wherever it gives one")
    func shortWay() {
        let short = URLParser()
        let long = URLParser(usesFastPath: false)
        let hosts = [
            "example.org", "a", "a-b.c", "a--b", "x.1.2", "1.2.3.4", "01.2.3.4", "256.1.1.1", "1.2.3", "1.2.3.4.5",
            "a.", ".a",
            "a..b", "-a", "a-", "xn--bcher-kva.de", "0x7f.1", "a.0x7", "1a.b", "a.1b", "127.0.0.1", "0.0.0.0", "a_b",
            "localhost", "127.0.0.1.", "08.1.1.1", "u@v:1@a",
        ]
        let ports = ["", ":", ":80", ":443", ":8080", ":0", ":080", ":65535", ":65536", ":8a"]
        let tails = [
            "", "/", "//", "/a", "/a/b/", "/.", "/..", "/a/./b", "/a/../b", "/a.b", "/a..", "/.a", "/%41", "/a%2fb",
            "?", "?a", "/?",
            "/?a=1", "/?a?b", "/?./..", "/a#f", "/a?b#f", "/#", "/a;p=1", "/a:b@c", "/a'b", "/a\"b", "/~x!$&'()*+,;=",
            "/a[b]",
            "/a\\b", "/a|b", "/a^b", "/%2e%2E/a", "/a/%2e",
        ]
        var compared = 0
        for scheme in ["http://", "https://", "ftp://", "HTTP://"] {
            for host in hosts {
                for port in ports {
                    for tail in tails {
                        let text = scheme + host + port + tail
                        let answers = (try? short.parse(text), try? long.parse(text))
                        #expect(answers.0 == answers.1, "\(text)")
                        if PlainURL.parse(text) != nil { compared += 1 }
                    }
                }
            }
        }
        #expect(compared > 1000)
    }
}
