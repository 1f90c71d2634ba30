import Foundation
import Glibc
import Testing

/// The command in a window of its own.
@Suite("trawl get on a terminal", .timeLimit(.minutes(2)))
struct TerminalTests {
    private func get(
        _ arguments: [String], columns: Int = 80, output: String? = nil, errors: String? = nil,
        isControlling: Bool = true
    ) throws -> TerminalProcess {
        try TerminalProcess(
            try BuiltProducts.trawl(), ["get"] + arguments, columns: columns, output: output, errors: errors,
            isControlling: isControlling)
    }

    private func ended(_ terminal: TerminalProcess) async -> Bool {
        await eventually { terminal.status != nil }
    }

    /// An origin of bodies as long as their targets say, whose second half comes once the occasion has come.
    private func origin(holding half: Occasion) throws -> ScriptedOrigin {
        try ScriptedOrigin { seen in
            let bytes = ReferenceBytes.bytes(Int(seen.target.dropFirst()) ?? 100_000)
            var answer = ScriptedOrigin.Answer()
            answer.body = Array(bytes[..<(bytes.count / 2)])
            answer.rest = (Array(bytes[(bytes.count / 2)...]), half)
            return answer
        }
    }

    // MARK: Progress

    @Test("the progress line fits the window, and nothing of it stays", arguments: [80, 20])
    func progress(columns: Int) async throws {
        let half = Occasion()
        let origin = try origin(holding: half)
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let terminal = try get(["-o", directory.file("x"), origin.url("/100000")], columns: columns)
        #expect(await eventually { terminal.screen.lastLine.hasPrefix("100000  ") })
        half.open()
        #expect(await ended(terminal))
        let screen = terminal.screen
        #expect(terminal.exitCode == 0)
        #expect(screen.wraps == 0 && screen.lines.isEmpty && screen.strangeBytes.isEmpty, "\(terminal.text)")
        #expect(directory.content("x") == ReferenceBytes.bytes(100_000))
    }

    @Test("it is drawn on a terminal that is not the one of the session, too")
    func foreignTerminal() async throws {
        let half = Occasion()
        let origin = try origin(holding: half)
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let terminal = try get(["-o", directory.file("x"), origin.url("/100000")], isControlling: false)
        #expect(await eventually { terminal.screen.lastLine.hasPrefix("100000  ") }, "\(terminal.text)")
        half.open()
        #expect(await ended(terminal))
        #expect(terminal.exitCode == 0 && terminal.screen.lines.isEmpty, "\(terminal.text)")
    }

    @Test("it is drawn ten times a second at most, however often bytes come, and not in the first half second")
    func pace() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let clock = ContinuousClock()
            let start = clock.now
            // A minute and a half of it.
            let terminal = try get(["-o", directory.file("x"), origin.url("/drip?bytes=90000&step=10&interval=10")])
            func frames() -> Int { terminal.text.split(separator: "\r").count { $0.hasPrefix("drip  ") } }
            #expect(await eventually { clock.now - start >= .seconds(2) && frames() > 0 }, "\(terminal.text)")
            terminal.type("\u{3}")
            #expect(await ended(terminal))
            // The whole life of the process, so never less than the display had.
            let elapsed = (clock.now - start) / .seconds(1)
            #expect(Double(frames()) <= 1 + (elapsed - 0.5) * 10, "\(frames()) in \(elapsed) s")
        }
    }

    @Test("a window of one column has no room for it")
    func narrowest() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let terminal = try get(["-o", directory.file("x"), origin.url("/bytes/80000?rate=80000")], columns: 1)
            #expect(await ended(terminal))
            #expect(terminal.exitCode == 0 && terminal.written.isEmpty, "\(terminal.text)")
        }
    }

    @Test("it follows the window when that becomes narrower and wider")
    func resize() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let shown = try get(["-o", directory.file("x"), origin.url("/stall?after=1000&declared=900000")])
            #expect(await eventually { shown.screen.lastLine.count > 40 })
            // Standing still, so that no line of the old width comes after the change.
            kill(shown.pid, SIGSTOP)
            #expect(await eventually { ProcessTree.state(of: shown.pid) == "T" })
            shown.resize(columns: 20)
            let before = shown.written.count
            kill(shown.pid, SIGCONT)
            #expect(await eventually { shown.written.count > before + 60 })
            let frames = String(decoding: shown.written[before...], as: UTF8.self).split(separator: "\r").dropLast()
            #expect(!frames.isEmpty && frames.allSatisfy { $0.count < 20 }, "\(frames)")
            shown.resize(columns: 60)
            #expect(await eventually { shown.screen.lastLine.count > 30 })
            shown.type("\u{3}")
            #expect(await ended(shown))
            #expect(shown.endingSignal == SIGINT)
            #expect(shown.screen.lastLine.isEmpty)
        }
    }

    @Test("messages take its place, and it comes back below them")
    func messages() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let halves = [Occasion(), Occasion()]
            let first = try self.origin(holding: halves[0])
            let third = try self.origin(holding: halves[1])
            defer {
                first.stop()
                third.stop()
            }
            let urls = [
                first.url("/90000"), "http://127.0.0.1:1/", third.url("/60000"), origin.url("/reset?after=0&head=0"),
            ]
            let terminal = try get(["-j", "1", "--output-dir", directory.path] + urls, columns: 200)
            #expect(await eventually { terminal.screen.lastLine.hasPrefix("0/4  ") })
            halves[0].open()
            let bar = "[##########..........]"
            #expect(
                await eventually { terminal.screen.lastLine.hasPrefix("2/4  \(bar)  1 failed  ") }, "\(terminal.text)")
            halves[1].open()
            #expect(await ended(terminal))
            let screen = terminal.screen
            #expect(terminal.exitCode == 1)
            #expect(
                screen.lines.count == 2 && screen.lines.allSatisfy { $0.hasPrefix("trawl: http://127.0.0.1:") },
                "\(screen.lines)")
            #expect(screen.lastLine.isEmpty && screen.strangeBytes.isEmpty)
        }
    }

    @Test("it is drawn on standard error when that is a terminal, and nowhere else")
    func onTerminalOnly() async throws {
        let half = Occasion()
        let origin = try origin(holding: half)
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let url = origin.url("/60000")
        let elsewhere = try get(["-o", directory.file("x"), url], errors: directory.file("errors"))
        let both = try get(["-o", "-", url])
        #expect(await eventually { origin.seen().count == 2 })
        let body = try get([url], output: directory.file("body"))
        // Half a second after its beginning at the earliest: in the others, too, it would stand by then.
        #expect(await eventually { body.text.contains("60000  ") })
        half.open()
        #expect(await ended(elsewhere))
        #expect(elsewhere.written.isEmpty && directory.content("errors") == [])
        #expect(await ended(body))
        #expect(body.text.contains("60000  ") && body.screen.lines.isEmpty)
        #expect(directory.content("body") == ReferenceBytes.bytes(60000))
        #expect(await ended(both))
        #expect(!both.text.contains("60000  "))
    }

    // MARK: Keys

    @Test("Ctrl-C lets what runs come to its end, starts nothing more, and leaves no worker")
    func interruptDrains() async throws {
        let half = Occasion()
        let origin = try origin(holding: half)
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let urls = (1...4).map { origin.url("/3000\($0)") }
        let terminal = try get(["-j", "2", "--workers", "2", "--output-dir", directory.path] + urls)
        #expect(await eventually { origin.seen().count == 2 && ProcessTree.children(of: terminal.pid).count == 2 })
        let workers = ProcessTree.children(of: terminal.pid)
        terminal.type("\u{3}")
        #expect(await eventually { terminal.screen.lastLine.hasSuffix("  stopping") })
        half.open()
        #expect(await ended(terminal))
        #expect(terminal.exitCode == 75)
        #expect(try directory.names() == ["30001", "30002"])
        #expect(directory.content("30001") == ReferenceBytes.bytes(30001))
        #expect(directory.content("30002") == ReferenceBytes.bytes(30002))
        #expect(origin.seen().count == 2)
        #expect(await eventually { workers.allSatisfy { kill($0, 0) != 0 } })
        #expect(terminal.screen.lines.isEmpty)
    }

    @Test("Ctrl-C again ends it at once, and leaves no worker and no file")
    func interruptTwice() async throws {
        // A busy machine may need long for the end itself: one try is enough.
        var least = try await timeOfSecondInterrupt()
        for _ in 0..<2 where least >= .seconds(8) { least = try await timeOfSecondInterrupt() }
        #expect(least < .seconds(8), "the drain would take ten seconds")
    }

    /// How long it takes from the second Ctrl-C to the end.
    private func timeOfSecondInterrupt() async throws -> Duration {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let urls = (1...4).map { origin.url("/stall?after=100\($0)") }
            let clock = ContinuousClock()
            let terminal = try get(["-j", "2", "--workers", "2", "--output-dir", directory.path] + urls)
            #expect(await eventually { (try? origin.log(prefix: "/stall").count) == 2 })
            let workers = ProcessTree.children(of: terminal.pid)
            terminal.type("\u{3}")
            // Two signals of a kind that come together count as one.
            #expect(await eventually { terminal.screen.lastLine.hasSuffix("  stopping") })
            let start = clock.now
            terminal.type("\u{3}")
            #expect(await ended(terminal))
            let time = clock.now - start
            #expect(terminal.exitCode == 75)
            #expect(await eventually { workers.allSatisfy { kill($0, 0) != 0 } })
            #expect(try directory.names().isEmpty)
            return time
        }
    }

    @Test("Ctrl-C ends a single fetch by that signal")
    func interruptSingle() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let terminal = try get(["-o", directory.file("x"), origin.url("/stall?after=1000")])
            #expect(await eventually { terminal.screen.lastLine.count > 5 })
            let workers = ProcessTree.children(of: terminal.pid)
            terminal.type("\u{3}")
            #expect(await ended(terminal))
            #expect(terminal.endingSignal == SIGINT)
            #expect(terminal.screen.lines.isEmpty)
            #expect(await eventually { workers.allSatisfy { kill($0, 0) != 0 } })
            #expect(try directory.names().isEmpty)
        }
    }

    @Test("Ctrl-Z stops command and workers, and in the foreground again they go on to the right end")
    func suspend() async throws {
        let half = Occasion()
        let origin = try origin(holding: half)
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        // A shell gives the command a process group that somebody can continue.
        let script = "set -m; \"$@\"; echo \"left $?\"; read -r line; fg >/dev/null; echo \"done $?\""
        let terminal = try TerminalProcess(
            "/bin/bash",
            ["--norc", "--noprofile", "-c", script, "bash", try BuiltProducts.trawl(), "-o", directory.file("x")]
                + [origin.url("/90000")])
        #expect(await eventually { terminal.screen.lastLine.hasPrefix("90000  ") })
        let command = try #require(ProcessTree.children(of: terminal.pid).first)
        let worker = try #require(ProcessTree.children(of: command).first)
        terminal.type("\u{1A}")
        #expect(
            await eventually {
                ProcessTree.state(of: command) == "T" && ProcessTree.state(of: worker) == "T"
                    && terminal.text.contains("left 148")
            }, "\(terminal.text)")
        #expect(!terminal.screen.lines.contains { $0.hasPrefix("90000  ") })
        terminal.type("\n")
        half.open()
        #expect(await ended(terminal))
        #expect(terminal.text.contains("done 0"), "\(terminal.text)")
        #expect(directory.content("x") == ReferenceBytes.bytes(90000))
    }

    // MARK: Bytes of others

    @Test("control characters from the network do not reach the terminal as they are")
    func escapes() async throws {
        try await withOrigin { origin in
            let head =
                "HTTP/1.1 200 \u{1B}[31mred\r\nX-Evil: \u{1B}]0;owned\u{7}\u{1B}[2J\r\nContent-Length: 3\r\n\r\nok\n"
            let url = origin.url("/raw?b64=" + Data(head.utf8).base64EncodedString().percentEncoded)
            for arguments in [
                ["-v", url], ["--include", url], ["-I", url], ["-o", "/dev/null", "-w", "%header{x-evil}\n", url],
                ["-o", "/dev/null", "-w", "%{stderr}%header{x-evil}\n", url], ["http://\u{1B}[2J\u{9B}/"],
                ["-D", "-", "-o", "/dev/null", url], ["-D", "/dev/stderr", "-o", "/dev/null", url],
                ["-i", "no\u{1B}[2Jfile"], ["--\u{1B}[2J"], ["-K", "no\u{1B}[2Jfile"],
            ] {
                let terminal = try get(arguments)
                #expect(await ended(terminal))
                #expect(
                    !terminal.written.isEmpty && terminal.screen.strangeBytes.isEmpty,
                    "\(terminal.text.debugDescription)")
            }
            // In a pipe they are data.
            let directory = try TemporaryDirectory()
            let piped = try get(
                ["-w", "%header{x-evil}", "-o", "/dev/null", url], output: directory.file("output"))
            #expect(await ended(piped))
            #expect(directory.content("output") == Array("\u{1B}]0;owned\u{7}\u{1B}[2J".utf8))
            let dumped = try get(["-D", directory.file("heads"), "-o", "/dev/null", url])
            #expect(await ended(dumped))
            #expect(directory.content("heads")?.contains(0x1B) == true)
        }
    }

    @Test("the name in a progress line is plain, whatever the URL says")
    func escapedName() async throws {
        let half = Occasion()
        let origin = try origin(holding: half)
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let terminal = try get(["-o", directory.file("x"), origin.url("/\u{E9}%1B%5B2J")])
        #expect(await eventually { terminal.screen.lastLine.hasPrefix("\\u{e9}%1B%5B2J  ") }, "\(terminal.text)")
        half.open()
        #expect(await ended(terminal))
        #expect(terminal.exitCode == 0 && terminal.screen.strangeBytes.isEmpty, "\(terminal.text)")
    }
}
