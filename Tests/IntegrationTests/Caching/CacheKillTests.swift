import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import Trawl
import TrawlPlatform

/// In processes of their own, where all children are workers, and memory can be measured.
@Suite("A cache under killed workers and long bodies, ASI-CACHE-28", .serialized, .timeLimit(.minutes(10)))
struct CacheKillTests {
    @Test("workers killed while they fill it leave whole answers or none")
    func kills() async {
        await #expect(processExitsWith: .success) { try await Self.fillUnderKills() }
    }

    @Test("what a killed process has left in a store goes when the next command uses it")
    func leftByKilled() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            let url = origin.url("/bytes/100000?field=Cache-Control:%20max-age=3600")
            func get() throws -> String {
                let options = ["--store", directory.file("store"), "-o", "/dev/null", "-w", "%{source}"]
                return try CommandRun(["get"] + options + [url]).text
            }
            let first = try get()
            #expect(first == "network")
            // A body on its way, one without a record, and its mark.
            let left = ["blobs/spool/5e5e.part", "blobs/5e/" + String(repeating: "5e", count: 31), "storing/5e5e"]
                .map { "store/cache/" + $0 }
            for folder in ["blobs/spool", "blobs/5e", "storing"] {
                _ = try directory.makeDirectory("store/cache/" + folder)
            }
            for name in left { try directory.put(name, [1]) }
            // Each waits a moment for that at its end; what is left then is for the one after it.
            let isGone = try await eventually {
                let next = try get()
                #expect(next == "cache")
                return !left.contains { FileManager.default.fileExists(atPath: directory.file($0)) }
            }
            #expect(isGone)
        }
    }

    @Test("a long body goes into the cache and out of it through little memory")
    func memory() async {
        await #expect(processExitsWith: .success) { try await Self.passLongBody() }
    }

    private static func fillUnderKills() async throws {
        let scene = try BytesScene()
        let bystanders = Set(ProcessTree.children())
        let kills = runsLongTests ? 100 : 15
        let sizes = [50, 9_000, 16_384, 16_385, 120_000, 1_200_000]
        func target(_ number: Int) -> (String, [UInt8]) {
            let size = sizes[number % sizes.count]
            let url = scene.origin.url("/bytes/\(size)?seed=\(number)&field=Cache-Control:%20max-age=3600")
            return (url, ReferenceBytes.bytes(size, seed: UInt64(number)))
        }
        let tally = Tally()
        try await scene.withCoordinator(.workers, workers: 4) { coordinator in
            await withTaskGroup { group in
                group.addTask {
                    var random = SeededGenerator(seed: 21)
                    for _ in 0..<kills {
                        try? await Task.sleep(for: .milliseconds(60))
                        let workers = ProcessTree.children().filter { !bystanders.contains($0) }.sorted()
                        if let worker = workers.randomElement(using: &random) { kill(worker, SIGKILL) }
                    }
                    tally.isOver.store(true, ordering: .relaxed)
                }
                for lane in 0..<16 {
                    group.addTask {
                        while !tally.isOver.load(ordering: .relaxed) {
                            let number = tally.last.add(1, ordering: .relaxed).newValue
                            let (url, wanted) = target(number)
                            do {
                                let place: CacheFaultTests.Place = lane % 2 == 0 ? .memory : .stream
                                try await scene.check(coordinator, url, wanted, place)
                            } catch {
                                let code = (error as? FetchError)?.code
                                expectInChild(code == .workerLost && lane % 2 == 1, "\(error)")
                            }
                        }
                    }
                }
            }
        }
        let count = tally.last.load(ordering: .relaxed)
        var stored = 0
        // Without the origin: what answers now is stored.
        scene.origin.stop()
        for engine in Engine.allCases {
            try await scene.withCoordinator(engine) { coordinator in
                for number in 1...count {
                    let (url, wanted) = target(number)
                    let response = try await coordinator.get(url, .doNotLoad)
                    if response.source == .generated { continue }
                    stored += 1
                    let isRight = response.body.bytes == wanted
                    expectInChild(isRight, "\(response.body.count) bytes that are not the \(wanted.count) of \(url)")
                }
            }
        }
        expectInChild(stored > count, "\(stored / 2) of \(count) stored")
        let odd = try scene.blobs().filter { $0.contains("/spool/") }
        expectInChild(odd.isEmpty, "\(odd)")
    }

    private static func passLongBody() async throws {
        let scene = try BytesScene()
        let size = runsLongTests ? 1 << 30 : 64 << 20
        // A body may take an eighth of it.
        let budget = UInt64(size) * 9
        let url = scene.origin.url("/bytes/\(size)?seed=5&field=Cache-Control:%20max-age=3600")
        let bystanders = Set(ProcessTree.children())
        try await scene.withCoordinator(.workers, workers: 2, byteBudget: budget) { coordinator in
            // The biggest a process has been, and where it was before.
            _ = try await coordinator.get(scene.targets[0].0)
            let processes = ProcessTree.children().filter { !bystanders.contains($0) } + [getpid()]
            let before = processes.map { ProcessTree.anonymousMemory(of: $0) }
            let tally = Tally(peaks: before)
            let watcher = Thread {
                while !tally.isOver.load(ordering: .relaxed) {
                    for (index, process) in processes.enumerated() {
                        let now = ProcessTree.anonymousMemory(of: process)
                        tally.peaks.withLock { $0[index] = max($0[index], now) }
                    }
                    usleep(2000)
                }
            }
            watcher.start()
            var options = RequestOptions()
            options.caching.storesDownloads = true
            for source in [Response.Source.network, .cache] {
                let path = scene.directory.file("out/file")
                let response = try await coordinator.send(Request(url, options: options), into: .file(path))
                expectInChild(response.source == source, "\(response.source), not \(source)")
                var info = stat()
                expectInChild(stat(path, &info) == 0 && Int(info.st_size) == size, "\(info.st_size) bytes")
                let seconds = coordinator.start(Request(url, options: options), into: .stream)
                var length = 0
                for await event in seconds.events { if case .data(let bytes) = event { length += bytes.count } }
                expectInChild(length == size, "\(length) bytes streamed")
                expectInChild(try await seconds.response.source == .cache, "not from the cache")
            }
            tally.isOver.store(true, ordering: .relaxed)
            let growth = zip(tally.peaks.withLock { $0 }, before).map { $0 - $1 }
            expectInChild(Sanitizer.isPresent || growth.allSatisfy { $0 < 24 << 20 }, "\(growth) bytes more")
        }
        scene.origin.stop()
    }
}

/// What tasks and threads of a test tell one another.
private final class Tally: Sendable {
    let isOver = Atomic(false)
    let last = Atomic(0)
    let peaks: Guarded<[Int]>

    init(peaks: [Int] = []) { self.peaks = Guarded(peaks) }
}
