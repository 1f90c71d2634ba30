import CBlob
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
        let opened = cblob_openat(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW, 0)
        if opened == -ENOENT { return nil }
        if opened < 0 { throw SystemError(errno: -opened, call: "open") }
        let file = Descriptor(adopting: opened)
        var bytes = [UInt8](repeating: 0, count: size + 1)
        let count = pread(file.rawValue, &bytes, bytes.count, 0)
        guard count == size else {
            unlink(path)
            return nil
        }
        bytes.removeLast()
        return bytes
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
