import CTrawlPlatform
import Glibc

/// Files in which the kernel says something.
enum SystemFile {
    /// Longer ones are cut.
    private static let mostBytes = 1 << 16

    /// What a file says; nil when it cannot be read.
    static func read(_ path: String) -> String? {
        guard let file = try? Descriptor.adopt(cplatform_openat(AT_FDCWD, path, O_RDONLY, 0), "openat") else {
            return nil
        }
        return withUnsafeTemporaryAllocation(byteCount: mostBytes, alignment: 1) { buffer -> String? in
            var filled = 0
            while filled < buffer.count {
                let result = cplatform_read(
                    file.rawValue, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
                if result == -Int64(EINTR) { continue }
                if result < 0 { return nil }
                if result == 0 { break }
                filled += Int(result)
            }
            return String(decoding: buffer[..<filled], as: UTF8.self)
        }
    }
}
