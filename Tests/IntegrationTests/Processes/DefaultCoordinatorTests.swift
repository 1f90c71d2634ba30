import Testing

@Suite("The default coordinator and the queue all share, ASI-RUN-02, ASI-MISC-05", .timeLimit(.minutes(5)))
struct DefaultCoordinatorTests {
    @Test(
        "is one for all, configured before its first use, and ends with the program",
        arguments: ["return", "exit", "log", "fork"])
    func isShared(ending: String) async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            let program = try ChildProcess(
                try BuiltProducts.product("HostProgram"),
                [
                    "sharing", ending, try BuiltProducts.trawlWorker(), directory.file("socket"), directory.file("x"),
                    origin.url("/bytes/100000000?rate=100000"), origin.url("/bytes/10"),
                ])
            var lines: [String] = []
            while let line = program.readLine() { lines.append(line) }
            let status = program.exitStatus(within: 60_000)
            var expected = [
                "nonsense bad_request", "unusable file", "unstarted file", "same true", "late bad_request",
                "queue true 4 200 invalid_url 200",
            ]
            if ending == "fork" { expected += ["child engine_down", "child ended 0"] }
            expected.append("status 200")
            #expect(lines == expected && status == 0, "\(lines) \(String(describing: status))")
            // In order: nothing is left, whoever ends it. Of one that ends on the engine's thread the socket is.
            let names = try directory.names()
            #expect(names == (ending == "log" ? ["socket"] : []), "\(names)")
            let areGone = await eventually { ProcessTree.unreadBytes(ofConnectionsTo: origin.port).isEmpty }
            #expect(areGone, "workers have ended")
        }
    }
}
