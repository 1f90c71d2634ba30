/// Fills a buffer that has room for all of a record.
struct RecordWriter {
    let buffer: UnsafeMutableRawBufferPointer
    var count = 0

    @inline(__always)
    mutating func append<Integer: FixedWidthInteger>(_ value: Integer) {
        buffer.storeBytes(of: value.littleEndian, toByteOffset: count, as: Integer.self)
        count += MemoryLayout<Integer>.size
    }

    mutating func append(contentsOf bytes: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
        count += bytes.count
    }
}
