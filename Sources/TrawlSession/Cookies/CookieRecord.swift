package import TrawlHTTP

/// A cookie as it is kept: always one that the rules allow, in the form that `CookieView` reads.
package struct CookieRecord: Sendable, Hashable {
    /// The record's bytes.
    package private(set) var bytes: [UInt8]

    /// What a record holds besides its texts.
    struct Facts {
        var flags: CookieView.Flags = []
        var sameSite = SameSite.unset
        var creation: WallTime
        var order: UInt64 = 0
        var lastAccess: WallTime
        var expiry: WallTime?
        var session: UInt64 = 0
    }

    /// A record of texts, which are checked.
    init(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, domain: UnsafeRawBufferPointer,
        path: UnsafeRawBufferPointer, facts: Facts
    ) throws(CookieRefusal) {
        try CookieView.check(name: name, value: value, domain: domain, path: path)
        let length = CookieView.fixedLength + name.count + value.count + domain.count + path.count
        bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, initialized in
            let record = UnsafeMutableRawBufferPointer(buffer)
            var flags = facts.flags
            if facts.expiry == nil {
                flags.remove(.persistent)
            } else {
                flags.insert(.persistent)
                flags.remove(.endsWithSession)
            }
            record[0] = CookieView.version
            record[1] = facts.sameSite.rawValue
            record.storeBytes(of: flags.rawValue.littleEndian, toByteOffset: 2, as: UInt16.self)
            let lengths =
                UInt64(name.count) | UInt64(value.count) << 16 | UInt64(domain.count) << 32 | UInt64(path.count) << 48
            record.storeBytes(of: lengths.littleEndian, toByteOffset: 4, as: UInt64.self)
            record.storeBytes(of: 0, toByteOffset: 12, as: UInt32.self)
            record.storeBytes(of: facts.creation.milliseconds.littleEndian, toByteOffset: 16, as: Int64.self)
            record.storeBytes(of: facts.order.littleEndian, toByteOffset: 24, as: UInt64.self)
            record.storeBytes(of: facts.lastAccess.milliseconds.littleEndian, toByteOffset: 32, as: Int64.self)
            record.storeBytes(of: (facts.expiry?.milliseconds ?? 0).littleEndian, toByteOffset: 40, as: Int64.self)
            record.storeBytes(of: facts.session.littleEndian, toByteOffset: 48, as: UInt64.self)
            var offset = CookieView.fixedLength
            for text in [name, value, domain, path] {
                UnsafeMutableRawBufferPointer(rebasing: record[offset...]).copyMemory(from: text)
                offset += text.count
            }
            initialized = length
        }
    }

    /// A copy of what a view shows.
    package init(_ view: CookieView) {
        bytes = Array(view.record)
    }

    /// The record that bytes are.
    package init(bytes: [UInt8]) throws(CookieRecordError) {
        let failure: CookieRecordError? = bytes.withUnsafeBytes { bytes in
            do throws(CookieRecordError) {
                _ = try CookieView(bytes)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
        self.bytes = bytes
    }

    /// Lends a view of it.
    @inline(__always)
    package func withView<Result, Failure: Error>(
        _ body: (CookieView) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.span.withUnsafeBytes { (bytes) throws(Failure) in try body(CookieView(trusted: bytes)) }
    }

    /// Whether it outlives the session.
    package var isPersistent: Bool { withView { $0.flags.contains(.persistent) } }

    /// Whether it is for secure connections alone.
    package var isSecure: Bool { withView { $0.flags.contains(.secure) } }

    /// Notes that it was sent.
    package mutating func touch(at now: WallTime) {
        store(now.milliseconds, at: 32)
    }

    /// Takes the place of a cookie of the same identity, and with it its age (RFC 6265bis §5.7, the last steps).
    package mutating func takePlace(of old: CookieView) {
        store(old.creation.milliseconds, at: 16)
        store(Int64(bitPattern: old.order), at: 24)
    }

    /// Gets its place among the cookies of the same time.
    package mutating func takeOrder(_ order: UInt64) {
        store(Int64(bitPattern: order), at: 24)
    }

    private mutating func store(_ value: Int64, at offset: Int) {
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Int64.self) }
    }
}
