import ArgumentParser
import Testing
import Trawl

@testable import TrawlCommand

@Suite("Options of get")
struct OptionsTests {
    private func parse(_ arguments: String...) throws -> GetCommand {
        try GetCommand.parse(arguments)
    }

    private func request(_ arguments: [String]) throws -> Request {
        var request = Request("http://h/")
        try GetCommand.parse(arguments).request.apply(to: &request) { path throws(CommandError) in
            if path == "missing" { throw CommandError("missing") }
            return Array("1\r\n2\u{0}".utf8)
        }
        return request
    }

    @Test("short options join with each other and with their values, as in curl")
    func joined() throws {
        let get = try parse("-fsSL", "-Xput", "-ofile", "-HA: b", "http://h/")
        #expect(get.output.fail && get.report.silent && get.report.showError && get.transfer.location)
        #expect(get.request.method == "put")
        #expect(get.output.outputs == ["file"])
        #expect(get.request.headers == [.add(name: "A", value: "b")])
    }

    @Test("values may start with a dash")
    func dashes() throws {
        let get = try parse("-d", "-x", "-A", "-", "-o", "-", "http://h/")
        #expect(get.request.data.map(\.text) == ["-x"])
        #expect(get.request.userAgent == "-")
        #expect(get.output.outputs == ["-"])
    }

    @Test(
        "wrong values are refused",
        arguments: [
            ["--workers", "0"], ["--workers", "-1"], ["--workers", "1000000"], ["--workers", "abc"], ["-m", "nan"],
            ["-m", "-1"], ["-m", "1e3"], ["-m", ""], ["-m", "."], ["-j", "0"], ["--max-filesize", "10x"],
            ["--max-filesize", "99999999999T"], ["--proto", "=nonsense"], ["--tls-max", "2"], ["-H", "nocolon"],
            ["--progress", "loud"], ["--bogus"], ["-o", ""], ["--resolve", "x"], ["--connect-to", "a:1"],
            ["--resolve", "a:b:c"], ["--resolve", "a:80:c"], ["--resolve", "a:0:127.0.0.1"],
            ["--resolve", ":80:127.0.0.1"],
            ["--resolve", "a:80:127.0.0.1,"], ["--connect-to", "::127.0.0.1:99999"], ["--connect-to", "a:x:b:80"],
            ["--connect-to", "[::1]:80"], ["--connect-to", "a:80:b"],
            ["-o", "a", "-O"], ["-I", "-d", "x"], ["-d", "x", "--json", "y"], ["-I", "-T", "f"],
            ["-i", "l", "-i", "m"], ["-T", "f", "-i", "l"], ["-T", "f", "-d", "x"], ["-T", ""],
            ["--ciphers", ""], ["--tls13-ciphers", ""], ["-OJ", "--include"], ["-J", "-O", "-I"],
        ])
    func wrong(arguments: [String]) {
        #expect(throws: (any Error).self) { try GetCommand.parse(arguments + ["http://h/"]) }
    }

    @Test(
        "what is no field line is told without its text, which may be a secret without its colon",
        arguments: [
            ["-H", "Authorization Bearer secret"], ["--header=Authorization Bearer secret"], ["-H", ": secret"],
            ["--proxy-header", "Authorization Bearer secret"], ["--proxy-header", "Authorization Bearer secret:"],
        ])
    func noFieldLine(arguments: [String]) {
        do {
            _ = try GetCommand.parse(arguments + ["http://h/"])
            Issue.record("it is taken")
        } catch {
            let text = GetCommand.message(for: error)
            #expect(!text.contains("secret"), "\(text)")
        }
    }

    @Test("the name of a refused field line is shown as far as it can be one")
    func refusedName() {
        let error = #expect(throws: CommandError.self) {
            try GetPlan(GetCommand.parse(["-H", "Authorization Bearer secret: x", "http://h/"]))
        }
        #expect(error?.message == "-H: the field line Authorization… cannot be sent")
    }

    @Test("the first byte has a limit by option")
    func firstByte() throws {
        var options = RequestOptions()
        try parse("--first-byte-timeout", "1.5", "http://h/").transfer.apply(to: &options)
        #expect(options.timeLimits.firstByte == .milliseconds(1500))
    }

    @Test(
        "a wrong value is told with what is wanted",
        arguments: [
            ("-j", "4097", "a number from 1 to 4096"), ("--per-host", "-1", "a number from 0 to 4096"),
            ("--retry", "1001", "a number from 0 to 1000"), ("--workers", "0", "a number from 1 to 64"),
            ("--wait", "x", "seconds, such as 2 or 2~1.5"), ("--retry-delay", "-1", "seconds, such as 30"),
            ("--max-filesize", "10x", "a number of bytes"),
            ("--debug", "status,x", "status, connections, throttle, auth, several of them with commas, or all"),
            ("--debug", "", "status, connections, throttle, auth, several"),
            ("--cache-policy", "none", "one of default, no-cache, reload, no-store, force-cache, only-if-cached"),
            ("--proto", "=nonsense", "schemes with commas, such as =https, -http or all"),
            ("--tls-max", "2", "one of 1.0, 1.1, 1.2, 1.3, default"),
            ("--cert-type", "x", "one of PEM, DER, P12"), ("--key-type", "P12", "one of PEM, DER"),
            ("--ciphers", "", "ciphers in OpenSSL's notation"), ("--tls13-ciphers", "", "ciphers of TLS 1.3"),
            ("--pinnedpubkey", "sha256//short", "a file, or sha256// and a digest of 44 characters"),
        ])
    func wanted(option: String, value: String, advice: String) {
        do {
            _ = try GetCommand.parse([option, value, "http://h/"])
            Issue.record("it is taken")
        } catch {
            let text = GetCommand.message(for: error)
            #expect(text.contains("; it wants \(advice)"), "\(text)")
        }
    }

    @Test(
        "what is told step by step is named, once or more, or all of it",
        arguments: [
            ("status", .status), ("auth", .authentication), ("throttle,throttle", .throttle),
            ("connections,status", [.connections, .status]),
            ("all", [.status, .connections, .throttle, .authentication]),
            ("all,auth", [.status, .connections, .throttle, .authentication]),
        ] as [(String, DebugLog.Categories)])
    func debugKinds(text: String, categories: DebugLog.Categories) throws {
        #expect(try parse("--debug", text, "http://h/").debug.categories == categories)
    }

    @Test(
        "a user, and the file of a certificate, end at the first colon, whatever stands behind it",
        arguments: [
            ("me", "me", nil), ("me:", "me", ""), ("me:a:b", "me", "a:b"), (":p", "", "p"),
            ("me:\u{301}SECRET", "me", "\u{301}SECRET"), ("me:\u{1F3FB}", "me", "\u{1F3FB}"),
        ] as [(String, String, String?)])
    func colons(text: String, name: String, secret: String?) {
        let user = AuthenticationArguments.userAndPassword(text)
        #expect(user.user == name && user.password.map { Array($0.utf8) } == secret.map { Array($0.utf8) })
        let file = TLSArguments.fileAndPassphrase(text)
        #expect(file.file == name && file.passphrase.map { Array($0.utf8) } == secret.map { Array($0.utf8) })
    }

    @Test("a colon or backslash behind a backslash is the file's")
    func escapedColons() {
        #expect(TLSArguments.fileAndPassphrase(#"a\:b\\:c"#) == (#"a:b\"#, "c"))
        #expect(TLSArguments.fileAndPassphrase(#"a\b\"#) == (#"a\b\"#, nil))
    }

    @Test("an option that is none is told as such, whatever its value would be taken for")
    func unknown() {
        for option in ["-C", "-z", "--etag-save"] {
            let error = #expect(throws: (any Error).self) {
                try TrawlCommand.parseAsRoot(["get", option, "-", "-o", "x", "http://h/"])
            }
            let text = error.map { TrawlCommand.message(for: $0) } ?? ""
            #expect(text.contains("Unknown option '\(option)'"), "\(text)")
        }
    }

    @Test("as many -o as URLs, if any, and no more -T than URLs")
    func outputs() throws {
        for (arguments, reason) in [
            (["-T", "x", "-T", "y", "http://h/"], "more -T than URLs"),
            (["-o", "x", "http://h/", "http://i/"], "fewer -o than URLs"),
            (["-o", "x", "-o", "y", "http://h/"], "more -o than URLs"),
            ([], "no URL is given"),
        ] {
            let error = #expect(throws: CommandError.self) { try GetPlan(GetCommand.parse(arguments)) }
            #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
        }
    }

    @Test("a user agent or referer that could end its line early is refused by its own name")
    func unsendable() throws {
        for (arguments, option) in [(["-A", "a\nb"], "-A"), (["-e", "x\ry"], "-e")] {
            let error = #expect(throws: CommandError.self) {
                try GetPlan(GetCommand.parse(arguments + ["http://h/"]))
            }
            #expect(error?.message.hasPrefix(option + ":") == true, "\(String(describing: error))")
        }
    }

    @Test("-G is nothing for a list")
    func queryOfList() throws {
        #expect(throws: (any Error).self) { try BatchCommand.parse(["list", "-G", "-d", "a=b"]) }
        #expect(throws: (any Error).self) { try BatchCommand.parse(["list", "-G"]) }
        #expect(try BatchCommand.parse(["list", "-d", "a=b"]).request.dataInQuery == false)
    }

    @Test("help says the defaults that hold, and what is of get alone")
    func helpTexts() {
        // Words may be broken over lines.
        func help(_ command: any ParsableCommand.Type) -> String {
            command.helpMessage(columns: 100_000).split { $0.isWhitespace }.joined(separator: " ")
        }
        for text in [help(BatchCommand.self), help(PipeCommand.self), help(GetCommand.self)] {
            #expect(text.contains("Default 64, in pipe 128."))
            #expect(
                text.contains("Default 6, in batch the larger of 6 and an eighth of -j, in pipe no limit."))
        }
        #expect(help(BatchCommand.self).contains("-G, --get In get alone:"))
        #expect(help(BatchCommand.self).contains("-v, --verbose In get alone:"))
    }

    @Test(
        "right places are taken",
        arguments: [
            ["--resolve", "a:80:127.0.0.1"], ["--resolve", "+a:80:127.0.0.1,[::1],fe80::1"], ["--resolve", "*:80:::1"],
            ["--resolve", "-a:80"], ["--resolve", "[::1]:80:127.0.0.1"], ["--connect-to", "::127.0.0.1:1"],
            ["--connect-to", "a:80::"], ["--connect-to", "a:80:[::1]:8080"], ["--connect-to", "::b:"],
        ])
    func places(arguments: [String]) {
        #expect(throws: Never.self) { try GetCommand.parse(arguments + ["http://h/"]) }
    }

    @Test("no URL is an error, a list is enough")
    func urls() throws {
        #expect(throws: CommandError("no URL is given (see: trawl help get)")) { try GetPlan(GetCommand.parse([])) }
        #expect(try parse("-i", "list").output.inputFile == "list")
    }

    @Test("a wait has a least time, and may have what chance adds")
    func waits() {
        let wait = WaitArgument(argument: "2~1.5")
        #expect(wait?.least == .seconds(2) && wait?.random == .milliseconds(1500))
        #expect(WaitArgument(argument: "0.25")?.random == .zero)
        for wrong in ["", "~", "1~", "~1", "-1", "1~-1", "1s", "1~2~3", "1 ~2", "nan"] {
            #expect(WaitArgument(argument: wrong) == nil, "\(wrong)")
        }
    }

    @Test("times and sizes")
    func quantities() {
        #expect(SecondsArgument(argument: "2.5")?.duration == .milliseconds(2500))
        #expect(SecondsArgument(argument: ".25")?.duration == .milliseconds(250))
        #expect(SecondsArgument(argument: "0")?.duration == .zero)
        #expect(SecondsArgument(argument: "99999999999") == nil)
        #expect(ByteCountArgument(argument: "64k")?.bytes == 65_536)
        #expect(ByteCountArgument(argument: "7")?.bytes == 7)
        #expect(ByteCountArgument(argument: "k") == nil)
    }

    @Test("schemes are set, added and taken away in order")
    func protocols() {
        #expect(ProtocolList(argument: "=https").map { [$0.allowsHTTP, $0.allowsHTTPS] } == [false, true])
        #expect(ProtocolList(argument: "-http").map { [$0.allowsHTTP, $0.allowsHTTPS] } == [false, true])
        #expect(ProtocolList(argument: "-all,http").map { [$0.allowsHTTP, $0.allowsHTTPS] } == [true, false])
        #expect(ProtocolList(argument: "=http,https").map { [$0.allowsHTTP, $0.allowsHTTPS] } == [true, true])
        // curl's others are known and never spoken.
        #expect(ProtocolList(argument: "=http,https,ftp").map { [$0.allowsHTTP, $0.allowsHTTPS] } == [true, true])
        #expect(ProtocolList(argument: "-all,FTP,+https").map { [$0.allowsHTTP, $0.allowsHTTPS] } == [false, true])
        #expect(ProtocolList(argument: "=gopher").map { [$0.allowsHTTP, $0.allowsHTTPS] } == [false, false])
        #expect(ProtocolList(argument: "-ftp,-nonsense") == nil)
        #expect(ProtocolList(argument: "") == nil)
    }

    @Test("field lines add, empty and take away")
    func fields() throws {
        let request = try request(["-H", "A:  b ", "-H", "A: c", "-H", "E;", "-H", "Accept:", "-A", "", "http://h/"])
        #expect(request.fields.values("a") == ["b", "c"])
        #expect(request.fields["E"] == "")
        #expect(request.options.omittedFields == ["User-Agent", "Accept"])
    }

    @Test("a line by hand has the last word against an option of its name, and takes its line away, as in curl")
    func byHand() throws {
        let options = ["-e", "e", "-r", "0-4", "-b", "a=b", "--oauth2-bearer", "t"]
        func plan(_ fields: String...) throws -> Request {
            let fields = fields.flatMap { ["-H", $0] }
            return try GetPlan(GetCommand.parse(options + fields + ["http://h/"])).template
        }
        let plain = try plan("X: y")
        #expect(plain.fields.values("Referer") == ["e"] && plain.fields.values("Range") == ["bytes=0-4"])
        #expect(plain.options.cookies.manual.count == 1 && plain.options.authentication.credential != nil)
        let other = try plan("referer: h", "range: bytes=7-", "cookie: c=d", "authorization: x")
        #expect(other.fields.values("Referer") == ["h"] && other.fields.values("Range") == ["bytes=7-"])
        #expect(other.options.cookies.manual.isEmpty && other.options.authentication.credential == nil)
        let none = try plan("Referer:", "Range:", "Cookie:", "Authorization:")
        #expect(none.fields.isEmpty)
        #expect(none.options.cookies.manual.isEmpty && none.options.authentication.credential == nil)
    }

    @Test("what no request is without cannot be taken away", arguments: ["Host:", "content-length:"])
    func needed(line: String) throws {
        let error = #expect(throws: CommandError.self) { try request(["-H", line, "http://h/"]) }
        #expect(error?.message == "the field \(line.dropLast()) cannot be left out of a request")
    }

    @Test("bytes that are no text keep their values in a query")
    func queryBytes() throws {
        let get = try GetCommand.parse(["-G", "-d", "@f", "-d", "é d", "http://h/"])
        let query = try get.request.query { _ throws(CommandError) in [0x61, 0x3D, 0xE9, 0x0A, 0xFF] }
        #expect(query == "a=%E9%FF&%C3%A9 d")
    }

    @Test("pieces of a body keep their order over different options")
    func bodyOrder() throws {
        let request = try request(["-d", "a=1", "--data-binary", "@f", "--data-raw", "@x", "-d", "@f", "http://h/"])
        #expect(request.body.bytes == Array("a=1&1\r\n2\u{0}&@x&12".utf8))
        #expect(request.method == .post)
        #expect(request.fields["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test(
        "of --data-urlencode the first = ends the name, and @ only where there is none",
        arguments: [
            ("me@example.org=x y", "me@example.org=x+y"), ("a=b@c=d", "a=b%40c%3Dd"), ("=a@b", "a%40b"),
            ("n@f", "n=1%0D%0A2%00"), ("@f", "1%0D%0A2%00"), ("x y", "x+y"),
        ])
    func encodedPieces(text: String, body: String) throws {
        let request = try request(["--data-urlencode", text, "http://h/"])
        #expect(String(decoding: request.body.bytes, as: UTF8.self) == body)
    }

    @Test("JSON pieces are joined as they are, with fields the user may replace")
    func json() throws {
        let request = try request(["--json", "{", "--json", "}", "-H", "Content-Type: x/y", "-X", "PUT", "http://h/"])
        #expect(request.body.bytes == Array("{}".utf8))
        #expect(request.method == .put)
        #expect(request.fields["Content-Type"] == "x/y")
        #expect(request.fields["Accept"] == "application/json")
    }

    @Test("a body file that cannot be read is an error")
    func missingBody() {
        #expect(throws: CommandError("missing")) { try request(["-d", "@missing", "http://h/"]) }
    }

    @Test("without --compressed nothing is asked for and nothing is decoded")
    func compressed() throws {
        #expect(try request(["http://h/"]).options.contentDecoding == .off)
        #expect(try !request(["http://h/"]).options.acceptsCompressedResponses)
        #expect(try request(["--compressed", "http://h/"]).options.contentDecoding == .streaming)
    }

    @Test("redirects are followed with -L alone, and not to clear text")
    func redirects() throws {
        var options = RequestOptions()
        try parse("http://h/").transfer.apply(to: &options)
        #expect(options.redirects.mode == .manual)
        try parse("-L", "--max-redirs", "3", "http://h/").transfer.apply(to: &options)
        #expect(options.redirects.mode == .standard)
        #expect(options.redirects.limit == 3)
        #expect(!options.redirects.allowsDowngrade)
    }

    @Test("the last of several versions counts")
    func versions() throws {
        var options = RequestOptions()
        let get = try parse("--http2", "-0", "-6", "-4", "--tlsv1.2", "--tlsv1.3", "-k", "http://h/")
        get.transfer.apply(to: &options)
        get.tls.apply(to: &options.tls)
        #expect(options.transport.version == .http1_0)
        #expect(options.transport.addressFamily == .ipv4)
        #expect(options.tls.minimum == .tls1_3)
        #expect(options.tls.verification == .none)
    }

    @Test("progress is shown to people who look, and never among the bytes")
    func progress() throws {
        func kind(_ arguments: String..., terminal: Bool = true, shared: Bool = false) throws -> ProgressKind {
            try GetCommand.parse(arguments + ["http://h/"]).report
                .progressKind(onTerminal: terminal, sharesTerminal: shared)
        }
        #expect(try kind() == .bar)
        #expect(try kind(terminal: false) == .hidden)
        #expect(try kind(shared: true) == .hidden)
        #expect(try kind("-v") == .hidden)
        #expect(try kind("-s") == .hidden)
        #expect(try kind("--no-progress", "--progress", "bar") == .hidden)
        #expect(try kind("--progress", "plain", terminal: false) == .plain)
        #expect(try kind("--progress", "bar", terminal: false) == .hidden)
        #expect(try kind("--progress=line") == .line && kind("--progress=line", terminal: false) == .hidden)
    }
}
