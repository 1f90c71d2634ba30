import Glibc
import Testing
import Trawl

/// In a process of its own, whose descriptors can be used up.
@Suite("A program that runs out of descriptors, POOL-03", .timeLimit(.minutes(5)))
struct DescriptorShortageTests {
    @Test("what it could not take from a worker is fetched again, and no hop becomes a suspect")
    func bodies() async {
        await #expect(processExitsWith: .success) { try await Self.loseBodies() }
    }

    @Test("a request that cannot be handed to a worker for want of a descriptor fails for that")
    func requests() async {
        await #expect(processExitsWith: .success) { try await Self.loseRequest() }
    }

    @Test("fetches into files take descriptors while they wait, unless they are beneath an output directory")
    func waiting() async {
        await #expect(processExitsWith: .success) { try await Self.waitForFiles() }
    }

    @Test("the network is watched as soon as there are descriptors for that, and who follows it already is told")
    func network() async {
        await #expect(processExitsWith: .success) { try await Self.watchNetwork() }
    }

    private static func watchNetwork() async throws {
        try await Self.limitDescriptors()
        let held = Self.takeAll()
        let monitor = NetworkMonitor()
        var paths = monitor.paths.makeAsyncIterator()
        let first = await paths.next()
        for descriptor in held { close(descriptor) }
        expectInChild(first?.status == .unknown, "\(String(describing: first))")
        // Whatever it is here: it is known, as to one who begins now. Where the system does not tell, there is no news.
        let path = monitor.path
        let known = NetworkMonitor().path
        expectInChild(path == known, "\(path) is not \(known)")
        if path.status == .unknown { return }
        let next = await paths.next()
        expectInChild(next == path, "\(String(describing: next))")
    }

    private static func waitForFiles() async throws {
        let origin = try LoopbackOriginProcess()
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let output = try directory.makeDirectory("out")
        let request = Request(origin.url("/bytes/10"))
        try await Self.limitDescriptors()
        try await withTestCoordinator(workers: 1, outputDirectories: [output]) {
            $0.connectionsPerHost = 2
        } _: { coordinator in
            _ = try await coordinator.send(request)
            await Self.refuseSome(Self.start(request, in: directory.path, on: coordinator))
            let beneath = Self.start(request, in: output, on: coordinator)
            expectInChild(beneath.allSatisfy { $0.state == .suspended }, "\(beneath.map(\.state))")
            for fetch in beneath { fetch.resume() }
            for fetch in beneath { _ = try await fetch.response }
        }
        let count = try directory.names().count
        expectInChild(count == 201, "\(count) names")
    }

    /// As many as there are no descriptors for, suspended.
    private static func start(_ request: Request, in directory: String, on coordinator: Coordinator) -> [Fetch] {
        (0..<200).map { coordinator.start(request, into: .file(directory + "/\($0)"), suspended: true) }
    }

    /// Some of them have failed for want of a descriptor. Ends the others.
    private static func refuseSome(_ fetches: [Fetch]) async {
        let refused = fetches.filter { $0.state == .completed }
        expectInChild(!refused.isEmpty && refused.count < fetches.count, "\(refused.count) refused")
        for fetch in refused {
            let error = await failure(.file) { try await fetch.response }
            expectInChild(error?.cause == .system(EMFILE), "\(String(describing: error))")
        }
        for fetch in fetches { fetch.cancel() }
        for fetch in fetches { _ = try? await fetch.response }
    }

    private static func loseRequest() async throws {
        let origin = try LoopbackOriginProcess()
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await Self.limitDescriptors()
        try await withTestCoordinator(workers: 1) { coordinator in
            _ = try await coordinator.send(Request(origin.url("/bytes/10")))
            // Its file is open before it waits.
            let fetch = coordinator.start(
                Request(origin.url("/bytes/10")), into: .file(directory.file("x")), suspended: true)
            let held = Self.takeAll()
            fetch.resume()
            let error = await failure { try await fetch.response }
            for descriptor in held { close(descriptor) }
            #expect(error?.cause == .system(EMFILE) && error?.code != .badRequest, "\(String(describing: error))")
        }
    }

    private static func loseBodies() async throws {
        let origin = try LoopbackOriginProcess()
        defer { origin.stop() }
        let others = Set(ProcessTree.children())
        try await Self.limitDescriptors()
        try await withTestCoordinator(workers: 1) { coordinator in
            _ = try await coordinator.send(Request(origin.url("/bytes/10")))
            var fetches: [Fetch] = []
            // At the second time suspects would fail.
            for round in 0..<2 {
                var worker: Int32?
                _ = await eventually {
                    worker = ProcessTree.children().first { !others.contains($0) }
                    return worker != nil
                }
                let pid = try #require(worker)
                let held = Self.takeAll()
                if round == 0 {
                    // Half a second each, into memory that is handed over as a file.
                    fetches = (0..<8).map {
                        coordinator.start(Request(origin.url("/bytes/200000?rate=400000&seed=\($0)")))
                    }
                }
                let isEnded = await eventually { kill(pid, 0) != 0 }
                for descriptor in held { close(descriptor) }
                // A slow test may come too late for the second time.
                #expect(isEnded || round > 0)
            }
            for (number, fetch) in fetches.enumerated() {
                let body = try await fetch.response.body.bytes
                #expect(body == ReferenceBytes.bytes(200_000, seed: UInt64(number)))
            }
        }
    }

    /// So that few have to be taken.
    private static func limitDescriptors() async throws {
        // Timers of tasks take descriptors at the first wait by each clock, and end the process where there are none.
        try await ContinuousClock().sleep(for: .milliseconds(1))
        try await SuspendingClock().sleep(for: .milliseconds(1))
        // RLIMIT_NOFILE
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(7), &limit)
        limit.rlim_cur = 256
        setrlimit(__rlimit_resource_t(7), &limit)
    }

    /// Opens whatever can be opened.
    private static func takeAll() -> [Int32] {
        var taken: [Int32] = []
        while true {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return taken }
            taken.append(descriptor)
        }
    }
}
