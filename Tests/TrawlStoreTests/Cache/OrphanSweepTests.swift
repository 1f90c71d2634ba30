import Glibc
import TestSupport
import Testing
import TrawlPlatform

@testable import TrawlStore

@Suite("Bodies that no record refers to")
struct OrphanSweepTests {
    private let scratch = CacheScratch()
    private let body = [UInt8](repeating: 7, count: 20_000)

    private func open() throws -> CacheStore { try CacheStore.open(directory: scratch.cache) }

    private func makeFile(_ path: String) {
        let file = Glibc.open(scratch.path + "/" + path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        #expect(file >= 0, "\(path)")
        close(file)
    }

    private var marks: [String] { scratch.files(in: "cache/storing") }

    /// A store with one record, and what a process leaves that was killed: bodies of nobody in the first and the last
    /// directory, and its mark.
    private func leaveOrphans(directories: Range<Int> = 0..<256) throws {
        let store = try open()
        #expect(store.put(1, body: body) != nil)
        store.close()
        #expect(marks == [])
        for number in directories {
            let name = (number < 16 ? "0" : "") + String(number, radix: 16)
            mkdir(scratch.cache + "/blobs/" + name, 0o700)
            guard number == directories.lowerBound || number == directories.upperBound - 1 else { continue }
            makeFile("cache/blobs/\(name)/" + String(repeating: "5e", count: 31))
        }
        mkdir(scratch.cache + "/storing", 0o700)
        makeFile("cache/storing/dead")
        #expect(scratch.blobFiles.count > 1)
    }

    @Test(
        "they go, and the mark of who was killed, however short those live that come",
        arguments: [0..<256, 255..<256])
    func shortLives(directories: Range<Int>) throws {
        try leaveOrphans(directories: directories)
        for _ in 0..<20 { try open().close() }
        #expect(scratch.blobFiles.count == 1)
        #expect(marks == [])
        let store = try open()
        defer { store.close() }
        #expect(store.found(1).map(\.body) == [body])
    }

    @Test("pruning ends the sweep in the background, and leaves no mark")
    func prunes() throws {
        try leaveOrphans()
        let store = try open()
        store.sweep()
        #expect(store.prune() == .removed(0))
        #expect(scratch.blobFiles.count == 1)
        let (isSweeping, isUnswept) = store.pending.withLock { ($0.isSweeping, $0.isUnswept) }
        #expect(!isSweeping && !isUnswept)
        store.close()
        #expect(marks == [])
        #expect(scratch.blobFiles.count == 1)
    }

    @Test("a cache behind a link is swept, pruned and cleared as any other")
    func linked() throws {
        #expect(mkdir(scratch.path + "/elsewhere", 0o700) == 0)
        #expect(symlink("elsewhere", scratch.cache) == 0)
        try leaveOrphans(directories: 0..<2)
        var store = try open()
        waitUntil { !store.pending.withLock { $0.isSweeping } }
        store.close()
        #expect(scratch.blobFiles.count == 1)
        #expect(marks == [])
        store = try open()
        #expect(store.prune() == .removed(0))
        #expect(store.clear() == .removed(1))
        waitUntil { !store.pending.withLock { $0.isSweeping } }
        store.close()
        store = try open()
        waitUntil { !store.pending.withLock { $0.isSweeping } }
        store.close()
        #expect(scratch.blobFiles == [])
        #expect(marks == [])
    }

    @Test("clearing leaves no body, and no mark once the store was opened again")
    func clears() throws {
        try leaveOrphans()
        let store = try open()
        #expect(store.clear() == .removed(1))
        // Who closes waits a second for a sweep.
        waitUntil { !store.pending.withLock { $0.isSweeping } }
        store.close()
        #expect(scratch.blobFiles == [])
        let next = try open()
        waitUntil { !next.pending.withLock { $0.isSweeping } }
        next.close()
        #expect(scratch.blobFiles == [])
        #expect(marks == [])
    }

    @Test("where files need a name, one goes whose writer was killed before anything long was stored")
    func killedSpool() throws {
        var store = try open()
        #expect(store.put(1, body: [1]) != nil)
        store.close()
        do {
            // It gives up its locks, as one that is killed, and takes no name away.
            let spool = try BlobDirectory(in: scratch.cache).makeNamedSpool()
            let isNamed = spool.name != nil
            #expect(isNamed)
        }
        #expect(scratch.files(in: "cache/blobs").count == 1)
        store = try open()
        waitUntil { !store.pending.withLock { $0.isSweeping } }
        store.close()
        #expect(scratch.files(in: "cache/blobs") == [])
        #expect(marks == [])
    }

    @Test("they go with all records when another process has what was there before", arguments: [0, 4096])
    func madeAnew(length: Int) throws {
        var store = try open()
        #expect(store.put(1, body: body) != nil)
        store.close()
        // Removed, or cut short.
        if length == 0 {
            #expect(unlink(scratch.cache + "/data.mdb") == 0)
        } else {
            #expect(truncate(scratch.cache + "/data.mdb", off_t(length)) == 0)
        }
        let other = try GuardFile(directory: scratch.cache, mode: 0o600, patience: .seconds(10))
        let isAlone = try other.exclusively { () throws(StoreError) in try other.join() }
        #expect(isAlone)
        store = try open()
        waitUntil { !store.pending.withLock { $0.isSweeping } }
        #expect(scratch.blobFiles == [])
        store.close()
        #expect(marks == [])
        withExtendedLifetime(other) {}
    }

    @Test("before the files are made anew there is a mark for the next, and none where there are no bodies")
    func markedBefore() throws {
        let store = try open()
        #expect(store.put(1, body: body) != nil)
        store.close()
        #expect(marks == [])
        #expect(unlink(scratch.cache + "/data.mdb") == 0)
        var settings = EnvironmentSettings(
            tables: CacheSchema.tables, format: CacheSchema.format, isRebuildable: true)
        settings.beforeMakingAnew = StoreMarks.leave(in:)
        // As one that is killed right after.
        try Environment.open(directory: scratch.cache, settings: settings).close()
        #expect(marks.count == 1)
        let next = try open()
        waitUntil { !next.pending.withLock { $0.isSweeping } }
        next.close()
        #expect(scratch.blobFiles == [])
        #expect(marks == [])
        try Environment.open(directory: scratch.path + "/new", settings: settings).close()
        #expect(scratch.files(in: "new/storing") == [])
    }

    @Test("they go with all records when a look made the files anew, and nothing was stored since")
    func madeAnewByReading() throws {
        let store = try open()
        #expect(store.put(1, body: body) != nil)
        #expect(unlink(scratch.cache + "/data.mdb") == 0)
        // That is seen within a second.
        waitUntil { store.found(1).isEmpty }
        #expect(scratch.blobFiles.count == 1)
        // Its own, and one for whoever comes next, should it be killed now.
        #expect(marks.count == 2)
        store.close()
        // Who closes waits a second for a sweep.
        let next = try open()
        waitUntil { !next.pending.withLock { $0.isSweeping } }
        next.close()
        #expect(scratch.blobFiles == [])
        #expect(marks == [])
    }

    @Test(
        "where a directory may not be looked at, those in the others go, and the next to come begins anew",
        .enabled(if: geteuid() != 0, "root may do it anyway"))
    func unreadable() throws {
        try leaveOrphans()
        let first = scratch.cache + "/blobs/00"
        #expect(chmod(first, 0o300) == 0)
        defer { chmod(first, 0o700) }
        var store = try open()
        waitUntil { !store.pending.withLock { $0.isSweeping } }
        let outcome = store.prune()
        let error = StoreError.system(SystemError(errno: EACCES, call: "open \(first)"))
        #expect(outcome == .notDone(.failed(error)))
        store.close()
        #expect(scratch.blobFiles.count == 1)
        #expect(marks.count == 1)
        #expect(chmod(first, 0o700) == 0)
        #expect(scratch.blobFiles.count == 2)
        store = try open()
        waitUntil { !store.pending.withLock { $0.isSweeping } }
        store.close()
        #expect(scratch.blobFiles.count == 1)
        #expect(marks == [])
    }

    @Test(
        "where a file may not be removed, the others go, and the next to come begins anew",
        .enabled(if: geteuid() != 0, "root may do it anyway"))
    func unremovable() throws {
        try leaveOrphans(directories: 0..<2)
        let first = scratch.cache + "/blobs/00"
        #expect(chmod(first, 0o500) == 0)
        defer { chmod(first, 0o700) }
        var store = try open()
        waitUntil { !store.pending.withLock { $0.isSweeping } }
        let file = first + "/" + String(repeating: "5e", count: 31)
        let error = StoreError.system(SystemError(errno: EACCES, call: "unlink \(file)"))
        #expect(store.prune() == .notDone(.failed(error)))
        store.close()
        #expect(scratch.blobFiles.count == 2)
        #expect(marks.count == 1)
        #expect(chmod(first, 0o700) == 0)
        store = try open()
        waitUntil { !store.pending.withLock { $0.isSweeping } }
        store.close()
        #expect(scratch.blobFiles.count == 1)
        #expect(marks == [])
    }

    @Test("a sweep that did not come to everything leaves the mark, with the reason")
    func failed() throws {
        try leaveOrphans(directories: 0..<2)
        let store = try open()
        waitUntil { !store.pending.withLock { $0.isSweeping } }
        store.close()
        makeFile("cache/storing/dead")
        #expect(store.marks.adopt())
        let error = SystemError(errno: EIO, call: "unlink")
        var walk = BlobWalk()
        walk.note(error)
        walk.note(nil)
        #expect(throws: error) { try store.finish(walk) }
        #expect(marks == ["cache/storing/dead"])
        try store.finish(BlobWalk())
        #expect(marks == [])
    }

    @Test("after a sweep another one can begin")
    func again() throws {
        try leaveOrphans()
        let store = try open()
        defer { store.close() }
        for _ in 0..<3 {
            // The directories are only read when it has come to its end.
            waitUntil { !store.pending.withLock { $0.isSweeping } && scratch.blobFiles.count == 1 }
            #expect(scratch.blobFiles.count == 1)
            makeFile("cache/blobs/ff/" + String(repeating: "5e", count: 31))
            store.sweep()
        }
        waitUntil { !store.pending.withLock { $0.isSweeping } && scratch.blobFiles.count == 1 }
        #expect(scratch.blobFiles.count == 1)
    }

    @Test("who does not come to the end leaves the mark that was there, or one of its own, and never two")
    func unfinished() {
        mkdir(scratch.cache, 0o700)
        let first = StoreMarks(in: scratch.cache)
        first.mark()
        first.end(isClean: false)
        let left = marks
        #expect(left.count == 1)
        let second = StoreMarks(in: scratch.cache)
        #expect(second.adopt())
        second.mark()
        #expect(marks.count == 2)
        second.end(isClean: false)
        #expect(marks == left)
        let third = StoreMarks(in: scratch.cache)
        #expect(third.adopt())
        third.mark()
        third.swept()
        third.end(isClean: true)
        #expect(marks == [])
    }

    @Test("a mark is nobody's from its end on, although a process that is being started has a copy of its descriptor")
    func copiedMark() throws {
        mkdir(scratch.cache, 0o700)
        let first = StoreMarks(in: scratch.cache)
        first.mark()
        let copies = try OpenDescriptors.copies(of: scratch.path + "/" + (marks.first ?? ""))
        defer { copies.forEach { close($0) } }
        #expect(copies.count == 1)
        first.end(isClean: false)
        #expect(StoreMarks(in: scratch.cache).adopt())
    }

    @Test("a mark that went with its directory stands for nobody")
    func lostMark() {
        mkdir(scratch.cache, 0o700)
        mkdir(scratch.cache + "/storing", 0o700)
        makeFile("cache/storing/dead")
        let marks = StoreMarks(in: scratch.cache)
        #expect(marks.adopt())
        CacheScratch.remove(scratch.cache + "/storing")
        marks.mark()
        marks.end(isClean: false)
        #expect(self.marks.count == 1)
    }

    @Test("a walk comes to every body once, to so many at a time, and to nothing else")
    func walk() throws {
        mkdir(scratch.cache, 0o700)
        let blobs = try BlobDirectory(in: scratch.cache)
        var expected: [String] = []
        for number in 0..<40 {
            let directory = (number < 16 ? "0" : "") + String(number, radix: 16)
            mkdir(blobs.path + "/" + directory, 0o700)
            // Most are in one directory, and some directories are empty.
            for file in 0..<(number == 20 ? 1200 : number % 3) {
                let name = String(repeating: "0", count: 58) + String(file + 4096, radix: 16)
                makeFile("cache/blobs/\(directory)/\(name)")
                expected.append(directory + "/" + name)
            }
        }
        for other in ["spool", "AB", "zz", "a"] {
            mkdir(blobs.path + "/" + other, 0o700)
            makeFile("cache/blobs/\(other)/" + String(repeating: "5e", count: 31))
        }
        makeFile("cache/blobs/14/strange")
        var walk = BlobWalk()
        var found: [String] = []
        var parts = 0
        while walk.advance(in: blobs) {
            #expect(walk.part.count <= 512)
            found += walk.part.map(\.path)
            parts += 1
        }
        #expect(found.sorted() == expected.sorted())
        #expect(parts < 10)
    }
}
