import ArgumentParser
import Testing

@testable import TrawlCommand

@Suite("What is wrong with arguments")
struct UsageTextTests {
    private static let url = "https://me:planted@host.test/list"

    @Test(
        "a URL is shown without user and password",
        arguments: [
            (["batch", "list", url], "Unexpected argument '\(url)'", "Unexpected argument 'https://host.test/list'"),
            (["get", "--retry=\(url)"], "The value '\(url)'\nis bad", "The value 'https://host.test/list' is bad"),
            (["pipe", "me:planted@h", url], "2: 'me:planted@h', '\(url)'", "2: 'h', 'https://host.test/list'"),
            (["get", "--what", url], "Unknown option '--what'", "Unknown option '--what'"),
        ])
    func urls(arguments: [String], message: String, expected: String) {
        #expect(UsageText.of(message, about: arguments) == expected)
    }

    @Test("what is too much for auth is not shown at all, and an unknown option is")
    func auth() {
        for secret in ["planted", "me:planted", "-planted", Self.url] {
            let text = UsageText.of(
                "Unexpected argument '\(secret)'", about: ["auth", "set", "https://h.test/", "-u", "me", secret])
            #expect(!text.contains("planted") && text.contains("password"), "\(text)")
        }
        let unknown = UsageText.of("Unknown option '--jsn'", about: ["auth", "ls", "--jsn"])
        #expect(unknown == "Unknown option '--jsn'")
    }

    @Test(
        "what begins as no option does is not shown, whichever option it stands behind",
        arguments: [
            ["get", "--form", "------b\r\n\r\nplanted", "http://h/"], ["-F", "-=planted", "http://h/"],
            ["batch", "---planted=x"], ["help", "---planted"],
            ["auth", "set", "https://h.test/", "-u", "me", "---planted"],
        ])
    func unseen(arguments: [String]) {
        let error = #expect(throws: (any Error).self) { try TrawlCommand.parseAsRoot(arguments) }
        let text = error.map { UsageText.of(TrawlCommand.message(for: $0), about: arguments) } ?? ""
        #expect(text.hasPrefix("an argument that begins with '---'") && !text.contains("planted"), "\(text)")
    }

    @Test(
        "a file's name is shown as it is, a URL in its place without user and password",
        arguments: [
            ("list@home", "list@home"), ("/data/a:b@c", "/data/a:b@c"), (url, "https://host.test/list"),
            ("me:planted@host.test/list", "host.test/list"),
        ])
    func paths(path: String, expected: String) {
        #expect(FailureText.path(path) == expected)
        #expect(throws: CommandError("\(expected): No such file or directory")) { _ = try ListReader(path) }
    }
}
