import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import Trawl
import TrawlPlatform

/// In a process of its own, where descriptors, threads and children can be counted.
@Suite("Real workers killed at random, POOL-03, ASI-THR-07", .serialized, .timeLimit(.minutes(20)))
struct KillTests {
    @Test("every download ends once and is whole, and nothing is left behind (ASI-DL-01)")
    func downloads() async {
        await #expect(processExitsWith: .success) {
            try await Self.downloads(hits: 50)
        }
    }

    @Test("no request that must not be repeated is sent twice")
    func posts() async {
        await #expect(processExitsWith: .success) {
            try await Self.posts(hits: 50)
        }
    }

    @Test("fetches that are cancelled meanwhile end once, too, and those that are not are answered (ASI-CAN-01)")
    func cancels() async {
        await #expect(processExitsWith: .success) {
            try await Self.cancels(hits: runsLongTests ? 200 : 6)
        }
    }

    @Test("a limit of bandwidth neither blocks nor gives way (POOL-08)")
    func bandwidth() async {
        await #expect(processExitsWith: .success) {
            try await Self.bandwidth(hits: runsLongTests ? 1000 : 8)
        }
    }

    private static func downloads(hits: Int) async throws {
        let origin = try LoopbackOriginProcess()
        defer { origin.stop() }
        // Ends with its input.
        let bystander = try ChildProcess("/bin/cat", [])
        let directory = try TemporaryDirectory()
        let places = [try directory.makeDirectory("rooted"), try directory.makeDirectory("opened")]
        let leftovers = try await Leftovers()
        let bystanders = Set(ProcessTree.children())
        let storm = Storm(seed: 3, hits: hits, sparing: bystanders)
        let written = Collected(["opened", "rooted"])
        try await withTestCoordinator(workers: 4, outputDirectories: [places[0]]) { coordinator in
            await withTaskGroup { group in
                group.addTask { await storm.run() }
                for lane in 0..<24 {
                    group.addTask {
                        for round in 0... {
                            let number = round * 24 + lane
                            // Half a second each when nothing happens.
                            let request = Request(origin.url("/bytes/200000?rate=400000&seed=\(number)"))
                            let path = "\(places[lane % 2])/\(number)"
                            let course = await storm.follow(coordinator.start(request, into: .file(path)))
                            #expect(course.ends == 1)
                            #expect(course.response?.file == path, "\(String(describing: course.result))")
                            let isWhole =
                                FileManager.default.contents(atPath: path).map(Array.init)
                                == ReferenceBytes.bytes(200_000, seed: UInt64(number))
                            #expect(isWhole, "\(path)")
                            written.add((lane % 2 == 0 ? "rooted/" : "opened/") + "\(number)")
                            if storm.isOver { return }
                        }
                    }
                }
            }
        }
        #expect(storm.hits >= hits, "\(storm.kills) kills, \(storm.hits) hits")
        #expect(try directory.names() == written.all)
        #expect(bystander.isRunning)
        await leftovers.expectNone()
        bystander.end(grace: 1)
    }

    /// Two of three fetches are cancelled, some before they begin, some at their end, and many beside a death.
    private static func cancels(hits: Int) async throws {
        let origin = try LoopbackOriginProcess()
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        let output = try directory.makeDirectory("rooted")
        let leftovers = try await Leftovers()
        let storm = Storm(seed: 6, hits: hits, sparing: Set(ProcessTree.children()))
        let cancelled = Collected()
        try await withTestCoordinator(workers: 4, outputDirectories: [output]) { coordinator in
            await withTaskGroup { group in
                group.addTask { await storm.run() }
                for lane in 0..<24 {
                    group.addTask {
                        for round in 0... {
                            let number = round * 24 + lane
                            let destination: Destination =
                                switch number / 3 % 4 {
                                case 0: .memory
                                case 1: .discard
                                case 2: .file(output + "/\(number)")
                                default: .file(directory.file("\(number)"))
                                }
                            let fetch = coordinator.start(
                                Request(origin.url("/bytes/60000?rate=200000&seed=\(number)")), into: destination)
                            let isCancelled = number % 3 != 0
                            let canceller = Task {
                                guard isCancelled else { return }
                                try? await Task.sleep(for: .milliseconds(number * 37 % 350))
                                fetch.cancel()
                            }
                            let course = await storm.follow(fetch)
                            await canceller.value
                            #expect(course.ends == 1)
                            if course.code == .cancelled { cancelled.add("") }
                            let isAsMeant = course.response?.status == 200 || isCancelled && course.code == .cancelled
                            #expect(isAsMeant, "\(number): \(String(describing: course.result))")
                            let isSame = ((try? await fetch.response) == nil) == (course.response == nil)
                            #expect(isSame, "\(number) ended in two ways")
                            if storm.isOver { return }
                        }
                    }
                }
            }
            let response = try await coordinator.send(Request(origin.url("/bytes/10")))
            #expect(response.body.bytes == ReferenceBytes.bytes(10))
            #expect(try await eventually { try origin.concurrency().now == 0 }, "requests of nobody are served")
        }
        #expect(storm.hits >= hits, "\(storm.kills) kills, \(storm.hits) hits")
        #expect(cancelled.all.count > hits, "\(cancelled.all.count) cancelled")
        #expect(try !directory.names().contains { $0.hasSuffix(".part") })
        await leftovers.expectNone()
    }

    /// What was reserved by a worker that died is given back, and what it took is not.
    private static func bandwidth(hits: Int) async throws {
        let (limit, size) = (2_000_000, 20_000)
        let origin = try LoopbackOriginProcess()
        defer { origin.stop() }
        let storm = Storm(seed: 5, hits: hits, sparing: Set(ProcessTree.children()))
        let complete = Collected()
        let clock = ContinuousClock()
        try await withTestCoordinator(workers: 4) { configuration in
            configuration.bandwidth = BandwidthLimit(UInt64(limit))
        } _: { coordinator in
            let begin = clock.now
            await withTaskGroup { group in
                group.addTask { await storm.run() }
                for lane in 0..<24 {
                    group.addTask {
                        for round in 0... {
                            let request = Request(origin.url("/bytes/\(size)?seed=\(round * 24 + lane)"))
                            let course = await storm.follow(coordinator.start(request, into: .discard))
                            #expect(course.response?.receivedLength == UInt64(size))
                            complete.add("")
                            if storm.isOver { return }
                        }
                    }
                }
            }
            let seconds = (clock.now - begin) / .seconds(1)
            let rate = Double(complete.all.count * size) / seconds
            // What was under way when its worker was killed is fetched twice.
            #expect(rate < 1.05 * Double(limit), "\(rate) bytes/s")
            // Beside other work so few bytes may be all that a machine does.
            #expect(rate > 0.05 * Double(limit), "\(rate) bytes/s")
            // Nobody is left to pay for what was never used.
            let end = clock.now
            _ = try await coordinator.send(Request(origin.url("/bytes/10")))
            #expect(clock.now - end < .seconds(20))
        }
        #expect(storm.hits >= hits)
    }

    private static func posts(hits: Int) async throws {
        let origin = try LoopbackOriginProcess()
        defer { origin.stop() }
        let storm = Storm(seed: 4, hits: hits, sparing: Set(ProcessTree.children()))
        let answered = Collected()
        try await withTestCoordinator(workers: 4) { coordinator in
            await withTaskGroup { group in
                group.addTask { await storm.run() }
                for lane in 0..<24 {
                    group.addTask {
                        for round in 0... {
                            let target = "/delay/300?post=\(round * 24 + lane)"
                            var request = Request(.post, origin.url(target), body: .text("once"))
                            // A connection that the server closes would be another reason to send again.
                            request.options.reusesConnection = false
                            let course = await storm.follow(coordinator.start(request))
                            #expect(course.ends == 1)
                            if course.response?.status == 200 {
                                answered.add(target)
                            } else {
                                #expect(course.code == .workerLost, "\(String(describing: course.result))")
                            }
                            if storm.isOver { return }
                        }
                    }
                }
            }
        }
        #expect(storm.hits >= hits)
        var seen: [String: Int] = [:]
        for entry in try origin.log(prefix: "/delay/300?post=") { seen[entry.target, default: 0] += 1 }
        #expect(!seen.contains { $0.value > 1 }, "\(seen.filter { $0.value > 1 })")
        #expect(answered.all.allSatisfy { seen[$0] == 1 })
    }
}

/// Kills workers of this process, one each tenth of a second, until enough of them held a lease.
private final class Storm: Sendable {
    private struct State {
        var hits = 0
        var kills = 0
        var isOver = false
        var random: SeededGenerator
    }

    private let wanted: Int
    private let spared: Set<Int32>
    private let losses = Atomic(0)
    private let state: Guarded<State>

    init(seed: UInt64, hits: Int, sparing spared: Set<Int32>) {
        wanted = hits
        self.spared = spared
        state = Guarded(State(random: SeededGenerator(seed: seed)))
    }

    /// How many of those killed held a lease.
    var hits: Int { state.withLock { $0.hits } }
    var kills: Int { state.withLock { $0.kills } }
    var isOver: Bool { state.withLock { $0.isOver } }

    func run() async {
        let clock = ContinuousClock()
        while hits < wanted, !Task.isCancelled {
            let next = clock.now + .milliseconds(100)
            let before = losses.load(ordering: .relaxed)
            if killOne(), await eventually(within: .seconds(1), { losses.load(ordering: .relaxed) > before }) {
                state.withLock { $0.hits += 1 }
            }
            try? await clock.sleep(until: next)
        }
        state.withLock { $0.isOver = true }
    }

    private func killOne() -> Bool {
        let workers = ProcessTree.children().filter { !spared.contains($0) }.sorted()
        let victim = state.withLock { state in
            state.kills += 1
            return workers.randomElement(using: &state.random)
        }
        return victim.map { kill($0, SIGKILL) == 0 } ?? false
    }

    /// Follows a fetch to its end and notices when its worker was lost.
    func follow(_ fetch: Fetch) async -> Course {
        var course = Course()
        for await event in fetch.events {
            switch event {
            case .attempt:
                course.attempts += 1
                if course.attempts > 1 { losses.add(1, ordering: .relaxed) }
            case .ended(let result):
                course.ends += 1
                course.result = result
                if course.code == .workerLost { losses.add(1, ordering: .relaxed) }
            default: break
            }
        }
        return course
    }
}

/// Texts that several tasks gather.
private final class Collected: Sendable {
    private let texts: Guarded<[String]>

    init(_ texts: [String] = []) { self.texts = Guarded(texts) }

    var all: [String] { texts.withLock { $0.sorted() } }

    func add(_ text: String) { texts.withLock { $0.append(text) } }
}
