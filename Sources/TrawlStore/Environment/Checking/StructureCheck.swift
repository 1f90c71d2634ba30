/// Walks every tree of a snapshot and the list of free pages, so that LMDB, which follows what it finds, may write to
/// it.
///
/// Values outside of leaves are not looked at, only their places, unless it goes deep: that keeps the cost to a few per
/// cent of the file.
struct StructureCheck {
    private let tree: PageTree
    private let lastPage: UInt64
    /// One bit for each page that has an owner.
    private let owned: UnsafeMutableBufferPointer<UInt64>
    private var branchPages: UInt64 = 0
    private var leafPages: UInt64 = 0
    private var overflowPages: UInt64 = 0
    private var rows: UInt64 = 0
    private var isDeep = false
    /// The records of tables, while the tree that holds them is walked.
    private var tableRecords: [TreeRecord]?

    /// Checks the snapshot of a meta page.
    ///
    /// - Parameters:
    ///   - base: Where page 0 is mapped.
    ///   - filePages: How many pages the file has.
    ///   - isDeep: Whether to look at the first page of each long value too.
    static func run(base: UnsafeRawPointer, filePages: UInt64, meta: MetaPage, isDeep: Bool) throws(Damage) {
        var check = StructureCheck(base: base, filePages: filePages, meta: meta)
        defer { check.owned.deallocate() }
        check.isDeep = isDeep
        try check.tables(meta)
        try check.freePages(meta)
    }

    /// Checks only the tree of tables, which is a page or two.
    static func runOnTables(base: UnsafeRawPointer, filePages: UInt64, meta: MetaPage) throws(Damage) {
        var check = StructureCheck(base: base, filePages: filePages, meta: meta)
        defer { check.owned.deallocate() }
        check.tableRecords = []
        try check.walk(meta.main, of: BytesRule.self)
    }

    private init(base: UnsafeRawPointer, filePages: UInt64, meta: MetaPage) {
        lastPage = meta.lastPage
        // The last pages of a snapshot may be free and never have been written.
        tree = PageTree(base: base, count: min(filePages, meta.lastPage + 1))
        owned = .allocate(capacity: Int(meta.lastPage >> 6) + 1)
        owned.initialize(repeating: 0)
        owned[0] = 3
    }

    private mutating func tables(_ meta: MetaPage) throws(Damage) {
        tableRecords = []
        try walk(meta.main, of: BytesRule.self)
        let records = tableRecords ?? []
        tableRecords = nil
        for record in records {
            switch record.flags {
            case 0: try walk(record, of: BytesRule.self)
            case PageLayout.integerKeys: try walk(record, of: IntegerRule.self)
            default: throw Damage(kind: .table, page: meta.main.root)
            }
        }
    }

    private mutating func freePages(_ meta: MetaPage) throws(Damage) {
        try walk(meta.free, of: FreeRule.self)
        let tree = tree
        var lists: [UnsafeRawBufferPointer] = []
        _ = try tree.scan(meta.free, from: IntegerKey?.none, failure: { $0 }) { node, list throws(Damage) in
            guard node.key.loadUnaligned(as: UInt64.self) <= meta.transaction else {
                throw Damage(kind: .freeList, page: meta.free.root)
            }
            lists.append(list)
            return true
        }
        for list in lists { try free(list, meta.free.root) }
    }

    /// One list of free pages: its length, then numbers that fall.
    private mutating func free(_ list: UnsafeRawBufferPointer, _ root: UInt64) throws(Damage) {
        guard list.count >= 8, list.count & 7 == 0 else { throw Damage(kind: .freeList, page: root) }
        let count = list.loadUnaligned(as: UInt64.self)
        guard count < UInt64(list.count / 8) else { throw Damage(kind: .freeList, page: root) }
        var previous = UInt64.max
        for index in 0..<Int(count) {
            let number = list.loadUnaligned(fromByteOffset: 8 + index * 8, as: UInt64.self)
            guard number < previous else { throw Damage(kind: .freeList, page: root) }
            previous = number
            try own(number)
        }
    }

    @inline(__always)
    private mutating func own(_ number: UInt64) throws(Damage) {
        guard number >= 2, number <= lastPage else { throw Damage(kind: .pageOutside, page: number) }
        let bit: UInt64 = 1 << (number & 63)
        let word = Int(number >> 6)
        guard owned[word] & bit == 0 else { throw Damage(kind: .twice, page: number) }
        owned[word] |= bit
    }

    private mutating func walk<Rule: WalkRule>(_ record: TreeRecord, of rule: Rule.Type) throws(Damage) {
        (branchPages, leafPages, overflowPages, rows) = (0, 0, 0, 0)
        if record.root == PageLayout.noPage {
            guard record.depth == 0 else { throw Damage(kind: .depth, page: 0) }
        } else {
            guard record.depth >= 1, record.depth <= PageLayout.deepest else {
                throw Damage(kind: .depth, page: record.root)
            }
            try walk(record.root, record.depth, nil, nil, rule)
        }
        guard branchPages == record.branchPages, leafPages == record.leafPages,
            overflowPages == record.overflowPages, rows == record.rows
        else { throw Damage(kind: .count, page: record.root) }
    }

    /// One page and what is below it. Its keys are at least `low` and below `high`.
    private mutating func walk<Rule: WalkRule>(
        _ number: UInt64, _ depth: Int, _ low: Rule.Key?, _ high: Rule.Key?, _ rule: Rule.Type
    ) throws(Damage) {
        try own(number)
        if depth == 1 { return try leaf(number, low, high, rule) }
        let page = try tree.page(number, PageLayout.branch)
        guard page.count >= Rule.fewestChildren else { throw Damage(kind: .pageBounds, page: number) }
        branchPages += 1
        var used = 0
        var next = try tree.child(0, page)
        var start = low
        used += (PageLayout.nodeHeaderSize + next.keySize + 1) & ~1
        for index in 1...page.count {
            let current = next.number
            var end = high
            if index < page.count {
                next = try tree.child(index, page)
                used += (PageLayout.nodeHeaderSize + next.keySize + 1) & ~1
                guard Rule.Key.takes(next.keySize) else { throw Damage(kind: .key, page: number) }
                let key = Rule.key(next.key, next.keySize)
                if let start, !Rule.isBefore(start, key) { throw Damage(kind: .order, page: number) }
                if let high, !Rule.isBefore(key, high) { throw Damage(kind: .order, page: number) }
                end = key
            }
            try walk(current, depth - 1, start, end, rule)
            start = end
        }
        guard used == PageLayout.size - page.upper else { throw Damage(kind: .pageBounds, page: number) }
    }

    private mutating func leaf<Rule: WalkRule>(
        _ number: UInt64, _ low: Rule.Key?, _ high: Rule.Key?, _ rule: Rule.Type
    ) throws(Damage) {
        let page = try tree.page(number, PageLayout.leaf)
        leafPages += 1
        rows += UInt64(page.count)
        var used = 0
        var previous: Rule.Key?
        for index in 0..<page.count {
            let node = try tree.row(index, page)
            guard Rule.Key.takes(node.keySize) else { throw Damage(kind: .key, page: number) }
            let key = Rule.key(node.key, node.keySize)
            if let previous {
                guard Rule.isBefore(previous, key) else { throw Damage(kind: .order, page: number) }
            } else if let low, Rule.isBefore(key, low) {
                throw Damage(kind: .order, page: number)
            }
            previous = key
            var inside = node.dataSize
            if node.flags == PageLayout.bigValue {
                inside = 8
                let first = node.data.loadUnaligned(as: UInt64.self)
                let run = PageLayout.run(ofValue: node.dataSize)
                guard first >= 2, first < tree.count, run <= tree.count - first else {
                    throw Damage(kind: .pageOutside, page: first)
                }
                for offset in 0..<run { try own(first + offset) }
                if isDeep { _ = try tree.value(of: node, on: number) }
                overflowPages += run
            } else if node.flags == PageLayout.subTable, tableRecords != nil,
                node.dataSize == PageLayout.tableRecordSize
            {
                tableRecords?.append(TreeRecord(at: node.data))
            } else if node.flags != 0 {
                throw Damage(kind: .value, page: number)
            }
            used += (PageLayout.nodeHeaderSize + node.keySize + inside + 1) & ~1
        }
        if let previous, let high, !Rule.isBefore(previous, high) { throw Damage(kind: .order, page: number) }
        guard used == PageLayout.size - page.upper else { throw Damage(kind: .pageBounds, page: number) }
    }
}

/// How the keys of a tree are compared while it is walked.
protocol WalkRule {
    associatedtype Key: TreeKey
    /// The fewest children a branch page has.
    static var fewestChildren: Int { get }
    static func key(_ address: UnsafeRawPointer, _ size: Int) -> Key
    static func isBefore(_ left: Key, _ right: Key) -> Bool
}

enum IntegerRule: WalkRule {
    static var fewestChildren: Int { 2 }

    @inline(__always)
    static func key(_ address: UnsafeRawPointer, _ size: Int) -> IntegerKey {
        IntegerKey(value: address.loadUnaligned(as: UInt64.self))
    }

    @inline(__always)
    static func isBefore(_ left: IntegerKey, _ right: IntegerKey) -> Bool { left.value < right.value }
}

/// LMDB lets the tree of free pages keep a branch with a single child.
enum FreeRule: WalkRule {
    static var fewestChildren: Int { 1 }

    @inline(__always)
    static func key(_ address: UnsafeRawPointer, _ size: Int) -> IntegerKey { IntegerRule.key(address, size) }

    @inline(__always)
    static func isBefore(_ left: IntegerKey, _ right: IntegerKey) -> Bool { left.value < right.value }
}

enum BytesRule: WalkRule {
    static var fewestChildren: Int { 2 }

    @inline(__always)
    static func key(_ address: UnsafeRawPointer, _ size: Int) -> BytesKey {
        BytesKey(bytes: UnsafeRawBufferPointer(start: address, count: size))
    }

    @inline(__always)
    static func isBefore(_ left: BytesKey, _ right: BytesKey) -> Bool {
        guard let base = right.bytes.baseAddress else { return false }
        return left.compare(base, right.bytes.count) < 0
    }
}
