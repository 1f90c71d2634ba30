import Testing

@Suite("The progress line of trawl batch", .timeLimit(.minutes(1)))
struct BatchProgressTests {
    @Test("it counts bytes as they come, before any fetch is over")
    func bytesInFlight() async throws {
        try await withOrigin { origin in
            let bed = try BatchBed()
            try bed.putList([origin.url("/bytes/120000?rate=50000"), origin.url("/bytes/120000?rate=50000&seed=1")])
            let run = try bed.run(["--no-cache", "--progress", "plain"])
            #expect(run.status == 0)
            let lines = run.errors.split(separator: "\n").filter { $0.hasPrefix("0/2  ") }
            #expect(!lines.isEmpty && lines.allSatisfy { !$0.hasPrefix("0/2  0B") }, "\(run.errors)")
        }
    }

    @Test("it is drawn on a terminal, of the session or not, and makes room for the summary", arguments: [true, false])
    func terminal(isControlling: Bool) async throws {
        try await withOrigin { origin in
            let bed = try BatchBed()
            try bed.putList([origin.url("/bytes/120000?rate=50000"), origin.url("/bytes/120000?rate=50000&seed=1")])
            let terminal = try TerminalProcess(
                try BuiltProducts.trawl(), bed.arguments(["--no-cache"]), isControlling: isControlling)
            let start = "0/2  [....................]  "
            #expect(await eventually { terminal.screen.lastLine.hasPrefix(start) }, "\(terminal.text)")
            #expect(await eventually { terminal.status != nil })
            let screen = terminal.screen
            #expect(terminal.exitCode == 0 && screen.wraps == 0 && screen.strangeBytes.isEmpty, "\(terminal.text)")
            #expect(screen.lines.count == 1 && screen.lines.first?.contains("2 fetched") == true, "\(screen.lines)")
        }
    }
}
