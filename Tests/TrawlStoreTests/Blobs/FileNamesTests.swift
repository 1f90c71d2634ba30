import Glibc
import Testing
import TrawlPlatform

@testable import TrawlStore

@Suite("Names in a directory")
struct FileNamesTests {
    private let scratch = CacheScratch()

    @Test("all are listed, and none where there is no directory")
    func lists() throws {
        let place = scratch.path + "/some"
        #expect(try Array(FileNames(in: place)) == [])
        #expect(mkdir(place, 0o700) == 0)
        #expect(try Array(FileNames(in: place)) == [])
        for name in ["a", ".b"] { #expect(mkdir(place + "/" + name, 0o700) == 0) }
        #expect(try FileNames(in: place).sorted() == [".b", "a"])
    }

    @Test("one that cannot be listed is an error, not empty")
    func fails() throws {
        let place = scratch.path + "/some"
        #expect(symlink(scratch.path, place) == 0)
        #expect(throws: SystemError(errno: ENOTDIR, call: "open \(place)")) { try FileNames(in: place) }
    }

    @Test("one behind a link is listed where links are followed, and one behind a circle of them is an error")
    func follows() throws {
        let place = scratch.path + "/some"
        #expect(symlink(scratch.path, place) == 0)
        #expect(try Array(FileNames(in: place, followingLinks: true)) == ["some"])
        let circle = scratch.path + "/circle"
        #expect(symlink("circle", circle) == 0)
        #expect(throws: SystemError(errno: ELOOP, call: "open \(circle)")) {
            try FileNames(in: circle, followingLinks: true)
        }
    }

    @Test("nor is one that may not be looked at", .enabled(if: geteuid() != 0, "root may do it anyway"))
    func unreadable() throws {
        let place = scratch.path + "/some"
        #expect(mkdir(place, 0o300) == 0)
        defer { chmod(place, 0o700) }
        #expect(throws: SystemError(errno: EACCES, call: "open \(place)")) { try FileNames(in: place) }
    }
}
