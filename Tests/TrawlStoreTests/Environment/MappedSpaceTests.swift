import Glibc
import Testing
import TrawlPlatform

@testable import TrawlStore

@Suite("Room for what is written where files are mapped")
struct MappedSpaceTests {
    private static let full = StoreError.diskFull(SystemError(errno: ENOSPC, call: "test"))
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    /// A file system that has room, or none.
    private final class Disk: Sendable {
        private let isFull = Guarded(false)

        func fill() { isFull.withLock { $0 = true } }

        func makeRoom() { isFull.withLock { $0 = false } }

        var settings: EnvironmentSettings {
            var settings = Sample.settings()
            settings.findShortage = { [self] _ in isFull.withLock { $0 } ? MappedSpaceTests.full : nil }
            return settings
        }
    }

    @Test("too little is a sixteenth of a small file system, and 256 MiB of any other")
    func bound() {
        let size: UInt64 = 320 << 20
        #expect(MappedSpace.isShort(available: 0, of: size))
        #expect(MappedSpace.isShort(available: size / 16 - 1, of: size))
        #expect(!MappedSpace.isShort(available: size / 16, of: size))
        #expect(MappedSpace.isShort(available: (256 << 20) - 1, of: 1 << 40))
        #expect(!MappedSpace.isShort(available: 256 << 20, of: 1 << 40))
    }

    @Test("without it nothing is opened, read or written, and with it all goes on")
    func refuses() throws {
        let disk = Disk()
        disk.fill()
        #expect(throws: Self.full) {
            try Environment.open(directory: scratch.environment, settings: disk.settings)
        }
        disk.makeRoom()
        let environment = try Environment.open(directory: scratch.environment, settings: disk.settings)
        defer { environment.close() }
        try environment.put(1, [1])
        disk.fill()
        // A write looks each time, and what it finds counts for reads at once.
        #expect(throws: Self.full) { try environment.put(2, [2]) }
        #expect(throws: Self.full) { try environment.get(1) }
        #expect(throws: Self.full) { try environment.isSound() }
        #expect(environment.problem == Self.full)
        disk.makeRoom()
        #expect(try environment.get(1) == [1])
        #expect(try environment.get(2) == nil)
        try environment.put(2, [2])
    }

    @Test("what is closed without it stays open until the process ends, which gives up nothing of it")
    func closes() throws {
        let disk = Disk()
        let environment = try Environment.open(directory: scratch.environment, settings: disk.settings)
        try environment.put(1, [1])
        disk.fill()
        environment.close()
        disk.makeRoom()
        #expect(throws: StoreError.closed) { try environment.get(1) }
        #expect(
            throws: StoreError.unusable(
                path: scratch.data, reason: "what this process had open of it is still being read")
        ) {
            try Environment.open(directory: scratch.environment, settings: disk.settings)
        }
        // Another process has it as before.
        let child = try EnvironmentChild(["environment-fill", scratch.environment, "3", "\(1 << 30)"])
        #expect(child.line() == "done")
        #expect(child.wait() == 0)
    }
}
