import ArgumentParser
import Testing
import Trawl
import TrawlProtocol

@testable import TrawlCommand

@Suite("What get and batch make of their options")
struct PlanTests {
    private func plan(_ arguments: String...) throws -> GetPlan {
        try GetPlan(GetCommand.parse(arguments))
    }

    @Test("one URL goes to standard output, through this process")
    func single() throws {
        let plan = try plan("h")
        #expect(plan.output == .standardOutput)
        #expect(plan.isSingle && plan.isSequential)
        #expect(plan.configuration.workers == 1)
    }

    @Test("several URLs to standard output come one after the other")
    func sequential() throws {
        let plan = try plan("h", "i")
        #expect(!plan.isSingle && plan.isSequential && plan.parallel == 1)
    }

    @Test("files are fetched several at a time, and the workers make them")
    func parallel() throws {
        let plan = try plan("-O", "-j", "8", "h", "i", "j")
        #expect(plan.output == .remoteNames)
        #expect(!plan.isSequential && plan.parallel == 8)
        #expect(plan.configuration.outputDirectories == [plan.directory])
    }

    @Test(
        "one host may have the larger of 6 and an eighth of -j, unless a batch is told how much",
        arguments: [
            ([], 8), (["-j", "1"], 6), (["-j", "2"], 6), (["-j", "6"], 6), (["-j", "55"], 6), (["-j", "56"], 7),
            (["-j", "63"], 7), (["-j", "4", "--per-host", "4"], 4), (["-j", "4", "--per-host", "0"], 0),
        ] as [([String], Int)])
    func perHost(options: [String], count: Int) throws {
        let plan = try BatchPlan(BatchCommand.parse(["--no-files"] + options))
        #expect(plan.configuration.connectionsPerHost == count)
    }

    @Test("a pipe has no limit of connections to a host, unless it is told one")
    func pipePerHost() throws {
        for (options, count) in [([], 0), (["--per-host", "3"], 3)] as [([String], Int)] {
            #expect(try PipePlan(PipeCommand.parse(options)).configuration.connectionsPerHost == count)
        }
    }

    @Test(
        "fewer fetches at a time than were asked for are told, with the workers that would have them",
        arguments: [
            (4096, 2, 4), (2049, 2, 3), (1025, 1, 2), (4096, 4, nil), (2048, 2, nil), (128, 1, nil),
        ] as [(Int, Int, Int?)])
    func fewerAtATime(parallel: Int, workers: Int, enough: Int?) throws {
        let options = ["-j", "\(parallel)", "--workers", "\(workers)"]
        let told = enough.map {
            "\(workers * 1024) fetches at a time: a worker has no more than 1024; --workers \($0) is enough"
        }
        let pipe = try PipePlan(PipeCommand.parse(options)).configuration
        #expect(RunSetup.shortage(of: pipe) == told)
        let batch = try BatchPlan(BatchCommand.parse(["--no-files"] + options)).configuration
        #expect(RunSetup.shortage(of: batch) == told)
        #expect(RunSetup.shortage(of: Configuration()) == nil)
    }

    @Test("the command tells servers its name and version, and nothing of the system, ASI-REQ-10")
    func userAgent() throws {
        let agents = [
            try plan("h").configuration.userAgent,
            try BatchPlan(BatchCommand.parse(["--no-files"])).configuration.userAgent,
            try PipePlan(PipeCommand.parse([])).configuration.userAgent,
        ]
        #expect(agents == Array(repeating: "trawl/\(BuildIdentity.version)", count: 3))
    }

    @Test("a list alone, and a directory alone, mean names from URLs")
    func implied() throws {
        #expect(try plan("-i", "-").output == .remoteNames)
        #expect(try plan("--output-dir", "/", "h").output == .remoteNames)
        #expect(try plan("-i", "-", "-o", "-").output == .standardOutput)
        #expect(try plan("-o", "/dev/stdout", "h").output == .standardOutput)
    }

    @Test("a list that is not there is told with its option, and with curl's own -i")
    func missingList() {
        for (list, shown) in [("/no/such", "/no/such"), ("http://u:p@h/", "http://h/")] {
            let message = "-i: \(shown): No such file or directory"
            #expect(throws: CommandError("\(message) (-i is a list of URLs; heads are written by --include)")) {
                try plan("-i", list)
            }
        }
    }

    @Test("files of -o are the same when their bytes are, not when Unicode takes them for one text")
    func normalForms() throws {
        let names = ["e\u{301}", "\u{E9}"]
        let plan = try plan("-o", names[0], "-o", names[1], "--output-dir", "/", "h", "i")
        #expect(plan.requests.map { Array(($0.out ?? "").utf8) } == names.map { Array($0.utf8) })
    }

    @Test("files of -o are numbered where they would be the same, devices are not")
    func sameOutputs() throws {
        let plan = try plan(
            "-o", "f.1", "-o", "f", "-o", "f", "-o", "/dev/null", "-o", "/dev/null", "-o", "f", "--output-dir", "/",
            "a", "b", "c", "d", "e", "f")
        #expect(plan.requests.map(\.out) == ["f.1", "f", "f.2", "/dev/null", "/dev/null", "f.3"])
        #expect(plan.renamed.map(\.out) == ["f.2", "f.3"])
    }

    @Test("the n-th file to send is for the n-th URL, which it names where that is a directory")
    func uploads() throws {
        let directory = try ScratchDirectory()
        try directory.put("list", "1")
        try directory.put("results", "2")
        let files = ["list", "results"].flatMap { ["-T", directory.path + "/" + $0] }
        let plan = try GetPlan(GetCommand.parse(files + ["h/", "i/x", "j/"]))
        #expect(plan.requests.map(\.url) == ["http://h/list", "http://i/x", "http://j/"])
        let bodies: [[UInt8]?] = [Array("1".utf8), Array("2".utf8), nil]
        #expect(plan.requests.map { $0.own?.body } == bodies)
        let methods: [String?] = ["PUT", "PUT", nil]
        #expect(plan.requests.map { $0.own?.method } == methods)
        #expect(plan.template.method == nil && plan.template.body == .none)
        let posted = try GetPlan(GetCommand.parse(["-X", "POST", "-T", directory.path + "/list", "h"]))
        let own = try #require(posted.requests.first?.own)
        #expect(posted.template.changed(by: own).method == .post)
        withExtendedLifetime(directory) {}
    }

    @Test("what only this process can write makes it one at a time")
    func passesThrough() throws {
        #expect(try plan("-OJ", "h", "i").isSequential)
        #expect(try plan("-OJ", "h").namesFromHeads && plan("-J", "--output-dir", "/", "h").namesFromHeads)
        // -J alone names nothing, as in curl.
        let alone = try plan("-J", "h")
        #expect(alone.output == .standardOutput && !alone.namesFromHeads)
        #expect(try plan("-O", "--include", "h", "i").isSequential)
        #expect(try plan("-O", "-v", "h", "i").isSequential)
        #expect(try plan("-o", "a", "-o", "/dev/stderr", "h", "i").isSequential)
        #expect(try !plan("-o", "a", "-o", "b", "h", "i").isSequential)
    }

    @Test("an automatic Referer is refused, since none is made")
    func automaticReferer() {
        for text in [";auto", "http://r/;auto"] {
            #expect(throws: CommandError.self) { try plan("-e", text, "h") }
        }
    }

    @Test("heads are written with --include and --head")
    func heads() throws {
        #expect(try plan("--include", "h").writesHeads)
        #expect(try plan("-I", "h").writesHeads)
        #expect(try !plan("h").writesHeads)
    }

    @Test(
        "a directory that is missing or cannot be made is told by its name, before anything is fetched",
        arguments: [
            (["--output-dir", "/nonexistent/dir"], "/nonexistent/dir: No such file or directory"),
            (["--output-dir", "/dev/null", "-O"], "/dev/null: Not a directory"),
            (["--create-dirs", "--output-dir", "/proc/none", "-O"], "/proc/none: No such file or directory"),
            (["--create-dirs", "-o", "/proc/none/file"], "/proc/none/file: No such file or directory"),
        ])
    func missingDirectory(arguments: [String], message: String) {
        #expect(throws: CommandError(message, status: 73, curlStatus: 23)) {
            try GetPlan(GetCommand.parse(arguments + ["h"]))
        }
    }
}
