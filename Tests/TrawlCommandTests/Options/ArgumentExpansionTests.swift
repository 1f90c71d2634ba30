import ArgumentParser
import Testing
import Trawl

@testable import TrawlCommand

@Suite("Options from files, -K")
struct ArgumentExpansionTests {
    private func expand(_ arguments: [String], _ files: [String: String] = [:]) throws -> [String] {
        try ArgumentExpansion.expand(arguments) { name throws(CommandError) in
            guard let text = files[name] else { throw CommandError("\(name): missing") }
            return Array(text.utf8)
        }
    }

    private func arguments(_ text: String) throws -> [String] {
        try expand(["-K", "f"], ["f": text])
    }

    private func message(_ text: String) -> String? {
        do {
            return "nothing wrong: \(try arguments(text))"
        } catch {
            return (error as? CommandError)?.message
        }
    }

    @Test("the options stand where -K stood, whatever its spelling")
    func place() throws {
        let files = ["f": "location\n", "g": "url = http://h/\n", "-": "silent"]
        for spelling in [["-K", "f"], ["-Kf"], ["--config", "f"], ["--config=f"]] {
            #expect(try expand(["-o", "x"] + spelling + ["u"], files) == ["-o", "x", "--location", "u"])
        }
        #expect(try expand(["-fsKf", "u"], files) == ["-fs", "--location", "u"])
        #expect(try expand(["-K", "f", "-K", "g", "-K", "-"], files) == ["--location", "http://h/", "--silent"])
        #expect(try expand(["get", "-Kg"], files) == ["get", "http://h/"])
    }

    @Test("what only looks like -K is left alone")
    func values() throws {
        for arguments in [
            ["-d", "-K", "u"], ["--data", "--config", "u"], ["-oK", "u"], ["-HK: f", "u"], ["-so", "-K"], ["--", "-K"],
            ["K"], ["-d"], ["--user-agent=-K"], ["http://h/K"],
        ] {
            #expect(try expand(arguments) == arguments)
        }
    }

    @Test("a value joined to its letter may hold an equals sign")
    func joined() throws {
        #expect(try expand(["-ba=1", "u"]) == ["-b", "a=1", "u"])
        #expect(try expand(["get", "-sSuuser:a=b"]) == ["get", "-sSu", "user:a=b"])
        #expect(try expand(["-d", "-ba=1", "--data=x", "--", "-ba=1"]) == ["-d", "-ba=1", "--data=x", "--", "-ba=1"])
        #expect(try expand(["-o", "a=b", "-fs=", "http://h/?a=b"]) == ["-o", "a=b", "-fs=", "http://h/?a=b"])
    }

    @Test("a value may be joined to the last of several letters, as in curl")
    func joinedBehindLetters() throws {
        #expect(try expand(["-sXPOST", "-sLofile", "u"]) == ["-sX", "POST", "-sLo", "file", "u"])
        let parsed = try GetCommand.parse(expand(["-sSXPURGE", "-fofile", "-so", "-sofoo", "http://h/", "http://i/"]))
        #expect(parsed.request.method == "PURGE" && parsed.output.outputs == ["file", "-sofoo"])
        #expect(parsed.report.silent && parsed.report.showError && parsed.output.fail)
    }

    @Test("URLs keep their order, with --url and without")
    func urls() throws {
        let outputs = ["-o", "a", "-o", "b"]
        for given in [["--url", "h", "i"], ["--url=h", "i"], ["h", "--url", "i"], ["--url", "h", "--url=i"]] {
            let expanded = try expand(outputs + given)
            #expect(expanded == outputs + ["h", "i"])
            let plan = try GetPlan(GetCommand.parse(expanded))
            #expect(plan.requests.map { "\($0.url) \($0.out ?? "")" } == ["http://h a", "http://i b"])
        }
        #expect(try expand(["get", "--url", "h"]) == ["get", "h"])
        // What would be something else, and what is no URL of get.
        for others in [
            ["--url", "-x"], ["--url=-x"], ["--url", "batch"], ["--url", "crawl"], ["--url"], ["batch", "--url", "h"],
            ["-d", "--url", "h"], ["--", "--url", "h"],
        ] {
            #expect(try expand(others) == others)
        }
    }

    @Test("an empty value behind an equals sign takes nothing that follows")
    func empty() throws {
        #expect(try expand(["--user-agent=", "u"]) == ["--user-agent", "", "u"])
        #expect(try GetCommand.parse(try expand(["--referer=", "http://h/"])).urls == ["http://h/"])
        // A value that ends so, a flag, what is not known, and operands.
        let others = ["-o", "--jar=", "--data", "--jar=", "--header=a=", "--location=", "--bogus=", "--", "--jar="]
        #expect(try expand(others) == others)
    }

    private static let dashed = ["---", "---x", "------b\r\nname: value\r\n------b--\r\n", "-=x", "-=", "--"]

    @Test("a value that the parser would refuse or stop at is joined to its option", arguments: dashed)
    func dashedValue(value: String) throws {
        #expect(try expand(["--data-raw", value, "u"]) == ["--data-raw=\(value)", "u"])
        #expect(try expand(["batch", "-o", value, "-s"]) == ["batch", "-o=\(value)", "-s"])
        #expect(try expand(["-sd", value]) == ["-s", "-d=\(value)"])
        #expect(try expand(["-sd\(value)"]) == ["-s", "-d=\(value)"])
        #expect(try expand(["--url", value]) == ["--url=\(value)"])
        // What is no option's value, and a value joined by hand.
        for others in [["--bogus", value], ["-s", value, "u"], ["--", "-d", value], ["--data=\(value)", "u"]] {
            #expect(try expand(others) == others)
        }
        let get = try GetCommand.parse(
            expand(["-d", value, "--data-raw", value, "-fw", value, "-o", value, "-d", "-", "-s", "http://h/"]))
        #expect(get.request.data.map(\.text) == [value, "-"] && get.request.dataRaw.map(\.text) == [value])
        #expect(get.report.writeOut == value && get.output.outputs == [value] && get.output.fail)
        #expect(get.report.silent && get.urls == ["http://h/"])
        let batch = try BatchCommand.parse(expand(["-d", value, "-A", value, "-s", "list"]))
        #expect(batch.request.data.map(\.text) == [value] && batch.request.userAgent == value && batch.report.silent)
        let pipe = try PipeCommand.parse(expand(["-x", value, "-b", value]))
        #expect(pipe.proxy.proxy == value && pipe.cookies.cookies == [value])
    }

    @Test(
        "a line is one option",
        arguments: [
            ("header \"A: b\"", ["--header", "A: b"]), ("user-agent = x", ["--user-agent", "x"]),
            ("user-agent=x", ["--user-agent", "x"]), ("user-agent: x", ["--user-agent", "x"]),
            ("user-agent x", ["--user-agent", "x"]), ("--user-agent x", ["--user-agent", "x"]),
            ("  -A x  # why", ["-A", "x"]), ("-Ax", ["-Ax"]), ("-sS", ["-sS"]), ("-sA x", ["-sA", "x"]),
            ("user-agent = \"\"", ["--user-agent", ""]),
            ("data = \"a\\\"\\\\\\t\\n\\r\\v\\q\"", ["--data", "a\"\\\t\n\r\u{B}q"]),
            ("data = a#b", ["--data", "a#b"]), ("data = \"# a\" # b", ["--data", "# a"]),
            ("data=\"é=:\"", ["--data", "é=:"]),
            ("url = http://h/a=b:c", ["http://h/a=b:c"]), ("url=\"http://h/ x\"", ["http://h/ x"]),
            ("location\r", ["--location"]),
            ("silent # and short", ["--silent"]), ("#x", []), ("   # x", []),
            ("/x", []), (" * x", []), ("// x y", []), ("user-agent = #1", ["--user-agent", "#1"]),
            ("-A #1 # why", ["-A", "#1"]), ("-sA #", ["-sA", "#"]), ("-Ax # why", ["-Ax"]), ("-L # why", ["-L"]),
            ("\t", []), ("", []),
            ("\u{FEFF}silent", ["--silent"]), ("bogus", ["--bogus"]), ("data = -K", ["--data", "-K"]),
            ("--output=x", ["--output=x"]), ("--referer=", ["--referer", ""]), ("--url=h", ["h"]),
            ("data = \"---\"", ["--data=---"]), ("-sd --", ["-s", "-d=--"]), ("-d-=x", ["-d=-=x"]),
            ("-ba=1", ["-b", "a=1"]), ("-sXPUT", ["-sX", "PUT"]), ("-fuann:secret", ["-fu", "ann:secret"]),
        ])
    func line(text: String, expected: [String]) throws {
        #expect(try arguments(text) == expected)
    }

    @Test(
        "a wrong line is named",
        arguments: [
            ("\n\nuser-agent = a b", "f:3: a value with blanks needs quotes"),
            ("data = \"a", "f:1: a quote is not closed"),
            ("data = \"a\\\"", "f:1: a quote is not closed"),
            ("data = \"a\"b", "f:1: something follows the closing quote"),
            ("header", "f:1: --header wants a value"), ("header = # x", "f:1: a value with blanks needs quotes"),
            ("-H", "f:1: -H wants a value"), ("-L yes", "f:1: -L takes no value"), ("-Ax y", "f:1: -A has two values"),
            ("-fuann:secret more", "f:1: -fu has two values"),
            ("--oauth2-bearer=secret more", "f:1: --oauth2-bearer… takes no value, or is not known"),
            ("location = true", "f:1: --location takes no value, or is not known"), ("-", "f:1: no option is named"),
            ("= x", "f:1: no option is named"), ("-- x", "f:1: no option is named"),
            ("url = -x", "f:1: a URL cannot begin with a dash"), ("url", "f:1: url wants a value"),
            ("url = \"\"", "f:1: url wants a value"), ("-K g", "f:1: a file of options cannot name another"),
            ("-sKg", "f:1: a file of options cannot name another"),
            ("config = g", "f:1: a file of options cannot name another"),
            ("--config=g", "f:1: a file of options cannot name another"), ("a\u{0}b", "f:1: not text in UTF-8"),
            ("\u{1B}[2J = x", "f:1: --… takes no value, or is not known"),
        ])
    func wrong(text: String, expected: String) {
        #expect(message(text) == expected)
    }

    @Test("a file is missing, not text, far too long, or not named at all")
    func files() {
        #expect(throws: CommandError("f: missing")) { try expand(["-K", "f"]) }
        #expect(throws: CommandError("-K wants a file name")) { try expand(["-K"]) }
        #expect(throws: CommandError("-K wants a file name")) { try expand(["-K", ""]) }
        #expect(throws: CommandError("--config wants a file name")) { try expand(["--config"]) }
        #expect(throws: CommandError("f:2: not text in UTF-8")) {
            try ArgumentExpansion.expand(["-K", "f"]) { _ throws(CommandError) in [0x23, 0x0A, 0xFF] }
        }
        #expect(throws: CommandError("f: longer than 1048576 bytes")) {
            try ArgumentExpansion.expand(["-K", "f"]) { _ throws(CommandError) in .init(repeating: 0x23, count: 2 << 20)
            }
        }
    }

    @Test("what a file says is what the command line says")
    func parsed() throws {
        let text = """
            # a comment
            location
            header = "A: b"
            -H "C: d"
            user-agent = "me \\"myself\\""
            max-time 2.5
            url = http://h/
            """
        let get = try GetCommand.parse(try expand(["-A", "first", "-K", "f", "-X", "put"], ["f": text]))
        #expect(get.transfer.location && get.urls == ["http://h/"] && get.request.method == "put")
        #expect(get.request.headers == [.add(name: "A", value: "b"), .add(name: "C", value: "d")])
        #expect(get.request.userAgent == "me \"myself\"")
        #expect(get.transfer.maximumTime?.duration == .milliseconds(2500))
        let later = try GetCommand.parse(try expand(["-K", "f", "-A", "last"], ["f": text]))
        #expect(later.request.userAgent == "last")
    }

    @Test("a value joined to its letters in a file takes nothing that follows, and is no option")
    func joinedInFile() throws {
        let text = "-sXPUT\nurl = http://h/\n-da=1\n-Hx:y=z\n-fuann:s3c=ret\n"
        let get = try GetCommand.parse(try expand(["-K", "f"], ["f": text]))
        #expect(get.request.method == "PUT" && get.urls == ["http://h/"] && get.report.silent && get.output.fail)
        #expect(get.request.data.map(\.text) == ["a=1"] && get.request.headers == [.add(name: "x", value: "y=z")])
        #expect(get.authentication.user == "ann:s3c=ret")
    }

    @Test("the table of options with values is that of the help texts")
    func table() {
        for command in TrawlCommand.configuration.subcommands
        where !TrawlCommand.separate.contains(where: { $0 == command }) {
            let help = command.helpMessage(includeHidden: true, columns: 400)
            for line in help.split(separator: "\n") where line.hasPrefix("  -") {
                // Such as `  -H, --header <name:value> Send …`.
                let words = line.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "/" })
                let names = words.prefix { $0.hasPrefix("-") }
                let takesValue = words.dropFirst(names.count).first?.hasPrefix("<") ?? false
                for name in names {
                    let isKnown =
                        name.hasPrefix("--")
                        ? OptionTable.takesValue(long: name.dropFirst(2))
                        : name.dropFirst().first.map(OptionTable.takesValue(short:)) ?? false
                    #expect(isKnown == takesValue, "\(command): \(name)")
                }
            }
        }
    }
}

@Suite("Field lines from files, -H @FILE")
struct FieldFileTests {
    private func request(_ arguments: [String], _ text: String) throws -> Request {
        var request = Request("http://h/")
        try GetCommand.parse(arguments + ["http://h/"]).request.apply(to: &request) { name throws(CommandError) in
            if name == "missing" { throw CommandError("missing") }
            return Array(text.utf8)
        }
        return request
    }

    @Test("each line is one -H, in its place")
    func lines() throws {
        let request = try request(["-H", "A: 1", "-H", "@f", "-H", "A: 3"], "A: 2\r\n\nB;\nAccept:\n# : x\nC:  é")
        #expect(request.fields.values("A") == ["1", "2", "3"])
        #expect(request.fields["B"] == "" && request.fields["C"] == "é")
        #expect(request.options.omittedFields == ["Accept"])
    }

    @Test("a line that is none is named, and so is a file that cannot be read")
    func wrong() {
        #expect(throws: CommandError("f:2: not a field line")) { try request(["-H", "@f"], "A: 1\nB\n") }
        #expect(throws: CommandError("standard input:1: not a field line")) { try request(["-H", "@-"], "@g\n") }
        #expect(throws: CommandError("missing")) { try request(["-H", "@missing"], "") }
        #expect(throws: (any Error).self) { try request(["-H", "@"], "") }
    }
}
