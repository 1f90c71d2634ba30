import TrawlHTTP

/// Appends frames to a growing byte buffer.
///
/// Integers are little endian. Texts and byte strings are preceded by their length in 32 bits.
package struct WireWriter: Sendable {
    /// The frames written so far and not yet taken.
    package private(set) var bytes: [UInt8] = []

    /// A writer with an empty buffer.
    package init() {}

    /// Whether nothing waits to be sent.
    package var isEmpty: Bool { bytes.isEmpty }

    /// Removes `count` bytes from the front, which have been sent. The rest moves to the front; `OutgoingFrames` keeps
    /// that rare.
    package mutating func consume(_ count: Int) {
        if count == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
        } else {
            bytes.removeFirst(count)
        }
    }

    /// Appends a frame whose payload `payload` writes; takes it back and returns false when it is too long.
    mutating func frame(
        _ kind: WireProtocol.Kind, descriptors: Int = 0, _ payload: (inout WireWriter) -> Void
    ) -> Bool {
        let start = bytes.count
        write(UInt32(0))
        bytes.append(kind.rawValue)
        bytes.append(UInt8(truncatingIfNeeded: descriptors))
        bytes.append(0)
        bytes.append(0)
        payload(&self)
        let count = bytes.count - start - WireProtocol.headerLength
        guard count <= WireProtocol.maximumPayload else {
            bytes.removeSubrange(start...)
            return false
        }
        let length = UInt32(truncatingIfNeeded: count).littleEndian
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: length, toByteOffset: start, as: UInt32.self) }
        return true
    }

    mutating func write(_ value: UInt8) { bytes.append(value) }
    mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }
    mutating func write(_ value: UInt16) { writeInteger(value) }
    mutating func write(_ value: UInt32) { writeInteger(value) }
    mutating func write(_ value: UInt64) { writeInteger(value) }
    mutating func write(_ value: Int32) { writeInteger(UInt32(bitPattern: value)) }

    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }

    mutating func write(_ data: UnsafeRawBufferPointer) {
        write(UInt32(truncatingIfNeeded: data.count))
        bytes.append(contentsOf: data)
    }

    mutating func write(_ data: [UInt8]) {
        data.withUnsafeBytes { write($0) }
    }

    mutating func write(_ fields: FieldLines) { write(fields.packed) }

    mutating func write(_ texts: [String]) {
        write(UInt32(truncatingIfNeeded: texts.count))
        for text in texts { write(text) }
    }

    mutating func write(_ head: ResponseHead) {
        write(head.status)
        write(head.version.rawValue)
        write(head.reason)
        write(head.fields)
    }

    private mutating func writeInteger<Integer: FixedWidthInteger>(_ value: Integer) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
}
