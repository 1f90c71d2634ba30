import Foundation
import TestSupport
import Testing
import TrawlPlatform
import TrawlStore

@Suite("Opening an environment")
struct EnvironmentOpeningTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    /// Opens, runs, closes.
    private func use<Value>(
        _ settings: EnvironmentSettings = Sample.settings(), _ body: (Environment) throws -> Value
    ) throws -> Value {
        let environment = try Environment.open(directory: scratch.environment, settings: settings)
        defer { environment.close() }
        return try body(environment)
    }

    private func fill(_ settings: EnvironmentSettings = Sample.settings()) throws {
        try use(settings) { environment throws in
            try environment.write { transaction throws(StoreError) in
                for key: UInt64 in 0..<500 {
                    try transaction.put(Sample.numbers, key, Array(repeating: UInt8(key & 255), count: 1000))
                }
            }
        }
    }

    private func isUnusable(_ error: any Error) -> Bool {
        if case .unusable? = error as? StoreError { true } else { false }
    }

    private func isDamaged(_ error: any Error) -> Bool {
        if case .damaged? = error as? StoreError { true } else { false }
    }

    @Test("a second opening in one process is the same environment, and stays open until both are closed")
    func shared() throws {
        let first = try Environment.open(directory: scratch.environment, settings: Sample.settings())
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path + "/link", withDestinationPath: scratch.environment)
        let second = try Environment.open(directory: scratch.path + "/link", settings: Sample.settings())
        #expect(first === second)
        first.close()
        try second.put(1, [1])
        second.close()
        #expect(throws: StoreError.closed) { try second.get(1) }
        #expect(throws: StoreError.closed) { try second.put(1, [1]) }
    }

    @Test("directories whose names are one to Unicode hold two environments")
    func equivalentNames() throws {
        let environments = try ["e\u{301}", "\u{E9}"].map { name in
            try Environment.open(directory: scratch.path + "/" + name, settings: Sample.settings())
        }
        defer { for environment in environments { environment.close() } }
        #expect(environments[0] !== environments[1])
        try environments[0].put(1, [1])
        #expect(try environments[1].get(1) == nil)
    }

    @Test("nothing it opens is inherited by other programs, or readable for other users")
    func descriptors() throws {
        try use { environment throws in
            try environment.put(1, [1])
            let found = try OpenDescriptors.leading { $0.hasPrefix(scratch.environment) }
            for (number, path) in found { #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0, "\(path)") }
            #expect(found.count >= 3)
            for name in try FileManager.default.contentsOfDirectory(atPath: scratch.environment) {
                let facts = try FileManager.default.attributesOfItem(atPath: scratch.environment + "/" + name)
                #expect((facts[.posixPermissions] as? Int).map { $0 & 0o077 } == 0)
            }
        }
        let facts = try FileManager.default.attributesOfItem(atPath: scratch.environment)
        #expect(facts[.posixPermissions] as? Int == 0o700)
    }

    @Test("a directory others may write to, one of another kind, and a file in the way are refused")
    func refusals() throws {
        try FileManager.default.createDirectory(
            atPath: scratch.environment, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o777])
        chmod(scratch.environment, 0o777)
        #expect(performing: { try use { _ in } }, throws: isUnusable)
        chmod(scratch.environment, 0o700)
        try FileManager.default.createDirectory(atPath: scratch.data, withIntermediateDirectories: false)
        #expect(performing: { try use { _ in } }, throws: isUnusable)
        try FileManager.default.removeItem(atPath: scratch.environment)
        try Data([1]).write(to: URL(fileURLWithPath: scratch.environment))
        #expect(performing: { try use { _ in } }, throws: isUnusable)
    }

    @Test("another user's directory is refused", .enabled(if: geteuid() == 0, "only root may do it"))
    func otherOwner() throws {
        try FileManager.default.createDirectory(atPath: scratch.environment, withIntermediateDirectories: false)
        chmod(scratch.environment, 0o755)
        chown(scratch.environment, 12345, 12345)
        #expect(performing: { try use { _ in } }, throws: isUnusable)
    }

    private func isForbidden(_ error: any Error) -> Bool {
        if case .system(let failure)? = error as? StoreError { failure.errno == EACCES } else { false }
    }

    @Test(
        "without the right to make it, or to write there, the system refuses",
        .enabled(if: geteuid() != 0, "root may do it anyway"))
    func readOnly() throws {
        chmod(scratch.path, 0o500)
        defer { chmod(scratch.path, 0o700) }
        #expect(performing: { try use { _ in } }, throws: isForbidden)
        chmod(scratch.path, 0o700)
        try FileManager.default.createDirectory(atPath: scratch.environment, withIntermediateDirectories: false)
        chmod(scratch.environment, 0o500)
        #expect(performing: { try use { _ in } }, throws: isForbidden)
        chmod(scratch.environment, 0o700)
        try fill()
        for name in ["environment.lock", "lock.mdb", "data.mdb"] {
            chmod(scratch.environment + "/" + name, 0o400)
            #expect(performing: { try use { _ in } }, throws: isForbidden)
            chmod(scratch.environment + "/" + name, 0o600)
        }
    }

    @Test("a durable file others could read is refused")
    func openDurableFile() throws {
        try fill(Sample.settings(isRebuildable: false))
        chmod(scratch.data, 0o644)
        #expect(performing: { try use(Sample.settings(isRebuildable: false)) { _ in } }, throws: isUnusable)
    }

    @Test("a newer format is refused, and left as it is")
    func newerFormat() throws {
        try use(Sample.settings(format: 7)) { environment throws in try environment.put(1, [7]) }
        #expect(throws: StoreError.newerFormat(path: scratch.data, found: 7, supported: 6)) {
            try use(Sample.settings(format: 6)) { _ in }
        }
        try use(Sample.settings(format: 7)) { environment throws in #expect(try environment.get(1) == [7]) }
    }

    @Test("an older format is carried over, made anew, or refused")
    func olderFormat() throws {
        try use(Sample.settings(format: 1)) { environment throws in try environment.put(1, [1]) }
        var migrating = Sample.settings(isRebuildable: false, format: 2)
        migrating.migrate = { found, transaction throws(StoreError) in
            try transaction.put(Sample.numbers, 2, [UInt8(found), 2])
        }
        try use(migrating) { environment throws in
            #expect(try environment.get(1) == [1])
            #expect(try environment.get(2) == [1, 2])
        }
        #expect(throws: StoreError.olderFormat(path: scratch.data, found: 2, supported: 3)) {
            try use(Sample.settings(isRebuildable: false, format: 3)) { _ in }
        }
        try use(Sample.settings(format: 3)) { environment throws in #expect(try environment.get(1) == nil) }
    }

    @Test(
        "a file cut off is made anew, or refused by name when it is durable",
        arguments: [1, 4096, 8192, 100_000, 300_000])
    func cutOff(size: Int) throws {
        try fill()
        truncate(scratch.data, size)
        #expect(performing: { try use(Sample.settings(isRebuildable: false)) { _ in } }, throws: isDamaged)
        try use { environment throws in
            #expect(try environment.get(1) == nil)
            try environment.put(1, [1])
            #expect(try environment.get(1) == [1])
        }
    }

    @Test("what is no LMDB file is made anew, or refused when it is durable")
    func foreign() throws {
        try FileManager.default.createDirectory(atPath: scratch.environment, withIntermediateDirectories: false)
        chmod(scratch.environment, 0o700)
        try Data(repeating: 65, count: 50_000).write(to: URL(fileURLWithPath: scratch.data))
        chmod(scratch.data, 0o600)
        #expect(performing: { try use(Sample.settings(isRebuildable: false)) { _ in } }, throws: isDamaged)
        try use { environment throws in try environment.put(1, [1]) }
    }

    @Test("after a start of the machine a cache whose structure is whole is kept, and put right first")
    func otherBoot() throws {
        var settings = Sample.settings()
        settings.bootIdentity = "first"
        settings.recover = { transaction throws(StoreError) in try transaction.put(Sample.numbers, 2, [9]) }
        try use(settings) { environment throws in try environment.put(1, [1]) }
        try use(settings) { environment throws in #expect(try environment.get(2) == nil) }
        settings.bootIdentity = "second"
        try use(settings) { environment throws in
            #expect(try environment.get(1) == [1])
            #expect(try environment.get(2) == [9])
            try environment.put(2, [2])
        }
        // Once for each start.
        try use(settings) { environment throws in #expect(try environment.get(2) == [2]) }
    }

    @Test("who has closed it is no user, although a process that is being started has a copy of its descriptor")
    func copiedGuard() throws {
        var settings = Sample.settings()
        settings.bootIdentity = "first"
        settings.recover = { transaction throws(StoreError) in try transaction.put(Sample.numbers, 2, [9]) }
        var copies: [Int32] = []
        defer { for copy in copies { close(copy) } }
        try use(settings) { environment throws in
            try environment.put(1, [1])
            copies = try OpenDescriptors.copies(of: scratch.environment + "/environment.lock")
            #expect(copies.count == 1)
        }
        // Who opens it alone puts right what a start of the machine may have mixed.
        settings.bootIdentity = "second"
        try use(settings) { environment throws in #expect(try environment.get(2) == [9]) }
    }

    @Test(
        "after a start of the machine a cache that mixes old and new pages can be read and written, or begins empty",
        arguments: 0..<24)
    func mixedPages(seed: UInt64) throws {
        var settings = Sample.settings()
        settings.bootIdentity = "first"
        var random = SeededGenerator(seed: seed)
        func change(_ environment: Environment) throws {
            for _ in 0..<6 {
                let keys = (0..<60).map { _ in UInt64.random(in: 0..<900, using: &random) }
                let fill = UInt8.random(in: 0...255, using: &random)
                try environment.write { transaction throws(StoreError) in
                    for key in keys {
                        if key % 4 == 0 {
                            try transaction.delete(Sample.numbers, key)
                        } else {
                            try transaction.put(Sample.numbers, key, count: Int(key % 7) * 500 + 16) { place in
                                for index in place.indices { place[index] = fill }
                                place.storeBytes(of: key, as: UInt64.self)
                            }
                        }
                    }
                }
            }
        }
        try use(settings) { environment throws in try change(environment) }
        let old = try Data(contentsOf: URL(fileURLWithPath: scratch.data))
        try use(settings) { environment throws in try change(environment) }
        var mixed = try Data(contentsOf: URL(fileURLWithPath: scratch.data))
        // Some pages never reached the disk.
        for page in 0..<old.count / 4096 where UInt8.random(in: 0..<8, using: &random) == 0 {
            let bytes = page * 4096..<(page + 1) * 4096
            mixed.replaceSubrange(bytes, with: old[bytes])
        }
        try mixed.write(to: URL(fileURLWithPath: scratch.data))
        chmod(scratch.data, 0o600)
        settings.bootIdentity = "second"
        try use(settings) { environment throws in
            do throws(StoreError) {
                try environment.read { snapshot throws(StoreError) in
                    // Values may be of another time; whoever stores them has checksums.
                    var sum: UInt8 = 0
                    try snapshot.scan(Sample.numbers) { _, value in
                        for byte in value { sum ^= byte }
                        return true
                    }
                }
            } catch {
                guard case .damaged = error else { throw error }
            }
            try change(environment)
        }
    }

    @Test("after a start of the machine a durable environment without a clean end is checked and kept")
    func uncleanBootOfDurable() throws {
        var settings = Sample.settings(isRebuildable: false, syncPolicy: .grouped)
        settings.bootIdentity = "first"
        try use(settings) { environment throws in try environment.put(1, [1]) }
        settings.bootIdentity = "second"
        try use(settings) { environment throws in #expect(try environment.get(1) == [1]) }
    }

    @Test("when the files were replaced, an environment that is open goes on with the new ones")
    func replaced() throws {
        try use { environment throws in
            try environment.put(1, [1])
            let generation = environment.generation
            let directory = scratch.environment
            try environment.read { snapshot throws(StoreError) in
                for name in ["data.mdb", "lock.mdb"] { unlink(directory + "/" + name) }
                try environment.write { transaction throws(StoreError) in
                    try transaction.put(Sample.numbers, 2, [2])
                }
                // The snapshot is what it was.
                guard try snapshot.get(Sample.numbers, 1)?.first == 1 else { throw .abandoned }
            }
            #expect(environment.generation > generation)
            #expect(try environment.get(1) == nil)
            #expect(try environment.get(2) == [2])
            // The directory too.
            try FileManager.default.removeItem(atPath: scratch.environment)
            try environment.put(3, [3])
            #expect(try environment.get(3) == [3])
        }
    }

    @Test("an environment larger than its bound takes no more, and what it has stays")
    func bounded() throws {
        var settings = Sample.settings()
        settings.mapSize = 1 << 20
        settings.mapSizeLimit = 1 << 20
        try use(settings) { environment throws in
            try environment.put(1, [1])
            #expect(throws: StoreError.full) { try environment.put(2, Array(repeating: 1, count: 2 << 20)) }
            #expect(try environment.get(1) == [1])
            try environment.put(2, [2])
        }
    }

    @Test("many threads read while one writes")
    func threads() throws {
        try use { environment throws in
            try environment.put(0, [0])
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                for round in 0..<500 {
                    do {
                        if thread == 0 {
                            let value = Array(repeating: UInt8(round & 255), count: round * 17 % 6000 + 1)
                            try environment.write { transaction throws(StoreError) in
                                try transaction.put(Sample.numbers, 0, value)
                                try transaction.put(Sample.numbers, UInt64(round), value)
                            }
                        } else {
                            try environment.read { snapshot throws(StoreError) in
                                guard let value = try snapshot.get(Sample.numbers, 0), let first = value.first,
                                    value.allSatisfy({ $0 == first })
                                else { throw .abandoned }
                            }
                        }
                    } catch {
                        Issue.record(error)
                        return
                    }
                }
            }
        }
    }
}
