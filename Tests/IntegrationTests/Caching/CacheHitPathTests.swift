import Foundation
import Glibc
import Testing
import Trawl

/// In a process of its own, where calls of the system can be counted.
@Suite("The way of a hit", .timeLimit(.minutes(3)))
struct CacheHitPathTests {
    @Test("has no write, no lease and no worker in it")
    func hits() async {
        await #expect(processExitsWith: .success) {
            try await withScene(workers: 2) {
                page("one", to: $0)
            } _: { scene, coordinator in
                let url = scene.origin.url("/page")
                for _ in 0..<20 { _ = try await coordinator.get(url) }
                coordinator.signalWorkers(SIGSTOP)
                let areStopped = await eventually {
                    ProcessTree.children().allSatisfy { ProcessTree.state(of: $0) == "T" }
                }
                expectInChild(areStopped, "the workers were not stopped")
                let stored = scene.directory.content("store/cache/data.mdb")
                let before = Self.writes()
                for _ in 0..<2000 {
                    let response = try await coordinator.get(url)
                    expectInChild(summary(response) == "cache 200 one", summary(response))
                    expectInChild(response.metrics.isEmpty, "a worker took part")
                }
                let after = Self.writes()
                coordinator.signalWorkers(SIGCONT)
                expectInChild(after - before < 20, "\(after - before) writes in 2000 hits")
                expectInChild(
                    stored != nil && scene.directory.content("store/cache/data.mdb") == stored, "the store changed")
                expectInChild(scene.count == 1, "\(scene.count) requests")
            }
        }
    }

    @Test("leads many callers at once to the same answer, while the store changes under them")
    func concurrent() async throws {
        try await withScene(workers: 2) {
            page(String(repeating: $0.target, count: 100), to: $0)
        } _: { scene, coordinator in
            await withTaskGroup { group in
                for lane in 0..<16 {
                    group.addTask {
                        for round in 0..<200 {
                            let target = "/\((lane + round) % 40)"
                            let policy: CachePolicy = round % 50 == lane ? .doNotRead : []
                            let text = try? await coordinator.get(scene.origin.url(target), policy).bodyText
                            #expect(text == String(repeating: target, count: 100))
                        }
                    }
                }
            }
            #expect(scene.count < 300, "\(scene.count) requests")
        }
    }

    /// The calls of this process so far that wrote something.
    private static func writes() -> Int {
        guard let stream = fopen("/proc/self/io", "re") else { return -1 }
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let text = String(decoding: bytes[..<fread(&bytes, 1, bytes.count, stream)], as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("syscw:") }
        return line.flatMap { Int($0.dropFirst(7)) } ?? -1
    }
}
