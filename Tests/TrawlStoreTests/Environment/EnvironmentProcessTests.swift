import Foundation
import TestSupport
import Testing
import TrawlPlatform
import TrawlStore

@Suite("An environment that several processes have open, POOL-05", .serialized)
struct EnvironmentProcessTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    @Test("a process killed inside a write leaves what was committed, and the next writer goes on")
    func killedInWrite() throws {
        let environment = try Environment.open(directory: scratch.environment, settings: Sample.settings())
        defer { environment.close() }
        try environment.put(1, [1])
        let child = try EnvironmentChild(["environment-write", scratch.environment])
        #expect(child.line() == "inside")
        // Readers do not wait for it.
        #expect(try environment.get(1) == [1])
        child.kill()
        try environment.put(2, [2])
        #expect(try environment.get(1) == [1])
        #expect(try environment.get(2) == [2])
        #expect(try environment.get(100) == nil)
    }

    @Test("places of readers killed inside a snapshot are freed when they are needed")
    func killedInRead() throws {
        var settings = Sample.settings()
        settings.maxReaders = 6
        let environment = try Environment.open(directory: scratch.environment, settings: settings)
        defer { environment.close() }
        try environment.put(1, [1])
        for _ in 0..<4 {
            let child = try EnvironmentChild(["environment-read", scratch.environment, "5", "6"])
            #expect(child.line() == "inside")
            child.kill()
        }
        #expect(try environment.releaseDeadReaders() == 5)
        #expect(try environment.get(1) == [1])
    }

    @Test("too many snapshots of processes that live are an error, and cured when they end")
    func readersFull() throws {
        var settings = Sample.settings()
        settings.maxReaders = 6
        let environment = try Environment.open(directory: scratch.environment, settings: settings)
        defer { environment.close() }
        let child = try EnvironmentChild(["environment-read", scratch.environment, "6", "6"])
        #expect(child.line() == "inside")
        #expect(throws: StoreError.readersFull) { try environment.get(1) }
        try environment.put(1, [1])
        child.kill()
        #expect(try environment.get(1) == [1])
    }

    @Test("threads that come and go take no more places than there are")
    func manyThreads() throws {
        var settings = Sample.settings()
        settings.maxReaders = 6
        let environment = try Environment.open(directory: scratch.environment, settings: settings)
        defer { environment.close() }
        try environment.put(1, [1])
        let child = try EnvironmentChild(["environment-read", scratch.environment, "4", "6"])
        #expect(child.line() == "inside")
        let failures = Guarded(0)
        // All alive until the end, so that each has memory of its own, and one after the other.
        let isOver = DispatchSemaphore(value: 0)
        for _ in 0..<40 {
            let hasRead = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                if (try? environment.get(1)) != [1] { failures.withLock { $0 += 1 } }
                hasRead.signal()
                isOver.wait()
            }
            hasRead.wait()
        }
        for _ in 0..<40 { isOver.signal() }
        #expect(failures.withLock { $0 } == 0)
        child.kill()
    }

    @Test("writers killed at random leave whole transactions only")
    func killedWriters() throws {
        let environment = try Environment.open(directory: scratch.environment, settings: Sample.settings())
        defer { environment.close() }
        var random = SeededGenerator(seed: 42)
        var children: [EnvironmentChild] = []
        let end = ContinuousClock.now + (runsLongTests ? .seconds(60) : .seconds(3))
        var seed = 0
        while ContinuousClock.now < end {
            while children.count < 8 {
                seed += 1
                children.append(try EnvironmentChild(["environment-churn", scratch.environment, "\(seed)"]))
            }
            let victim = children.remove(at: Int.random(in: 0..<children.count, using: &random))
            #expect(victim.line() == "inside")
            victim.kill()
            try expectAgreement(in: environment)
        }
        for child in children {
            #expect(child.line() == "inside")
            #expect(child.isRunning)
            child.kill()
        }
        try expectAgreement(in: environment)
        #expect(try environment.isSound())
    }

    /// Rows that were written together have one version, and each is whole.
    private func expectAgreement(in environment: Environment) throws {
        var versions: [UInt64: UInt64] = [:]
        var broken = 0
        try environment.read { snapshot throws(StoreError) in
            try snapshot.scan(Sample.numbers) { key, value throws(StoreError) in
                if key >= 1_000_000 { return false }
                guard let version = SampleValue.version(value, key) else {
                    broken += 1
                    return true
                }
                if key < 400 { versions[key] = version }
                return true
            }
        }
        #expect(broken == 0)
        for (key, version) in versions { #expect(versions[key ^ 1] == version) }
    }

    @Test("a mapping that is too small grows, and the other processes take the new size over")
    func growth() throws {
        var settings = Sample.settings()
        settings.mapSize = 1 << 20
        let environment = try Environment.open(directory: scratch.environment, settings: settings)
        defer { environment.close() }
        try environment.put(1, [1])
        let child = try EnvironmentChild(["environment-fill", scratch.environment, "2000", "\(1 << 20)"])
        #expect(child.line() == "done")
        #expect(child.wait() == 0)
        #expect(try environment.get(2001)?.count == 3000)
        try environment.put(3000, Array(repeating: 3, count: 20 << 20))
        #expect(try environment.get(3000)?.count == 20 << 20)
        #expect(try environment.information().mapSize >= 32 << 20)
    }

    @Test("who has no addresses for what others made larger opens the files anew, and nothing of them is lost")
    func fewAddresses() throws {
        let mapSize = 1 << 32
        let child = try EnvironmentChild(["environment-addresses", scratch.environment, "\(mapSize)"])
        #expect(child.line() == "ready")
        var settings = Sample.settings()
        settings.mapSize = mapSize
        let environment = try Environment.open(directory: scratch.environment, settings: settings)
        defer { environment.close() }
        try environment.put(3, Array(repeating: 3, count: 4 << 20))
        let before = try FileManager.default.attributesOfItem(atPath: scratch.data)[.systemFileNumber] as? Int
        try Data().write(to: URL(fileURLWithPath: scratch.environment + "/grown"))
        // What is opened anew is mapped as far as there are data.
        #expect(child.line() == "no memory, done, done, done")
        #expect(child.line() == "there")
        #expect(child.wait() == 0)
        let after = try FileManager.default.attributesOfItem(atPath: scratch.data)[.systemFileNumber] as? Int
        #expect(before == after)
        #expect(try environment.get(3)?.count == 4 << 20)
    }

    @Test("a copy of the process made by fork is refused, and its parent goes on")
    func fork() throws {
        let child = try EnvironmentChild(["environment-fork", scratch.environment])
        let refusal = StoreError.forked.description
        #expect(child.line() == "\(refusal)|\(refusal)|\(refusal)")
        #expect(child.line() == "parent goes on")
        #expect(child.wait() == 0)
    }

    @Test("a full disk is an error, and what was committed stays")
    func fileLimit() throws {
        let child = try EnvironmentChild(["environment-limit", scratch.environment, "\(3 << 20)"])
        #expect(child.line() == "full many")
        #expect(child.wait() == 0)
        let environment = try Environment.open(directory: scratch.environment, settings: Sample.settings())
        defer { environment.close() }
        #expect(try environment.get(2)?.count == 20_000)
        try environment.put(1, [1])
    }

    @Test(
        "changed bits anywhere in the file are a miss, an error or a new start, never a crash, a hang or another row",
        arguments: ["closed", "open", "late", "blind"])
    func flips(kind: String) throws {
        let maker = try EnvironmentChild(["environment-churn", scratch.environment, "9"])
        #expect(maker.line() == "inside")
        let watcher = try Environment.open(directory: scratch.environment, settings: Sample.settings())
        while try watcher.information().filePages < 300 { usleep(1000) }
        maker.kill()
        watcher.close()
        let place = scratch.path + "/flips"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: scratch.data, toPath: place + "/pristine")
        let rounds = runsLongTests ? 10_000 : kind == "closed" ? 600 : 200
        // In pieces, side by side.
        let pieces = 4
        let children = try (0..<pieces).map { piece in
            let own = place + "/\(piece)"
            try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(atPath: own + "/pristine", withDestinationPath: "../pristine")
            return try EnvironmentChild([
                "environment-flips", own, kind, "1", "\(rounds * piece / pieces)", "\(rounds * (piece + 1) / pieces)",
            ])
        }
        for child in children {
            let said = child.rest().split(separator: "\n")
            #expect(child.wait() == 0, "ended in \(said.last ?? "silence")")
            #expect(said.last?.hasPrefix("done") == true)
        }
    }
}
