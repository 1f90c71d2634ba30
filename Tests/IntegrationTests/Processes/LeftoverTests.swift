import Foundation
import Glibc
import Testing
import Trawl

/// What coordinators leave behind: nothing. Each in a process of its own, where everything can be counted.
@Suite("What is left when a coordinator has ended", .timeLimit(.minutes(5)))
struct LeftoverTests {
    @Test("no descriptor, thread or child, after many starts and stops")
    func startsAndStops() async {
        await #expect(processExitsWith: .success) {
            let leftovers = try await Leftovers()
            for workers in 1...10 { try await Self.once(workers: workers) }
            await leftovers.expectNone()
        }
    }

    @Test("no descriptor or child, after many workers died")
    func deaths() async {
        await #expect(processExitsWith: .success) {
            let leftovers = try await Leftovers()
            let faults = [
                ["crash", "9"], ["garbage"], ["mutated-frame"], ["memory-surplus"], ["memory-size"],
                ["stray-descriptors"],
                ["campaign", "50"],
            ]
            for fault in faults {
                try await withFaultyWorkers(["--generations", "3"] + fault, workers: 2) { coordinator in
                    let requests = (0..<8).map { fakeRequest("/\($0)") }
                    for course in await followAll(coordinator, requests) { #expect(course.ends == 1) }
                }
            }
            await leftovers.expectNone()
        }
    }

    @Test("no descriptor, after workers that could not be started")
    func failedStarts() async {
        await #expect(processExitsWith: .success) {
            let leftovers = try await Leftovers()
            let directory = try TemporaryDirectory()
            try directory.put("worker", Array("no program\n".utf8))
            chmod(directory.file("worker"), 0o755)
            for _ in 0..<10 {
                _ = try await withTestCoordinator(workers: 4) {
                    $0.workerExecutable = directory.file("worker")
                } _: { coordinator in
                    await failure(.engineDown) { try await coordinator.send(fakeRequest("/")) }
                }
            }
            await leftovers.expectNone()
        }
    }

    @Test("a coordinator that is only let go of ends its workers")
    func letGo() async {
        await #expect(processExitsWith: .success) {
            var configuration = try testConfiguration()
            configuration.workerExecutable = try BuiltProducts.faultyWorker()
            configuration.workerArguments = ["none"]
            var coordinator: Coordinator? = try Coordinator(configuration)
            _ = try await coordinator?.send(fakeRequest("/"))
            #expect(ProcessTree.children().count == 2)
            coordinator = nil
            #expect(await eventually { ProcessTree.children().isEmpty && ProcessTree.zombies().isEmpty })
        }
    }

    @Test("coordinators that are only let go of close their stores, and nobody else's")
    func letGoWithStore() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            var configuration = try testConfiguration(workers: 1)
            configuration.store = .directory(directory.file("store"))
            // What is made once is no leak.
            try await withCoordinator(configuration) { try await Self.useStore(of: $0) }
            await Self.expectClosed { try await Self.useAndLetGo(configuration) }
            try await withCoordinator(configuration) { other in
                try await Self.useStore(of: other)
                await Self.expectClosed { try await Self.useAndLetGo(configuration) }
                try await Self.useStore(of: other)
            }
        }
    }

    /// Checks that there are soon no more descriptors and threads of ours than before.
    private static func expectClosed(_ body: () async throws -> Void) async {
        func threads() -> [String] { ProcessTree.threads().filter { $0.hasPrefix("trawl-") } }
        let before = (descriptors: ProcessTree.descriptorCount(), threads: threads().count)
        do {
            try await body()
        } catch {
            expectInChild(false, "\(error)")
        }
        let isClosed = await eventually {
            ProcessTree.descriptorCount() <= before.descriptors && threads().count <= before.threads
        }
        expectInChild(isClosed, "\(before), now \(threads()) \(ProcessTree.descriptors())")
    }

    private static func useAndLetGo(_ configuration: Configuration) async throws {
        for _ in 0..<5 { try await useStore(of: Coordinator(configuration)) }
    }

    /// Starts what writes to both parts of a store.
    private static func useStore(of coordinator: Coordinator) async throws {
        try await coordinator.cookies.set(Cookie("a", "1", domain: "a.test"))
        try await coordinator.cache?.insert(
            fields: ["Cache-Control": "max-age=60"], body: [1], for: Request("http://a.test/"))
        let cookies = try coordinator.cookies.cookies()
        expectInChild(cookies.contains { $0.name == "a" }, "\(cookies)")
    }

    private static func once(workers: Int) async throws {
        try await withFaultyWorkers(["none"], workers: workers) { coordinator in
            let requests = (0..<20).map { fakeRequest("/\($0)") }
            for (course, request) in zip(await followAll(coordinator, requests), requests) {
                expectAnswered(course, request)
            }
            #expect(ProcessTree.children().count == workers)
        }
    }
}
