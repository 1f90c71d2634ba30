import Glibc
import TestSupport
import Testing
import TrawlPlatform

@testable import TrawlStore

@Suite("Blob readers")
struct BlobReaderTests {
    private let scratch = CacheScratch()
    private static let length = 2_500_000

    /// A blob with its reader, and where its file is.
    private func blob(_ length: Int = length) throws -> (reader: BlobReader, body: [UInt8], path: String) {
        mkdir(scratch.cache, 0o700)
        let directory = try BlobDirectory(in: scratch.cache)
        var random = SeededGenerator(seed: UInt64(length))
        let body = random.bytes(length)
        let spool = BodySpool(in: directory, longest: 1 << 30)
        append(body, to: spool)
        guard case .blob(let blob) = spool.finish() else { throw BlobError.damaged }
        try blob.publish()
        let reader = BlobReader(
            reference: blob.reference, file: try directory.open(blob.reference.digest))
        return (reader, body, directory.path + "/" + blob.reference.digest.path)
    }

    @Test("the whole body comes back", arguments: [16385, 1 << 20, (1 << 20) + 1, length])
    func whole(length: Int) throws {
        let (reader, body, _) = try blob(length)
        #expect(try reader.bytes() == body)
        try reader.verify()
    }

    @Test("any range comes back")
    func ranges() throws {
        let (reader, body, _) = try blob()
        let ends = [0, 1, 4095, 1_048_575, 1_048_576, 1_048_577, 2_097_152, Self.length - 1, Self.length]
        for start in ends {
            for end in ends where start <= end {
                var read: [UInt8] = []
                try reader.read(UInt64(start)..<UInt64(end)) { bytes in
                    read.append(contentsOf: bytes)
                    return true
                }
                #expect(read == Array(body[start..<end]))
            }
        }
        var beyond = 0
        try reader.read(2_499_990..<9_999_999) { bytes in
            beyond += bytes.count
            return true
        }
        #expect(beyond == 10)
    }

    @Test("reading stops when told to")
    func stops() throws {
        let (reader, _, _) = try blob()
        var pieces = 0
        try reader.read(0..<reader.length) { _ in
            pieces += 1
            return false
        }
        #expect(pieces == 1)
    }

    @Test("a flipped bit anywhere is seen before a byte of its MiB is given out")
    func flips() throws {
        let (reader, body, path) = try blob()
        var random = SeededGenerator(seed: 7)
        for _ in 0..<40 {
            let place = Int.random(in: 0..<Self.length, using: &random)
            try flip(path, at: place, bit: UInt8.random(in: 0..<8, using: &random))
            #expect(throws: BlobError.damaged) { try reader.bytes() }
            var sound: [UInt8] = []
            #expect(throws: BlobError.damaged) {
                try reader.read(0..<reader.length) { bytes in
                    sound.append(contentsOf: bytes)
                    return true
                }
            }
            #expect(sound.count == (place >> 20) << 20)
            #expect(sound[...] == body[..<sound.count])
            try restore(path, at: place, body[place])
        }
        #expect(try reader.bytes() == body)
    }

    @Test("a file that is too short is damaged", arguments: [0, 1, 1 << 20, length - 1])
    func truncated(length: Int) throws {
        let (reader, _, path) = try blob()
        #expect(chmod(path, 0o600) == 0)
        #expect(truncate(path, off_t(length)) == 0)
        #expect(throws: BlobError.damaged) { try reader.bytes() }
        #expect(throws: BlobError.damaged) { try reader.verify() }
    }

    @Test("an open reader goes on when the file is gone")
    func removed() throws {
        let (reader, body, path) = try blob()
        unlink(path)
        #expect(try reader.bytes() == body)
    }

    @Test("short bodies are not worth sharing, and nothing is shared with what is no file")
    func sharesNothing() throws {
        let (short, _, _) = try blob(Int(BlobReader.shortestShared) - 1)
        let destination = scratch.path + "/copy"
        let file = open(destination, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        defer { close(file) }
        #expect(!short.share(0..<short.length, with: file))
        let (long, _, _) = try blob()
        let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(null) }
        #expect(!long.share(0..<1 << 20, with: null))
    }

    @Test("pieces end where their MiB does, and lie in memory that is used again")
    func pieces() throws {
        let (reader, body, _) = try blob()
        let memory = ChunkMemory()
        for (range, end) in [(5..<9, 9), (1_000_000..<2_400_000, 1 << 20), (2_200_000..<Self.length, Self.length)] {
            let piece = try reader.piece(UInt64(range.lowerBound)..<UInt64(range.upperBound), in: memory)
            #expect(Array(piece) == Array(body[range.lowerBound..<end]))
        }
    }

    private func flip(_ path: String, at place: Int, bit: UInt8) throws {
        chmod(path, 0o600)
        let file = open(path, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        var byte: UInt8 = 0
        #expect(pread(file, &byte, 1, off_t(place)) == 1)
        byte ^= 1 << bit
        #expect(pwrite(file, &byte, 1, off_t(place)) == 1)
    }

    private func restore(_ path: String, at place: Int, _ byte: UInt8) throws {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        var byte = byte
        #expect(pwrite(file, &byte, 1, off_t(place)) == 1)
    }
}

/// All bytes of a file.
func content(_ path: String) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var status = stat()
    fstat(file, &status)
    return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
        while count < buffer.count {
            let more = read(file, buffer.baseAddress.map { $0 + count }, buffer.count - count)
            if more <= 0 { return }
            count += more
        }
    }
}
