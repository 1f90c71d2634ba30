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

    private static func loseBodies() async throws {
        let origin = try LoopbackOriginProcess()
        defer { origin.stop() }
        let others = Set(ProcessTree.children())
        // RLIMIT_NOFILE.
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(7), &limit)
        limit.rlim_cur = 256
        setrlimit(__rlimit_resource_t(7), &limit)
        try await withTestCoordinator(workers: 1) { coordinator in
            _ = try await coordinator.send(Request(origin.url("/bytes/10")))
            // Half a second each, into memory that is handed over as a file.
            let fetches = (0..<8).map {
                coordinator.start(Request(origin.url("/bytes/200000?rate=400000&seed=\($0)")))
            }
            // At the second time suspects would fail.
            for round in 0..<2 {
                var worker: Int32?
                _ = await eventually {
                    worker = ProcessTree.children().first { !others.contains($0) }
                    return worker != nil
                }
                let pid = try #require(worker)
                let held = Self.takeAll()
                let isEnded = await eventually(within: .seconds(10)) { kill(pid, 0) != 0 }
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
