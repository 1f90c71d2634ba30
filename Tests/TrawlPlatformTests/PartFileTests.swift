import Glibc
import Testing
import TrawlPlatform

@Suite("Part files")
struct PartFileTests {
    @Test("the unfinished file has no name, so that a killed process leaves nothing")
    func name() throws {
        let directory = try TemporaryDirectory()
        let part = try PartFile.create(besideAbsolutePath: directory.file("page.html"))
        #expect(try directory.names() == [])
        part.discard()
    }

    @Test("discarding leaves nothing, and so does letting go", arguments: [false, true])
    func discard(explicitly: Bool) throws {
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path)
        var part: PartFile? = try root.createPart(for: "x")
        try withBytes("x") { try part?.write($0) }
        if explicitly {
            part?.discard()
            part?.discard()
            #expect(part?.rawValue == -1)
        }
        part = nil
        #expect(try directory.names() == [])
    }

    @Test("an existing file is replaced or kept, as asked", arguments: [false, true])
    func replacing(isAllowed: Bool) throws {
        let directory = try TemporaryDirectory()
        directory.put("x", "old")
        let root = try OutputRoot(path: directory.path)
        do {
            let part = try root.createPart(for: "x")
            try withBytes("new") { try part.write($0) }
            #expect(errorNumber { try part.publish(replacing: isAllowed, sync: true) } == (isAllowed ? nil : EEXIST))
        }
        #expect(directory.content("x") == (isAllowed ? "new" : "old"))
        #expect(try directory.names() == ["x"])
    }

    @Test("a directory at the destination is never replaced", arguments: [false, true])
    func directory(isAllowed: Bool) throws {
        let directory = try TemporaryDirectory()
        mkdir(directory.file("x"), 0o777)
        let root = try OutputRoot(path: directory.path)
        do {
            let part = try root.createPart(for: "x")
            #expect(
                errorNumber { try part.publish(replacing: isAllowed, sync: false) } == (isAllowed ? EISDIR : EEXIST))
        }
        #expect(try directory.names() == ["x"])
        #expect(try directory.names(in: "x") == [])
    }

    @Test("what another process writes through the descriptor is published")
    func handedOut() throws {
        let directory = try TemporaryDirectory()
        let part = try PartFile.create(besideAbsolutePath: directory.file("x"))
        let pair = try ControlSocket.pair()
        _ = try withBytes("!") { try ControlSocket.send(pair.here.rawValue, $0, descriptors: [part.rawValue]) }
        var came: [Int32] = []
        _ = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) {
            try ControlSocket.receive(pair.there.rawValue, into: $0, descriptors: &came)
        }
        let file = Descriptor(adopting: try #require(came.first))
        try withBytes("by a worker") { try file.writeAll($0) }
        try part.publish(replacing: false, sync: false)
        #expect(directory.content("x") == "by a worker")
    }

    @Test("devices and directories chosen as destination are refused, so they are not replaced")
    func devices() throws {
        let directory = try TemporaryDirectory()
        mkfifo(directory.file("fifo"), 0o600)
        mkdir(directory.file("sub"), 0o700)
        symlink("/dev/null", directory.file("null"))
        for path in ["/dev/null", directory.file("fifo"), directory.file("sub"), directory.file("null")] {
            #expect(throws: OutputError.notARegularFile) { _ = try PartFile.create(besideAbsolutePath: path) }
        }
    }

    @Test(
        "a destination must be absolute and name a file",
        arguments: ["", "x", "a/x", "/", "/tmp/", "/tmp/..", "/tmp/.", "/tmp/a\0b"])
    func invalid(path: String) {
        #expect(throws: OutputError.invalidPath) { _ = try PartFile.create(besideAbsolutePath: path) }
    }

    @Test("a destination in a missing directory is an error")
    func missing() throws {
        let directory = try TemporaryDirectory()
        #expect(errorNumber { _ = try PartFile.create(besideAbsolutePath: directory.file("none/x")) } == ENOENT)
    }

    /// Whether this user may give a file away, found out by doing it: in a namespace there may be no other user.
    private static let givesFilesAway: Bool = {
        guard let directory = try? TemporaryDirectory() else { return false }
        return withExtendedLifetime(directory) {
            directory.put("x", "")
            return chown(directory.file("x"), 65534, 65534) == 0
        }
    }()

    @Test(
        "a file that root replaces stays its owner's",
        .enabled(if: givesFilesAway, "this user may not give files away"))
    func owner() throws {
        let directory = try TemporaryDirectory()
        directory.put("x", "old")
        chmod(directory.file("x"), 0o600)
        try #require(chown(directory.file("x"), 65534, 65534) == 0)
        let part = try PartFile.create(besideAbsolutePath: directory.file("x"))
        try part.publish(replacing: true, sync: false)
        var info = stat()
        stat(directory.file("x"), &info)
        #expect(info.st_size == 0 && info.st_mode & 0o777 == 0o600)
        #expect(info.st_uid == 65534 && info.st_gid == 65534)
    }

    @Test(
        "a directory that may not be read takes files all the same",
        .enabled(if: geteuid() != 0, "root may do it anyway"))
    func dropDirectory() throws {
        let directory = try TemporaryDirectory()
        mkdir(directory.file("drop"), 0o700)
        chmod(directory.file("drop"), 0o333)
        defer { chmod(directory.file("drop"), 0o700) }
        for sync in [false, true] {
            let part = try PartFile.create(besideAbsolutePath: directory.file("drop/x"))
            try withBytes("x \(sync)") { try part.write($0) }
            try part.publish(replacing: true, sync: sync)
            #expect(directory.content("drop/x") == "x \(sync)")
        }
        let part = try PartFile.create(besideAbsolutePath: directory.file("drop/y"))
        try withBytes("half") { try part.write($0) }
        let kept = try part.keep()
        let again = try PartFile.reopen(kept: kept, for: directory.file("drop/y"), length: 2)
        try again.publish(replacing: false, sync: false)
        #expect(directory.content("drop/y") == "ha")
    }

    @Test("permissions are what was asked, less the umask")
    func mode() throws {
        let directory = try TemporaryDirectory()
        let part = try PartFile.create(besideAbsolutePath: directory.file("x"), mode: 0o600)
        var info = stat()
        #expect(fstat(part.rawValue, &info) == 0)
        #expect(info.st_mode & 0o777 == 0o600)
    }

    @Test("a disk that fills up in the middle is an error, and nothing stays")
    func full() async throws {
        let directory = try TemporaryDirectory()
        let path: String = directory.path
        // A limit on the size of files cuts a write short just like a full disk.
        await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 1000, rlim_max: 1000)
            setrlimit(__rlimit_resource_t(1), &limit)
            let part = try OutputRoot(path: path).createPart(for: "x")
            let bytes = [UInt8](repeating: 1, count: 600)
            try bytes.withUnsafeBytes { try part.write($0) }
            let error = errorNumber { try bytes.withUnsafeBytes { try part.write($0) } }
            part.discard()
            exit(error == EFBIG ? 0 : 1)
        }
        #expect(try directory.names() == [])
    }
}
