import Glibc
import TestSupport
import TrawlPlatform

/// A directory of a test's own with files directly in it, removed at the end.
final class ScratchDirectory {
    let path: String

    init() throws {
        var template = TemporaryName.template("batch")
        guard mkdtemp(&template) != nil else { throw SystemError(errno: errno, call: "mkdtemp") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in ["list", "results"] { remove(path + "/" + name) }
        remove(path)
    }

    func put(_ name: String, _ text: String) throws { try put(name, Array(text.utf8)) }

    func put(_ name: String, _ bytes: [UInt8]) throws {
        guard let file = fopen(path + "/" + name, "we") else { throw SystemError(errno: errno, call: "open") }
        defer { fclose(file) }
        _ = bytes.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
    }

    func text(_ name: String) -> String {
        guard let file = fopen(path + "/" + name, "re") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
    }
}
