import Foundation
import Testing

@Suite("trawl help", .timeLimit(.minutes(5)))
struct HelpCommandTests {
    @Test("it has a page for each subcommand, and says what is none")
    func pages() throws {
        for name in ["get", "batch", "pipe", "cache", "cookies", "auth"] {
            let run = try CommandRun(["help", name])
            #expect(run.status == 0 && run.text.contains("USAGE: trawl \(name)"), "\(name): \(run.errors)")
        }
        for word in ["-V", "--bogus"] {
            let unknown = try CommandRun([word])
            #expect(unknown.status == 2)
            #expect(unknown.errors.hasPrefix("trawl: Unknown option '\(word)'"), "\(unknown.errors)")
        }
        let none = try CommandRun([])
        #expect(none.status == 2 && none.errors == "trawl: no URL is given (see: trawl help get)\n", "\(none.errors)")
        let run = try CommandRun(["help", "nosuch"])
        #expect(run.status == 2 && run.output.isEmpty)
        #expect(run.errors == "trawl: there is no subcommand 'nosuch' (see: trawl help)\n")
    }

    @Test(
        "help that cannot be written is a failure",
        arguments: [["help", "get"], ["--version"], ["batch", "--help"]])
    func unwritten(arguments: [String]) throws {
        let directory = try TemporaryDirectory()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try BuiltProducts.trawl())
        process.arguments = arguments
        process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
        try directory.put("errors", [])
        process.standardError = FileHandle(forWritingAtPath: directory.file("errors"))
        try process.runToEnd()
        let errors = String(decoding: directory.content("errors") ?? [], as: UTF8.self)
        #expect(process.terminationStatus == 74)
        #expect(errors == "trawl: standard output: No space left on device\n")
    }

    @Test(
        "a subcommand that is to come is told as one, and not fetched as a host",
        arguments: [
            ["crawl", "http://127.0.0.1:1/"], ["crawl", "--depth", "2"], ["-sS", "resume"], ["plan"], ["report"],
            ["merge", "a", "b"], ["agent"], ["config", "--show-origin"],
        ])
    func reserved(arguments: [String]) throws {
        let word = try #require(arguments.first { !$0.hasPrefix("-") })
        let run = try CommandRun(arguments)
        #expect(run.status == 2 && run.output.isEmpty)
        #expect(run.errors == "trawl: there is no subcommand '\(word)' yet (a host of that name is http://\(word))\n")
        // Behind get it is a host, which is not asked for here.
        let host = try CommandRun(["get", "-s", "--proto", "=https", word])
        #expect(host.status == 1 && host.errors.isEmpty, "\(host.errors)")
    }

    @Test(
        "a subcommand behind options is told as one, and not fetched as a host",
        arguments: [
            (["-L", "get", "http://127.0.0.1:1/"], "get"), (["-s", "batch", "list"], "batch"),
            (["--store", "x", "cache", "ls"], "cache"), (["-sS", "help"], "help"),
        ])
    func behindOptions(arguments: [String], word: String) throws {
        let run = try CommandRun(arguments)
        #expect(run.status == 2 && run.output.isEmpty)
        #expect(run.errors.hasPrefix("trawl: options go behind the subcommand: trawl \(word) "), "\(run.errors)")
        // Behind get it is a host, which is not asked for here.
        let host = try CommandRun(["get", "-s", "--proto", "=https", word])
        #expect(host.status == 1 && host.errors.isEmpty, "\(host.errors)")
    }
}
