import Glibc
import TestSupport
import Testing

@testable import TrawlStore

@Suite("Several processes on one cache, POOL-06, ASI-CACHE-28", .serialized)
struct CacheProcessTests {
    private let scratch = CacheScratch()

    private func open(budget: UInt64 = 1 << 30) throws -> CacheStore {
        var settings = CacheSettings()
        settings.budget = budget
        return try CacheStore.open(directory: scratch.cache, settings: settings)
    }

    #if DEBUG
        @Test(
            "a process killed while it stores leaves whole records and, in the end, no file of nobody",
            arguments: CacheFaultPoint.allCases)
        func killed(point: CacheFaultPoint) throws {
            let child = try CacheChild(["cache-die", scratch.cache, point.rawValue])
            #expect(child.line() == "")
            #expect(child.wait() == -SIGKILL)
            let stored = point == .afterCommit ? 3 : 2
            let store = try open()
            #expect(try store.statistics().records == UInt64(stored))
            for number in 0..<3 {
                let expected = number < stored ? hammerBody(100 * number, 100_000) : nil
                #expect(store.found(number).first?.body == expected)
            }
            // One directory after the other is swept in the background.
            let blobs = Int(try store.statistics().blobs)
            waitUntil { scratch.blobFiles.count == blobs }
            #expect(scratch.blobFiles.count == blobs)
            #expect(try store.verify() == CacheVerification(records: UInt64(stored), blobs: UInt64(blobs)))
            store.close()
            #expect(scratch.blobFiles.count == blobs)
        }
    #endif

    #if DEBUG
        @Test("what a killed process leaves goes, though others live and close in order", arguments: [1, 3])
        func killedBesideOthers(children: Int) throws {
            let survivor = try open()
            #expect(survivor.put(99, body: hammerBody(9900, 50_000)) != nil)
            for _ in 0..<children {
                let child = try CacheChild(["cache-die", scratch.cache, "\(CacheFaultPoint.afterRename.rawValue)"])
                #expect(child.line() == "")
                #expect(child.wait() == -SIGKILL)
            }
            let blobs = Int(try survivor.statistics().blobs)
            #expect(scratch.blobFiles.count == blobs + 1)
            survivor.close()
            // The last one closed in order.
            let store = try open()
            waitUntil { scratch.files(in: "cache/storing").count == 1 }
            #expect(scratch.blobFiles.count == blobs)
            #expect(store.found(99).map(\.body) == [hammerBody(9900, 50_000)])
            store.close()
            #expect(scratch.files(in: "cache/storing") == [])
        }
    #endif

    @Test("processes that store, use, evict and are killed at any moment never see a wrong byte")
    func churn() throws {
        let budget: UInt64 = 12 << 20
        let processes = 8
        func start(_ seed: Int) throws -> CacheChild {
            let child = try CacheChild(["cache-churn", scratch.cache, "\(seed)", "\(budget)"])
            #expect(child.line() == "ready")
            return child
        }
        var children = try (0..<processes).map { try start($0) }
        var random = SeededGenerator(seed: 21)
        var round = 0
        let end = ContinuousClock.now + .seconds(runsLongTests ? 60 : 3)
        while ContinuousClock.now < end || round < 12 {
            usleep(UInt32.random(in: 10_000..<200_000, using: &random))
            let which = Int.random(in: 0..<children.count, using: &random)
            #expect(children[which].kill() == -SIGKILL)
            children[which] = try start(100 + round)
            round += 1
        }
        // A place that a killed reader kept would be one more each time.
        let watcher = try open(budget: budget)
        #expect(try watcher.environment.information().readerPlaces <= 2 * (processes + 1))
        for child in children { #expect(child.kill() == -SIGKILL) }
        #expect(try watcher.environment.releaseDeadReaders() <= 2 * processes)
        #expect(try watcher.environment.releaseDeadReaders() == 0)
        watcher.close()
        let store = try open(budget: budget)
        let result = try store.verify()
        #expect(result.damagedRecords == 0)
        #expect(result.records > 0)
        _ = store.prune()
        #expect(try store.statistics().bytes <= budget)
        #expect(scratch.blobFiles.count == Int(try store.statistics().blobs))
        store.close()
    }

    @Test("where a file may not grow nothing is stored, and all else goes on")
    func limited() throws {
        let child = try CacheChild(["cache-limit", scratch.cache, "3000000"])
        #expect(child.line() == "spool true true")
        #expect(child.line() == "full")
        #expect(child.wait() == 0)
        let store = try open()
        defer { store.close() }
        #expect(store.found(0).count == 1)
        #expect(store.put(1000, body: [UInt8](repeating: 1, count: 16000)) != nil)
    }

    @Test(
        "on a disk that is full nothing is stored, and what is there is read",
        .enabled(if: OwnFileSystem.canBeMounted, "needs a file system of its own, and this user may not mount one"))
    func full() throws {
        // A disk of its own takes a mount, in a name space that ends with the child.
        let mount =
            "mount -t tmpfs -o size=6m tmpfs \"$1\" 2>/dev/null || exit 9; exec \"$0\" cache-limit \"$1/cache\" 0"
        let child = try CacheChild(
            program: "/usr/bin/unshare", ["-m", "sh", "-c", mount, try CacheChild.hammer(), scratch.path])
        #expect(child.line() == "spool true true")
        #expect(child.line() == "full")
        #expect(child.wait() == 0)
    }

    @Test(
        "a stored body and a file made of it share their blocks, where the file system can",
        .enabled(if: !OwnFileSystem.sharing.isEmpty, "needs a file system of its own that shares blocks"),
        arguments: OwnFileSystem.sharing)
    func shares(fileSystem: String) throws {
        // In a name space that ends with the child.
        let mount =
            OwnFileSystem.making(fileSystem, in: "$1")
            + " >/dev/null 2>&1 || exit 9; exec \"$0\" cache-share \"$1/disk/cache\""
        let child = try CacheChild(
            program: "/usr/bin/unshare", ["-m", "sh", "-c", mount, try CacheChild.hammer(), scratch.path])
        #expect(child.line() == "4 of 4 right")
        #expect(child.wait() == 0)
    }

    @Test(
        "where a page needs new space each time it is written to, a full disk makes misses, not a signal",
        .enabled(if: OwnFileSystem.sharing.contains("btrfs"), "needs a file system of its own that shares blocks"))
    func copiesOnWrite() throws {
        let mount =
            OwnFileSystem.making("btrfs", in: "$1")
            + " >/dev/null 2>&1 || exit 9; exec \"$0\" cache-crowd \"$1/disk/cache\""
        let child = try CacheChild(
            program: "/usr/bin/unshare", ["-m", "sh", "-c", mount, try CacheChild.hammer(), scratch.path])
        #expect(child.line() == "hit, miss, refused, closed")
        #expect(child.wait() == 0)
    }

    @Test("memory stays bounded, however long a body is, in and out")
    func memory() throws {
        mkdir(scratch.cache, 0o700)
        let mebibytes = runsLongTests ? 1024 : 64
        let child = try CacheChild(["cache-memory", scratch.cache, "\(mebibytes)"])
        let grown = try #require(Int(child.line()))
        // A sanitizer keeps what is freed, so what has grown under one is its own; all else holds there too.
        #expect(grown < 4096 || Sanitizer.isPresent, "in KiB")
        #expect(child.wait() == 0)
    }

    /// What the hammer stores under a number.
    private func hammerBody(_ number: Int, _ length: Int) -> [UInt8] {
        var state = UInt64(number / 100)
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let word = (state >> 33) ^ state >> 7
        return (0..<length).map { UInt8(truncatingIfNeeded: (word >> UInt64($0 & 31)) &+ UInt64($0 >> 8)) }
    }
}

/// Which file systems this user can make, found out by making them in a name space that ends with the child.
private enum OwnFileSystem {
    static let canBeMounted = works("mount -t tmpfs -o size=1m tmpfs \"$0\"")
    /// Those that let files share blocks.
    static let sharing = ["xfs", "btrfs"].filter { works(making($0, in: "$0")) }

    /// What makes one in an image in a directory, and mounts it at `disk` there.
    static func making(_ kind: String, in directory: String) -> String {
        """
        { truncate -s 320M "\(directory)/image" && mkfs.\(kind) -q "\(directory)/image" && mkdir "\(directory)/disk" \
        && mount -o loop "\(directory)/image" "\(directory)/disk"; }
        """
    }

    private static func works(_ commands: String) -> Bool {
        let scratch = CacheScratch()
        let words = ["-m", "sh", "-c", "{ \(commands); } >/dev/null 2>&1", scratch.path]
        // The directory goes with it.
        return withExtendedLifetime(scratch) {
            (try? CacheChild(program: "/usr/bin/unshare", words))?.wait() == 0
        }
    }
}
