import TestSupport
import Testing
import Trawl

/// Each storm runs in a process of its own: only there are descriptors and threads its own too.
@Suite("Storms of cancelling leave nothing behind, ASI-CAN-01, 03, ULS-LIFE-13", .serialized)
struct CancelStormTests {
    @Test("with worker processes each of 500 fetches ends exactly once", .timeLimit(.minutes(3)))
    func workers() async {
        await #expect(processExitsWith: .success) { try await storm(workers: 2, seed: 6) }
    }

    @Test("in one process each of 500 fetches ends exactly once", .timeLimit(.minutes(3)))
    func inProcess() async {
        await #expect(processExitsWith: .success) { try await storm(workers: 0, seed: 2) }
    }
}

private let slowTargets = [
    "/stall", "/stall?head=1", "/stall?after=70000", "/delay/50", "/drip?bytes=100&interval=5", "/endless",
    "/redirect/20", "/redirect-to?url=/delay/40", "/gzip-bomb?size=20000000", "/bytes/3000000?rate=20000000",
    "/bytes/100", "/endless-head",
]

/// 500 fetches, cancelled at moments the seed tells.
private func storm(workers: Int, seed: UInt64) async throws {
    let directory = try TemporaryDirectory()
    let output = try directory.makeDirectory("out")
    try await withOrigin { origin in
        try await withTestCoordinator(workers: workers, outputDirectories: [output]) { coordinator in
            /// The processes whose descriptors count.
            func descriptors() -> Int {
                ([nil] + ProcessTree.children().filter { $0 != origin.pid }).reduce(0) { sum, child in
                    sum + (child.map { ProcessTree.descriptorCount(of: $0) } ?? ProcessTree.descriptorCount())
                }
            }
            // What is made once is made before counting.
            _ = try await coordinator.send(Request(origin.url("/gzip")), into: .file(directory.file("first")))
            var request = Request(origin.url("/bytes/10"))
            request.options.keepsConnection = false
            for _ in 0..<20 { _ = try await coordinator.send(request) }
            let before = descriptors()

            var random = SeededGenerator(seed: seed)
            var plans: [(Request, Destination, Int)] = []
            for index in 0..<500 {
                let target = slowTargets[Int.random(in: 0..<slowTargets.count, using: &random)]
                var request = Request(origin.url(target))
                request.options.keepsConnection = false
                let destination: Destination =
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0: .memory
                    case 1: .stream
                    case 2: .discard
                    case 3: .file(output + "/\(index)")
                    default: .file(directory.file("\(index)"))
                    }
                plans.append((request, destination, Int.random(in: 0..<150, using: &random)))
            }
            let ends = await withTaskGroup(of: (words: [String], sameEnd: Bool).self) { group in
                for (request, destination, milliseconds) in plans {
                    group.addTask {
                        let fetch = coordinator.start(request, into: destination)
                        let canceller = Task {
                            try? await Task.sleep(for: .milliseconds(milliseconds))
                            fetch.cancel()
                        }
                        let words = await allEvents(of: fetch).map(word)
                        await canceller.value
                        let failed: Bool
                        do {
                            _ = try await fetch.response
                            failed = false
                        } catch {
                            failed = true
                        }
                        return (words, failed == (words.last?.hasPrefix("failed") ?? false))
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(ends.count == 500)
            for (words, sameEnd) in ends {
                let starts = words.count { $0 == "started" }
                let ends = words.count { $0 == "ended" || $0.hasPrefix("failed") }
                expectInChild(words.first == "started" && starts == 1 && ends == 1, "\(words)")
                expectInChild(
                    ["ended", "failed cancelled", "failed too_large", "failed decoding"].contains(words.last ?? ""),
                    "\(words)")
                expectInChild(sameEnd, "\(words) is not what the response says")
            }
            expectInChild(ends.count { $0.words.last == "failed cancelled" } > 100, "the storm was none")

            let isIdle = try await eventually { try origin.concurrency().now == 0 }
            let served = try origin.concurrency().now
            expectInChild(isIdle, "the origin still serves \(served) requests, seed \(seed)")
            // Timers of the tests themselves are a few descriptors; what fetches leave would be hundreds.
            let isSame = await eventually { descriptors() <= before + 8 }
            expectInChild(isSame, "\(before) descriptors before, \(descriptors()) after: \(ProcessTree.descriptors())")
            let names = try directory.names()
            #expect(!names.contains { $0.hasSuffix(".part") })
            // The coordinator works as before.
            #expect(try await coordinator.send(Request(origin.url("/bytes/10"))).body.bytes == ReferenceBytes.bytes(10))
        }
    }
}
