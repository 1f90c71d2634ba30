import Glibc
import Testing

@testable import TrawlPlatform

@Suite("Unfinished files that are kept")
struct PartKeepingTests {
    private static func kept(_ directory: TemporaryDirectory, _ text: String = "0123456789") throws -> String {
        let part = try PartFile.create(besideAbsolutePath: directory.file("x"))
        try withBytes(text) { try part.write($0) }
        return try part.keep()
    }

    @Test("what is kept is beside the destination, survives a sweep, and is gone on with")
    func course() throws {
        let directory = try TemporaryDirectory()
        let path = try Self.kept(directory)
        #expect(path.hasPrefix(directory.file(".x.")) && path.hasSuffix(".partial"))
        directory.age(String(path.dropFirst(directory.path.count + 1)))
        let root = try OutputRoot(path: directory.path)
        #expect(root.sweepParts() == 0)
        do {
            let part = try PartFile.reopen(kept: path, for: directory.file("x"), length: 4)
            lseek(part.rawValue, 0, SEEK_END)
            try withBytes("abc") { try part.write($0) }
            // Kept again it has the same name.
            #expect(try part.keep() == path)
        }
        let part = try PartFile.reopen(kept: path, for: directory.file("x"), length: 6)
        try part.publish(replacing: true, sync: true)
        #expect(directory.content("x") == "0123ab")
        #expect(try directory.names() == ["x"])
    }

    @Test("letting go keeps it, discarding does not")
    func ends() throws {
        let directory = try TemporaryDirectory()
        let path = try Self.kept(directory)
        var part: PartFile? = try PartFile.reopen(kept: path, for: directory.file("x"), length: 10)
        #expect(part?.rawValue ?? -1 >= 0)
        part = nil
        #expect(try directory.names().count == 1)
        try PartFile.reopen(kept: path, for: directory.file("x"), length: 10).discard()
        #expect(try directory.names() == [])
    }

    @Test("one is waited for that a process which is just being started has a copy of")
    func copied() throws {
        let directory = try TemporaryDirectory()
        let part = try PartFile.create(besideAbsolutePath: directory.file("x"))
        try withBytes("0123456789") { try part.write($0) }
        let copy = fcntl(part.rawValue, F_DUPFD_CLOEXEC, 0)
        let path = try part.keep()
        let starting = try NamedThread.start(name: "starting") {
            MonotonicClock.sleep(for: .milliseconds(50))
            close(copy)
        }
        // The thread may come late to its end.
        try PartFile.reopen(kept: path, for: directory.file("x"), length: 10, patience: .seconds(60)).discard()
        starting.join()
        #expect(try directory.names() == [])
    }

    @Test("one whose bytes give way to others loses its name")
    func loss() throws {
        let directory = try TemporaryDirectory()
        let path = try Self.kept(directory)
        let part = try PartFile.reopen(kept: path, for: directory.file("x"), length: 4)
        try part.loseKeptName()
        let names = try directory.names()
        #expect(names.count == 1 && names[0].hasPrefix(".x.") && names[0].hasSuffix(".part"))
        #expect(throws: OutputError.self) { _ = try PartFile.reopen(kept: path, for: directory.file("x"), length: 1) }
        let again = try part.keep()
        #expect(again != path && again.hasSuffix(".partial"))
        try PartFile.reopen(kept: again, for: directory.file("x"), length: 4).discard()
        #expect(try directory.names() == [])
    }

    @Test("one that somebody publishes between its opening and its locking is not taken")
    func published() throws {
        let directory = try TemporaryDirectory()
        let path = try Self.kept(directory)
        let name = String(path.dropFirst(directory.file("").count))
        let (file, place) = (open(path, O_RDWR | O_CLOEXEC), open(directory.path, O_RDONLY | O_CLOEXEC))
        defer {
            close(file)
            close(place)
        }
        try PartFile.claim(file, as: Array(name.utf8), in: place)
        #expect(rename(path, directory.file("x")) == 0)
        #expect(throws: SystemError(errno: ENOENT, call: "fstatat")) {
            try PartFile.claim(file, as: Array(name.utf8), in: place)
        }
        directory.put(name, "another")
        #expect(throws: SystemError(errno: EBUSY, call: "flock")) {
            try PartFile.claim(file, as: Array(name.utf8), in: place)
        }
    }

    @Test(
        "what is kept has the permissions of the file that it is to replace, and those to go on with it",
        arguments: [(0o600, 0o600), (0o640, 0o640), (0o440, 0o640)] as [(mode_t, mode_t)])
    func permissions(existing: mode_t, expected: mode_t) throws {
        let directory = try TemporaryDirectory()
        directory.put("x", "earlier")
        #expect(chmod(directory.file("x"), existing) == 0)
        let path = try Self.kept(directory)
        var info = stat()
        let found = stat(path, &info)
        #expect(found == 0 && info.st_mode & 0o777 == expected)
        try PartFile.reopen(kept: path, for: directory.file("x"), length: 10).discard()
    }

    @Test("other files, files that are shorter, and those that somebody has open are refused")
    func refusals() throws {
        let directory = try TemporaryDirectory()
        let path = try Self.kept(directory)
        let destination = directory.file("x")
        directory.put("other", "0123456789")
        for (kept, destination, length) in [
            (path, destination, 11), (path, destination, 0), (path, "/elsewhere/x", 1), (path + "x", destination, 1),
            (directory.file("other"), destination, 1), ("", destination, 1), ("\0", destination, 1),
        ] as [(String, String, UInt64)] {
            #expect(throws: OutputError.self) {
                _ = try PartFile.reopen(kept: kept, for: destination, length: length)
            }
        }
        let first = try PartFile.reopen(kept: path, for: destination, length: 10)
        #expect(throws: OutputError.system(SystemError(errno: EBUSY, call: "flock"))) {
            _ = try PartFile.reopen(kept: path, for: destination, length: 10)
        }
        first.discard()
        #expect(throws: OutputError.self) { _ = try PartFile.reopen(kept: path, for: destination, length: 10) }
        #expect(directory.content("other") == "0123456789")
    }
}
