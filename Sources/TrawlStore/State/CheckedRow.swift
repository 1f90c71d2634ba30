/// A value of a `state` table: 8 bytes of XXH3 of the rest, then the rest.
package enum CheckedRow {
    /// Bytes before the content.
    package static let overhead = 8

    /// What a row holds if it is not damaged, for a first look.
    @inline(__always)
    static func unchecked(_ row: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: row[min(overhead, row.count)...])
    }

    /// What a row holds; nil when it is damaged.
    @inline(__always)
    package static func content(_ row: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard row.count >= overhead else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: row[overhead...])
        return Checksum.of(content) == UInt64(littleEndian: row.loadUnaligned(as: UInt64.self)) ? content : nil
    }

    /// Lends the row that holds some content.
    package static func withRow<Result>(
        of content: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try withUnsafeTemporaryAllocation(
            byteCount: overhead + content.count, alignment: 8
        ) { (row) throws(StoreError) in
            row.storeBytes(of: Checksum.of(content).littleEndian, as: UInt64.self)
            UnsafeMutableRawBufferPointer(rebasing: row[overhead...]).copyMemory(from: content)
            return try body(UnsafeRawBufferPointer(row))
        }
    }
}
