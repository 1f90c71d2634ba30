import Foundation
import Glibc
import Testing
import Trawl

@Suite("trawl top", .serialized, .timeLimit(.minutes(2)))
struct TopCommandTests {
    /// A coordinator with something to tell, and its socket.
    private func withRun(_ body: (String) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("socket")
        try await withOrigin { origin in
            try await withTestCoordinator {
                $0.statusSocket = .path(path)
                $0.programName = "test"
            } _: { coordinator in
                let stalled = coordinator.start(Request(origin.url("/stall?after=10")), into: .discard)
                #expect(await eventually { (try? origin.log(prefix: "/stall").count) == 1 })
                try await body(path)
                stalled.cancel()
                _ = try? await stalled.response
            }
        }
    }

    private func top(_ arguments: [String], columns: Int = 80) throws -> TerminalProcess {
        try TerminalProcess(
            "/usr/bin/env", ["TERM=xterm", try BuiltProducts.trawl(), "top"] + arguments, columns: columns)
    }

    /// What is drawn: one text for each picture.
    private func frames(_ terminal: TerminalProcess) -> [[String]] {
        terminal.text.components(separatedBy: "\u{1B}[H").dropFirst().map { frame in
            // The terminal makes two bytes of each line feed.
            let lines = frame.unicodeScalars.filter { $0 != "\r" }.split(
                separator: "\n", omittingEmptySubsequences: false)
            return lines.map { String($0).replacing("\u{1B}[K", with: "").replacing("\u{1B}[J", with: "") }
        }
    }

    private static let entering = "\u{1B}[?1049h\u{1B}[?25l"
    private static let leaving = "\u{1B}[?25h\u{1B}[?1049l"

    @Test("without a terminal pictures are lines, so many as are wanted")
    func plain() async throws {
        try await withRun { path in
            let run = try CommandRun(["top", "--frames", "3", "--interval", "0.1", path])
            #expect(run.status == 0 && run.errors.isEmpty)
            #expect(!run.text.contains("\u{1B}") && !run.text.contains("q ends"))
            #expect(run.text.components(separatedBy: "trawl test \(getpid())  up ").count == 4)
            #expect(run.text.contains("\nfetches   0 done, 0 failed, 1 in flight, 0 waiting\n"))
        }
    }

    @Test("on a terminal it is drawn again and again, and fits", arguments: [80, 30, 2])
    func drawn(columns: Int) async throws {
        try await withRun { path in
            let terminal = try top(["--interval", "0.1", path], columns: columns)
            #expect(await eventually { frames(terminal).count > 3 })
            terminal.type("q")
            #expect(await eventually { terminal.status != nil })
            #expect(terminal.exitCode == 0)
            #expect(terminal.text.hasPrefix(Self.entering) && terminal.text.hasSuffix(Self.leaving))
            for frame in frames(terminal).dropLast() {
                #expect(frame.allSatisfy { $0.count < columns }, "\(frame)")
                #expect(frame.count <= 24)
            }
            if columns == 80 {
                #expect(frames(terminal)[0][0].hasPrefix("trawl top: 1 running; q ends"))
                #expect(frames(terminal)[0][2].hasPrefix("trawl test \(getpid())  up "))
            }
        }
    }

    @Test("a window of one column has room for nothing, and that is no mistake")
    func narrowest() async throws {
        try await withRun { path in
            let terminal = try top(["--interval", "0.1", "--frames", "2", path], columns: 1)
            #expect(await eventually { terminal.status != nil })
            #expect(terminal.exitCode == 0)
            #expect(frames(terminal).prefix(1).allSatisfy { $0 == [""] })
        }
    }

    @Test("it follows the window before the next picture is due")
    func resize() async throws {
        try await withRun { path in
            let terminal = try top(["--interval", "60", path])
            #expect(await eventually { frames(terminal).count == 1 })
            terminal.resize(columns: 20)
            #expect(await eventually { frames(terminal).count == 2 })
            #expect(frames(terminal)[1].allSatisfy { $0.count < 20 })
            terminal.type("q")
            #expect(await eventually { terminal.status != nil })
        }
    }

    @Test("Ctrl-C ends it too, and a shell has its terminal back as it was")
    func interrupt() async throws {
        try await withRun { path in
            let script =
                "stty -a > \"$2.before\"; trap : INT; TERM=xterm \"$1\" top --interval 0.1 \"$2\"; "
                + "echo \"left $?\"; stty -a > \"$2.after\""
            let terminal = try TerminalProcess(
                "/bin/bash", ["--norc", "--noprofile", "-c", script, "bash", try BuiltProducts.trawl(), path])
            #expect(await eventually { frames(terminal).count > 1 })
            terminal.type("\u{3}")
            #expect(await eventually { terminal.status != nil })
            #expect(terminal.text.contains(Self.leaving + "left 0"), "\(terminal.text.suffix(200))")
            let before = FileManager.default.contents(atPath: path + ".before")
            #expect(before?.isEmpty == false && before == FileManager.default.contents(atPath: path + ".after"))
        }
    }

    @Test("SIGTERM ends it by that signal, with the terminal in order")
    func terminated() async throws {
        try await withRun { path in
            let terminal = try top(["--interval", "0.1", path])
            #expect(await eventually { frames(terminal).count > 1 })
            kill(terminal.pid, SIGTERM)
            #expect(await eventually { terminal.status != nil })
            #expect(terminal.endingSignal == SIGTERM && terminal.text.hasSuffix(Self.leaving))
        }
    }

    @Test("Ctrl-\\ ends it by that signal, with the terminal in order")
    func quit() async throws {
        try await withRun { path in
            // No core file is left.
            let script = "ulimit -c 0; exec \"$@\""
            let terminal = try TerminalProcess(
                "/bin/sh",
                [
                    "-c", script, "sh", "/usr/bin/env", "TERM=xterm", try BuiltProducts.trawl(), "top", "--interval",
                    "0.1", path,
                ], echoes: true)
            #expect(await eventually { frames(terminal).count > 1 && !terminal.echoes })
            terminal.type("\u{1C}")
            #expect(await eventually { terminal.status != nil })
            #expect(terminal.endingSignal == SIGQUIT && terminal.text.hasSuffix(Self.leaving))
            #expect(terminal.echoes && terminal.handsOnLines)
        }
    }

    @Test("it ends with the run that was asked for")
    func over() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("socket")
        var configuration = try testConfiguration(workers: 0)
        configuration.statusSocket = .path(path)
        let coordinator = try Coordinator(configuration)
        let terminal = try top(["--interval", "0.1", path])
        #expect(await eventually { frames(terminal).count > 1 })
        await coordinator.shutdown()
        #expect(await eventually { terminal.status != nil })
        #expect(terminal.exitCode == 0 && terminal.text.hasSuffix(Self.leaving))
    }

    @Test("bytes of a stranger are drawn as plain text")
    func strange() async throws {
        let directory = try TemporaryDirectory()
        let report = """
            {"v":1,"program":"\\u001b[31m\\u009b\\u202e","pid":1,"uptime":1,"stage":"running","fetches":{"waiting":0,\
            "waiting_for_network":0,"in_flight":0,"done":0,"failed":0,"retries":0},"traffic":{"received":0,"sent":0,"received_per_second":0,\
            "sent_per_second":0,"received_limit":null,"sent_limit":null,"joint_limit":false,"throttled":false},"cache":\
            {"hits":0,"validated":0,"stale":0,"misses":0},"errors":[],"workers":[],"host_count":1,"hosts":[{"origin":\
            "http://\\u001b]0;x\\u0007/","in_flight":1,"waiting":0,"state":"ready","snoozed_for":null,"circuit":"closed"}]}

            """
        let stranger = try ScriptedReport(Array(report.utf8), at: directory.file("socket"))
        let terminal = try top(["--interval", "0.1", "--frames", "2", stranger.path])
        #expect(await eventually { terminal.status != nil })
        let drawn = frames(terminal).dropLast().joined().joined()
        #expect(drawn.contains("\\u{1b}[31m\\u{9b}\\u{202e}") && drawn.contains("http://\\u{1b}]0;x\\u{7}/"))
        #expect(drawn.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
        let plain = try CommandRun(["status", stranger.path])
        #expect(plain.status == 0 && plain.text.utf8.allSatisfy { $0 == 0x0A || (0x20..<0x7F).contains($0) })
    }
}
