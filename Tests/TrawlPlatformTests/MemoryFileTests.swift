import CTrawlPlatform
import Glibc
import Testing
import TrawlPlatform

@Suite("Memory files")
struct MemoryFileTests {
    private func mappingError(_ descriptor: borrowing Descriptor, limit: Int = 1 << 20) -> MemoryFileError? {
        do throws(MemoryFileError) {
            _ = try MappedBytes(descriptor, limit: limit)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "what was written is read through the mapping, even after the file is closed", arguments: [0, 1, 4096, 100_000])
    func roundTrip(size: Int) throws {
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let mapped = try map(content)
        #expect(mapped.count == size)
        #expect(mapped.withUnsafeBytes { $0.elementsEqual(content) })
    }

    private func map(_ content: [UInt8]) throws -> MappedBytes {
        let file = try MemoryFile(name: "test")
        #expect(isCloseOnExec(file.descriptor.rawValue))
        try content.withUnsafeBytes { try file.write($0) }
        #expect(try file.size() == content.count)
        try file.seal()
        #expect(MemoryFile.isFullySealed(file.descriptor.rawValue))
        return try MappedBytes(file.descriptor, limit: content.count)
    }

    @Test("a sealed file takes no write and no new size")
    func sealed() throws {
        let file = try MemoryFile(name: "test")
        try withBytes("final") { try file.write($0) }
        try file.seal()
        #expect(errorNumber { try withBytes("x") { try file.write($0) } } == EPERM)
        #expect(ftruncate(file.descriptor.rawValue, 0) != 0)
        #expect(ftruncate(file.descriptor.rawValue, 100) != 0)
    }

    @Test(
        "a file that lacks a seal is refused",
        arguments: [
            [], [cplatform_seal_write, cplatform_seal_grow, cplatform_seal_shrink],
            [cplatform_seal_seal, cplatform_seal_grow, cplatform_seal_shrink],
            [cplatform_seal_seal, cplatform_seal_write, cplatform_seal_shrink],
            [cplatform_seal_seal, cplatform_seal_write, cplatform_seal_grow],
        ])
    func unsealed(seals: [Int]) throws {
        let file = try MemoryFile(name: "test")
        try withBytes("x") { try file.write($0) }
        #expect(cplatform_add_seals(file.descriptor.rawValue, Int32(seals.reduce(0, |))) == 0)
        #expect(mappingError(file.descriptor) == .notSealed)
    }

    @Test("a file beyond the limit is refused without being mapped")
    func tooLarge() throws {
        let file = try MemoryFile(name: "test")
        #expect(ftruncate(file.descriptor.rawValue, 1 << 40) == 0)
        try file.seal()
        #expect(mappingError(file.descriptor) == .tooLarge(1 << 40))
    }

    @Test("what is no memory file is refused")
    func notMemory() throws {
        let directory = try TemporaryDirectory()
        directory.put("file", "x")
        #expect(mappingError(Descriptor(adopting: open(directory.file("file"), O_RDONLY | O_CLOEXEC))) == .notSealed)
        #expect(mappingError(Descriptor(adopting: open(directory.path, O_RDONLY | O_CLOEXEC))) == .notSealed)
        #expect(mappingError(Descriptor(adopting: open("/dev/zero", O_RDONLY | O_CLOEXEC))) == .notSealed)
        let pair = try ControlSocket.pair()
        #expect(mappingError(pair.here) == .notSealed)
    }

    @Test("a file that may only be written is refused")
    func writeOnly() throws {
        let file = try MemoryFile(name: "test")
        try withBytes("x") { try file.write($0) }
        let path = "/proc/self/fd/\(file.descriptor.rawValue)"
        let writeOnly = Descriptor(adopting: open(path, O_WRONLY | O_CLOEXEC))
        try file.seal()
        #expect(mappingError(writeOnly) == .system(SystemError(errno: EACCES, call: "mmap")))
    }
}
