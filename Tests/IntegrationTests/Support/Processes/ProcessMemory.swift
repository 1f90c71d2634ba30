import Foundation
import Glibc

/// What a process has in its memory: all that a core of it would show, but for mapped files.
enum ProcessMemory {
    /// Which of some texts a process holds anywhere it may write to.
    ///
    /// - Returns: Nil when this process may not look.
    static func texts(_ texts: [String], in pid: Int32) -> Set<String>? {
        let memory = open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { return nil }
        defer { close(memory) }
        guard let maps = FileManager.default.contents(atPath: "/proc/\(pid)/maps") else { return nil }
        var found: Set<String> = []
        let overlap = (texts.map(\.utf8.count).max() ?? 1) - 1
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        var hasRead = false
        for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            let ends = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard ends.count == 2, words[1].hasPrefix("rw") else { continue }
            var place = ends[0]
            while place < ends[1] {
                let count = pread(memory, &piece, Int(min(UInt64(piece.count), ends[1] - place)), off_t(place))
                guard count > 0 else { break }
                hasRead = true
                for text in texts where !found.contains(text) {
                    let isThere = piece.withUnsafeBytes { contains($0[..<count], Array(text.utf8)) }
                    if isThere { found.insert(text) }
                }
                if place + UInt64(count) >= ends[1] { break }
                place += UInt64(max(1, count - overlap))
            }
        }
        return hasRead ? found : nil
    }

    private static func contains(_ bytes: Slice<UnsafeRawBufferPointer>, _ text: [UInt8]) -> Bool {
        guard let start = UnsafeRawBufferPointer(rebasing: bytes).baseAddress, let first = text.first else {
            return false
        }
        var index = 0
        while index + text.count <= bytes.count {
            guard let found = memchr(start + index, Int32(first), bytes.count - text.count + 1 - index) else {
                return false
            }
            if memcmp(found, text, text.count) == 0 { return true }
            index = UnsafeRawPointer(found) - start + 1
        }
        return false
    }
}
