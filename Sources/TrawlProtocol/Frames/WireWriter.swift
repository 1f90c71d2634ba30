import TrawlHTTP

/// Appends frames to a growing byte buffer.
///
/// Integers are little endian. Texts and byte strings are preceded by their length in 32 bits.
package struct WireWriter: Sendable {
    /// Filled up to `count`. Room is made in large steps: frames are made of pieces of a few bytes, for which an
    /// array's own `append` takes several times as long as the copy.
    private var storage: [UInt8] = []
    /// Bytes written so far and not yet taken.
    package private(set) var count = 0

    /// A writer with an empty buffer.
    package init() {}

    /// Whether nothing waits to be sent.
    package var isEmpty: Bool { count == 0 }

    /// The frames written so far and not yet taken, copied.
    package var bytes: [UInt8] { Array(storage[..<count]) }

    /// Lends the frames written so far and not yet taken.
    func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.span.withUnsafeBytes { (bytes) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }

    /// Removes `taken` bytes from the front, which have been sent. The rest moves to the front; `OutgoingFrames` keeps
    /// that rare.
    package mutating func consume(_ taken: Int) {
        let rest = count - taken
        if rest > 0 {
            storage.withUnsafeMutableBytes { bytes in
                bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[taken..<taken + rest]))
            }
        } else if storage.count > Self.mostKept {
            storage = []
        }
        count = rest
    }

    /// Appends a frame whose payload `payload` writes; takes it back and returns false when it is too long.
    mutating func frame(
        _ kind: WireProtocol.Kind, descriptors: Int = 0, _ payload: (inout WireWriter) -> Void
    ) -> Bool {
        let start = count
        writeBlock(WireProtocol.headerLength) { header in
            header.storeBytes(of: 0, as: UInt64.self)
            header.storeBytes(of: kind.rawValue, toByteOffset: 4, as: UInt8.self)
            header.storeBytes(of: UInt8(truncatingIfNeeded: descriptors), toByteOffset: 5, as: UInt8.self)
        }
        payload(&self)
        let length = count - start - WireProtocol.headerLength
        guard length <= WireProtocol.maximumPayload else {
            count = start
            return false
        }
        let field = UInt32(truncatingIfNeeded: length).littleEndian
        storage.withUnsafeMutableBytes { $0.storeBytes(of: field, toByteOffset: start, as: UInt32.self) }
        return true
    }

    /// Appends bytes to a `data` frame, which is the last one.
    ///
    /// - Parameter start: Where it begins.
    /// - Returns: False when it would be longer than one may be; then nothing was appended.
    mutating func extendData(at start: Int, by bytes: UnsafeRawBufferPointer) -> Bool {
        // Behind the number of the lease: the length of the bytes, and these.
        let length = start + WireProtocol.headerLength + MemoryLayout<UInt64>.size
        let first = length + MemoryLayout<UInt32>.size
        guard count - first + bytes.count <= WireProtocol.maximumInlineBody else { return false }
        writeBlock(bytes.count) { $0.copyMemory(from: bytes) }
        let data = UInt32(truncatingIfNeeded: count - first)
        let payload = UInt32(truncatingIfNeeded: count - start - WireProtocol.headerLength)
        storage.withUnsafeMutableBytes { all in
            all.storeBytes(of: payload.littleEndian, toByteOffset: start, as: UInt32.self)
            all.storeBytes(of: data.littleEndian, toByteOffset: length, as: UInt32.self)
        }
        return true
    }

    mutating func write(_ value: UInt8) { writeInteger(value) }
    mutating func write(_ value: Bool) { writeInteger(value ? UInt8(1) : 0) }
    mutating func write(_ value: UInt16) { writeInteger(value) }
    mutating func write(_ value: UInt32) { writeInteger(value) }
    mutating func write(_ value: UInt64) { writeInteger(value) }
    mutating func write(_ value: Int32) { writeInteger(UInt32(bitPattern: value)) }

    mutating func write(_ text: String) {
        // Lent as it is: `withUTF8` wants a variable, and that a reference of its own.
        let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable { write(UnsafeRawBufferPointer($0)) }
        if isWritten == nil { write(Array(text.utf8)) }
    }

    mutating func write(_ data: UnsafeRawBufferPointer) {
        write(UInt32(truncatingIfNeeded: data.count))
        makeRoom(data.count)
        let start = count
        storage.withUnsafeMutableBytes { bytes in
            UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).copyMemory(from: data)
        }
        count += data.count
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

    /// Appends `length` bytes, all of which `body` stores: for many integers in a row, since each by itself asks for
    /// room.
    @inline(__always)
    mutating func writeBlock(_ length: Int, _ body: (UnsafeMutableRawBufferPointer) -> Void) {
        makeRoom(length)
        let start = count
        storage.withUnsafeMutableBytes { bytes in
            body(UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + length]))
        }
        count += length
    }

    @inline(__always)
    private mutating func writeInteger<Integer: FixedWidthInteger>(_ value: Integer) {
        makeRoom(MemoryLayout<Integer>.size)
        let start = count
        storage.withUnsafeMutableBytes { $0.storeBytes(of: value.littleEndian, toByteOffset: start, as: Integer.self) }
        count += MemoryLayout<Integer>.size
    }

    @inline(__always)
    private mutating func makeRoom(_ room: Int) {
        if storage.count - count < room { grow(room) }
    }

    @inline(never)
    private mutating func grow(_ room: Int) {
        storage += [UInt8](repeating: 0, count: max(room, storage.count, 4096))
    }

    private static let mostKept = 1 << 20
}
