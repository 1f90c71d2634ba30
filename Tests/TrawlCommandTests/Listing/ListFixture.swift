import CTrawlZlib
import Glibc
import TestSupport
import TrawlPlatform

@testable import TrawlCommand

/// Lists on disk and in pipes, and what a reader makes of them.
final class ListFixture {
    let directory: String
    let interrupt: WakeUp

    init() throws {
        var template = TemporaryName.template("list")
        guard mkdtemp(&template) != nil else { throw SystemError(errno: errno, call: "mkdtemp") }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        interrupt = try WakeUp()
    }

    deinit {
        remove(directory + "/list")
        remove(directory)
    }

    var path: String { directory + "/list" }

    func write(_ bytes: [UInt8]) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError(errno: errno, call: "open") }
        defer { close(descriptor) }
        try Self.writeAll(bytes, to: descriptor)
    }

    static func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws {
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                guard count > 0 else { throw SystemError(errno: errno, call: "write") }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    /// What a list says, in words: `3 text`, `4 bad: …`, and how it ends.
    func lines(_ limits: ListReader.Limits = .init()) throws -> [String] {
        let reader = try ListReader(path, limits: limits)
        var result: [String] = []
        while true {
            do throws(CommandError) {
                switch try reader.next(interrupt: interrupt.rawValue) {
                case .line(let number, let bytes): result.append("\(number) \(String(decoding: bytes, as: UTF8.self))")
                case .bad(let number, let reason, _, _): result.append("\(number) bad: \(reason)")
                case .end: return result
                case .interrupted: return result + ["interrupted"]
                }
            } catch {
                return result + [error.message.replacing(path, with: "LIST")]
            }
        }
    }

    func lines(of bytes: [UInt8], _ limits: ListReader.Limits = .init()) throws -> [String] {
        try write(bytes)
        return try lines(limits)
    }

    /// One gzip member.
    static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        guard
            deflateInit2_(
                &stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
                == Z_OK
        else { return [] }
        defer { deflateEnd(&stream) }
        var input = bytes
        return input.withUnsafeMutableBufferPointer { input in
            [UInt8](unsafeUninitializedCapacity: bytes.count + bytes.count / 8 + 256) { output, count in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                _ = deflate(&stream, Z_FINISH)
                count = Int(stream.total_out)
            }
        }
    }
}
