import TestSupport
import Testing

@testable import TrawlSession

@Suite("Files of netrc")
struct NetrcParserTests {
    private func parse(_ text: String, limits: Netrc.Limits = Netrc.Limits()) throws -> Netrc {
        try text.raw.withUnsafeBytes { try NetrcParser.parse($0, limits: limits) }
    }

    /// `host login password`, each `-` when it is not there.
    private func lines(_ text: String) throws -> [String] {
        try parse(text).entries.map {
            [$0.host, $0.login, $0.password?.revealed].map { $0 ?? "-" }.joined(separator: " ")
        }
    }

    @Test(
        "words stand on one line or on many, in whatever case",
        arguments: [
            ("machine a login u password p", ["a u p"]),
            ("machine a\n\tlogin u\n\n\tpassword p\n", ["a u p"]),
            ("machine a\r\nlogin u\r\npassword p\r\n", ["a u p"]),
            ("MACHINE A.Example Login U PASSWORD P account X", ["a.example U P"]),
            (
                "machine a password p login u machine b login v default login w password q",
                ["a u p", "b v -", "- w q"]
            ),
            ("machine a", ["a - -"]), ("default", ["- - -"]), ("", []), (" \n\t\r\n", []),
            ("\u{FEFF}machine a login u", ["a u -"]),
            ("machine a login u password p machine a login v password q", ["a u p", "a v q"]),
            // Values may be words that mean something elsewhere.
            ("machine machine login login password password", ["machine login password"]),
            // Quotes.
            (#"machine "a" login "u v" password "p\"\\\q""#, [#"a u v p"\q"#]),
            (#"machine a password "x\ny\rz\tw""#, ["a - x\ny\rz\tw"]),
            (#"machine a password "" login "# + "u", ["a u "]),
            (##"machine a password "#p" login u"##, ["a u #p"]),
            (#"machine a password p"q login u\"#, [#"a u\ p"q"#]),
            (#"machine a password "p"login u"#, ["a u p"]),
            // Comments.
            ("# machine x\nmachine a # login x\nlogin u #\n#", ["a u -"]),
            ("machine a login u#v", ["a u#v -"]),
            // Macros are skipped up to an empty line.
            ("macdef init\nmachine x login y\n\nmachine a login u", ["a u -"]),
            ("machine a login u macdef init machine z\nmachine x\n \n\r\nmachine b", ["a u -", "b - -"]),
            ("macdef init\nmachine x", []),
        ])
    func forms(text: String, expected: [String]) throws {
        #expect(try lines(text) == expected)
    }

    @Test("words that mean nothing are passed over")
    func strange() throws {
        let netrc = try parse("login x\nmachine a login u password my secret\nport 21 22\nmachine b")
        #expect(netrc.entries.map(\.host) == ["a", "b"])
        #expect(netrc.entries.map(\.line) == [2, 4])
    }

    @Test(
        "what cannot be read is told with its line",
        arguments: [
            ("machine a\npassword \"p", NetrcFault.Reason.unendedQuote, 2),
            ("machine a\n\npassword \"p\\", .unendedQuote, 3), ("\"\nmachine a", .unendedQuote, 1),
            ("machine a\nlogin", .missingValue, 2), ("machine", .missingValue, 1),
            ("machine a\nlogin\n\n# x\n", .missingValue, 4),
            ("machine a\nlogin a\u{0}b", .notText, 2), ("\u{0}", .notText, 1),
        ])
    func faults(text: String, reason: NetrcFault.Reason, line: Int) {
        #expect(throws: NetrcFault(reason: reason, line: line)) { try parse(text) }
    }

    @Test("bytes that are not UTF-8 are no text")
    func encoding() {
        #expect(throws: NetrcFault(reason: .notText, line: 2)) {
            try ("machine a\nlogin ".raw + [0xFF]).withUnsafeBytes { try NetrcParser.parse($0) }
        }
    }

    @Test("a file, a word or a number of entries beyond the limit is refused")
    func limits() throws {
        var limits = Netrc.Limits()
        limits.bytes = 10
        #expect(throws: NetrcFault(reason: .tooLarge, line: 0)) { try parse("machine abc", limits: limits) }
        #expect(try parse("machine ab", limits: limits).entries.count == 1)
        limits = Netrc.Limits()
        limits.wordBytes = 7
        #expect(throws: NetrcFault(reason: .tooLarge, line: 2)) {
            try parse("machine a\nlogin 12345678", limits: limits)
        }
        limits = Netrc.Limits()
        limits.entries = 2
        #expect(throws: NetrcFault(reason: .tooLarge, line: 3)) {
            try parse("machine a\ndefault\nmachine c", limits: limits)
        }
    }

    @Test("a fault says where, and nothing of what stands there")
    func explanation() {
        #expect(NetrcFault(reason: .unendedQuote, line: 7).explanation == "line 7: a quoted word has no end")
        #expect(NetrcFault(reason: .tooLarge, line: 0).explanation == "this is too large")
    }

    @Test(
        "the first entry that fits host and user counts",
        arguments: [
            ("a", nil, "u:p"), ("a", "v", "v:q"), ("a", "x", nil), ("b", nil, "bu:"), ("b", "bu", "bu:"),
            ("c", "any", "any:cp"), ("c", nil, nil), ("d", nil, "du:dp"), ("other", nil, nil), ("e", nil, nil),
            ("[::1]", nil, "six:p"), ("::1", nil, "six:p"),
        ])
    func lookup(host: String, user: String?, expected: String?) throws {
        let netrc = try parse(
            """
            machine a login u password p
            machine a login v password q
            machine b login bu
            machine c password cp
            machine e
            machine d
            machine d login du password dp
            machine ::1 login six password p
            """)
        #expect(found(netrc, host, user) == expected)
    }

    @Test("a user is the same byte for byte, and not when an accent is written in another way")
    func exactUser() throws {
        let netrc = try parse("machine a login e\u{301} password p\nmachine a login \u{E9} password q")
        for (user, password) in [("e\u{301}", "p"), ("\u{E9}", "q")] {
            let credentials = netrc.credentials(for: "a", user: user)
            #expect(credentials?.kind == Credentials(user: user, password: password).kind)
        }
    }

    @Test("what stands behind default is for nobody")
    func defaults() throws {
        let netrc = try parse("machine a login u password p\ndefault login d password q\nmachine b login v password r")
        #expect(found(netrc, "a", nil) == "u:p")
        #expect(found(netrc, "a", "d") == "d:q")
        #expect(found(netrc, "b", nil) == "d:q")
        #expect(found(netrc, "b", "v") == "v:r")
        #expect(found(netrc, "c", nil) == "d:q")
        #expect(found(netrc, "c", "x") == nil)
    }

    private func found(_ netrc: Netrc, _ host: String, _ user: String?) -> String? {
        guard case .password(let user, let password, _)? = netrc.credentials(for: host, user: user)?.kind else {
            return nil
        }
        return "\(user):\(password.revealed)"
    }

    @Test("random bytes give entries or a fault with a line of the file", arguments: 0..<20)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "machine", "default", "login", "password", "account", "macdef", " ", " ", "\n", "\r\n", "\t", "\"", "\\",
            "#",
            "a", "é", "\u{0}",
        ]
        for _ in 0..<300 {
            let count = Int.random(in: 0..<60, using: &generator)
            let text = (0..<count).map { _ in generator.pick(pieces) }.joined()
            for bytes in [text.raw, generator.bytes(upTo: 200)] {
                let newlines = bytes.count { $0 == 10 } + 1
                do {
                    let netrc = try bytes.withUnsafeBytes { try NetrcParser.parse($0) }
                    for entry in netrc.entries {
                        #expect((1...newlines).contains(entry.line), "seed \(seed)")
                        if let host = entry.host { _ = netrc.credentials(for: host) }
                    }
                } catch {
                    let line = (error as? NetrcFault)?.line ?? -1
                    #expect((1...newlines).contains(line), "seed \(seed): \(error)")
                }
            }
        }
    }
}
