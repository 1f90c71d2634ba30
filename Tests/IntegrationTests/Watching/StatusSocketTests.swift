import Foundation
import Glibc
import Testing
import Trawl

@Suite("The status socket of a coordinator", .serialized, .timeLimit(.minutes(2)))
struct StatusSocketTests {
    private func kind(_ path: String) -> (kind: mode_t, mode: mode_t)? {
        var info = stat()
        guard lstat(path, &info) == 0 else { return nil }
        return (info.st_mode & S_IFMT, info.st_mode & 0o777)
    }

    @Test("it tells what runs and what was, and is gone with the coordinator")
    func whole() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("socket")
        try await withOrigin { origin in
            try await withTestCoordinator {
                $0.statusSocket = .path(path)
                $0.programName = "a \"program\""
                $0.bandwidth = BandwidthLimit(download: 1 << 30, upload: 1 << 20)
            } _: { coordinator in
                #expect(coordinator.statusSocketPath == path)
                #expect(kind(path).map { $0.kind == S_IFSOCK && $0.mode == 0o600 } == true)
                for _ in 0..<3 { _ = try await coordinator.send(Request(origin.url("/bytes/1000"))) }
                _ = try await coordinator.send(Request(origin.url("/status/404")))
                _ = try? await coordinator.send(Request("http://127.0.0.1:1/secret?token=hidden"))
                let stalled = coordinator.start(Request(origin.url("/stall?after=10")), into: .discard)
                #expect(await eventually { (try? origin.log(prefix: "/stall").count) == 1 })
                // One worker may have done all of it before the other was there.
                #expect(try await eventually { try areReady(StatusClient.report(path), count: 2) })
                let report = try StatusClient.report(path)
                #expect(report["v"] as? Int == 1 && report["program"] as? String == "a \"program\"")
                #expect(report["pid"] as? Int == Int(getpid()) && report["stage"] as? String == "running")
                #expect(number(report, "fetches", "done") == 4 && number(report, "fetches", "failed") == 1)
                #expect(number(report, "fetches", "in_flight") == 1 && number(report, "fetches", "waiting") == 0)
                #expect((number(report, "traffic", "received") ?? 0) > 3000)
                #expect(number(report, "traffic", "received_limit").map { abs($0 - 1 << 30) < 1 << 24 } == true)
                #expect(number(report, "cache", "misses") == 4)
                let errors = report["errors"] as? [[String: Any]]
                #expect(errors?.count == 1 && errors?.first?["code"] as? String == "connect")
                let workers = report["workers"] as? [[String: Any]] ?? []
                #expect(workers.reduce(0) { $0 + ($1["transfers"] as? Int ?? 0) } == 1)
                let hosts = report["hosts"] as? [[String: Any]] ?? []
                #expect(hosts.count == 1 && hosts.first?["in_flight"] as? Int == 1)
                #expect(hosts.first?["origin"] as? String == "http://127.0.0.1:\(origin.port)")
                let bytes = try StatusClient(path).readAll() ?? []
                #expect(!String(decoding: bytes, as: UTF8.self).contains("hidden"))
                let status = await coordinator.status()
                #expect(status?.done == 4 && status?.failed == 1 && status?.inFlight == 1)
                stalled.cancel()
                _ = try? await stalled.response
            }
        }
        #expect(kind(path) == nil)
    }

    @Test("none is made unless it is asked for")
    func off() async throws {
        try await withTestCoordinator(workers: 1) { coordinator in
            #expect(coordinator.statusSocketPath == nil && coordinator.statusSocketProblem == nil)
            #expect(!ProcessTree.threads().contains("trawl-watch"))
            #expect(await coordinator.status() != nil)
        }
    }

    @Test("a coordinator that is shut down has no status")
    func over() async throws {
        let coordinator = try Coordinator(try testConfiguration(workers: 1))
        await coordinator.shutdown()
        #expect(await coordinator.status() == nil)
    }

    @Test("a coordinator that was shut down leaves the name to the next one", arguments: [false, true])
    func next(isStandard: Bool) async throws {
        let directory = try TemporaryDirectory()
        var configuration = try testConfiguration(workers: 0)
        configuration.statusSocket = isStandard ? .standard : .path(directory.file("socket"))
        var first: Coordinator? = try Coordinator(configuration)
        await first?.shutdown()
        let second = try Coordinator(configuration)
        await first?.shutdown()
        first = nil
        let path = try #require(second.statusSocketPath)
        #expect(try StatusClient.report(path)["v"] as? Int == 1)
        await second.shutdown()
        #expect(kind(path) == nil)
    }

    @Test("a socket at which nobody listens is taken over; one in use, and what is none, are not")
    func taken() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("socket")
        try makeStaleSocket(path)
        try await withTestCoordinator(workers: 0) {
            $0.statusSocket = .path(path)
        } _: { _ in
            #expect(try StatusClient.report(path)["v"] as? Int == 1)
            var second = try testConfiguration(workers: 0)
            second.statusSocket = .path(path)
            #expect(throws: FetchError.self) { _ = try Coordinator(second) }
            #expect(try StatusClient.report(path)["v"] as? Int == 1)
        }
        try directory.put("file", [1])
        for name in ["file", "no/such", "", "."] {
            var configuration = try testConfiguration(workers: 0)
            configuration.statusSocket = .path(directory.path + "/" + name)
            let error = #expect(throws: FetchError.self) { _ = try Coordinator(configuration) }
            #expect(error?.code == .file)
        }
        #expect(directory.content("file") == [1])
    }

    private func makeStaleSocket(_ path: String) throws {
        let made = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(made) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(made, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
    }

    @Test("a path longer than the address of a socket is none too long")
    func longPath() async throws {
        let directory = try TemporaryDirectory()
        var path = directory.path
        for _ in 0..<4 {
            path += "/" + String(repeating: "d", count: 60)
            try #require(mkdir(path, 0o700) == 0)
        }
        let short = directory.file("short")
        try #require(symlink(path, short) == 0)
        try await withTestCoordinator(workers: 0) {
            $0.statusSocket = .path(path + "/socket")
        } _: { _ in
            #expect(kind(path + "/socket")?.kind == S_IFSOCK)
            #expect(try StatusClient.report(short + "/socket")["v"] as? Int == 1)
            let run = try CommandRun(["status", "--json", path + "/socket"])
            #expect(run.status == 0 && run.text.hasPrefix("{\"v\":1,"))
        }
        #expect(kind(path + "/socket") == nil)
    }

    @Test("clients that do not read, send garbage or come in crowds hold up nothing")
    func hostile() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("socket")
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 1) {
                $0.statusSocket = .path(path)
            } _: { coordinator in
                _ = try await coordinator.send(Request(origin.url("/bytes/10")))
                let before = ProcessTree.descriptorCount()
                var crowd: [StatusClient] = []
                for number in 0..<400 {
                    // More than may wait are refused by a socket that does not wait, and wait themselves else.
                    guard let client = try? StatusClient(path) else { continue }
                    if number % 2 == 0 { client.send(Array(repeating: UInt8(truncatingIfNeeded: number), count: 5000)) }
                    crowd.append(client)
                    if number % 50 == 0 { _ = try await coordinator.send(Request(origin.url("/bytes/10"))) }
                }
                #expect(crowd.count == 400)
                #expect(try StatusClient.report(path)["v"] as? Int == 1)
                #expect(try await coordinator.send(Request(origin.url("/bytes/10"))).status == 200)
                // Each had its report, and none keeps a descriptor here but its own end.
                #expect(crowd.allSatisfy { ($0.readAll() ?? []).last == 0x0A })
                crowd = []
                #expect(await eventually { ProcessTree.descriptorCount() <= before })
            }
        }
    }

    @Test("an engine that is asked without end is asked ten times a second")
    func fresh() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("socket")
        try await withTestCoordinator(workers: 0) {
            $0.statusSocket = .path(path)
        } _: { _ in
            var uptimes: Set<Double> = []
            let clock = ContinuousClock()
            let start = clock.now
            var asked = 0
            while clock.now - start < .milliseconds(500) || asked < 30 {
                let report = try StatusClient.report(path)
                uptimes.insert(report["uptime"] as? Double ?? -1)
                asked += 1
            }
            let most: Double = (clock.now - start) / .milliseconds(100) + 2
            #expect(Double(uptimes.count) <= most, "\(uptimes.count) of \(asked)")
        }
    }
}
