import CTrawlBlob
import Glibc
import TrawlPlatform

/// Random bytes of a store, for tags that stand for secrets in its records. The file `secret` beside the tables.
///
/// Whoever opens the store first makes them. When the file is lost or damaged there are new ones, and responses that
/// were stored for credentials are not found any more.
enum StoreSecret {
    static let size = 32
    private static let name = "secret"

    /// The bytes of a store's directory.
    static func of(_ directory: String) throws(SystemError) -> [UInt8] {
        let path = directory + "/" + name
        for _ in 0..<3 {
            if let bytes = try read(path) { return bytes }
            try make(in: directory)
        }
        throw SystemError(errno: EIO, call: "read")
    }

    private static func read(_ path: String) throws(SystemError) -> [UInt8]? {
        // Without waiting for who writes to it, should it be a FIFO.
        let opened = cblob_openat(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0)
        switch opened {
        case -ENOENT: return nil
        // A link, a socket.
        case -ELOOP, -ENXIO:
            try remove(path)
            return nil
        case ..<0: throw SystemError(errno: -opened, call: "open \(path)")
        default: break
        }
        let file = Descriptor(adopting: opened)
        var (length, changed, links): (Int64, Int64, Int64) = (0, 0, 0)
        var bytes = [UInt8](repeating: 0, count: size)
        guard cblob_status(file.rawValue, &length, &changed, &links) == 0, length == Int64(size),
            pread(file.rawValue, &bytes, size, 0) == size
        else {
            try remove(path)
            return nil
        }
        return bytes
    }

    private static func remove(_ path: String) throws(SystemError) {
        if unlink(path) != 0, errno != ENOENT { throw SystemError(errno: errno, call: "unlink \(path)") }
    }

    /// Makes the file whole or not at all; another process may be first.
    private static func make(in directory: String) throws(SystemError) {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
        let fresh = try FreshFile(name, in: directory)
        try bytes.span.withUnsafeBytes { (bytes) throws(SystemError) in try fresh.file.writeAll(bytes) }
        do {
            try fresh.publish()
        } catch {
            if error.errno != EEXIST { throw error }
        }
    }
}
