package import TrawlHTTP

/// Why bytes are not the record of a cookie.
package enum CookieRecordError: Error, Sendable, Hashable {
    /// The bytes end too early.
    case truncated
    /// The format's version is not known.
    case version
    /// A value is not possible.
    case invalid
}

/// A cookie read where it lies, without copying. Lives as long as the bytes do.
///
/// The record is a fixed part and four texts. All integers are little endian:
///
///      0  version of the format (8 bits)      24  order among cookies of that time (64)
///      1  same-site (8)                       32  last access (64)
///      2  flags (16): 1 host-only,            40  expiry, 0 for session cookies (64)
///         2 secure, 4 http-only,              48  tag of the session that accepted it, 0 for none (64)
///         8 persistent, 16 ends with         56  name, value, domain, path
///         the session that accepted it
///      4  lengths of name, value, domain
///         and path (4 x 16)
///     12  reserved, 0 (32)
///     16  creation time (64)
///
/// There is no checksum in it; whoever keeps records on disk adds one. Whatever the bytes hold, reading them does not
/// trap, and no control byte or separator gets from them into a request: a path is compared and never sent.
package struct CookieView {
    /// What a cookie has or has not.
    package struct Flags: OptionSet, Sendable, Hashable {
        /// The bits.
        package let rawValue: UInt16

        /// Flags of their bits.
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// For the host alone, not for those below it.
        package static let hostOnly = Flags(rawValue: 1)
        /// For secure connections.
        package static let secure = Flags(rawValue: 2)
        /// Not for scripts.
        package static let httpOnly = Flags(rawValue: 4)
        /// Outlives the session.
        package static let persistent = Flags(rawValue: 8)
        /// Ends with the session that accepted it; only of cookies that are not persistent.
        package static let endsWithSession = Flags(rawValue: 16)
        static let all = Flags(rawValue: 31)
    }

    /// The format this code writes and reads.
    static let version: UInt8 = 1
    /// Bytes before the texts.
    static let fixedLength = 56
    /// Bytes that a domain may have: those of a host name (RFC 1035 §2.3.4).
    package static let domainLimit = 255
    /// Bytes that a path may have. The standard limits those of attributes and not the default path.
    package static let pathLimit = 4096

    private let bytes: UnsafeRawBufferPointer
    private let nameEnd: Int
    private let valueEnd: Int
    private let domainEnd: Int

    /// A record that is known to be one.
    @inline(__always)
    init(trusted bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        let lengths = bytes.loadUnaligned(fromByteOffset: 4, as: UInt64.self).littleEndian
        nameEnd = Self.fixedLength + Int(lengths & 0xFFFF)
        valueEnd = nameEnd + Int(lengths >> 16 & 0xFFFF)
        domainEnd = valueEnd + Int(lengths >> 32 & 0xFFFF)
    }

    /// The record that `bytes` are, all of them.
    package init(_ bytes: UnsafeRawBufferPointer) throws(CookieRecordError) {
        guard let version = bytes.first else { throw .truncated }
        guard version == Self.version else { throw .version }
        guard bytes.count >= Self.fixedLength else { throw .truncated }
        let lengths = bytes.loadUnaligned(fromByteOffset: 4, as: UInt64.self).littleEndian
        let length =
            Self.fixedLength + Int(lengths & 0xFFFF) + Int(lengths >> 16 & 0xFFFF) + Int(lengths >> 32 & 0xFFFF)
            + Int(lengths >> 48)
        guard bytes.count >= length else { throw .truncated }
        guard bytes.count == length else { throw .invalid }
        self.init(trusted: bytes)
        let bits = bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self).littleEndian
        guard SameSite(rawValue: bytes[1]) != nil, bits & ~Flags.all.rawValue == 0,
            bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self) == 0,
            flags.contains(.persistent) ? !flags.contains(.endsWithSession) : integer(at: 40) == 0
        else { throw .invalid }
        guard (try? Self.check(name: name, value: value, domain: domain, path: path)) != nil else { throw .invalid }
    }

    /// Whether the bytes of a record say `Secure`, before anything else of them is looked at: no record that says
    /// otherwise is one of a secure cookie.
    @inline(__always)
    package static func mayBeSecure(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= fixedLength
            && bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self).littleEndian & Flags.secure.rawValue != 0
    }

    /// What every cookie must hold to, wherever it comes from.
    static func check(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, domain: UnsafeRawBufferPointer,
        path: UnsafeRawBufferPointer
    ) throws(CookieRefusal) {
        guard !name.isEmpty || !value.isEmpty else { throw .empty }
        guard name.count + value.count <= SetCookie.nameAndValueLimit else { throw .tooLong }
        guard !domain.isEmpty, domain.count <= domainLimit else { throw .domain }
        guard domain.isLowercaseVisible() else { throw .domain }
        guard path.first == UInt8(ascii: "/"), path.count <= pathLimit else { throw .path }
        // A path may have a semicolon: the default path is the request's as it is (RFC 6265bis §5.1.4).
        guard name.isFreeOfControls(and: semicolon), value.isFreeOfControls(and: semicolon),
            path.isFreeOfControls(), !name.contains(UInt8(ascii: "="))
        else { throw .forbiddenByte }
    }

    /// The whole record.
    package var record: UnsafeRawBufferPointer { bytes }
    /// The name, which may be empty.
    package var name: UnsafeRawBufferPointer { bytes.from(Self.fixedLength, upTo: nameEnd) }
    /// The value.
    package var value: UnsafeRawBufferPointer { bytes.from(nameEnd, upTo: valueEnd) }
    /// The host, or the domain whose hosts it is for; in lower case.
    package var domain: UnsafeRawBufferPointer { bytes.from(valueEnd, upTo: domainEnd) }
    /// The path it is for.
    package var path: UnsafeRawBufferPointer { bytes.from(domainEnd, upTo: bytes.count) }
    /// What it has or has not.
    package var flags: Flags {
        Flags(rawValue: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self).littleEndian)
    }
    /// What it says about other sites.
    package var sameSite: SameSite { SameSite(rawValue: bytes[1]) ?? .unset }
    /// When the first cookie of that identity was made.
    package var creation: WallTime { WallTime(milliseconds: integer(at: 16)) }
    /// Comes after those of the same time that have less.
    package var order: UInt64 { UInt64(bitPattern: integer(at: 24)) }
    /// When it was last sent or set.
    package var lastAccess: WallTime { WallTime(milliseconds: integer(at: 32)) }
    /// When it ends; nil for a session cookie.
    package var expiry: WallTime? {
        flags.contains(.persistent) ? WallTime(milliseconds: integer(at: 40)) : nil
    }
    /// The session that accepted it; 0 for none.
    package var session: UInt64 { UInt64(bitPattern: integer(at: 48)) }

    /// Whether its time is over.
    package func isExpired(at now: WallTime) -> Bool {
        flags.contains(.persistent) && integer(at: 40) <= now.milliseconds
    }

    @inline(__always)
    private func integer(at offset: Int) -> Int64 {
        Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self))
    }

    private static let semicolon = UInt8(ascii: ";")
}
