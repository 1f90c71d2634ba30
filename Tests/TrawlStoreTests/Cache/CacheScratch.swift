import Glibc
import TrawlPlatform

@testable import TrawlStore

/// A directory of a test's own, gone with this value.
final class CacheScratch: Sendable {
    let path: String

    init() {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/trawl-cache-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { name in
            name.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) } ?? ""
        }
        precondition(!path.isEmpty, "no temporary directory")
    }

    deinit { Self.remove(path) }

    /// Where a cache can be.
    var cache: String { path + "/cache" }

    /// Every file beneath, relative, in order.
    func files(in directory: String = "") -> [String] {
        var found: [String] = []
        for name in Self.names(path + "/" + directory) {
            let place = directory.isEmpty ? name : directory + "/" + name
            if Self.isDirectory(path + "/" + place) { found += files(in: place) } else { found.append(place) }
        }
        return found.sorted()
    }

    /// The files of blobs.
    var blobFiles: [String] {
        files(in: "cache/blobs").filter { !$0.contains("/spool/") }
    }

    static func names(_ directory: String) -> [String] {
        guard let list = opendir(directory) else { return [] }
        defer { closedir(list) }
        var found: [String] = []
        while let entry = readdir(list) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { found.append(name) }
        }
        return found
    }

    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    static func remove(_ path: String) {
        if isDirectory(path) {
            for name in names(path) { remove(path + "/" + name) }
            rmdir(path)
        } else {
            unlink(path)
        }
    }
}

/// A digest that tells its number.
func digest(_ number: Int) -> CacheDigest {
    CacheDigest(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, UInt64(number))
}

/// A body as a response would bring it: through a spool, in pieces.
func spooled(_ bytes: [UInt8], _ store: CacheStore, piece: Int = 60_000) -> SpooledBody? {
    let spool = BodySpool(in: store.blobs, longest: store.longestBody)
    append(bytes, to: spool, piece: piece)
    return spool.finish()
}

func append(_ bytes: [UInt8], to spool: BodySpool, piece: Int = 60_000) {
    bytes.withUnsafeBytes { bytes in
        var rest = bytes
        while !rest.isEmpty {
            spool.append(UnsafeRawBufferPointer(rebasing: rest.prefix(piece)))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece))
        }
    }
}

extension CacheStore {
    /// Stores a response at once: its sequence, when it was stored.
    @discardableResult
    func put(
        _ number: Int, header: String = "header", body: [UInt8], class storageClass: StorageClass = .permanent,
        stored: UInt64 = 1, replacing: [UInt64] = []
    ) -> UInt64? {
        guard let body = spooled(body, self) else { return nil }
        let record = NewRecord(
            digest: digest(number), header: Array(header.utf8), body: body, storageClass: storageClass, stored: stored,
            replacing: replacing)
        guard case .stored(let sequence) = perform(.append(record)) else { return nil }
        return sequence
    }

    /// What is stored under a digest, newest first.
    func found(_ number: Int) -> [FoundRecord] {
        read(digest(number)) { candidates -> [FoundRecord] in
            (0..<candidates.count).compactMap { index in
                guard let record = candidates.record(at: index) else { return nil }
                return FoundRecord(
                    sequence: record.use.sequence, header: String(decoding: record.header, as: UTF8.self),
                    storageClass: record.storageClass, body: record.body().flatMap { try? $0.whole() })
            }
        } ?? []
    }

    /// The file of the newest body of a number.
    func blobPath(_ number: Int) -> String? {
        let body = read(digest(number)) { candidates in candidates.record(at: 0)?.body() }
        guard case .blob(let reader)? = body else { return nil }
        return blobs.path + "/" + reader.reference.digest.path
    }

    /// Reads the newest record and says it was used; whether there was one.
    @discardableResult
    func use(_ number: Int) -> Bool {
        let use = read(digest(number)) { candidates in candidates.record(at: 0)?.use }
        guard let use else { return false }
        used(use)
        return true
    }
}

struct FoundRecord: Equatable {
    let sequence: UInt64
    let header: String
    let storageClass: StorageClass
    let body: [UInt8]?
}

extension StoredBody {
    func whole() throws(BlobError) -> [UInt8] {
        switch self {
        case .bytes(let bytes): bytes
        case .blob(let reader): try reader.bytes()
        }
    }
}
