import Glibc
import Testing
import Trawl

@testable import TrawlCommand

@Suite("What a run may open and write")
struct OutputLimitTests {
    @Test(
        "a transfer has six descriptors, and a process some more",
        arguments: [(64, 2), (1024, 142), (65_536, 10_873), (12, 1), (47, 1)])
    func transfers(limit: Int, count: Int) {
        #expect(DescriptorLimit.transfers(within: limit) == count)
    }

    @Test(
        "long bodies of requests have half of the descriptors that are left",
        arguments: [(12, 1), (64, 12), (256, 108), (1024, 256)])
    func longBodies(limit: Int, count: Int) {
        #expect(DescriptorLimit.longBodies(within: limit) == count)
    }

    @Test("a directory that is removed takes no more files")
    func removed() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/out"
        mkdir(path, 0o777)
        let directory = try OutputDirectory(path)
        #expect(directory.obstacle == nil)
        rename(path, scratch.path + "/moved")
        #expect(directory.obstacle == nil)
        rmdir(scratch.path + "/moved")
        #expect(directory.obstacle == ENOENT)
        #expect(throws: (any Error).self) { try OutputDirectory(path) }
    }

    @Test("the arguments of a usual program are UTF-8")
    func arguments() {
        #expect(ArgumentBytes.firstNotUTF8() == nil)
    }
}
