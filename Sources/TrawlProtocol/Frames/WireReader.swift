import TrawlHTTP

/// Takes values from the payload of one frame; every read is checked against its end.
struct WireReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// All of a frame was read, and it brings as many descriptors as what it says needs.
    func finish(_ frame: FrameBuffer.Frame, descriptors: Int = 0) throws(FrameError) {
        guard offset == bytes.count else { throw .trailingBytes }
        guard frame.descriptors == descriptors else { throw .descriptorCount }
    }

    mutating func byte() throws(FrameError) -> UInt8 { try integer(UInt8.self) }
    mutating func uint16() throws(FrameError) -> UInt16 { try integer(UInt16.self) }
    mutating func uint32() throws(FrameError) -> UInt32 { try integer(UInt32.self) }
    mutating func uint64() throws(FrameError) -> UInt64 { try integer(UInt64.self) }
    mutating func int32() throws(FrameError) -> Int32 { Int32(bitPattern: try integer(UInt32.self)) }

    /// The next `length` bytes, for many integers in a row.
    @inline(__always)
    mutating func block(_ length: Int) throws(FrameError) -> UnsafeRawBufferPointer {
        guard bytes.count - offset >= length else { throw .truncated }
        defer { offset += length }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
    }

    mutating func bool() throws(FrameError) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw .invalid(.boolean)
        }
    }

    mutating func raw() throws(FrameError) -> UnsafeRawBufferPointer {
        let length = Int(try uint32())
        guard length <= bytes.count - offset else { throw .truncated }
        defer { offset += length }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
    }

    mutating func data() throws(FrameError) -> [UInt8] { Array(try raw()) }

    mutating func text() throws(FrameError) -> String {
        guard let text = FieldLines.utf8Text(try raw()) else { throw .invalid(.text) }
        return text
    }

    /// A path that leads nowhere but down, or nil when it is empty.
    mutating func relativePath() throws(FrameError) -> String? {
        let bytes = try raw()
        if bytes.isEmpty { return nil }
        guard WireProtocol.isRelativePath(bytes), let path = FieldLines.utf8Text(bytes) else { throw .invalid(.path) }
        return path
    }

    mutating func texts(atMost limit: Int = .max) throws(FrameError) -> [String] {
        let count = Int(try uint32())
        // Each text needs four bytes at least, so that a huge count cannot reserve memory.
        guard count <= limit, count <= (bytes.count - offset) / 4 else { throw .invalid(.count) }
        if count == 0 { return [] }
        var texts: [String] = []
        texts.reserveCapacity(count)
        for _ in 0..<count { texts.append(try text()) }
        return texts
    }

    /// - Parameter known: Field lines that have been checked. When these are the same, they are shared.
    mutating func fields(known: FieldLines = FieldLines()) throws(FrameError) -> FieldLines {
        let bytes = try raw()
        if known.isSame(bytes) { return known }
        guard let fields = FieldLines(packed: bytes) else { throw .invalid(.fields) }
        return fields
    }

    mutating func method() throws(FrameError) -> Method {
        let bytes = try raw()
        if bytes.count == 3, bytes[0] == 0x47, bytes[1] == 0x45, bytes[2] == 0x54 { return .get }
        guard let text = FieldLines.utf8Text(bytes) else { throw .invalid(.text) }
        guard let method = Method(text) else { throw .invalid(.method) }
        return method
    }

    mutating func head() throws(FrameError) -> ResponseHead {
        let status = try uint16()
        guard (100...999).contains(status) else { throw .invalid(.status) }
        guard let version = HTTPVersion(rawValue: try byte()) else { throw .invalid(.version) }
        let reason = try reason()
        return ResponseHead(status: status, version: version, reason: reason, fields: try fields())
    }

    private mutating func reason() throws(FrameError) -> String {
        let bytes = try raw()
        if bytes.count == 2, bytes[0] == 0x4F, bytes[1] == 0x4B { return "OK" }
        guard let text = FieldLines.utf8Text(bytes) else { throw .invalid(.text) }
        return text
    }

    private mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws(FrameError) -> Integer {
        guard bytes.count - offset >= MemoryLayout<Integer>.size else { throw .truncated }
        defer { offset += MemoryLayout<Integer>.size }
        return bytes.integer(at: offset, as: type)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Stores an integer at an offset of a block, little end first.
    @inline(__always)
    func store<Integer: FixedWidthInteger>(_ value: Integer, at offset: Int) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: Integer.self)
    }
}

extension FieldLines {
    /// Whether these lines are packed into just these bytes.
    fileprivate func isSame(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard packed.count == bytes.count else { return false }
        return packed.withUnsafeBytes { known in
            var index = 0
            while index + 8 <= known.count {
                let left = known.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                guard left == bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) else { return false }
                index += 8
            }
            while index < known.count {
                guard known[index] == bytes[index] else { return false }
                index += 1
            }
            return true
        }
    }
}
