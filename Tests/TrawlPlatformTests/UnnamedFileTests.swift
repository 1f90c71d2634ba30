import Glibc
import Testing

@testable import TrawlPlatform

@Suite("Open files that are given a name")
struct UnnamedFileTests {
    @Test("they can be where /proc is")
    func usual() {
        #expect(UnnamedFile.canBeNamed)
    }

    // In a process of its own, which gives up /proc and what root may do.
    @Test(
        "they cannot be without /proc and privilege", .enabled(if: geteuid() == 0, "needs a root directory of its own"))
    func neither() async throws {
        let directory = try TemporaryDirectory()
        let path: String = directory.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            // Opened by another user than the one who names it: newer systems let that one do so.
            let file = try MemoryFile(name: "trawl-test")
            guard UnnamedFile.isNameable(file.descriptor.rawValue) else { exit(1) }
            // Not all that root may do elsewhere is allowed in a container.
            guard chroot(path) == 0 else { exit(errno == EPERM ? 0 : 2) }
            guard seteuid(65_534) == 0, !UnnamedFile.isNameable(file.descriptor.rawValue) else { _exit(3) }
            // A leak checker, which would look now, wants /proc.
            _exit(0)
        }
        let names = try directory.names()
        #expect(names == [])
    }
}
