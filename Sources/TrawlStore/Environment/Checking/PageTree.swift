import Glibc

/// The root and size of one tree, as its record says. Checked as far as a record can be.
struct TreeRecord: Equatable, Sendable {
    let flags: UInt16
    let depth: Int
    let branchPages: UInt64
    let leafPages: UInt64
    let overflowPages: UInt64
    let rows: UInt64
    let root: UInt64

    @inline(__always)
    init(at address: UnsafeRawPointer) {
        flags = address.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
        depth = Int(address.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
        branchPages = address.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        leafPages = address.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
        overflowPages = address.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
        rows = address.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
        root = address.loadUnaligned(fromByteOffset: 40, as: UInt64.self)
    }

    var statistics: TableStatistics {
        TableStatistics(
            rows: rows, branchPages: branchPages, leafPages: leafPages, overflowPages: overflowPages, depth: depth)
    }
}

/// A key to look for, compared as LMDB does.
protocol TreeKey {
    /// Negative when this key is before the stored one, zero when it is the same.
    func compare(_ stored: UnsafeRawPointer, _ size: Int) -> Int
    /// Whether a stored key of this size can be in the same table.
    static func takes(_ size: Int) -> Bool
}

/// A key that is a number.
struct IntegerKey: TreeKey {
    let value: UInt64

    @inline(__always)
    func compare(_ stored: UnsafeRawPointer, _ size: Int) -> Int {
        let other = stored.loadUnaligned(as: UInt64.self)
        return value < other ? -1 : value == other ? 0 : 1
    }

    @inline(__always)
    static func takes(_ size: Int) -> Bool { size == 8 }
}

/// A key that is bytes: in their order, a prefix before what it begins.
struct BytesKey: TreeKey {
    let bytes: UnsafeRawBufferPointer

    @inline(__always)
    func compare(_ stored: UnsafeRawPointer, _ size: Int) -> Int {
        guard let base = bytes.baseAddress else { return -size }
        let order = memcmp(base, stored, min(bytes.count, size))
        return order != 0 ? Int(order) : bytes.count - size
    }

    @inline(__always)
    static func takes(_ size: Int) -> Bool { size >= 1 && size <= PageLayout.longestKey }
}

/// The pages of one snapshot, read without trust: every number is checked before it is followed, so a damaged file is
/// an error and never a read outside of it.
///
/// LMDB itself follows what it finds. The pages of a snapshot do not change while its transaction is open.
struct PageTree {
    /// Where page 0 is mapped.
    let base: UnsafeRawPointer
    /// Pages with a number below this belong to the snapshot and are in the file.
    let count: UInt64

    /// A page of rows or of branches, its header checked.
    struct Page {
        let address: UnsafeRawPointer
        let number: UInt64
        /// How many nodes it has.
        let count: Int
        let upper: Int
    }

    /// A row of a leaf, inside its page.
    struct Node {
        let key: UnsafeRawPointer
        let keySize: Int
        let flags: UInt16
        let dataSize: Int

        @inline(__always)
        var data: UnsafeRawPointer { key + keySize }
    }

    @inline(__always)
    func page(_ number: UInt64, _ kind: UInt16) throws(Damage) -> Page {
        guard number >= 2, number < count else { throw Damage(kind: .pageOutside, page: number) }
        let address = base + Int(number) &* PageLayout.size
        guard address.load(as: UInt64.self) == number else { throw Damage(kind: .pageNumber, page: number) }
        // Flags and both bounds in one load.
        let header = address.load(fromByteOffset: 8, as: UInt64.self)
        guard UInt16(truncatingIfNeeded: header >> 16) == kind else { throw Damage(kind: .pageFlags, page: number) }
        let lower = Int(UInt16(truncatingIfNeeded: header >> 32))
        let upper = Int(UInt16(truncatingIfNeeded: header >> 48))
        guard lower > PageLayout.headerSize, lower & 1 == 0, lower <= upper, upper <= PageLayout.size else {
            throw Damage(kind: .pageBounds, page: number)
        }
        return Page(
            address: address, number: number, count: (lower - PageLayout.headerSize) >> 1, upper: upper)
    }

    @inline(__always)
    private func offset(_ index: Int, _ page: Page) throws(Damage) -> Int {
        let offset = Int(
            page.address.load(fromByteOffset: PageLayout.headerSize &+ index &* 2, as: UInt16.self))
        guard offset >= page.upper, offset <= PageLayout.size - PageLayout.nodeHeaderSize, offset & 1 == 0 else {
            throw Damage(kind: .node, page: page.number)
        }
        return offset
    }

    /// A row of a leaf page; its key, and its data when that is in the page, lie inside the page.
    @inline(__always)
    func row(_ index: Int, _ page: Page) throws(Damage) -> Node {
        let offset = try offset(index, page)
        let header = page.address.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let flags = UInt16(truncatingIfNeeded: header >> 32)
        let keySize = Int(header >> 48)
        let dataSize = Int(header & 0xFFFF_FFFF)
        let inside = flags & PageLayout.bigValue == 0 ? dataSize : 8
        guard offset &+ PageLayout.nodeHeaderSize &+ keySize &+ inside <= PageLayout.size else {
            throw Damage(kind: .node, page: page.number)
        }
        return Node(
            key: page.address + (offset &+ PageLayout.nodeHeaderSize), keySize: keySize, flags: flags,
            dataSize: dataSize)
    }

    /// A branch's child and the key it starts at; the first child of a page has no key that counts.
    @inline(__always)
    func child(_ index: Int, _ page: Page) throws(Damage) -> (number: UInt64, key: UnsafeRawPointer, keySize: Int) {
        let offset = try offset(index, page)
        let header = page.address.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let keySize = Int(header >> 48)
        guard offset &+ PageLayout.nodeHeaderSize &+ keySize <= PageLayout.size else {
            throw Damage(kind: .node, page: page.number)
        }
        return (header & 0xFFFF_FFFF_FFFF, page.address + (offset &+ PageLayout.nodeHeaderSize), keySize)
    }

    /// The place among a branch's children under which a key is.
    @inline(__always)
    func childIndex<Key: TreeKey>(of key: Key, _ page: Page) throws(Damage) -> Int {
        var low = 1
        var high = page.count
        while low < high {
            let middle = (low &+ high) >> 1
            let node = try child(middle, page)
            guard Key.takes(node.keySize) else { throw Damage(kind: .key, page: page.number) }
            if key.compare(node.key, node.keySize) < 0 { high = middle } else { low = middle &+ 1 }
        }
        return low &- 1
    }

    /// The first row of a leaf that is not before a key, and whether it is the key itself.
    @inline(__always)
    func rowIndex<Key: TreeKey>(of key: Key, _ page: Page) throws(Damage) -> (index: Int, isEqual: Bool) {
        var low = 0
        var high = page.count
        while low < high {
            let middle = (low &+ high) >> 1
            let node = try row(middle, page)
            guard Key.takes(node.keySize) else { throw Damage(kind: .key, page: page.number) }
            let order = key.compare(node.key, node.keySize)
            if order == 0 { return (middle, true) }
            if order < 0 { high = middle } else { low = middle &+ 1 }
        }
        return (low, false)
    }

    /// The row with a key.
    @inline(__always)
    func find<Key: TreeKey>(_ key: Key, in tree: TreeRecord) throws(Damage) -> (node: Node, page: UInt64)? {
        guard tree.root != PageLayout.noPage else { return nil }
        guard tree.depth >= 1, tree.depth <= PageLayout.deepest else { throw Damage(kind: .depth, page: tree.root) }
        var number = tree.root
        for _ in 1..<tree.depth {
            let branch = try page(number, PageLayout.branch)
            number = try child(childIndex(of: key, branch), branch).number
        }
        let leaf = try page(number, PageLayout.leaf)
        let (index, isEqual) = try rowIndex(of: key, leaf)
        return isEqual ? (try row(index, leaf), number) : nil
    }

    /// The bytes of a row's value.
    @inline(__always)
    func value(of node: Node, on number: UInt64) throws(Damage) -> UnsafeRawBufferPointer {
        if node.flags == 0 { return UnsafeRawBufferPointer(start: node.data, count: node.dataSize) }
        guard node.flags == PageLayout.bigValue else { throw Damage(kind: .value, page: number) }
        let first = node.data.loadUnaligned(as: UInt64.self)
        let run = PageLayout.run(ofValue: node.dataSize)
        guard first >= 2, first < count, run <= count &- first else { throw Damage(kind: .pageOutside, page: first) }
        let address = base + Int(first) &* PageLayout.size
        guard PageTree.isRun(at: address, number: first, length: run) else { throw Damage(kind: .run, page: first) }
        return UnsafeRawBufferPointer(start: address + PageLayout.headerSize, count: node.dataSize)
    }

    /// Whether a page starts a run of that length for one value.
    @inline(__always)
    static func isRun(at address: UnsafeRawPointer, number: UInt64, length: UInt64) -> Bool {
        address.load(as: UInt64.self) == number
            && address.load(fromByteOffset: PageLayout.flags, as: UInt16.self) == PageLayout.overflow
            && UInt64(address.load(fromByteOffset: PageLayout.runLength, as: UInt32.self)) == length
    }

    /// The record of a named table.
    func table(_ table: Table, in main: TreeRecord) throws(Damage) -> TreeRecord? {
        var name = table.name
        let result = name.withUTF8 { name -> Result<(node: Node, page: UInt64)?, Damage> in
            do throws(Damage) {
                return .success(try find(BytesKey(bytes: UnsafeRawBufferPointer(name)), in: main))
            } catch {
                return .failure(error)
            }
        }
        guard let found = try result.get() else { return nil }
        guard found.node.flags == PageLayout.subTable, found.node.dataSize == PageLayout.tableRecordSize else {
            throw Damage(kind: .table, page: found.page)
        }
        let record = TreeRecord(at: found.node.data)
        guard record.flags == (table.keys == .integers ? PageLayout.integerKeys : 0) else {
            throw Damage(kind: .table, page: found.page)
        }
        // Whoever adds these up, or multiplies them, may rely on that; a page has fewer than 2,048 rows.
        guard record.branchPages <= count, record.leafPages <= count, record.overflowPages <= count,
            record.rows <= record.leafPages << 11
        else { throw Damage(kind: .count, page: found.page) }
        return record
    }

    /// Visits rows in order, from the first that is not before `key`, until `body` says no.
    ///
    /// - Returns: Whether the end was reached.
    func scan<Key: TreeKey, Failure: Error>(
        _ tree: TreeRecord, from key: Key?, failure: (Damage) -> Failure,
        _ body: (Node, UnsafeRawBufferPointer) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        guard tree.root != PageLayout.noPage else { return true }
        guard tree.depth >= 1, tree.depth <= PageLayout.deepest else {
            throw failure(Damage(kind: .depth, page: tree.root))
        }
        return try scan(tree.root, tree.depth, key, failure, body)
    }

    private func scan<Key: TreeKey, Failure: Error>(
        _ number: UInt64, _ depth: Int, _ key: Key?, _ failure: (Damage) -> Failure,
        _ body: (Node, UnsafeRawBufferPointer) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        func checked<Value>(_ read: () throws(Damage) -> Value) throws(Failure) -> Value {
            do { return try read() } catch { throw failure(error) }
        }
        if depth > 1 {
            let branch = try checked { () throws(Damage) in try page(number, PageLayout.branch) }
            var index = 0
            if let key { index = try checked { () throws(Damage) in try childIndex(of: key, branch) } }
            var first = key
            while index < branch.count {
                let next = try checked { () throws(Damage) in try child(index, branch) }.number
                guard try scan(next, depth - 1, first, failure, body) else { return false }
                first = nil
                index += 1
            }
            return true
        }
        let leaf = try checked { () throws(Damage) in try page(number, PageLayout.leaf) }
        var index = 0
        if let key { index = try checked { () throws(Damage) in try rowIndex(of: key, leaf) }.index }
        while index < leaf.count {
            let (node, bytes) = try checked { () throws(Damage) in
                let node = try row(index, leaf)
                guard Key.takes(node.keySize) else { throw Damage(kind: .key, page: number) }
                return (node, try value(of: node, on: number))
            }
            guard try body(node, bytes) else { return false }
            index += 1
        }
        return true
    }

    /// The row with the greatest key.
    func last(_ tree: TreeRecord) throws(Damage) -> (node: Node, page: UInt64)? {
        guard tree.root != PageLayout.noPage else { return nil }
        guard tree.depth >= 1, tree.depth <= PageLayout.deepest else { throw Damage(kind: .depth, page: tree.root) }
        var number = tree.root
        for _ in 1..<tree.depth {
            let branch = try page(number, PageLayout.branch)
            number = try child(branch.count - 1, branch).number
        }
        let leaf = try page(number, PageLayout.leaf)
        return (try row(leaf.count - 1, leaf), number)
    }
}
