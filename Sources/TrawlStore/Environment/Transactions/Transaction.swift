import CTrawlLMDB
import Glibc

/// A write transaction: sees its own changes, and is the only one of all processes while it runs.
///
/// Bytes it returns are valid until the next change in the same transaction. After an error that is not about a single
/// key the transaction comes to nothing, whatever its closure does.
package struct Transaction: ~Copyable {
    private final class State {
        var failure: StoreError?
        var wantsSync = false
        var hasRemovedSecure = false
        var orders: UInt64 = 0
        /// Tables in which a value was put onto pages of its own, a bit for each.
        var tablesWithRuns: UInt64 = 0
    }

    private let handle: OpaquePointer
    private let opening: Opening
    /// Looks at the pages LMDB is about to follow; `nil` while the tables are made.
    private let pages: ChangeCheck?
    private let state = State()

    /// Wraps a transaction of LMDB, which stays the caller's to end.
    init(_ handle: OpaquePointer, opening: Opening, pages: ChangeCheck? = nil) {
        self.handle = handle
        self.opening = opening
        self.pages = pages
    }

    /// What ended the transaction.
    var failure: StoreError? { state.failure }
    var wantsSync: Bool { state.wantsSync }
    /// Whether a secure cookie was removed in it, which is there again if it comes to nothing.
    var hasRemovedSecure: Bool { state.hasRemovedSecure }

    /// Its number; one more than that of the snapshot it began with.
    package var identifier: UInt64 { UInt64(mdb_txn_id(handle)) }

    /// Asks that this commit be on disk: within a second on a store thread, else before the write returns.
    package func requestSync() { state.wantsSync = true }

    /// Says that a secure cookie is removed in it, or loses that.
    func noteRemovedSecure() { state.hasRemovedSecure = true }

    /// A number above all that earlier transactions, of whatever process, and this one gave.
    ///
    /// The first 65,535 of one transaction are different; the rest are all the same.
    package func nextOrder() -> UInt64 {
        state.orders = min(state.orders + 1, 0xFFFF)
        return identifier << 16 | state.orders
    }

    // MARK: Reading

    /// The value of a key.
    package func get(_ table: Table, _ key: UInt64) throws(StoreError) -> UnsafeRawBufferPointer? {
        try checked { pages throws(Damage) in try pages.get(IntegerKey(value: key), in: table) }
        return try withKey(key) { bytes throws(StoreError) in try rawGet(number(table, .integers), bytes) }
    }

    /// The value of a key.
    package func get(_ table: Table, _ key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer? {
        try checked { pages throws(Damage) in try pages.get(BytesKey(bytes: key), in: table) }
        return try rawGet(number(table, .bytes), key)
    }

    /// Visits rows in order from the first that is not before `start`, until `body` says no. The body changes nothing.
    package func scan(
        _ table: Table, from start: UInt64 = 0,
        _ body: (UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try withKey(start) { start throws(StoreError) in
            try rawScan(table, number(table, .integers), from: start) { key, value throws(StoreError) in
                try body(key.loadUnaligned(as: UInt64.self), value)
            }
        }
    }

    /// Visits rows in order from the first that is not before `start`, until `body` says no. The body changes nothing.
    package func scan(
        _ table: Table, from start: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try rawScan(table, number(table, .bytes), from: start, body)
    }

    /// The row with the greatest key.
    package func last(_ table: Table) throws(StoreError) -> (key: UInt64, value: UnsafeRawBufferPointer)? {
        try checked { pages throws(Damage) in try pages.seekEnd(of: table) }
        return try withCursor(number(table, .integers)) { cursor throws(StoreError) in
            var key = MDB_val()
            var value = MDB_val()
            let code = clmdb_cursor_get(cursor, &key, &value, MDB_LAST)
            if code == MDB_NOTFOUND { return nil }
            try succeed(code, "mdb_cursor_get")
            guard key.mv_size == 8 else { throw fail(.damaged(path: opening.dataPath, detail: "a key has no 8 bytes")) }
            return (bytes(key).loadUnaligned(as: UInt64.self), bytes(value))
        }
    }

    /// The size of a table with the changes so far.
    package func statistics(_ table: Table) throws(StoreError) -> TableStatistics {
        try checked { pages throws(Damage) in try pages.seekRecord(of: table) }
        var found = MDB_stat()
        try succeed(clmdb_stat(handle, opening.tables[table.index], &found), "mdb_stat")
        return TableStatistics(
            rows: UInt64(found.ms_entries), branchPages: UInt64(found.ms_branch_pages),
            leafPages: UInt64(found.ms_leaf_pages), overflowPages: UInt64(found.ms_overflow_pages),
            depth: Int(found.ms_depth))
    }

    /// The pages of all tables, with the changes so far.
    package var usedPages: UInt64 {
        get throws(StoreError) {
            var pages: UInt64 = 0
            for table in opening.settings.tables { pages &+= try statistics(table).pages }
            return pages
        }
    }

    // MARK: Writing

    /// Sets the value of a key.
    package func put(_ table: Table, _ key: UInt64, _ value: UnsafeRawBufferPointer) throws(StoreError) {
        try checked { pages throws(Damage) in
            try pages.put(IntegerKey(value: key), size: 8, in: table, size: value.count)
        }
        try withKey(key) { bytes throws(StoreError) in
            let number = number(table, .integers)
            if try hasLongerRun(number, bytes, value.count) { try delete(table, key) }
            try rawPut(number, bytes, value, 0)
        }
    }

    /// Sets the value of a key.
    package func put(
        _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(StoreError) {
        try checked { pages throws(Damage) in
            try pages.put(BytesKey(bytes: key), size: key.count, in: table, size: value.count)
        }
        let number = number(table, .bytes)
        if try hasLongerRun(number, key, value.count) { try delete(table, key) }
        try rawPut(number, key, value, 0)
    }

    /// Adds a row, unless there is one of that key.
    ///
    /// - Returns: Whether it was added.
    package func insert(
        _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(StoreError) -> Bool {
        try checked { pages throws(Damage) in
            try pages.put(BytesKey(bytes: key), size: key.count, in: table, size: value.count)
        }
        var place = self.value(key)
        var stored = self.value(value)
        let code = clmdb_put(handle, number(table, .bytes), &place, &stored, UInt32(MDB_NOOVERWRITE))
        if code == MDB_KEYEXIST { return false }
        try succeed(code, "mdb_put")
        noteRun(number(table, .bytes), PageLayout.ownPages(ofKey: key.count, value: value.count))
        return true
    }

    /// Sets the value of a key by filling it in place. `fill` writes all of it.
    package func put(
        _ table: Table, _ key: UInt64, count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(StoreError) {
        try checked { pages throws(Damage) in
            try pages.put(IntegerKey(value: key), size: 8, in: table, size: count)
        }
        try withKey(key) { bytes throws(StoreError) in
            let number = number(table, .integers)
            if try hasLongerRun(number, bytes, count) { try delete(table, key) }
            try rawReserve(number, bytes, count, MDB_RESERVE, fill)
        }
    }

    /// Adds a row whose key is above all others of the table.
    package func append(_ table: Table, _ key: UInt64, _ value: UnsafeRawBufferPointer) throws(StoreError) {
        try checked { pages throws(Damage) in try pages.append(to: table, size: value.count) }
        try withKey(key) { key throws(StoreError) in try rawPut(number(table, .integers), key, value, MDB_APPEND) }
        noteRun(number(table, .integers), PageLayout.ownPages(ofKey: 8, value: value.count))
    }

    /// Adds a row whose key is above all others of the table, by filling it in place. `fill` writes all of it.
    package func append(
        _ table: Table, _ key: UInt64, count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(StoreError) {
        try checked { pages throws(Damage) in try pages.append(to: table, size: count) }
        try withKey(key) { key throws(StoreError) in
            try rawReserve(number(table, .integers), key, count, MDB_RESERVE | MDB_APPEND, fill)
        }
        noteRun(number(table, .integers), PageLayout.ownPages(ofKey: 8, value: count))
    }

    /// Deletes a row.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    package func delete(_ table: Table, _ key: UInt64) throws(StoreError) -> Bool {
        try checked { pages throws(Damage) in try pages.delete(IntegerKey(value: key), in: table) }
        return try withKey(key) { key throws(StoreError) in try rawDelete(number(table, .integers), key) }
    }

    /// Deletes a row.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    package func delete(_ table: Table, _ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        try checked { pages throws(Damage) in try pages.delete(BytesKey(bytes: key), in: table) }
        return try rawDelete(number(table, .bytes), key)
    }

    /// Deletes all rows of a table.
    package func clear(_ table: Table) throws(StoreError) {
        try checked { pages throws(Damage) in try pages.clear(table) }
        try succeed(clmdb_drop(handle, opening.tables[table.index]), "mdb_drop")
    }

    // MARK: Beneath

    /// LMDB's number of the table that holds the format.
    var formatTable: MDB_dbi { opening.tables[opening.settings.tables.count] }

    func rawGet(_ table: MDB_dbi, _ key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer? {
        var key = value(key)
        var found = MDB_val()
        let code = clmdb_get(handle, table, &key, &found)
        if code == MDB_NOTFOUND { return nil }
        try succeed(code, "mdb_get")
        return bytes(found)
    }

    func rawPut(
        _ table: MDB_dbi, _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ flags: Int32
    ) throws(StoreError) {
        var key = value(key)
        var stored = value(bytes)
        try added(clmdb_put(handle, table, &key, &stored, UInt32(flags)))
    }

    private func rawReserve(
        _ table: MDB_dbi, _ key: UnsafeRawBufferPointer, _ count: Int, _ flags: Int32,
        _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(StoreError) {
        var key = value(key)
        var place = MDB_val(mv_size: count, mv_data: nil)
        try added(clmdb_put(handle, table, &key, &place, UInt32(flags)))
        fill(UnsafeMutableRawBufferPointer(start: place.mv_data, count: place.mv_size))
    }

    @inline(__always)
    private func noteRun(_ table: MDB_dbi, _ pages: UInt64) {
        if pages > 0 { state.tablesWithRuns |= 1 << UInt64(table) }
    }

    /// Whether a key that is about to get a value of that size has one on more pages than that one needs.
    ///
    /// LMDB leaves a value that is put twice in a transaction on the pages of the first time when they are enough, and
    /// their number as it was. Here a run is as long as its value needs, and one that is not is damage; so the row has
    /// to go first. What earlier transactions put gets new pages in any case.
    @inline(__always)
    private func hasLongerRun(
        _ table: MDB_dbi, _ key: UnsafeRawBufferPointer, _ count: Int
    ) throws(StoreError) -> Bool {
        let pages = PageLayout.ownPages(ofKey: key.count, value: count)
        let mayBeLonger = state.tablesWithRuns & 1 << UInt64(table) != 0
        noteRun(table, pages)
        guard mayBeLonger, let old = try rawGet(table, key) else { return false }
        return PageLayout.ownPages(ofKey: key.count, value: old.count) > pages
    }

    /// A key out of order is the caller's mistake; the transaction lives on.
    private func added(_ code: Int32) throws(StoreError) {
        if code == MDB_KEYEXIST { throw .unfit("an appended key is above all others") }
        try succeed(code, "mdb_put")
    }

    private func rawDelete(_ table: MDB_dbi, _ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        var key = value(key)
        let code = clmdb_delete(handle, table, &key)
        if code == MDB_NOTFOUND { return false }
        try succeed(code, "mdb_del")
        return true
    }

    private func rawScan(
        _ table: Table, _ number: MDB_dbi, from start: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        // Up to there the cursor may go on without another look.
        var end = try seek(table, start.isEmpty ? nil : start)
        try withCursor(number) { cursor throws(StoreError) in
            var key = value(start)
            var found = MDB_val()
            var code = clmdb_cursor_get(cursor, &key, &found, start.isEmpty ? MDB_FIRST : MDB_SET_RANGE)
            while code == 0 {
                if table.keys == .integers, key.mv_size != 8 {
                    throw fail(.damaged(path: opening.dataPath, detail: "a key has no 8 bytes"))
                }
                guard try body(bytes(key), bytes(found)) else { return }
                if pages != nil, end.map({ !isBefore(bytes(key), $0, table.keys) }) ?? true {
                    end = try seek(table, bytes(key))
                }
                code = clmdb_cursor_get(cursor, &key, &found, MDB_NEXT)
            }
            if code != MDB_NOTFOUND { try succeed(code, "mdb_cursor_get") }
        }
    }

    private func seek(_ table: Table, _ key: UnsafeRawBufferPointer?) throws(StoreError) -> PageTree.Node? {
        try checked { pages throws(Damage) in
            switch table.keys {
            case .integers:
                try pages.seek(key.map { IntegerKey(value: $0.loadUnaligned(as: UInt64.self)) }, in: table)
            case .bytes: try pages.seek(key.map { BytesKey(bytes: $0) }, in: table)
            }
        }
    }

    private func isBefore(_ key: UnsafeRawBufferPointer, _ node: PageTree.Node, _ keys: Table.Keys) -> Bool {
        switch keys {
        case .integers: IntegerKey(value: key.loadUnaligned(as: UInt64.self)).compare(node.key, node.keySize) < 0
        case .bytes: BytesKey(bytes: key).compare(node.key, node.keySize) < 0
        }
    }

    private func withCursor<Value>(
        _ table: MDB_dbi, _ body: (OpaquePointer) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        var cursor: OpaquePointer?
        try succeed(clmdb_cursor_open(handle, table, &cursor), "mdb_cursor_open")
        guard let cursor else { throw .closed }
        defer { if !opening.isBroken { mdb_cursor_close(cursor) } }
        return try body(cursor)
    }

    private func number(_ table: Table, _ keys: Table.Keys) -> MDB_dbi {
        precondition(table.keys == keys, "a table has one kind of keys")
        return opening.tables[table.index]
    }

    /// Has pages looked at that LMDB is about to follow.
    @inline(__always)
    private func checked(_ look: (ChangeCheck) throws(Damage) -> Void) throws(StoreError) {
        guard let pages else { return }
        do throws(Damage) { try look(pages) } catch { throw fail(opening.damaged(error)) }
    }

    @inline(__always)
    private func checked<Value>(_ look: (ChangeCheck) throws(Damage) -> Value?) throws(StoreError) -> Value? {
        guard let pages else { return nil }
        do throws(Damage) { return try look(pages) } catch { throw fail(opening.damaged(error)) }
    }

    func succeed(_ code: Int32, _ call: StaticString) throws(StoreError) {
        if code == 0 { return }
        opening.noteAssertion(code)
        throw fail(.from(code, call, path: opening.dataPath))
    }

    private func fail(_ error: StoreError) -> StoreError {
        // LMDB takes nothing more after most errors; a key of the wrong size is the one it forgives.
        if case .unfit = error { return error }
        if state.failure == nil { state.failure = error }
        return error
    }

    private func value(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
        MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    private func bytes(_ value: MDB_val) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    }

    private func withKey<Value>(
        _ key: UInt64, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        var key = key
        return try withUnsafeBytes(of: &key) { bytes throws(StoreError) in try body(bytes) }
    }
}
