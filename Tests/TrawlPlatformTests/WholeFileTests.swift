import Glibc
import Testing
@testable import TrawlPlatform

@Suite("Files that are replaced as a whole")
struct WholeFileTests {
    private let text = Array("new".utf8)

    private func kind(_ path: String) -> mode_t {
        var info = stat()
        return lstat(path, &info) == 0 ? info.st_mode & S_IFMT : 0
    }

    @Test("only names of open files stand for one, not every file below /dev")
    func openFiles() {
        #expect(WholeFile.standsForOpenFile("/dev/stderr") && WholeFile.standsForOpenFile("/dev/fd/7"))
        #expect(WholeFile.standsForOpenFile("/proc/self/fd/2"))
        #expect(!WholeFile.standsForOpenFile("/dev/shm/x") && !WholeFile.standsForOpenFile("/dev/null"))
    }

    @Test("a file is its owner's alone, new or not, and nothing else is left")
    func file() throws {
        let directory = try TemporaryDirectory()
        try WholeFile.write(text, to: directory.file("new"))
        directory.put("old", "a longer old text")
        chmod(directory.file("old"), 0o644)
        try WholeFile.write(text, to: directory.file("old"), syncs: true)
        for name in ["new", "old"] {
            var info = stat()
            #expect(stat(directory.file(name), &info) == 0 && info.st_mode & 0o777 == 0o600)
            #expect(directory.content(name) == "new")
        }
        let number = errorNumber { try WholeFile.write(text, to: directory.file("no/such")) }
        #expect(number == ENOENT)
        let refused = errorNumber { try WholeFile.write(text, to: directory.path) }
        #expect(refused == EISDIR)
        let names = try directory.names()
        #expect(names == ["new", "old"])
    }

    @Test("what a killed process left is in nobody's way, whatever number it had")
    func leftover() throws {
        let directory = try TemporaryDirectory()
        let leftovers = ["file.\(getpid()).part", ".file.abcdefghijk27.part"]
        for name in leftovers { directory.put(name, "half") }
        for text in ["one", "two"] { try WholeFile.write(Array(text.utf8), to: directory.file("file")) }
        #expect(directory.content("file") == "two")
        let names = try directory.names()
        #expect(names == (leftovers + ["file"]).sorted())
    }

    @Test("a name that begins with a combining character lies in the directory before it")
    func combining() throws {
        let directory = try TemporaryDirectory()
        mkdir(directory.file("sub"), 0o700)
        try WholeFile.write(text, to: directory.file("sub/\u{301}f"))
        symlink("\u{301}g", directory.file("sub/link"))
        symlink("\u{301}h", directory.file("sub/\u{301}link"))
        try WholeFile.write(text, to: directory.file("sub/link"))
        try WholeFile.write(text, to: directory.file("sub/\u{301}link"))
        for name in ["sub/\u{301}f", "sub/\u{301}g", "sub/\u{301}h"] { #expect(directory.content(name) == "new") }
    }

    @Test(
        "a directory that may be written to and searched is enough",
        .enabled(if: geteuid() != 0, "root may do it anyway"), arguments: [false, true])
    func unreadableDirectory(syncs: Bool) throws {
        let directory = try TemporaryDirectory()
        mkdir(directory.file("sub"), 0o700)
        directory.put("sub/old", "old")
        chmod(directory.file("sub"), 0o300)
        defer { chmod(directory.file("sub"), 0o700) }
        for name in ["sub/new", "sub/old"] {
            try WholeFile.write(text, to: directory.file(name), syncs: syncs)
            #expect(directory.content(name) == "new")
        }
    }

    @Test("where an open file cannot be given a name, it has one from the start", arguments: [EPERM, ENOENT, ENOSYS])
    func refusedLink(number: Int32) throws {
        let directory = try TemporaryDirectory()
        directory.put("old", "old")
        for name in ["new", "old"] {
            try WholeFile.write(text, at: directory.file(name), mode: 0o600, syncs: false) {
                (part) throws(SystemError) in
                if part.temporaryName == nil { throw SystemError(errno: number, call: PartFile.linkCall.description) }
                try part.publish(replacing: true, keepsMode: false, sync: false)
            }
            #expect(directory.content(name) == "new")
        }
        let names = try directory.names()
        #expect(names == ["new", "old"])
    }

    @Test("an error that is not of the link is the answer")
    func otherError() throws {
        let directory = try TemporaryDirectory()
        let number = errorNumber {
            try WholeFile.write(text, at: directory.file("x"), mode: 0o600, syncs: false) {
                (_) throws(SystemError) in throw SystemError(errno: EIO, call: "fsync")
            }
        }
        #expect(number == EIO)
        let names = try directory.names()
        #expect(names.isEmpty)
    }

    @Test("a pipe stays one, and its reader gets the text")
    func pipe() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(reader >= 0)
        defer { close(reader) }
        try WholeFile.write(text, to: path)
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = read(reader, &bytes, bytes.count)
        #expect(count == 3 && Array(bytes.prefix(3)) == text)
        #expect(kind(path) == S_IFIFO)
    }

    /// Whether this user may make a device, found out by making one: a container may forbid root too.
    private static let makesDevices: Bool = {
        guard let directory = try? TemporaryDirectory() else { return false }
        return withExtendedLifetime(directory) { mknod(directory.file("null"), S_IFCHR | 0o666, 1 << 8 | 3) == 0 }
    }()

    @Test("a device stays one", .enabled(if: makesDevices, "this user may not make devices"))
    func device() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("null")
        // The numbers of /dev/null.
        try #require(mknod(path, S_IFCHR | 0o666, 1 << 8 | 3) == 0)
        // Some file systems hold devices that cannot be opened.
        let number = errorNumber { try WholeFile.write(text, to: path) }
        #expect(number == nil || number == EACCES)
        #expect(kind(path) == S_IFCHR)
    }

    @Test("a link is followed, also to what is not there yet, and stays a link")
    func links() throws {
        let directory = try TemporaryDirectory()
        directory.put("there", "old")
        symlink("there", directory.file("one"))
        symlink("missing", directory.file("two"))
        symlink("loop", directory.file("loop"))
        try WholeFile.write(text, to: directory.file("one"))
        try WholeFile.write(text, to: directory.file("two"))
        #expect(directory.content("there") == "new" && directory.content("missing") == "new")
        #expect(kind(directory.file("one")) == S_IFLNK && kind(directory.file("two")) == S_IFLNK)
        let number = errorNumber { try WholeFile.write(text, to: directory.file("loop")) }
        #expect(number == ELOOP)
    }

    @Test("a link somebody else made is replaced", .enabled(if: geteuid() == 0, "only root may do it"))
    func foreignLink() throws {
        let directory = try TemporaryDirectory()
        directory.put("victim", "old")
        let link = directory.file("link")
        symlink(directory.file("victim"), link)
        try #require(lchown(link, 65534, 65534) == 0)
        try WholeFile.write(text, to: link)
        #expect(directory.content("victim") == "old" && directory.content("link") == "new")
        #expect(kind(link) == S_IFREG)
    }
}
