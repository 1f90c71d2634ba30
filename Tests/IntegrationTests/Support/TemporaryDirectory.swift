import Foundation
import Glibc

/// A directory of a test's own, removed with all it holds.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        var template = Array(
            (NSTemporaryDirectory() as NSString).appendingPathComponent("trawl-tests-XXXXXX").utf8CString)
        let made = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
        }
        guard let made else { throw ChildProcess.Failure(description: "mkdtemp: errno \(errno)") }
        path = made
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a name in it.
    func file(_ name: String) -> String { path + "/" + name }

    /// Makes a directory in it and returns its path.
    func makeDirectory(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: true)
        return file(name)
    }

    /// Everything in it, files and directories at any depth, sorted.
    func names() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
    }

    /// The content of a file; nil when there is none.
    func content(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: file(name)).map(Array.init)
    }

    /// Writes a file.
    func put(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
    }
}
