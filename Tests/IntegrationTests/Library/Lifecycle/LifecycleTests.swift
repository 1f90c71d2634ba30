import Foundation
import Glibc
import Testing
import Trawl

@Suite("A coordinator begins and ends without a trace, POOL-01, POOL-10")
struct LifecycleTests {
    @Test("sendBlocking serves plain threads (ASI-RUN-01)", .timeLimit(.minutes(3)), arguments: Engine.allCases)
    func blocking(engine: Engine) async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: engine.workers) { coordinator in
                let counts = await withTaskGroup(of: Int.self) { group in
                    for index in 1...8 as ClosedRange<Int> {
                        let request = Request(origin.url("/bytes/\(index * 50_000)"))
                        group.addTask { (try? await coordinator.sendFromThread(request))?.body.count ?? -1 }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(counts.sorted() == (1...8).map { $0 * 50_000 })
            }
        }
    }

    @Test("sendBlocking fails as send does (ASI-RUN-01)", .timeLimit(.minutes(3)))
    func blockingFailures() async throws {
        try await withTestCoordinator(workers: 0) { coordinator in
            let codes = await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    func code(_ destination: Destination, _ url: String) -> FetchError.Code? {
                        do throws(FetchError) {
                            _ = try coordinator.sendBlocking(Request(url), into: destination)
                            return nil
                        } catch {
                            return error.code
                        }
                    }
                    continuation.resume(returning: [
                        code(.memory, "http://"), code(.stream, "http://127.0.0.1/"), code(.memory, "gopher://x/"),
                    ])
                }
            }
            #expect(codes == [.invalidURL, .badRequest, .unsupportedURL])
        }
    }

    @Test(
        "URLs that are none are refused (ASI-RUN-06)", .timeLimit(.minutes(3)),
        arguments: ["", "http://", "not a url", "/path", "http://[::1", "http://host:port/"])
    func badURLs(url: String) async throws {
        try await withTestCoordinator(workers: 0) { coordinator in
            let error = await failure { try await coordinator.send(Request(url)) }
            #expect([.invalidURL, .unsupportedURL].contains(error?.code))
            #expect(error?.legacyCode == (url == "http://" ? 6 : 5))
        }
    }

    @Test("who shuts it down beside others returns when it is over, too", .timeLimit(.minutes(3)))
    func concurrentShutdowns() async throws {
        let (gate, isOpen, begun) = (Occasion(), Locked(false), Locked(0))
        let origin = try ScriptedOrigin { _ in
            gate.wait()
            return ScriptedOrigin.Answer(200, "late")
        }
        defer { origin.stop() }
        let coordinator = try Coordinator(testConfiguration(workers: 0))
        let fetch = coordinator.start(Request(origin.url()))
        #expect(await eventually { origin.seen().count == 1 })
        let sawEnd = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            begun.withLock { $0 += 1 }
                            coordinator.shutdownBlocking(grace: .seconds(60))
                            continuation.resume(returning: isOpen.withLock { $0 })
                        }
                    }
                }
            }
            #expect(await eventually { begun.withLock { $0 } == 8 })
            isOpen.withLock { $0 = true }
            gate.open()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sawEnd == Array(repeating: true, count: 8))
        #expect(try await fetch.response.bodyText == "late")
    }

    @Test("who shuts it down beside others returns when its store is closed, too", .timeLimit(.minutes(3)))
    func concurrentClosing() async throws {
        let directory = try TemporaryDirectory()
        let store = directory.file("store")
        var configuration = try testConfiguration(workers: 0)
        configuration.store = .directory(store)
        let coordinator = try Coordinator(configuration)
        try await coordinator.cookies.set(Cookie("a", "1", domain: "127.0.0.1"))
        let data = (directory.path as NSString).lastPathComponent + "/store/state/data.mdb"
        let isOpen = { @Sendable in ProcessTree.descriptors().contains { $0.hasSuffix(data) } }
        #expect(isOpen())
        // Whoever closes the files waits until the descriptor is closed.
        let lock = keepFromOpening(store + "/state")
        let returned = Locked<[Bool]>([])
        let shutdowns = (0..<2).map { _ in
            Task {
                await coordinator.shutdown(grace: .zero)
                let isLeft = isOpen()
                returned.withLock { $0.append(isLeft) }
            }
        }
        let isEarly = await eventually(within: .milliseconds(500)) { returned.withLock { !$0.isEmpty } }
        #expect(!isEarly)
        close(lock)
        for shutdown in shutdowns { await shutdown.value }
        #expect(returned.withLock { $0 } == [false, false])
    }

    @Test("a shutdown ends every fetch", .timeLimit(.minutes(3)), arguments: Engine.allCases)
    func shutdown(engine: Engine) async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let output = try directory.makeDirectory("out")
            let coordinator = try Coordinator(
                testConfiguration(workers: engine.workers, outputDirectories: [output]))
            let fetches = (0..<60).map { index in
                let destinations: [Destination] = [
                    .memory, .stream, .discard, .file(output + "/\(index)"), .file(directory.file("\(index)")),
                ]
                let targets = ["/stall", "/stall?after=100000", "/endless", "/delay/60000"]
                return coordinator.start(
                    Request(origin.url(targets[index % 4])), into: destinations[index % 5])
            }
            #expect(try await eventually { try origin.concurrency().now > 10 })
            await coordinator.shutdown()
            for fetch in fetches {
                let error = await failure { try await fetch.response }
                #expect([.shutDown, .cancelled].contains(error?.code), "\(String(describing: error))")
                let words = await allEvents(of: fetch).map(word)
                #expect(words.count { $0.hasPrefix("failed") || $0 == "ended" } == 1)
            }
            #expect(try directory.names() == ["out"])
            await coordinator.shutdown()
            await failure(.shutDown) { try await coordinator.send(Request(origin.url("/bytes/1"))) }
            await failure(.shutDown) { try await coordinator.start(Request(origin.url("/bytes/1"))).response }
        }
    }

    @Test("a shutdown with grace lets fetches in flight end well", .timeLimit(.minutes(3)), arguments: Engine.allCases)
    func graceful(engine: Engine) async throws {
        try await withOrigin { origin in
            let coordinator = try Coordinator(testConfiguration(workers: engine.workers))
            let fetches = (0..<10).map { _ in coordinator.start(Request(origin.url("/delay/1500"))) }
            #expect(try await eventually { try origin.log(prefix: "/delay").count == 10 })
            await coordinator.shutdown(grace: .seconds(20))
            for fetch in fetches { #expect(try await fetch.response.status == 200) }
        }
    }

    @Test("a configuration that makes no sense is refused", .timeLimit(.minutes(3)))
    func badConfiguration() throws {
        func code(_ adjust: (inout Configuration) -> Void) throws -> FetchError.Code? {
            var configuration = try testConfiguration(workers: 1)
            adjust(&configuration)
            do throws(FetchError) {
                let coordinator = try Coordinator(configuration)
                coordinator.shutdownBlocking()
                return nil
            } catch {
                return error.code
            }
        }
        #expect(try code { $0.workers = -1 } == .badRequest)
        #expect(try code { $0.workers = 65 } == .badRequest)
        #expect(try code { $0.transfersPerWorker = 0 } == .badRequest)
        #expect(try code { $0.connectionsPerHost = -1 } == .badRequest)
        #expect(try code { $0.workerExecutable = "/nonexistent/trawl-worker" } == .engineDown)
        #expect(try code { $0.outputDirectories = ["/nonexistent/directory"] } == .file)
        #expect(try code { _ in } == nil)
    }

    @Test("a file of secure hosts is read at the start and written at the end; why it was not is told")
    func secureHostsFile() async throws {
        let directory = try TemporaryDirectory()
        let folder = try directory.makeDirectory("hosts")
        try directory.put("hosts/file", Array("kept.test \"20991231 00:00:00\"\n".utf8))
        var configuration = try testConfiguration(workers: 0)
        configuration.hstsFile = folder + "/file"
        let coordinator = try Coordinator(configuration)
        #expect(coordinator.secureHosts.map(\.name) == ["kept.test"])
        await coordinator.shutdown()
        #expect(coordinator.secureHostsProblem == nil)
        let text = String(decoding: directory.content("hosts/file") ?? [], as: UTF8.self)
        #expect(text.hasPrefix("#") && text.contains("\nkept.test \"20991231 00:00:00\"\n"))
        let next = try Coordinator(configuration)
        try FileManager.default.removeItem(atPath: folder)
        await next.shutdown()
        #expect(next.secureHostsProblem?.code == .file)
    }

    /// In a process of its own, where nothing else opens descriptors or starts threads.
    @Test("with worker processes no child, descriptor or thread stays", .timeLimit(.minutes(3)))
    func noTraceOfWorkers() async {
        await #expect(processExitsWith: .success) { try await leavesNoTrace(workers: 2) }
    }

    @Test("in one process no descriptor or thread stays", .timeLimit(.minutes(3)))
    func noTraceInProcess() async {
        await #expect(processExitsWith: .success) { try await leavesNoTrace(workers: 0) }
    }
}

/// Starts and ends coordinators and compares what the process holds before and after.
private func leavesNoTrace(workers: Int) async throws {
    let directory = try TemporaryDirectory()
    try await withOrigin { origin in
        func run() async throws {
            try await withTestCoordinator(workers: workers, outputDirectories: [directory.path]) { coordinator in
                let fetches = (0..<20).map { index in
                    coordinator.start(
                        Request(origin.url(["/bytes/200000", "/stall?after=1000", "/gzip", "/redirect/3"][index % 4])),
                        into: [.memory, .file(directory.file("\(index)")), .stream, .discard, .file("/dev/null")][
                            index % 5])
                }
                for (index, fetch) in fetches.enumerated() where index % 4 != 1 && index % 5 != 2 {
                    _ = try await fetch.response
                }
            }
        }
        // The first run makes what a process makes once.
        try await run()
        let settled = await eventually { ProcessTree.children() == [origin.pid] }
        expectInChild(settled, "\(ProcessTree.children())")
        let descriptors = ProcessTree.descriptorCount()
        let areAtRest = await eventually { ProcessTree.threads().allSatisfy { !$0.hasPrefix("trawl-") } }
        expectInChild(areAtRest, "\(ProcessTree.threads())")
        for _ in 0..<8 { try await run() }
        let areGone = await eventually { ProcessTree.children() == [origin.pid] }
        expectInChild(areGone, "\(ProcessTree.children())")
        expectInChild(ProcessTree.zombies().isEmpty, "\(ProcessTree.zombies())")
        let areOver = await eventually { ProcessTree.threads().allSatisfy { !$0.hasPrefix("trawl-") } }
        expectInChild(areOver, "\(ProcessTree.threads())")
        let same = await eventually { ProcessTree.descriptorCount() <= descriptors }
        expectInChild(same, "\(descriptors) descriptors before, now \(ProcessTree.descriptors())")
    }
}
