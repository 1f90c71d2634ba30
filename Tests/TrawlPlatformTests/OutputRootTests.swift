import Glibc
import Testing
import TrawlPlatform

@Suite("Output files beneath a root")
struct OutputRootTests {
    private func error(_ body: () throws(OutputError) -> Void) -> OutputError? {
        do throws(OutputError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    private static func write(_ root: OutputRoot, _ path: String, _ content: String) throws {
        let part = try root.createPart(for: path)
        try withBytes(content) { try part.write($0) }
        try part.publish(replacing: true, sync: false)
    }

    @Test("files appear under their names, with the directories they need", arguments: [false, true])
    func publish(syncs: Bool) throws {
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path, syncsDirectories: syncs)
        for path in ["a", "b/c/d/e", "b/c/f", "..a", "b/...", "ä/ö", ".hidden"] {
            let part = try root.createPart(for: path)
            #expect(isCloseOnExec(part.rawValue))
            try withBytes("of " + path) { try part.write($0) }
            #expect(directory.content(path) == nil)
            try part.publish(replacing: false, sync: syncs)
            #expect(directory.content(path) == "of " + path)
        }
        #expect(try directory.names() == ["..a", ".hidden", "a", "b", "ä"])
        #expect(try directory.names(in: "b/c") == ["d", "f"])
    }

    @Test("a pipe or socket of that name is not replaced, a link is", arguments: [false, true])
    func special(isNamed: Bool) throws {
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path, namesParts: isNamed)
        #expect(mkfifo(directory.file("pipe"), 0o600) == 0)
        #expect(symlink("pipe", directory.file("link")) == 0)
        let part = try root.createPart(for: "pipe")
        do throws(SystemError) {
            try part.publish(replacing: true, sync: false)
            Issue.record("the pipe was replaced")
        } catch {
            #expect(error.errno == EEXIST)
        }
        part.discard()
        try Self.write(root, "link", "x")
        #expect(directory.content("link") == "x")
        var info = stat()
        #expect(stat(directory.file("pipe"), &info) == 0 && info.st_mode & S_IFMT == S_IFIFO)
        #expect(try directory.names() == ["link", "pipe"])
    }

    @Test(
        "a path that is not plainly beneath is refused",
        arguments: [
            "", "/", "/etc/x", "..", "../x", "a/../x", "a/..", ".", "./x", "a/./x", "a//x", "a/", "a\0b", "a/b\0",
            String(repeating: "x", count: 256), String(repeating: "x", count: 256) + "/a",
            String(repeating: "x/", count: 2048) + "a",
        ])
    func invalid(path: String) throws {
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path)
        #expect(error { () throws(OutputError) in _ = try root.createPart(for: path) } == .invalidPath)
        #expect(try directory.names() == [])
    }

    @Test("the longest names work")
    func longNames() throws {
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path)
        let names = [
            String(repeating: "x", count: 255), String(repeating: "ä", count: 127),
            String(repeating: "\u{1F600}", count: 63),
        ]
        for name in names { try Self.write(root, name, "x") }
        #expect(try directory.names() == names.sorted())
    }

    @Test("directories are made without a file too, where they are missing")
    func directories() throws {
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path)
        for path in ["x", "a/b/x", "a/b/x", "a/c/x"] { try root.makeDirectories(for: path) }
        #expect(try directory.names() == ["a"])
        #expect(try directory.names(in: "a") == ["b", "c"])
        #expect(try directory.names(in: "a/b") == [])
    }

    @Test(
        "no symbolic link below the root is followed", arguments: ["out/x", "in/x", "a/out/x", "a/up/x", "dangling/x"])
    func links(path: String) throws {
        let outside = try TemporaryDirectory()
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path)
        mkdir(directory.file("a"), 0o777)
        symlink(outside.path, directory.file("out"))
        symlink(outside.path, directory.file("a/out"))
        symlink("..", directory.file("a/up"))
        symlink("a", directory.file("in"))
        symlink("nowhere", directory.file("dangling"))
        let before = try directory.names()
        let found = error { () throws(OutputError) in _ = try root.createPart(for: path) }
        let alone = error { () throws(OutputError) in try root.makeDirectories(for: path) }
        #expect(alone == found)
        guard case .system(let error)? = found else {
            Issue.record("no error for \(path)")
            return
        }
        // Of ENOTDIR and ELOOP the kernel takes the first.
        #expect([ENOTDIR, ELOOP].contains(error.errno))
        #expect(try outside.names() == [])
        #expect(try directory.names() == before)
    }

    @Test("a symbolic link at the destination is replaced, not followed")
    func linkAtDestination() throws {
        let outside = try TemporaryDirectory()
        outside.put("target", "untouched")
        let directory = try TemporaryDirectory()
        symlink(outside.file("target"), directory.file("x"))
        let root = try OutputRoot(path: directory.path)
        let part = try root.createPart(for: "x")
        #expect(errorNumber { try part.publish(replacing: false, sync: false) } == EEXIST)
        try part.publish(replacing: true, sync: false)
        #expect(directory.content("x") == "")
        #expect(outside.content("target") == "untouched")
    }

    @Test("the root stays the directory it was when opened")
    func moved() throws {
        let directory = try TemporaryDirectory()
        mkdir(directory.file("old"), 0o777)
        let root = try OutputRoot(path: directory.file("old"))
        rename(directory.file("old"), directory.file("new"))
        mkdir(directory.file("old"), 0o777)
        try Self.write(root, "sub/x", "x")
        #expect(directory.content("new/sub/x") == "x")
        #expect(try directory.names(in: "old") == [])
    }

    @Test("a directory removed meanwhile is made again")
    func removed() throws {
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path)
        try Self.write(root, "a/b/x", "1")
        unlink(directory.file("a/b/x"))
        rmdir(directory.file("a/b"))
        rmdir(directory.file("a"))
        try Self.write(root, "a/b/x", "2")
        #expect(directory.content("a/b/x") == "2")
    }

    @Test("a directory moved away is made again after a second")
    func movedBelow() throws {
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path)
        root.refresh(at: 5_000_000_000)
        try Self.write(root, "a/b/x", "1")
        rename(directory.file("a"), directory.file("moved"))
        // It is not asked for again with every file.
        root.refresh(at: 6_000_000_000)
        try Self.write(root, "a/b/y", "2")
        #expect(try directory.names(in: "moved/b") == ["x", "y"])
        root.refresh(at: 6_000_000_001)
        try Self.write(root, "a/b/z", "3")
        #expect(try directory.names(in: "moved/b") == ["x", "y"])
        #expect(directory.content("a/b/z") == "3")
    }

    @Test("more directories than are kept open work just as well")
    func manyDirectories() throws {
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path)
        for round in 0..<2 {
            for index in 0..<600 { try Self.write(root, "d\(index)/f\(round)", "\(index)") }
        }
        for index in 0..<600 { #expect(try directory.names(in: "d\(index)") == ["f0", "f1"]) }
    }

    @Test("files beneath a root are read there, wherever it was moved, and no link leads to one")
    func existing() throws {
        let outside = try TemporaryDirectory()
        outside.put("secret", "untouched")
        let directory = try TemporaryDirectory()
        mkdir(directory.file("old"), 0o777)
        let root = try OutputRoot(path: directory.file("old"))
        let identity = try root.identity()
        try Self.write(root, "sub/x", "x")
        rename(directory.file("old"), directory.file("new"))
        mkdir(directory.file("old"), 0o777)
        mkdir(directory.file("old/sub"), 0o777)
        directory.put("old/sub/x", "another's")
        symlink(outside.path, directory.file("new/out"))
        symlink(outside.file("secret"), directory.file("new/link"))

        let file = try root.open("sub/x")
        var byte: UInt8 = 0
        let count = read(file.rawValue, &byte, 1)
        #expect(count == 1 && byte == UInt8(ascii: "x"))
        for path in ["link", "out/secret", "none", "sub/none", "none/x"] {
            #expect(errorNumber { _ = try root.open(path) } != nil, "\(path)")
        }
        #expect(error { () throws(OutputError) in _ = try root.open("sub") } == .notARegularFile)
        #expect(error { () throws(OutputError) in _ = try root.open("../new/sub/x") } == .invalidPath)

        #expect(try root.identity() == identity)
        #expect(try HeldDirectory(path: directory.file("new")).identity == identity)
        #expect(try HeldDirectory(path: directory.file("old")).identity != identity)
    }

    @Test("what is found with letters in the other case, too, may have other names")
    func caseBlind() throws {
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path)
        let paths = ["h/Page", "h/70", "1/Dir/2", "ä/B"]
        for path in paths { try Self.write(root, path, "x") }
        for path in paths + ["h", "none", "h/none", "none/x", "h/PAGE/x"] {
            #expect(!root.isBlindToCase(at: path), "\(path)")
        }
        // No file system here is blind; there two names lead to one file without this.
        link(directory.file("h/Page"), directory.file("h/pAGE"))
        symlink("Dir", directory.file("1/dIR"))
        link(directory.file("ä/B"), directory.file("ä/b"))
        for path in ["h/Page", "h/pAGE", "1/Dir/2", "1/dIR/2", "ä/B"] {
            #expect(root.isBlindToCase(at: path), "\(path)")
        }
        #expect(!root.isBlindToCase(at: "h/70"))
        // Two files of one content are two.
        for name in ["q", "Q"] { try Self.write(root, name, "x") }
        #expect(!root.isBlindToCase(at: "q"))
    }

    @Test("directories that are kept open are let go of before a file fails for want of a descriptor")
    func shortage() async {
        await #expect(processExitsWith: .success) { try Self.writeWithoutDescriptors() }
    }

    /// In a process of its own, whose descriptors can be used up.
    private static func writeWithoutDescriptors() throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = 256
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let directory = try TemporaryDirectory()
        let root = try OutputRoot(path: directory.path)
        for index in 0..<8 { try write(root, "d\(index)/f", "x") }
        var taken: [Int32] = []
        while true {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { break }
            taken.append(descriptor)
        }
        defer { for descriptor in taken { close(descriptor) } }
        try write(root, "new/f", "y")
        for descriptor in taken { close(descriptor) }
        taken.removeAll()
        #expect(directory.content("new/f") == "y")
    }

    @Test("a root that is missing or no directory is an error")
    func badRoot() throws {
        let directory = try TemporaryDirectory()
        directory.put("file", "x")
        #expect(errorNumber { _ = try OutputRoot(path: directory.file("none")) } == ENOENT)
        #expect(errorNumber { _ = try OutputRoot(path: directory.file("file")) } == ENOTDIR)
        #expect(errorNumber { _ = try OutputRoot(path: directory.path + "\0/x") } == EINVAL)
    }

    @Test("a file in the way of a directory is an error")
    func fileInTheWay() throws {
        let directory = try TemporaryDirectory()
        directory.put("a", "x")
        let root = try OutputRoot(path: directory.path)
        #expect(errorNumber { _ = try root.createPart(for: "a/b") } == ENOTDIR)
    }
}
