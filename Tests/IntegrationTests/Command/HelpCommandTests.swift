import Testing

@Suite("trawl help", .timeLimit(.minutes(1)))
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
}
