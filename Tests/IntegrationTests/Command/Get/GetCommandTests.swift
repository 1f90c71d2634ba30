import Foundation
import Testing

/// The command as a person runs it: one file, started again as its own worker.
@Suite("trawl get", .timeLimit(.minutes(5)))
struct GetCommandTests {
    private struct Run {
        let status: Int32
        let wasSignalled: Bool
        let output: Data
        let errors: String
    }

    private func start(_ arguments: [String], output: Any, errors: Any) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try BuiltProducts.trawl())
        process.arguments = ["get"] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        return process
    }

    private func run(_ arguments: [String]) throws -> Run {
        let directory = try TemporaryDirectory()
        let (output, errors) = (directory.file("output"), directory.file("errors"))
        for path in [output, errors] { _ = FileManager.default.createFile(atPath: path, contents: nil) }
        let process = try start(
            arguments, output: FileHandle(forWritingAtPath: output) as Any,
            errors: FileHandle(forWritingAtPath: errors) as Any)
        process.waitForEnd()
        return Run(
            status: process.terminationStatus, wasSignalled: process.terminationReason == .uncaughtSignal,
            output: try Data(contentsOf: URL(fileURLWithPath: output)),
            errors: try String(contentsOf: URL(fileURLWithPath: errors), encoding: .utf8))
    }

    @Test("one URL goes to standard output, several in their order")
    func standardOutput() async throws {
        try await withOrigin { origin in
            let one = try run([origin.url("/bytes/5000")])
            #expect(one.status == 0 && one.errors.isEmpty)
            #expect(one.output == Data(ReferenceBytes.bytes(5000)))
            let two = try run([origin.url("/bytes/3?seed=2"), origin.url("/bytes/4?seed=3")])
            #expect(two.output == Data(ReferenceBytes.bytes(3, seed: 2) + ReferenceBytes.bytes(4, seed: 3)))
        }
    }

    @Test("a single URL ends with curl's status, and says why in one line")
    func statuses() async throws {
        try await withOrigin { origin in
            let cases: [(status: Int32, arguments: [String])] = [
                (1, ["gopher://127.0.0.1/"]), (3, ["http://a b/"]), (7, ["http://127.0.0.1:1/"]),
                (22, ["-f", origin.url("/status/404")]), (47, ["-L", "--max-redirs", "2", origin.url("/redirect/5")]),
                (28, ["-m", "0.3", origin.url("/stall")]), (18, [origin.url("/truncate?declared=100&sent=10")]),
                (2, ["--workers", "0", origin.url("/")]), (2, ["--workers", "1000000", origin.url("/")]),
                (2, ["--no-such-flag"]), (23, ["-o", "/proc/no/such/file", origin.url("/bytes/10")]),
                // An address that refused, as ::1 does here, is no reason for what failed at the next one.
                (52, ["http://localhost:\(origin.port)/close"]),
            ]
            for (status, arguments) in cases {
                let run = try run(arguments)
                #expect(run.status == status && !run.wasSignalled, "\(arguments): \(run.errors)")
                #expect(run.errors.hasPrefix("trawl: "), "\(arguments): \(run.errors)")
            }
        }
    }

    @Test("a file has its name when it is complete, and a list fetches the rest when one URL fails")
    func files() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let good = try run(["-o", directory.file("a"), origin.url("/bytes/70000")])
            #expect(good.status == 0 && good.output.isEmpty)
            #expect(
                try Data(contentsOf: URL(fileURLWithPath: directory.file("a"))) == Data(ReferenceBytes.bytes(70000)))
            let list = [origin.url("/bytes/10") + "\tb", "http://127.0.0.1:1/x", origin.url("/bytes/20") + "\tc"]
            try list.joined(separator: "\n").write(toFile: directory.file("list"), atomically: false, encoding: .utf8)
            let run = try run(["-q", "-i", directory.file("list"), "--output-dir", directory.path])
            #expect(run.status == 1, "\(run.errors)")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == ["a", "b", "c", "list"])
        }
    }

    @Test("a reader that has gone is a quiet success")
    func closedOutput() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            _ = FileManager.default.createFile(atPath: directory.file("errors"), contents: nil)
            let pipe = Pipe()
            try pipe.fileHandleForReading.close()
            let process = try start(
                [origin.url("/endless")], output: pipe,
                errors: FileHandle(forWritingAtPath: directory.file("errors")) as Any)
            process.waitForEnd()
            #expect(process.terminationStatus == 0 && process.terminationReason == .exit)
            #expect(try Data(contentsOf: URL(fileURLWithPath: directory.file("errors"))).isEmpty)
        }
    }

    @Test("a standard output without room is an error, however much is to come", arguments: ["/bytes/10", "/endless"])
    func fullOutput(target: String) async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            try directory.put("errors", [])
            let process = try start(
                [origin.url(target)], output: FileHandle(forWritingAtPath: "/dev/full") as Any,
                errors: FileHandle(forWritingAtPath: directory.file("errors")) as Any)
            process.waitForEnd()
            let errors = String(decoding: directory.content("errors") ?? [], as: UTF8.self)
            #expect(process.terminationStatus == 23 && process.terminationReason == .exit, "\(errors)")
            #expect(errors == "trawl: (23) \(origin.url(target)): standard output: No space left on device\n")
        }
    }

    @Test("a standard output that is closed is an error, and what is opened meanwhile does not get the body")
    func noOutput() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let url = origin.url("/bytes/200000")
            let command = ["-c", "exec \"$0\" get \"$@\" >&-", try BuiltProducts.trawl()]
            // A file of the command's own is the first to get the number that is free.
            let told = try CommandRun(program: "/bin/sh", command + ["-D", directory.file("heads"), url])
            #expect(told.status == 23 && !told.wasSignalled)
            #expect(told.errors == "trawl: (23) \(url): standard output: Bad file descriptor\n")
            let heads = String(decoding: directory.content("heads") ?? [], as: UTF8.self)
            #expect(heads.hasPrefix("HTTP/1.1 200 ") && heads.utf8.count < 2000, "\(heads.utf8.count) bytes")
            // Who writes nothing there does not need it.
            let saved = try CommandRun(program: "/bin/sh", command + ["-o", directory.file("body"), url])
            #expect(saved.status == 0 && saved.errors.isEmpty, "\(saved.errors)")
            #expect(directory.content("body") == ReferenceBytes.bytes(200_000))
        }
    }

    @Test("an interrupt ends it by that signal, with its worker, and leaves no file")
    func interrupt() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let process = try start(
                ["-s", "-o", directory.file("x"), origin.url("/stall?after=1000")], output: FileHandle.nullDevice,
                errors: FileHandle.nullDevice)
            #expect(await eventually { (try? origin.log(prefix: "/stall").count) == 1 })
            let workers = ProcessTree.children(of: process.processIdentifier)
            #expect(workers.count == 1)
            kill(process.processIdentifier, SIGINT)
            process.waitForEnd()
            #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGINT)
            #expect(await eventually { workers.allSatisfy { kill($0, 0) != 0 } })
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        }
    }

    @Test("where its worker dies after the head, one head is written")
    func oneHead() async throws {
        let never = Occasion()
        let origin = try ScriptedOrigin { seen in
            var answer = ScriptedOrigin.Answer(200, "begun")
            if seen.number == 1 {
                answer.rest = (Array(" and ended".utf8), never)
            } else {
                answer.body += Array(" and ended".utf8)
            }
            return answer
        }
        defer {
            never.open()
            origin.stop()
        }
        let directory = try TemporaryDirectory()
        let run = try ChildProcess(
            try BuiltProducts.trawl(),
            ["get", "-s", "--no-cache", "-D", directory.file("heads"), "-o", directory.file("body"), origin.url("/")])
        #expect(await eventually { directory.content("heads")?.isEmpty == false })
        for worker in ProcessTree.children(of: run.pid) { kill(worker, SIGKILL) }
        #expect(run.exitStatus(within: 60_000) == 0)
        #expect(origin.seen().count == 2)
        #expect(directory.content("body") == Array("begun and ended".utf8))
        let heads = String(decoding: directory.content("heads") ?? [], as: UTF8.self)
        #expect(heads.components(separatedBy: "HTTP/1.1 200").count == 2, "\(heads)")
    }

    @Test("the progress of a body that is decoded is that of the bytes that come")
    func progressOfCodedBody() async throws {
        // gzip of a hundred times the letter a, as zlib has it.
        let packed: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 76, 164, 61, 0, 0, 100, 122, 112, 175, 100, 0, 0, 0,
        ]
        let origin = try HeldOrigin(packed, behind: 20, [("Content-Encoding", "gzip")])
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let run = try ChildProcess(
            try BuiltProducts.trawl(),
            ["get", "--no-cache", "--compressed", "--progress", "plain", "-o", "-", origin.url("/page")],
            errors: directory.file("errors"))
        func errors() -> String { String(decoding: directory.content("errors") ?? [], as: UTF8.self) }
        #expect(await eventually { errors().contains("83%") }, "\(errors())")
        origin.letGo()
        #expect(run.exitStatus(within: 60_000) == 0)
        #expect(!errors().contains("100B/24B"), "\(errors())")
    }

    @Test("stopped by the terminal, its worker stops too, and both go on together")
    func stopAndContinue() async throws {
        func state(_ pid: pid_t) -> Character? {
            guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return nil }
            return text[text.index(text.lastIndex(of: ")") ?? text.startIndex, offsetBy: 2)...].first
        }
        let body = ReferenceBytes.bytes(60_000)
        let origin = try HeldOrigin(body, behind: 30_000)
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let process = try start(
            ["-s", "-o", directory.file("x"), origin.url("/")], output: FileHandle.nullDevice,
            errors: FileHandle.nullDevice)
        let pid = process.processIdentifier
        #expect(await eventually { origin.count == 1 })
        let worker = try #require(ProcessTree.children(of: pid).first)
        kill(pid, SIGTSTP)
        #expect(await eventually { state(pid) == "T" && state(worker) == "T" })
        kill(pid, SIGCONT)
        origin.letGo()
        process.waitForEnd()
        #expect(process.terminationStatus == 0)
        #expect(directory.content("x") == body)
    }
}
