import ArgumentParser
import Testing
import Trawl
import TrawlHTTP
import TrawlJSON
import TrawlSession

@testable import TrawlCommand

@Suite("Cookies as the command reads and writes them")
struct CookieObjectTests {
    private let now = WallTime(seconds: 1_795_262_400)

    private func written(_ cookie: TrawlSession.Cookie) -> [UInt8] {
        var writer = JSONWriter()
        ResultLines.write(to: &writer) { cookie.write(to: &$0) }
        return Array(writer.bytes)
    }

    @Test("what is written is read again, bytes that are no text among it")
    func roundTrip() throws {
        for value in [Array("plain \"text\" é".utf8), [0xFF, 0x80, 0x41], []] {
            var cookie = TrawlSession.Cookie(
                name: Array("n".utf8), value: value, domain: "example.org", isHostOnly: false, path: "/p",
                isSecure: true, isHTTPOnly: true, sameSite: .strict, expiry: WallTime(seconds: 1_795_262_500),
                creation: WallTime(seconds: 1_795_262_300))
            let record = try #require(try written(cookie).withUnsafeBytes { try CookieObject.read($0, at: now) })
            cookie.lastAccess = record.withView { $0.lastAccess }
            #expect(record.withView { TrawlSession.Cookie($0) } == cookie)
        }
    }

    @Test("a line that is no cookie is refused, and one that is over is none")
    func refused() throws {
        func read(_ text: String) -> Result<Bool, CookieObject.Failure> {
            Array(text.utf8).withUnsafeBytes { bytes in
                do throws(CookieObject.Failure) {
                    let record = try CookieObject.read(bytes, at: now)
                    return .success(record.map { $0.withView { !$0.isExpired(at: now) } } ?? false)
                } catch {
                    return .failure(error)
                }
            }
        }
        #expect(throws: CookieObject.Failure.self) { try read("{").get() }
        #expect(throws: CookieObject.Failure.self) { try read(#"{"domain":"x.org","name":"a\u0000b"}"#).get() }
        #expect(throws: CookieObject.Failure.self) { try read(#"{"name":"a","value":"b"}"#).get() }
        #expect(throws: CookieObject.Failure.self) {
            try read(#"{"domain":".com","name":"a","value":"b"}"#).get()
        }
        let over = try read(#"{"domain":"x.org","name":"a","value":"b","expires":1}"#).get()
        // It would be refused, and removes nothing.
        let nowhere = try read(#"{"domain":".com","name":"a","value":"b","expires":1}"#).get()
        let sound = try read(#"{"domain":"x.org","name":"a","value":"b","expires":null,"extra":[1]}"#).get()
        #expect(!over && !nowhere && sound)
        // Another version may count in milliseconds.
        for version in ["2", "0", "1.5", "\"1\""] {
            #expect(throws: CookieObject.Failure.self, "\(version)") {
                try read(#"{"v":\#(version),"domain":"x.org","name":"a","value":"b","expires":1795266000000}"#).get()
            }
        }
        let isRead = try read(#"{"domain":"x.org","name":"a","value":"b","v":1}"#).get()
        #expect(isRead)
        // Beyond what a time holds, in both directions.
        let past = try read(#"{"domain":"x.org","name":"a","value":"b","expires":-1e20}"#).get()
        let future = try read(#"{"domain":"x.org","name":"a","value":"b","expires":1e20}"#).get()
        #expect(!past && future)
    }

    @Test(
        "domains are taken from hosts, dotted domains and URLs",
        arguments: [
            ("example.org", "example.org"), (".Example.ORG", "example.org"),
            ("https://a.example.org:8443/x?y", "a.example.org"),
            ("http://user:pw@h.org/", "h.org"), ("127.0.0.1", "127.0.0.1"), ("http://[::1]:80/", "[::1]"),
            ("http://[::1]", "[::1]"), ("::1", "[::1]"), ("[::1]", "[::1]"), ("2001:DB8::A", "[2001:db8::a]"),
            ("bücher.example", "xn--bcher-kva.example"), (".BÜCHER.example", "xn--bcher-kva.example"),
            ("https://bücher.example/ü", "xn--bcher-kva.example"), ("h.org:8080", "h.org"), ("h.org/x", "h.org"),
            // No host of a URL.
            ("A<b.org", "a<b.org"),
        ])
    func domains(argument: String, domain: String) {
        #expect(CookieDomain(argument).text == domain)
        #expect(CookieDomain(argument).holds(domain) && CookieDomain(argument).holds("sub." + domain))
        #expect(!CookieDomain(argument).holds("x" + domain))
    }

    @Test("-b and -c: what has an equals sign is sent, other words are files, and these keep the store's jar out")
    func options() throws {
        func options(_ arguments: String...) throws -> RequestOptions.Cookies {
            var options = RequestOptions()
            try GetCommand.parse(arguments + ["http://h/"]).cookies.apply(to: &options)
            return options.cookies
        }
        #expect(try options().jar == .shared)
        #expect(try options("-b", "a=1; b=2", "-b", "c=3").manual.map(\.value) == ["a=1; b=2", "c=3"])
        #expect(try options("-bfile").jar == CookieFiles.jar)
        #expect(try options("-b", "file").jar == CookieFiles.jar)
        let named = try options("-b", "@a=1")
        #expect(named.jar == CookieFiles.jar && named.manual.isEmpty)
        #expect(try options("-c", "file", "-b", "a=1").jar == CookieFiles.jar)
        #expect(try options("--jar", "j").jar == .named("j"))
        #expect(try options("--no-cookies").jar == .none)
        let get = try GetCommand.parse(["-b", "file", "-b", "@a=1", "-b", "b=2", "-b", "@", "http://h/"])
        #expect(get.cookies.files?.inputs == ["file", "a=1", ""])
        for arguments in [
            ["--jar", "j", "--no-cookies"], ["--jar", "j", "-c", "f"], ["--no-cookies", "-b", "f"], ["--jar", ""],
            ["--jar", "j", "-b", "@a=1"],
        ] {
            #expect(throws: (any Error).self, "\(arguments)") { try GetCommand.parse(arguments + ["http://h/"]) }
        }
    }

    @Test("the shared jar has no name: who gives an empty one means another")
    func names() throws {
        #expect(try CookiesClearCommand.parse([]).jar.jar == nil)
        #expect(try CookiesClearCommand.parse(["--jar", "j"]).jar.jar == "j")
        for name in ["", String(repeating: "n", count: 256)] {
            #expect(throws: (any Error).self) { try CookiesClearCommand.parse(["--jar", name]) }
        }
    }
}
