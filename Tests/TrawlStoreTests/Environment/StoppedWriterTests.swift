import CTrawlLMDB
import Foundation
import Glibc
import Testing

@testable import TrawlStore
import TrawlPlatform

@Suite("An environment in which another process does not come to the end of a write", .serialized)
struct StoppedWriterTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func open(isRebuildable: Bool = true) throws -> Environment {
        try Environment.open(
            directory: scratch.environment, settings: Sample.settings(isRebuildable: isRebuildable))
    }

    @Test(
        "a write gives up in time and names the process, reads go on, and so do writes when it is gone",
        arguments: ["environment-write", "environment-stranger"])
    func givesUp(mode: String) throws {
        let environment = try open()
        defer { environment.close() }
        try environment.put(1, [1])
        let child = try EnvironmentChild([mode, scratch.environment])
        #expect(child.line() == "inside")
        // Who does not use our lock has no name.
        let process = mode == "environment-write" ? child.processID : 0
        #expect(throws: StoreError.busy(path: scratch.environment, process: process)) {
            try environment.write(patience: .milliseconds(30)) { transaction throws(StoreError) in
                try transaction.put(Sample.numbers, 2, [2])
            }
        }
        #expect(try environment.get(1) == [1])
        child.kill()
        try environment.put(2, [2])
        #expect(try environment.get(2) == [2])
    }

    @Test("opening the files of an older format gives up in time while another process writes")
    func opening() throws {
        try open().close()
        let child = try EnvironmentChild(["environment-stranger", scratch.environment])
        #expect(child.line() == "inside")
        var settings = Sample.settings(format: 2)
        settings.openingPatience = .milliseconds(50)
        #expect(throws: StoreError.busy(path: scratch.environment, process: 0)) {
            try Environment.open(directory: scratch.environment, settings: settings)
        }
        child.kill()
        try Environment.open(directory: scratch.environment, settings: settings).close()
    }

    @Test("opening gives up in time while another process opens, and says so")
    func locked() throws {
        try open().close()
        let path = scratch.environment + "/environment.lock"
        let file = Glibc.open(path, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        #expect(clmdb_lock_byte(file, 0, 2, 0) == 0)
        var settings = Sample.settings()
        settings.openingPatience = .milliseconds(20)
        #expect(throws: StoreError.locked(path: path)) {
            try Environment.open(directory: scratch.environment, settings: settings)
        }
        // Others are opened meanwhile, also while it waits.
        settings.openingPatience = .seconds(3600)
        let (waiting, directory, isOver) = (settings, scratch.environment, DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            try? Environment.open(directory: directory, settings: waiting).close()
            isOver.signal()
        }
        for number in 0..<20 {
            try Environment.open(directory: scratch.path + "/\(number)", settings: Sample.settings()).close()
        }
        #expect(clmdb_lock_byte(file, 0, 0, 0) == 0)
        #expect(isOver.wait(timeout: .now() + 60) == .success)
    }

    @Test("the time for which this process is stopped is no waiting for another that opens")
    func stoppedWhileLocked() async {
        await #expect(processExitsWith: .exitCode(0)) {
            // With more patience where the machine alone took so much.
            for seconds in [2, 10, 40] where try Self.opens(within: seconds, stoppedFor: seconds + 1) { exit(0) }
            exit(1)
        }
    }

    /// Whether an environment is opened that another opener leaves only when this process was stopped for so long.
    private static func opens(within patience: Int, stoppedFor seconds: Int) throws -> Bool {
        let scratch = try ScratchDirectory()
        try Environment.open(directory: scratch.environment, settings: Sample.settings()).close()
        let file = Glibc.open(scratch.environment + "/environment.lock", O_RDWR | O_CLOEXEC)
        defer { close(file) }
        guard clmdb_lock_byte(file, 0, 2, 0) == 0 else { return false }
        var settings = Sample.settings()
        settings.openingPatience = .seconds(patience)
        let (waiting, directory, isOver) = (settings, scratch.environment, DispatchSemaphore(value: 0))
        let isOpened = Guarded(false)
        Thread.detachNewThread {
            if let environment = try? Environment.open(directory: directory, settings: waiting) {
                environment.close()
                isOpened.withLock { $0 = true }
            }
            isOver.signal()
        }
        // Comes back when it was stopped and goes on.
        _ = system("kill -STOP $PPID & sleep \(seconds); kill -CONT $PPID")
        // By now it has waited for much less than it may, but the clock says more.
        Thread.sleep(forTimeInterval: Double(patience) / 2)
        guard clmdb_lock_byte(file, 0, 0, 0) == 0 else { return false }
        return isOver.wait(timeout: .now() + 60) == .success && isOpened.withLock { $0 }
    }

    @Test("of writes that wait in groups those that insist are done when it is gone, and the others fail soon")
    func groups() throws {
        let environment = try open()
        defer { environment.close() }
        var limits = GroupedWrites.Limits()
        limits.patience = .milliseconds(30)
        limits.retryDelay = .milliseconds(5)
        let writes = try GroupedWrites.start(environment, limits: limits)
        defer { writes.stop() }
        let child = try EnvironmentChild(["environment-write", scratch.environment])
        #expect(child.line() == "inside")
        let outcomes = Guarded<[UInt64: Bool]>([:])
        let (hasFailed, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        func submit(_ key: UInt64, insists: Bool, _ semaphore: DispatchSemaphore) {
            _ = writes.submit(.now, insists: insists) { transaction throws(StoreError) in
                try transaction.put(Sample.numbers, key, [1])
            } completion: { result in
                outcomes.withLock { $0[key] = (try? result.get()) != nil }
                semaphore.signal()
            }
        }
        submit(1001, insists: true, isDone)
        submit(1002, insists: false, hasFailed)
        #expect(hasFailed.wait(timeout: .now() + 60) == .success)
        submit(1003, insists: false, hasFailed)
        #expect(hasFailed.wait(timeout: .now() + 60) == .success)
        #expect(outcomes.withLock { $0 } == [1002: false, 1003: false])
        child.kill()
        #expect(isDone.wait(timeout: .now() + 60) == .success)
        #expect(outcomes.withLock { $0 } == [1001: true, 1002: false, 1003: false])
        #expect(try environment.get(1001) == [1])
    }

    @Test("waiting for all that was submitted ends, also for writes that insist")
    func flush() throws {
        let environment = try open()
        defer { environment.close() }
        var limits = GroupedWrites.Limits()
        limits.patience = .milliseconds(10)
        limits.retryDelay = .milliseconds(5)
        let writes = try GroupedWrites.start(environment, limits: limits)
        let child = try EnvironmentChild(["environment-write", scratch.environment])
        #expect(child.line() == "inside")
        let failures = Guarded(0)
        for key: UInt64 in 1001..<1300 {
            _ = writes.submit(.soon, insists: key % 2 == 0) { transaction throws(StoreError) in
                try transaction.put(Sample.numbers, key, [1])
            } completion: { result in
                if case .failure(.busy) = result { failures.withLock { $0 += 1 } }
            }
        }
        writes.flush()
        writes.stop()
        #expect(failures.withLock { $0 } == 299)
        child.kill()
    }

    @Test("a process that dies when it is its turn leaves it to the next")
    func dies() throws {
        let environment = try open()
        defer { environment.close() }
        for _ in 0..<3 {
            let child = try EnvironmentChild(["environment-write", scratch.environment])
            #expect(child.line() == "inside")
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                try? environment.put(7, [7])
                done.signal()
            }
            child.kill()
            #expect(done.wait(timeout: .now() + 60) == .success)
        }
        #expect(try environment.get(7) == [7])
    }

    @Test("who is about to stop begins no write, also where it waited for its turn, and goes on with it later")
    func heldBack() throws {
        let environment = try open()
        defer { environment.close() }
        try environment.put(1, [1])
        let other = try EnvironmentChild(["environment-write", scratch.environment])
        #expect(other.line() == "inside")
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? environment.write(patience: .seconds(3600)) { transaction throws(StoreError) in
                try transaction.put(Sample.numbers, 5000, [5])
            }
            done.signal()
        }
        while !environment.turn.withLock({ $0.isAwaited }) { usleep(100) }
        var hasRun = false
        // The other one is in the way for as long as it may be.
        environment.betweenWrites(patience: .milliseconds(20)) { hasRun = true }
        #expect(hasRun)
        other.kill()
        // A third one comes to its turns, and as many as it wants.
        let third = try EnvironmentChild(["environment-fill", scratch.environment, "20", "\(1 << 30)"])
        #expect(third.line() == "done")
        #expect(third.wait() == 0)
        #expect(try environment.get(5000) == nil)
        Environment.resumeWrites()
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(try environment.get(5000) == [5])
        #expect(try environment.get(21) != nil)
    }

    @Test("damage in the file of turns costs nothing but the bound", arguments: ["", "short", "long"])
    func damaged(content: String) throws {
        try FileManager.default.createDirectory(atPath: scratch.environment, withIntermediateDirectories: true)
        let bytes = Data(repeating: 0xAB, count: content == "long" ? 4096 : content.utf8.count)
        let other = try EnvironmentChild(["environment-read", scratch.environment, "1", "510"])
        #expect(other.line() == "inside")
        try bytes.write(to: URL(fileURLWithPath: scratch.environment + "/writer"))
        let environment = try open()
        try environment.put(1, [1])
        #expect(try environment.get(1) == [1])
        environment.close()
        other.kill()
    }

    @Test("a transaction that LMDB left in the middle keeps no other process from writing")
    func assertion() throws {
        let environment = try open(isRebuildable: false)
        defer { environment.close() }
        try environment.put(1, [1])
        #expect(throws: StoreError.self) {
            try environment.write { transaction throws(StoreError) in
                try transaction.put(Sample.numbers, 2, [2])
                // As an assertion ends it.
                try transaction.succeed(Int32(clmdb_asserted), "mdb_put")
            }
        }
        let child = try EnvironmentChild(["environment-fill", scratch.environment, "20", "\(1 << 30)"])
        #expect(child.line() == "done")
        #expect(child.wait() == 0)
        #expect(try environment.get(1) == [1])
        #expect(try environment.get(2)?.count ?? 0 > 1)
    }

    /// Settings of a newer format, to which LMDB does not come in the transaction that is to set it.
    private func endedMigration(isRebuildable: Bool) -> EnvironmentSettings {
        var settings = Sample.settings(isRebuildable: isRebuildable, format: 2)
        settings.migrate = { _, transaction throws(StoreError) in
            try transaction.put(Sample.numbers, 2, [2])
            // As an assertion ends it.
            try transaction.succeed(Int32(clmdb_asserted), "mdb_put")
        }
        return settings
    }

    @Test("an opening that LMDB left in the middle keeps nobody from writing, its own thread included")
    func assertionInOpening() throws {
        try open(isRebuildable: false).close()
        #expect(throws: StoreError.self) {
            try Environment.open(directory: scratch.environment, settings: endedMigration(isRebuildable: false))
        }
        let child = try EnvironmentChild(["environment-fill", scratch.environment, "20", "\(1 << 30)"])
        #expect(child.line() == "done")
        #expect(child.wait() == 0)
        let environment = try open(isRebuildable: false)
        defer { environment.close() }
        try environment.put(1, [1])
        #expect(try environment.get(1) == [1])
        #expect(try environment.get(2)?.count ?? 0 > 1)
    }

    @Test("what can be made anew is, when LMDB leaves its opening in the middle")
    func rebuiltAfterAssertion() throws {
        try open().close()
        let environment = try Environment.open(
            directory: scratch.environment, settings: endedMigration(isRebuildable: true))
        defer { environment.close() }
        #expect(environment.claimLoss())
        try environment.put(1, [1])
        #expect(try environment.get(1) == [1])
        #expect(try environment.get(2) == nil)
    }
}
