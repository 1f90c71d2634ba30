import Glibc
import Testing
import TrawlPlatform

@Suite("Descriptors")
struct DescriptorTests {
    @Test("a descriptor is closed at the end of its owner's life, and a duplicate keeps the file open")
    func closes() throws {
        let pair = try ControlSocket.pair()
        var copy: Descriptor? = try pair.there.duplicated(atLeast: 20)
        #expect(copy?.rawValue ?? 0 >= 20)
        #expect(isCloseOnExec(copy?.rawValue ?? -1))
        let here = pair.keepingHere()
        #expect(try look(here.rawValue) == .wouldBlock)
        copy = nil
        awaitHangUp(here.rawValue)
        #expect(try look(here.rawValue) == .endOfStream)
    }

    private func look(_ fd: Int32) throws -> ControlSocket.Received {
        var descriptors: [Int32] = []
        return try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) {
            try ControlSocket.receive(fd, into: $0, descriptors: &descriptors)
        }
    }

    @Test("a released descriptor stays open")
    func released() throws {
        let file = try MemoryFile(name: "test")
        let number = try file.descriptor.duplicated(atLeast: 3).release()
        #expect(isCloseOnExec(number))
        #expect(close(number) == 0)
    }

    @Test("writing to a full disk is ENOSPC")
    func full() throws {
        let file = Descriptor(adopting: open("/dev/full", O_WRONLY | O_CLOEXEC))
        #expect(errorNumber { try withBytes("x") { try file.writeAll($0) } } == ENOSPC)
    }

    @Test("an error names the call and speaks the system's words")
    func description() {
        #expect(SystemError(errno: ENOENT, call: "openat").description == "openat: No such file or directory")
    }
}
