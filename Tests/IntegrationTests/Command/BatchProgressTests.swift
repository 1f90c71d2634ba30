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
}
