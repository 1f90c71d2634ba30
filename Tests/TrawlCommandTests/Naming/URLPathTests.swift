import Glibc
import TestSupport
import Testing
import TrawlHTTP
import TrawlPlatform
import TrawlURL

@testable import TrawlCommand

@Suite("Files named after URLs")
struct URLPathTests {
    private func path(_ url: String) throws -> String { URLPath.path(of: try URLParser().parse(url)) }

    @Test(
        "host and path, as the URL spells them",
        arguments: [
            ("http://example.org/a/b.html", "example.org/a/b.html"), ("https://example.org/", "example.org/index.html"),
            ("http://example.org", "example.org/index.html"), ("http://h/a/", "h/a/index.html"),
            ("http://h/?x=1", "h/index.html?x=1"), ("http://h/a?x=1&y=2", "h/a?x=1&y=2"), ("http://h/a?", "h/a?"),
            ("http://h/a?q=a/b:c", "h/a?q=a%2fb%3ac"), ("http://h/a%20b%C3%A4", "h/a%20b%C3%A4"),
            ("http://h/ä b", "h/%C3%A4%20b"), ("http://h:8080/a", "h_8080/a"), ("https://h:80/a", "h_80/a"),
            ("https://h:443/a", "h/a"), ("http://u:p@h/a#f", "h/a"), ("http://[2001:DB8::1]/a", "[2001-db8--1]/a"),
            ("http://[::1]:81/", "[--1]_81/index.html"), ("http://127.0.0.1/~me", "127.0.0.1/~me"),
            ("http://h/a%2Fb", "h/a%2Fb"), ("http://h/a%2fb", "h/a%252fb"), ("http://h/100%", "h/100%"),
            ("http://h/a%25b", "h/a%2525b"), ("http://h/.well-known/x", "h/%2ewell-known/x"),
            ("http://h/a.", "h/a%2e"), ("http://h/a./b", "h/a%2e/b"), ("http://h/a//b", "h/a/%2f/b"),
            ("http://h//", "h/%2f/index.html"), ("http://h/a\\b*\"|", "h/a%5cb%2a%22%7c"),
            ("http://h/a?b?c", "h/a?b?c"),
            ("http://h/a?.", "h/a?%2e"), ("http://h/...", "h/%2e.%2e"), ("http://h/../../etc/passwd", "h/etc/passwd"),
            ("http://h./a", "h%2e/a"), ("http://my_host/a", "my_host/a"), ("http://h/a?[]={}", "h/a?%5b%5d=%7b%7d"),
        ])
    func table(url: String, expected: String) throws {
        #expect(try path(url) == expected)
    }

    @Test("a host that ends like a port is told from the port")
    func portMark() {
        func host(_ host: String, _ port: UInt16) -> String {
            URLPath.host(of: Origin(scheme: "http", host: host, port: port))
        }
        #expect(host("h", 8080) == "h_8080")
        #expect(host("h_8080", 80) == "h%5f8080")
        #expect(host("a_b", 80) == "a_b" && host("a_1b", 80) == "a_1b" && host("a_", 80) == "a_")
        #expect(host("[fe80::1%25eth-0]", 80) == "[fe80--1%2525eth%2d0]")
    }

    @Test("long parts are cut, long paths too, and both stay different")
    func long() throws {
        let long = String(repeating: "a", count: 300)
        let one = try path("http://h/x/\(long)1.html")
        let two = try path("http://h/x/\(long)2.html")
        #expect(one != two && one.utf8.count == "h/x/".utf8.count + 200 && one.hasPrefix("h/x/aaaa"))
        #expect(try path("http://h/" + String(repeating: "a", count: 200)) == "h/" + String(repeating: "a", count: 200))
        let deep = String(repeating: "abcd/", count: 2000)
        let three = try path("http://h/\(deep)x")
        let four = try path("http://h/\(deep)y")
        #expect(three != four && three.utf8.count <= 4000 && three.hasPrefix("h/abcd/abcd/"))
        let query = try path("http://h/a?" + String(repeating: "/", count: 1000))
        #expect(query.split(separator: "/").count == 2 && !query.contains("%~") && !query.contains("%2~"))
    }

    @Test("texts that are no normalised URLs make safe paths all the same")
    func abnormal() {
        func path(_ host: String, _ path: String, _ query: String? = nil) -> String {
            URLPath.path(
                of: TargetURI(
                    origin: Origin(scheme: "http", host: host, port: 80), path: path, query: query, fragment: nil,
                    user: nil, password: nil, text: "http://\(host)\(path)" + (query.map { "?\($0)" } ?? "")))
        }
        #expect(path("h", "/../a/./..") == "h/%2e%2e/a/%2e/%2e%2e")
        #expect(path("..", "/a") == "%2e%2e/a")
        #expect(path("", "/a") == "_/a")
        #expect(path("h/../x", "/a") == "h%2f..%2fx/a")
        #expect(path("h", "") == "h/index.html")
        #expect(path("h", "a") == "h/a")
        #expect(path("h", "/a\0\n\u{1b}b") == "h/a%00%0a%1bb")
    }

    /// Pieces that are easily taken for one another.
    private static let pieces = [
        "a", "B", "/", "/", "//", ".", "..", "%", "%2", "%2e", "%2E", "%2f", "%2F", "%25", "%252f", "%5f", "_", "~",
        "?",
        "?", "&", "=", ":", "*", "\\", "|", "\"", "[", "]", "80", "%41", "%7c", "%3a", "%20", "-", "@", "+", "'",
    ]

    @Test("no two URLs share a file, and none leads out", arguments: [1, 2, 3] as [UInt64])
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let parser = URLParser()
        var owners: [String: String] = [:]
        var count = 0
        let rounds = runsLongTests ? 30_000 : 5000
        for _ in 0..<rounds {
            var url =
                "http://"
                + (["h", "h.", "a.h", "h:8080", "h_8080", "[::1]", "x-1"].randomElement(using: &random) ?? "h")
            if Bool.random(using: &random) {
                url += "/"
            } else {
                url += "/" + String(repeating: "ab%2f", count: Int.random(in: 0...60, using: &random))
            }
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                url += Self.pieces.randomElement(using: &random) ?? ""
            }
            guard let target = try? parser.parse(url) else { continue }
            let path = URLPath.path(of: target)
            if let owner = owners[path], owner != target.text {
                Issue.record("seed \(seed): \(owner) and \(target.text) share \(path)")
            }
            owners[path] = target.text
            count += 1
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            let isSafe = parts.allSatisfy { (1...200).contains($0.utf8.count) && !$0.hasPrefix(".") }
            #expect(isSafe && parts.count >= 2 && path.utf8.count <= 4000 && LocalPath.staysInside(path), "\(path)")
        }
        #expect(count > rounds * 2 / 3)
    }

    @Test("the short way and the long way say the same")
    func bothWays() throws {
        var random = SeededGenerator(seed: 9)
        let parser = URLParser()
        for _ in 0..<5000 {
            var rest = "/"
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                rest += Self.pieces.randomElement(using: &random) ?? ""
            }
            guard let target = try? parser.parse("http://example.org" + rest) else { continue }
            #expect(URLPath.path(of: target) == "example.org/" + URLPath.rest(of: target))
        }
    }
}
