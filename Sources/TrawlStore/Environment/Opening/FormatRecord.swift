/// The one row of the table that says which version the other tables have.
enum FormatRecord {
    static let table = Table(0, "trawl-format", .bytes)
    private static let key: StaticString = "format"

    private static var keyBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
    }

    static func read(_ tree: PageTree, main: TreeRecord) throws(Damage) -> UInt32? {
        guard let record = try tree.table(table, in: main),
            let found = try tree.find(BytesKey(bytes: keyBytes), in: record)
        else { return nil }
        let value = try tree.value(of: found.node, on: found.page)
        return value.count == 4 ? value.loadUnaligned(as: UInt32.self) : nil
    }

    static func read(_ transaction: borrowing Transaction) throws(StoreError) -> UInt32? {
        let value = try transaction.rawGet(transaction.formatTable, keyBytes)
        return value.flatMap { $0.count == 4 ? $0.loadUnaligned(as: UInt32.self) : nil }
    }

    static func write(_ format: UInt32, _ transaction: borrowing Transaction) throws(StoreError) {
        var format = format
        try withUnsafeBytes(of: &format) { bytes throws(StoreError) in
            try transaction.rawPut(transaction.formatTable, keyBytes, bytes, 0)
        }
    }
}
