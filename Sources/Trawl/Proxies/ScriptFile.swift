import Glibc
import TrawlSession

/// Scripts in files, and their characters.
enum ScriptFile {
    static let longest = 1 << 20

    /// The bytes of a path or `file` URL.
    static func read(_ place: String) throws(FetchError) -> [UInt8] {
        let path = ScriptPlace.path(of: place)
        let shown = ScriptPlace.shown(path)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .file(shown, errno) }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { throw .file(shown, EINVAL) }
        guard info.st_size <= longest else { throw .file(shown, EFBIG) }
        var bytes = [UInt8](repeating: 0, count: Int(info.st_size))
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + count }, $0.count - count, off_t(count))
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .file(shown, errno) }
            if got == 0 { break }
            count += got
        }
        return Array(bytes.prefix(count))
    }

    /// A script's bytes as UTF-8: they are taken for Latin-1 when they are none (ASI-PRX-05).
    static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        if String(validating: bytes, as: UTF8.self) != nil { return bytes }
        return bytes.flatMap { $0 < 0x80 ? [$0] : [0xC0 | $0 >> 6, 0x80 | $0 & 0x3F] }
    }
}
