import Testing
import Trawl

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

    // In a process of its own, whose default coordinator nobody else uses.
    @Test("makes four fetches at a time, however many are started")
    func width() async {
        await #expect(processExitsWith: .success) {
            let (running, most, gate) = (Locked(0), Locked(0), Occasion())
            let origin = try ScriptedOrigin { seen in
                guard seen.target != "/other" else { return ScriptedOrigin.Answer(200, "fine") }
                let now = running.withLock { count in
                    count += 1
                    return count
                }
                most.withLock { $0 = max($0, now) }
                gate.wait()
                running.withLock { $0 -= 1 }
                return ScriptedOrigin.Answer(200, "fine")
            }
            defer {
                gate.open()
                origin.stop()
            }
            try Coordinator.configureDefault(testConfiguration())
            let fetches = (0..<12).map { Request(origin.url("/\($0)")).start() }
            let areFour = await eventually { running.withLock { $0 } == 4 }
            expectInChild(areFour, "\(running.withLock { $0 }) at once")
            // What is asked for after them, and not by the queue, is answered: what else there was to come is there.
            for _ in 0..<20 {
                let other = try await Coordinator.default.send(Request(origin.url("/other")))
                expectInChild(other.status == 200, "\(other.status)")
            }
            expectInChild(running.withLock { $0 } == 4, "\(running.withLock { $0 }) at once")
            gate.open()
            for fetch in fetches {
                let response = try await fetch.response
                expectInChild(response.status == 200, "\(response.status)")
            }
            expectInChild(most.withLock { $0 } == 4, "\(most.withLock { $0 }) at once")
        }
    }
}
