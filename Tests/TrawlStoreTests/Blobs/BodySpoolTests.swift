import Glibc
import TestSupport
import Testing
import TrawlPlatform

@testable import TrawlStore

@Suite("Body spools, POOL-06")
struct BodySpoolTests {
    private let scratch = CacheScratch()

    private func directory() throws -> BlobDirectory {
        mkdir(scratch.cache, 0o700)
        return try BlobDirectory(in: scratch.cache)
    }

    @Test(
        "bodies up to 16 KiB stay in memory, longer ones go to a file",
        arguments: [0, 1, 16383, 16384, 16385, 1 << 20, 1 << 21])
    func place(length: Int) throws {
        var random = SeededGenerator(seed: 1)
        let body = random.bytes(length)
        let spool = BodySpool(in: try directory(), longest: 1 << 30)
        append(body, to: spool, piece: 1000)
        let spooled = try #require(spool.finish())
        #expect(spooled.length == UInt64(length))
        switch spooled {
        case .inline(let bytes):
            #expect(length <= 16384)
            #expect(bytes == body)
        case .blob(let blob):
            #expect(length > 16384)
            #expect(blob.reference.checksums.count == (length + (1 << 20) - 1) >> 20)
        }
    }

    @Test("the digest is the SHA-256 of the body, in whatever pieces it comes", arguments: [1, 999, 16384, 20000])
    func digestValue(piece: Int) throws {
        let spool = BodySpool(in: try directory(), longest: 1 << 20)
        append([UInt8](repeating: UInt8(ascii: "0"), count: 20000), to: spool, piece: piece)
        guard case .blob(let blob) = spool.finish() else {
            Issue.record("no blob")
            return
        }
        // printf '%020000d' 0 | sha256sum
        #expect(
            blob.reference.digest.path == "02/a18791eb2cda03aa63e4aef0ce4864394d369c5b3c91b3022f45dc3bbe1508")
    }

    @Test("nothing is on disk while a body comes, nor after it was let go of", arguments: [false, true])
    func unnamed(isFinished: Bool) throws {
        let spool = BodySpool(in: try directory(), longest: 1 << 20)
        append([UInt8](repeating: 1, count: 100_000), to: spool)
        #expect(scratch.files() == [])
        if isFinished { _ = spool.finish() } else { spool.abandon() }
        #expect(scratch.files() == [])
        #expect(spool.finish() == nil)
    }

    @Test("a body longer than may be stored is given up, in memory and in a file", arguments: [1000, 100_000])
    func tooLong(longest: Int) throws {
        let spool = BodySpool(in: try directory(), longest: UInt64(longest))
        append([UInt8](repeating: 1, count: longest), to: spool)
        #expect(!spool.isOver)
        append([1], to: spool)
        #expect(spool.isOver)
        append([1], to: spool)
        #expect(spool.finish() == nil)
    }

    @Test("where files need a name, a sweep leaves those in use and takes the others")
    func named() throws {
        let directory = try directory()
        // As a process has that is being started.
        var copy: Int32 = -1
        defer { close(copy) }
        do {
            let spool = try directory.makeNamedSpool()
            copy = fcntl(spool.file.rawValue, F_DUPFD_CLOEXEC, 0)
            let isNamed = spool.name != nil
            #expect(isNamed)
            #expect(scratch.files(in: "cache/blobs").count == 1)
            try directory.sweepSpools()
            #expect(scratch.files(in: "cache/blobs").count == 1)
        }
        #expect(scratch.files(in: "cache/blobs").count == 1)
        try directory.sweepSpools()
        #expect(scratch.files(in: "cache/blobs") == [])
    }

    @Test("where a named file cannot be locked, there is none, and no file is left")
    func noLocks() throws {
        let directory = try directory()
        #expect(throws: SystemError(errno: ENOLCK, call: "flock")) {
            _ = try directory.makeNamedSpool { _ in ENOLCK }
        }
        #expect(scratch.files(in: "cache/blobs") == [])
    }

    @Test("a name that a sweep took makes room for another, and not without end")
    func sweptNames() throws {
        let directory = try directory()
        var tries = 0
        let spool = try directory.makeNamedSpool { _ in
            tries += 1
            if tries <= 3 { try? directory.sweepSpools() }
            return 0
        }
        #expect(tries == 4)
        let name = spool.name ?? ""
        #expect(scratch.files(in: "cache/blobs") == ["cache/blobs/" + name])
        tries = 0
        #expect(throws: SystemError.self) {
            _ = try directory.makeNamedSpool { _ in
                tries += 1
                return EWOULDBLOCK
            }
        }
        #expect(tries == 16)
        try directory.sweepSpools()
    }

    @Test("a file with a temporary name gets its own by a link")
    func namedPublish() throws {
        let directory = try directory()
        let spool = try directory.makeNamedSpool()
        let name = spool.name ?? ""
        let digest = [UInt8](repeating: 0xab, count: 32).withUnsafeBytes { ContentDigest(bytes: $0) }
        try directory.publish(spool, as: digest, length: 0)
        try directory.publish(spool, as: digest, length: 0)
        directory.removeName(name)
        #expect(scratch.files(in: "cache/blobs") == ["cache/blobs/ab/" + String(repeating: "ab", count: 31)])
        #expect(try directory.digests(in: "ab") == [digest])
        #expect(try directory.digests(in: "ac") == [])
    }
}
