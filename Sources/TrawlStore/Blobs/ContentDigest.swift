import CTrawlBlob

/// The SHA-256 of a body: the name of its blob.
package struct ContentDigest: Hashable, Sendable {
    /// Bytes of a digest.
    package static let size = 32
    /// Bytes of `ab/cdef…` and the zero after it.
    static let pathSize = 2 * size + 2

    // In the order of memory; never compared by size.
    private var words: (UInt64, UInt64, UInt64, UInt64)

    /// Reads 32 bytes.
    package init(bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == Self.size, "a SHA-256 has 32 bytes")
        words = bytes.loadUnaligned(as: (UInt64, UInt64, UInt64, UInt64).self)
    }

    /// The digest of bytes; nil when libcrypto is not there.
    package init?(of bytes: [UInt8]) {
        guard let digest = RunningDigest(), bytes.withUnsafeBytes({ digest.update($0) }), let value = digest.finish()
        else { return nil }
        self = value
    }

    /// The 32 bytes of the digest, for as long as the closure runs.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var copy = words
        return try withUnsafeBytes(of: &copy) { (bytes) throws(Failure) in try body(bytes) }
    }

    package static func == (one: ContentDigest, other: ContentDigest) -> Bool {
        one.words == other.words
    }

    package func hash(into hasher: inout Hasher) {
        // Its bits are as good as random.
        hasher.combine(words.0)
    }

    /// What the directory of the blob is named by.
    var firstByte: UInt8 { UInt8(truncatingIfNeeded: words.0.littleEndian) }

    /// Where the blob is, beneath the directory of blobs: `ab/cdef…`, terminated; for as long as the closure runs.
    func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Self.pathSize) { path in
            withBytes { bytes in
                var end = 0
                for (index, byte) in bytes.enumerated() {
                    path[end] = Self.digit(byte >> 4)
                    path[end + 1] = Self.digit(byte & 15)
                    end += 2
                    if index == 0 {
                        path[end] = CChar(UInt8(ascii: "/"))
                        end += 1
                    }
                }
                path[end] = 0
            }
            guard let start = path.baseAddress else { preconditionFailure("a buffer of fixed size") }
            return body(UnsafePointer(start))
        }
    }

    /// Where the blob is, beneath the directory of blobs: `ab/cdef…`.
    package var path: String {
        withPath { String(cString: $0) }
    }

    /// Reads a file's place, `ab` and `cdef…`; nothing when it is no blob's.
    init?(directory: UnsafePointer<CChar>, name: UnsafePointer<CChar>) {
        var bytes = [UInt8]()
        bytes.reserveCapacity(Self.size)
        for part in [directory, name] {
            var at = part
            while at.pointee != 0 {
                guard let high = Self.value(at[0]), let low = Self.value(at[1]) else { return nil }
                bytes.append(high << 4 | low)
                if bytes.count > Self.size { return nil }
                at += 2
            }
            if part == directory, bytes.count != 1 { return nil }
        }
        guard bytes.count == Self.size else { return nil }
        self = bytes.withUnsafeBytes { ContentDigest(bytes: $0) }
    }

    private static func digit(_ value: UInt8) -> CChar {
        CChar(value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10)
    }

    private static func value(_ digit: CChar) -> UInt8? {
        switch UInt8(bitPattern: digit) {
        case let digit where digit >= UInt8(ascii: "0") && digit <= UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case let digit where digit >= UInt8(ascii: "a") && digit <= UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

/// A SHA-256 of bytes as they come.
struct RunningDigest: ~Copyable {
    private let context: OpaquePointer

    /// Fails when libcrypto is not there.
    init?() {
        guard let context = cblob_digest_create() else { return nil }
        self.context = context
    }

    deinit { cblob_digest_free(context) }

    /// Whether libcrypto took the bytes.
    func update(_ bytes: UnsafeRawBufferPointer) -> Bool {
        cblob_digest_update(context, bytes.baseAddress, bytes.count) == 0
    }

    /// The digest of all bytes, once.
    consuming func finish() -> ContentDigest? {
        withUnsafeTemporaryAllocation(byteCount: ContentDigest.size, alignment: 8) { digest in
            guard cblob_digest_finish(context, digest.baseAddress) == 0 else { return nil }
            return ContentDigest(bytes: UnsafeRawBufferPointer(digest))
        }
    }
}
