import CTrawlLMDB
import Foundation
import Glibc
import TestSupport
import Testing

@testable import TrawlStore

@Suite("An environment whose files change beneath it")
struct EnvironmentReplacingTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func open(_ settings: EnvironmentSettings = Sample.settings()) throws -> Environment {
        try Environment.open(directory: scratch.environment, settings: settings)
    }

    /// The descriptor by which LMDB writes meta pages when each commit is synced.
    private func metaDescriptor() throws -> Int32 {
        let found = try OpenDescriptors.leading { $0 == scratch.data }
        return try #require(found.first { fcntl($0.number, F_GETFL) & O_DSYNC != 0 }).number
    }

    /// Has the meta page of what `body` writes fail, as on a full disk.
    private func failMetaPage(of body: () throws -> Void) throws {
        let descriptor = try metaDescriptor()
        let saved = dup(descriptor)
        let full = Glibc.open("/dev/full", O_RDWR | O_CLOEXEC)
        #expect(dup2(full, descriptor) == descriptor)
        close(full)
        var hasFailed = false
        do { try body() } catch is StoreError { hasFailed = true }
        #expect(hasFailed)
        #expect(dup2(saved, descriptor) == descriptor)
        close(saved)
    }

    @Test("a write of the meta page that fails costs that commit and nothing before it", arguments: [true, false])
    func failedMetaPage(isRebuildable: Bool) throws {
        let environment = try open(Sample.settings(isRebuildable: isRebuildable, syncPolicy: .everyCommit))
        defer { environment.close() }
        for key in 1..<20 as Range<UInt64> { try environment.put(key, [UInt8(key)]) }
        try failMetaPage { try environment.put(20, [20]) }
        // Who reads first, or writes first, opens the files again.
        if isRebuildable { #expect(throws: StoreError.self) { try environment.get(1) } }
        try environment.put(21, [21])
        for key in 1..<20 as Range<UInt64> { #expect(try environment.get(key) == [UInt8(key)]) }
        #expect(try environment.get(21) == [21])
        #expect(try environment.isSound())
    }

    @Test("after a write of the meta page that failed the files are opened again when the last snapshot has ended")
    func failedMetaPageBesideReader() throws {
        var settings = Sample.settings(isRebuildable: false, syncPolicy: .everyCommit)
        settings.reopeningPause = .zero
        let environment = try open(settings)
        defer { environment.close() }
        try environment.put(1, [1])
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
        try failMetaPage { try environment.put(2, [2]) }
        #expect(throws: StoreError.self) { try environment.put(3, [3]) }
        // Of a thread that reads no more.
        mayEnd.signal()
        isOver.wait()
        try environment.put(4, [4])
        #expect(try environment.get(1) == [1])
        #expect(try environment.get(4) == [4])
    }

    @Test("who starts over has short files, nothing in them, and loses no later write")
    func startsOver() throws {
        let environment = try open(Sample.settings(isRebuildable: true))
        defer { environment.close() }
        for key in 1..<200 as Range<UInt64> { try environment.put(key, [UInt8](repeating: 1, count: 3000)) }
        let before = try #require(FileManager.default.attributesOfItem(atPath: scratch.data)[.size] as? Int)
        let generation = environment.generation
        try environment.startOver()
        let after = try #require(FileManager.default.attributesOfItem(atPath: scratch.data)[.size] as? Int)
        #expect(after < before / 10)
        #expect(environment.generation > generation)
        #expect(try environment.get(1) == nil)
        try environment.put(1, [7])
        #expect(try environment.get(1) == [7])
        #expect(try environment.isSound())
    }

    @Test("what was deleted is not read when what has taken its place cannot be used")
    func unusableSuccessor() throws {
        var settings = Sample.settings()
        settings.reopeningPause = .zero
        let environment = try open(settings)
        defer { environment.close() }
        try environment.put(1, [1])
        // As a newer version makes it.
        let newer = scratch.path + "/newer"
        let other = try Environment.open(directory: newer, settings: Sample.settings(format: 7))
        try other.put(1, [7])
        other.close()
        for name in ["data.mdb", "lock.mdb"] {
            #expect(rename(newer + "/" + name, scratch.environment + "/" + name) == 0)
        }
        let problem = StoreError.newerFormat(path: scratch.data, found: 7, supported: 1)
        #expect(throws: problem) { try environment.put(2, [2]) }
        #expect(throws: problem) { try environment.get(1) }
        #expect(throws: problem) { try environment.get(1) }
        for name in ["data.mdb", "lock.mdb"] { unlink(scratch.environment + "/" + name) }
        #expect(try environment.get(1) == nil)
        try environment.put(3, [3])
        #expect(try environment.get(3) == [3])
    }

    @Test("it is not tried again and again to open what cannot be opened")
    func pause() throws {
        var settings = Sample.settings()
        settings.reopeningPause = .seconds(3600)
        let environment = try open(settings)
        defer { environment.close() }
        try environment.put(1, [1])
        unlink(scratch.data)
        mkdir(scratch.data, 0o700)
        let problem = StoreError.unusable(path: scratch.data, reason: "is no file")
        #expect(throws: problem) { try environment.put(2, [2]) }
        rmdir(scratch.data)
        #expect(throws: problem) { try environment.put(2, [2]) }
        #expect(throws: problem) { try environment.get(1) }
    }

    @Test("a directory made anew is not opened twice in one process")
    func sameDirectory() throws {
        let first = try open()
        defer { first.close() }
        try first.put(1, [1])
        try FileManager.default.removeItem(atPath: scratch.environment)
        let second = try open()
        defer { second.close() }
        #expect(first === second)
        try second.put(2, [2])
        #expect(try first.get(1) == nil)
        #expect(try first.get(2) == [2])
        // By another name as well.
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path + "/link", withDestinationPath: scratch.environment)
        let third = try Environment.open(directory: scratch.path + "/link", settings: Sample.settings())
        defer { third.close() }
        #expect(first === third)
    }

    @Test("when all above it is removed as well, that is made anew, for the user alone")
    func removedAbove() throws {
        let above = scratch.path + "/above"
        let directory = above + "/store/environment"
        let environment = try Environment.open(directory: directory, settings: Sample.settings())
        defer { environment.close() }
        try environment.put(1, [1])
        let generation = environment.generation
        try FileManager.default.removeItem(atPath: above)
        try environment.put(2, [2])
        #expect(environment.generation > generation)
        #expect(try environment.get(1) == nil)
        #expect(try environment.get(2) == [2])
        #expect(environment.problem == nil)
        for path in [above, above + "/store", directory] {
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            #expect(facts[.posixPermissions] as? Int == 0o700, "\(path)")
        }
    }

    @Test("why it could not be opened again is known, also later", arguments: [true, false])
    func problem(isRebuildable: Bool) throws {
        let above = scratch.path + "/above"
        let directory = above + "/environment"
        var settings = Sample.settings(isRebuildable: isRebuildable)
        settings.reopeningPause = .zero
        let environment = try Environment.open(directory: directory, settings: settings)
        defer { environment.close() }
        try environment.put(1, [1])
        #expect(environment.problem == nil)
        try FileManager.default.removeItem(atPath: above)
        try Data().write(to: URL(fileURLWithPath: above))
        let problem = StoreError.unusable(path: directory, reason: "part of the path is no directory")
        #expect(throws: problem) { try environment.put(2, [2]) }
        #expect(throws: problem) { try environment.get(1) }
        #expect(environment.problem == problem)
        unlink(above)
        try environment.put(3, [3])
        #expect(try environment.get(3) == [3])
        #expect(environment.problem == problem)
    }

    @Test("a process of the same number, as one of another container may be, is named as what is in the way")
    func sameNumber() throws {
        try open().close()
        let file = Glibc.open(scratch.environment + "/lock.mdb", O_RDWR | O_CLOEXEC)
        #expect(clmdb_lock_byte(file, Int64(getpid()), 2, 0) == 0)
        let reason = "a process of another container has the same number as this one"
        #expect(throws: StoreError.unusable(path: scratch.data, reason: reason)) { try open() }
        close(file)
    }

    @Test("where a host closed its standard streams, no file takes their numbers")
    func closedStreams() throws {
        let child = try EnvironmentChild(["environment-closed", scratch.environment])
        #expect(child.line() == "free")
        #expect(child.wait() == 0)
    }

    @Test("a standard stream that a host gives itself meanwhile stays")
    func givenStreams() async {
        await #expect(processExitsWith: .exitCode(0)) {
            // So that nobody else takes the numbers.
            guard OwnDescriptors.take() else { exit(4) }
            for number in 0...2 as ClosedRange<Int32> { close(number) }
            let numbers = TakenNumbers()
            let stream = Glibc.open("/dev/null", O_RDWR)
            guard stream > 2, dup2(stream, 0) == 0 else { exit(2) }
            close(1)
            guard Glibc.open("/dev/null", O_WRONLY) == 1 else { exit(3) }
            numbers.give()
            exit(fcntl(0, F_GETFD) >= 0 && fcntl(1, F_GETFD) >= 0 && fcntl(2, F_GETFD) < 0 ? 0 : 1)
        }
    }
}
