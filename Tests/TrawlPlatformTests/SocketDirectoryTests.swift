import Glibc
import Testing
import TrawlPlatform

@Suite("Directories in which sockets have their names")
struct SocketDirectoryTests {
    @Test("the runtime directory comes first, then that for temporary files; paths that are none do not count")
    func paths() {
        let user = geteuid()
        #expect(
            SocketDirectory.paths(runtime: "/run/user/7", temporary: "/var/tmp")
                == ["/run/user/7/trawl", "/var/tmp/trawl-\(user)"])
        #expect(SocketDirectory.paths(runtime: nil, temporary: nil) == ["/tmp/trawl-\(user)"])
        #expect(SocketDirectory.paths(runtime: "here", temporary: "") == ["/tmp/trawl-\(user)"])
    }

    @Test("a name in the root has one slash before it")
    func root() throws {
        #expect(try SocketDirectory(path: "/", isOwn: false).path(of: "x") == "/x")
        let place = try TemporaryDirectory()
        #expect(try SocketDirectory(path: place.path, isOwn: false).path(of: "x") == place.path + "/x")
    }

    @Test("one that others may enter, a link, and what is no directory are not used")
    func own() throws {
        let place = try TemporaryDirectory()
        for (name, mode) in [("open", 0o755), ("listed", 0o704), ("own", 0o700)] as [(String, mode_t)] {
            try #require(mkdir(place.file(name), 0o700) == 0 && chmod(place.file(name), mode) == 0)
        }
        try #require(symlink(place.file("own"), place.file("link")) == 0)
        place.put("file", "x")
        for (name, number) in [("open", EPERM), ("listed", EPERM), ("file", ENOTDIR), ("none", ENOENT)] {
            #expect(errorNumber { _ = try SocketDirectory(path: place.file(name), isOwn: true) } == number)
        }
        #expect(
            [ELOOP, ENOTDIR].contains(errorNumber { _ = try SocketDirectory(path: place.file("link"), isOwn: true) }))
        #expect(try SocketDirectory(path: place.file("own"), isOwn: true).names().isEmpty)
        #expect(try SocketDirectory(path: place.file("link"), isOwn: false).names().isEmpty)
        let made = try SocketDirectory.made([place.file("open"), place.file("no/such"), place.file("new")])
        #expect(made.path == place.file("new"))
    }

    /// Nobody listens any more, also not a process that is just being started and has a copy still.
    private func stopListening(_ socket: borrowing Descriptor) {
        #expect(shutdown(socket.rawValue, Int32(SHUT_RDWR)) == 0)
    }

    @Test("a name is taken once, and again when nobody listens at it any more")
    func names() throws {
        let place = try TemporaryDirectory()
        let directory = try SocketDirectory(path: place.path, isOwn: false)
        do {
            let first = try directory.listen(at: "a", backlog: 4)
            var info = stat()
            #expect(stat(place.file("a"), &info) == 0 && info.st_mode & 0o777 == 0o600)
            #expect(errorNumber { _ = try directory.listen(at: "a", backlog: 4) } == EADDRINUSE)
            #expect(!directory.removeIfStale("a"))
            let client = try directory.connect(to: "a")
            // Those of the two that looked whether anybody listens come first.
            var taken = 0
            while let connection = try LocalSocket.accept(first.rawValue) {
                let peer = try LocalSocket.peer(of: connection.rawValue)
                #expect(peer.user == geteuid() && peer.process == getpid())
                taken += 1
            }
            #expect(taken == 3)
            #expect(try LocalSocket.peer(of: client.rawValue).process == getpid())
            stopListening(first)
        }
        #expect(errorNumber { _ = try directory.connect(to: "a") } == ECONNREFUSED)
        do {
            let second = try directory.listen(at: "a", backlog: 4)
            stopListening(second)
        }
        #expect(directory.removeIfStale("a"))
        #expect(directory.names().isEmpty)
        place.put("file", "x")
        #expect(errorNumber { _ = try directory.listen(at: "file", backlog: 4) } == EADDRINUSE)
        #expect(!directory.removeIfStale("file") && place.content("file") == "x")
        #expect(
            errorNumber { _ = try directory.listen(at: String(repeating: "n", count: 200), backlog: 4) } == ENAMETOOLONG
        )
    }
}
