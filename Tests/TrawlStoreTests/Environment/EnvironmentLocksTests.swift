import CTrawlLMDB
import Foundation
import Glibc
import Testing
import TrawlPlatform

@testable import TrawlStore

@Suite("LMDB's locks, which belong to the process", .serialized)
struct EnvironmentLocksTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func open(isRebuildable: Bool = true) throws -> Environment {
        try Environment.open(
            directory: scratch.environment, settings: Sample.settings(isRebuildable: isRebuildable))
    }

    /// LMDB's lock file. Closed only when no environment of this process has it open.
    private func lockFile() throws -> Int32 {
        let file = Glibc.open(scratch.environment + "/lock.mdb", O_RDWR | O_CLOEXEC)
        try #require(file >= 0)
        return file
    }

    /// Whether somebody has a byte of a file locked, this process by LMDB's descriptor too. LMDB locks byte 0 as long
    /// as it has the file open, and that of the process's number when it read.
    private func isLocked(_ byte: Int32, of file: Int32) -> Bool {
        let result = clmdb_lock_byte(file, Int64(byte), 2, 0)
        if result == 0 { _ = clmdb_lock_byte(file, Int64(byte), 0, 0) }
        return result == -EAGAIN || result == -EACCES
    }

    private func isUnusable(_ error: any Error) -> Bool {
        if case .unusable? = error as? StoreError { true } else { false }
    }

    @Test("LMDB's lock file is as long as is reserved for it, and its writer lock is where it is looked for")
    func layout() throws {
        try FileManager.default.createDirectory(atPath: scratch.environment, withIntermediateDirectories: true)
        var created: OpaquePointer?
        try #require(mdb_env_create(&created) == 0)
        let environment = try #require(created)
        defer { mdb_env_close(environment) }
        try #require(mdb_env_set_maxreaders(environment, 7) == 0)
        try #require(mdb_env_open(environment, scratch.environment, 0, 0o600) == 0)
        let file = try lockFile()
        defer { close(file) }
        let size = try FileFacts.of(file).size
        #expect(size == Int64(clmdb_lock_file_size(7)))

        func isHeld() -> Bool {
            withUnsafeTemporaryAllocation(byteCount: clmdb_lock_file_size(0), alignment: 64) { locks in
                pread(file, locks.baseAddress, locks.count, 0) == locks.count
                    && clmdb_writer_lock_is_held(locks.baseAddress) != 0
            }
        }
        #expect(!isHeld())
        var begun: OpaquePointer?
        try #require(mdb_txn_begin(environment, nil, 0, &begun) == 0)
        #expect(isHeld())
        mdb_txn_abort(begun)
        #expect(!isHeld())
    }

    @Test("a lock file is open as long as one of its number is")
    func openTwice() {
        let file = FileIdentity(device: .max, inode: .max)
        OpenLockFiles.insert(file)
        OpenLockFiles.insert(file)
        OpenLockFiles.remove(file)
        #expect(OpenLockFiles.contains(file))
        OpenLockFiles.remove(file)
        #expect(!OpenLockFiles.contains(file))
    }

    @Test("a data file that is gone takes its lock file along", arguments: [true, false])
    func dataGone(isRebuildable: Bool) throws {
        let environment = try open(isRebuildable: isRebuildable)
        try environment.put(1, [1])
        let old = try lockFile()
        #expect(isLocked(getpid(), of: old))
        unlink(scratch.data)
        try environment.put(2, [2])
        #expect(try environment.get(1) == nil)
        #expect(try environment.get(2) == [2])
        let new = try lockFile()
        let (before, after) = (try FileFacts.of(old).identity, try FileFacts.of(new).identity)
        #expect(before != after)
        #expect(isLocked(0, of: new))
        #expect(isLocked(getpid(), of: new))
        environment.close()
        close(old)
        close(new)
    }

    @Test("two processes whose data file is removed go on with one lock file, and no write fails")
    func dataGoneForTwo() throws {
        let environment = try open()
        let child = try EnvironmentChild(["environment-churn", scratch.environment, "1"])
        #expect(child.line() == "inside")
        unlink(scratch.data)
        try environment.put(500, [1])
        // It ends when a write of its own fails.
        let end = ContinuousClock.now + .seconds(60)
        var last: UInt64 = 0
        while last < 1000, ContinuousClock.now < end {
            last = try environment.read { snapshot throws(StoreError) in try snapshot.last(Sample.numbers)?.key ?? 0 }
        }
        #expect(last >= 1000, "nothing that the child stored")
        #expect(child.isRunning)
        #expect(try environment.get(500) == [1])
        let file = try lockFile()
        #expect(isLocked(child.processID, of: file))
        #expect(isLocked(getpid(), of: file))
        child.kill()
        environment.close()
        close(file)
    }

    @Test("who closes waits for a read under way, and who opens next has the locks")
    func closesBehindRead() throws {
        let environment = try open()
        try environment.put(1, [1])
        let isInside = DispatchSemaphore(value: 0)
        let seen = Guarded<[UInt8]?>(nil)
        Thread.detachNewThread {
            try? environment.read { snapshot throws(StoreError) in
                isInside.signal()
                // Until it is being closed.
                while (try? environment.get(1)) != nil { usleep(100) }
                let value = try snapshot.get(Sample.numbers, 1).map { Array($0) }
                seen.withLock { $0 = value }
            }
        }
        isInside.wait()
        environment.close()
        let next = try openPatiently()
        #expect(seen.withLock { $0 } == [1])
        let file = try lockFile()
        #expect(isLocked(0, of: file))
        #expect(isLocked(getpid(), of: file))
        #expect(try next.get(1) == [1])
        next.close()
        close(file)
    }

    /// Opens, also where the machine kept the reader from its end for longer than closing waits.
    private func openPatiently() throws -> Environment {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do {
                return try open()
            } catch {
                guard isUnusable(error), ContinuousClock.now < end else { throw error }
            }
            usleep(1000)
        }
    }

    @Test("what is still being read is not opened a second time, and its locks stay")
    func refusesSecond() throws {
        let environment = try open()
        try environment.put(1, [1])
        let file = try lockFile()
        let (isInside, mayEnd, isOver) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        Thread.detachNewThread {
            try? environment.read { _ throws(StoreError) in
                isInside.signal()
                mayEnd.wait()
            }
            isOver.signal()
        }
        isInside.wait()
        environment.close()
        #expect(performing: { try open() }, throws: isUnusable)
        #expect(isLocked(0, of: file))
        #expect(isLocked(getpid(), of: file))
        mayEnd.signal()
        isOver.wait()
        #expect(!isLocked(getpid(), of: file))
        let next = try open()
        #expect(try next.get(1) == [1])
        try next.put(2, [2])
        #expect(isLocked(0, of: file))
        #expect(isLocked(getpid(), of: file))
        next.close()
        close(file)
    }
}
