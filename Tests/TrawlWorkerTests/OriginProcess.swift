import Foundation
import Glibc
import Testing
import TrawlHTTP

/// The loopback origin, started once for all tests; it ends with the test process, whose end closes its input.
final class OriginProcess: Sendable {
    /// `http://127.0.0.1:PORT`.
    let base: String
    private let input: FileHandle

    static let shared = Result { try OriginProcess() }

    private init() throws {
        let directory = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let executable = directory.appendingPathComponent("LoopbackOrigin")
        try #require(FileManager.default.isExecutableFile(atPath: executable.path), "no origin in \(directory.path)")
        let process = Process()
        let output = Pipe()
        let stdin = Pipe()
        process.executableURL = executable
        process.standardOutput = output
        process.standardInput = stdin
        try process.run()
        input = stdin.fileHandleForWriting
        // The writing end must not pass to children of other tests, or the origin would outlive this process.
        _ = fcntl(input.fileDescriptor, F_SETFD, FD_CLOEXEC)
        var line = ""
        while !line.hasSuffix("\n") {
            let byte = output.fileHandleForReading.readData(ofLength: 1)
            if byte.isEmpty { break }
            line += String(decoding: byte, as: UTF8.self)
        }
        let address = try #require(line.split(separator: " ").last?.trimmingCharacters(in: .whitespacesAndNewlines))
        base = "http://" + address
    }
}

/// A directory of a test's own, removed with all it holds.
final class Scratch {
    let path: String

    init() throws {
        var template = Array((NSTemporaryDirectory() + "/trawl-worker-XXXXXX").utf8CString)
        path = try #require(
            template.withUnsafeMutableBufferPointer {
                $0.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
            })
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var names: [String] {
        ((try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []).sorted()
    }

    func content(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path + "/" + name).map { Array($0) }
    }
}

/// The first bytes of the origin's stream of a seed (SplitMix64 as a counter).
func stream(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    var index: UInt64 = 0
    while bytes.count < count {
        var z = seed &+ (index &+ 1) &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        let word = z ^ (z >> 31)
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift))) }
        index += 1
    }
    return Array(bytes[..<count])
}

/// The body of `/plain`.
let plainText: [UInt8] = (1...400).flatMap { number in
    let digits = String(number)
    let padded = String(repeating: "0", count: 4 - digits.count) + digits
    return Array("Line \(padded) of the plain text, repeated so that a coder has something to find.\n".utf8)
}

/// An open file without a name, from its start.
func temporaryFile(_ bytes: [UInt8]) throws -> Int32 {
    var template = Array((NSTemporaryDirectory() + "/trawl-body-XXXXXX").utf8CString)
    let file = mkstemp(&template)
    try #require(file >= 0)
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    unlink(&template)
    let written = write(file, bytes, bytes.count)
    #expect(written == bytes.count)
    lseek(file, 0, SEEK_SET)
    return file
}

/// The method of that name.
func named(_ name: String) throws -> HTTPMethod {
    let method = HTTPMethod(name)
    return try #require(method)
}

// Foundation has a Method too.
typealias HTTPMethod = TrawlHTTP.Method
