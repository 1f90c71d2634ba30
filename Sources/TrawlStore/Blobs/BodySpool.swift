import TrawlPlatform

/// Takes a body as it comes, for the cache: in memory while it is short, in a file from then on.
///
/// Memory is bounded at any length. Nothing here is an error of the fetch: when the disk is full, the body grows beyond
/// what may be stored, or libcrypto is missing, the spool gives up, and there is nothing to store in the end. It
/// belongs to one thread at a time.
package final class BodySpool {
    /// Bodies up to this length stay in memory, and go inside their record.
    package static let longestInline = 16 << 10

    private enum State {
        case memory([UInt8])
        case file(FileSpool)
        case over
    }

    private let directory: BlobDirectory
    private let longest: UInt64
    private var state: State = .memory([])

    /// An empty body.
    ///
    /// - Parameters:
    ///   - directory: Where its file will be.
    ///   - longest: The most bytes that may be stored; ``CacheStore/longestBody``.
    package init(in directory: BlobDirectory, longest: UInt64) {
        self.directory = directory
        self.longest = longest
    }

    /// Whether there will be nothing to store: bytes need no longer be handed in.
    package var isOver: Bool {
        if case .over = state { true } else { false }
    }

    /// Takes more of the body.
    package func append(_ bytes: UnsafeRawBufferPointer) {
        switch state {
        case .memory(var body):
            state = .over
            guard UInt64(body.count + bytes.count) <= longest else { return }
            if body.count + bytes.count <= Self.longestInline {
                body.append(contentsOf: bytes)
                state = .memory(body)
                return
            }
            guard let file = try? FileSpool(in: directory) else { return }
            let isTaken = try? body.span.withUnsafeBytes { (start) throws(SystemError) in try file.append(start) }
            if isTaken == true, (try? file.append(bytes)) == true { state = .file(file) }
        case .file(let file):
            guard file.length + UInt64(bytes.count) <= longest, (try? file.append(bytes)) == true else {
                state = .over
                return
            }
        case .over:
            return
        }
    }

    /// The complete body, or nothing when the spool gave up. Once.
    package func finish() -> SpooledBody? {
        defer { state = .over }
        switch state {
        case .memory(let body): return .inline(body)
        case .file(let file): return (try? file.finish()).map { .blob($0) }
        case .over: return nil
        }
    }

    /// Lets go of the body; nothing stays on disk.
    package func abandon() {
        state = .over
    }
}

/// A complete body that no record refers to yet.
package enum SpooledBody: Sendable {
    /// Short enough to be inside its record.
    case inline([UInt8])
    /// In a file without a name of its own; it is gone when this value is let go of and was not stored.
    case blob(SpooledBlob)

    /// Bytes of the body.
    package var length: UInt64 {
        switch self {
        case .inline(let bytes): UInt64(bytes.count)
        case .blob(let blob): blob.reference.length
        }
    }
}

/// A complete body in a spool file.
package final class SpooledBlob: Sendable {
    /// What its record will say.
    package let reference: BlobReference
    private let directory: BlobDirectory
    private let spool: SpoolFile

    init(reference: BlobReference, directory: BlobDirectory, spool: consuming SpoolFile) {
        self.reference = reference
        self.directory = directory
        self.spool = spool
    }

    deinit {
        if let name = spool.name { directory.removeName(name) }
    }

    /// Gives the file its own name. Under the writer lock; may be repeated.
    func publish() throws(SystemError) {
        try directory.publish(spool, as: reference.digest, length: reference.length)
    }
}

/// A body on its way into a file, in writes of some length.
private final class FileSpool {
    /// Bytes gathered before they are written and counted in: libcurl hands a body over in pieces of 16 KiB.
    private static let gathered = 64 << 10

    private let directory: BlobDirectory
    private var spool: SpoolFile?
    private var checksums: ChunkChecksums?
    private var digest: RunningDigest?
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: gathered, alignment: 64)
    private var used = 0
    private(set) var length: UInt64 = 0

    /// Nothing when memory ran out or libcrypto is not there.
    init?(in directory: BlobDirectory) throws(SystemError) {
        self.directory = directory
        guard let digest = RunningDigest(), let checksums = ChunkChecksums(chunkSize: BlobReference.chunkSize) else {
            return nil
        }
        self.digest = consume digest
        self.checksums = consume checksums
        spool = try directory.makeSpool()
    }

    deinit {
        buffer.deallocate()
        if let name = spool?.name { directory.removeName(name) }
    }

    /// Whether the bytes were taken.
    func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Bool {
        length += UInt64(bytes.count)
        if bytes.count > buffer.count - used {
            guard try flush() else { return false }
            if bytes.count >= buffer.count { return try write(bytes) }
        }
        UnsafeMutableRawBufferPointer(rebasing: buffer[used...]).copyMemory(from: bytes)
        used += bytes.count
        return true
    }

    func finish() throws(SystemError) -> SpooledBlob? {
        guard try flush(), let spool = spool.take(), let checksums = checksums.take(),
            let digest = digest.take()?.finish()
        else { return nil }
        let reference = BlobReference(digest: digest, length: length, checksums: checksums.finish())
        return SpooledBlob(reference: reference, directory: directory, spool: spool)
    }

    private func flush() throws(SystemError) -> Bool {
        if used == 0 { return true }
        defer { used = 0 }
        return try write(UnsafeRawBufferPointer(rebasing: buffer[..<used]))
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Bool {
        try spool?.file.writeAll(bytes)
        checksums?.update(bytes)
        return digest?.update(bytes) ?? false
    }
}
