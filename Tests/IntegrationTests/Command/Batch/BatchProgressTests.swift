import Testing

@Suite("The progress line of trawl batch", .timeLimit(.minutes(3)))
struct BatchProgressTests {
    /// Sends most of each body, and the rest when a test has seen what it waits for.
    private func origin() throws -> HeldOrigin {
        try HeldOrigin(Array(repeating: UInt8(ascii: "x"), count: 60_004), behind: 60_000)
    }

    @Test("it counts bytes as they come, before any fetch is over")
    func bytesInFlight() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let bed = try BatchBed()
        try bed.putList([origin.url("/a"), origin.url("/b")])
        let run = try bed.start(["--no-cache", "--progress", "plain"])
        // Nothing comes before a worker is ready.
        func lines() -> ArraySlice<Substring> {
            bed.errors.split(separator: "\n").filter { $0.hasPrefix("0/2  ") }.drop { $0.hasPrefix("0/2  0B") }
        }
        #expect(await eventually { !lines().isEmpty || !run.isRunning })
        origin.letGo()
        #expect(run.exitStatus(within: 30_000) == 0)
        #expect(!lines().isEmpty && lines().allSatisfy { !$0.hasPrefix("0/2  0B") }, "\(bed.errors)")
    }

    @Test("it is drawn on a terminal, of the session or not, and makes room for the summary", arguments: [true, false])
    func terminal(isControlling: Bool) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let bed = try BatchBed()
        try bed.putList([origin.url("/a"), origin.url("/b")])
        let terminal = try TerminalProcess(
            try BuiltProducts.trawl(), bed.arguments(["--no-cache"]), isControlling: isControlling)
        let start = "0/2  [....................]  "
        #expect(await eventually { terminal.screen.lastLine.hasPrefix(start) }, "\(terminal.text)")
        origin.letGo()
        #expect(await eventually { terminal.status != nil })
        let screen = terminal.screen
        #expect(terminal.exitCode == 0 && screen.wraps == 0 && screen.strangeBytes.isEmpty, "\(terminal.text)")
        #expect(screen.lines.count == 1 && screen.lines.first?.contains("2 fetched") == true, "\(screen.lines)")
    }

    @Test("on a terminal it says how many have failed, while others run")
    func failures() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let bed = try BatchBed()
        try bed.putList(["http://127.0.0.1:1/", origin.url("/a")])
        let terminal = try TerminalProcess(try BuiltProducts.trawl(), bed.arguments(["--no-cache"]))
        let start = "1/2  [##########..........]  1 failed  "
        #expect(await eventually { terminal.screen.lastLine.hasPrefix(start) }, "\(terminal.text)")
        origin.letGo()
        #expect(await eventually { terminal.status != nil })
        let last = terminal.screen.lines.last
        #expect(terminal.exitCode == 1 && last?.contains("1 fetched, 1 failed") == true, "\(terminal.text)")
    }
}
