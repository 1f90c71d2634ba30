/// Looks, before each step of a write transaction, at the committed pages LMDB may follow in it.
///
/// LMDB trusts what it finds, and a bit may change at any time after the structure was checked. It takes pages as they
/// were committed and changes copies of them, so what is looked at here is the tree as it was before the transaction:
///
/// - the way to each key: kinds, bounds, and where the rows of those pages begin, since LMDB's search compares others
///   than ours;
/// - the row itself and the head of its run of pages, from which LMDB takes how much it frees;
/// - all of a page before it may be divided or merged, since LMDB then copies each row by the length it says;
/// - with a page that may become too empty those beside it, level by level, with which LMDB would merge it;
/// - the lists of free pages LMDB may take from, and that no page on a way is in one of them.
///
/// Each page once in a transaction. Rows added meanwhile are LMDB's own and need no look. One thread.
final class ChangeCheck {
    /// A page on the way to a key, and the place in it where the way goes on.
    struct Step {
        var page: UInt64 = 0
        var index = 0
        var count = 0
    }

    /// A way from a root to a page.
    struct Path {
        var steps = [16 of Step](repeating: Step())
        var depth = 0
        var keys = Table.Keys.bytes
        var longestKey = PageLayout.longestKey
    }

    private(set) var tree: PageTree
    private var main: TreeRecord
    let marks = PageMarks()
    /// The way of the last look-up. Nobody else has it meanwhile: methods that take a way get a copy.
    @exclusivity(unchecked) var path = Path()
    let freeLists: FreeLists
    @exclusivity(unchecked) private var tables: [KnownTable?]
    private var hasSeenTables = false
    /// The last look-up, whose way is in `path`: many keys are read and then written. The end of a table counts as
    /// another table; -1 is none.
    @exclusivity(unchecked) private var last: (table: Int, key: KeyWords, row: Row?) = (-1, KeyWords(), nil)

    /// - Parameter tables: How many tables the environment has.
    init(tree: PageTree, meta: MetaPage, tables: Int) {
        self.tree = tree
        main = meta.main
        freeLists = FreeLists(tree: tree, meta: meta)
        self.tables = Array(repeating: nil, count: tables)
    }

    /// Begins with another transaction, and forgets the last.
    func begin(tree: PageTree, meta: MetaPage) {
        self.tree = tree
        main = meta.main
        marks.removeAll()
        freeLists.begin(tree: tree, meta: meta)
        for index in tables.indices { tables[index] = nil }
        hasSeenTables = false
        last.table = -1
    }

    // MARK: What LMDB is about to do

    /// It looks for a key.
    func get<Key: TreeKey>(_ key: Key, in table: Table) throws(Damage) {
        guard let row = try locate(key, in: table), row.isEqual else { return }
        _ = try tree.value(of: tree.row(row.index, row.leaf), on: row.leaf.number)
    }

    /// It goes to the first row that is not before a key, or to the first of all, and perhaps beyond its page.
    ///
    /// - Returns: The page's last row that was committed, up to which it may go on without another look.
    func seek<Key: TreeKey>(_ key: Key?, in table: Table) throws(Damage) -> PageTree.Node? {
        let leaf: PageTree.Page
        if let key {
            guard let row = try locate(key, in: table) else { return nil }
            leaf = row.leaf
        } else {
            guard let first = try locateEdge(of: table, atEnd: false) else { return nil }
            leaf = first
        }
        try vet(leaf.number, isLeaf: true, table.keys)
        try lookRight()
        return try tree.row(leaf.count - 1, leaf)
    }

    /// It goes to the last row.
    func seekEnd(of table: Table) throws(Damage) {
        guard let leaf = try locateEdge(of: table, atEnd: true) else { return }
        try vet(leaf.number, isLeaf: true, table.keys)
    }

    /// It sets the value of a key.
    func put<Key: TreeKey>(_ key: Key, size keySize: Int, in table: Table, size: Int) throws(Damage) {
        let need = PageLayout.bytes(ofKey: keySize, value: size)
        try prepare(forRun: need.run)
        guard let row = try locate(key, in: table) else { return }
        if row.isEqual { try lose(row) }
        try gain(need.inside, on: row.leaf, copiesRows: true)
    }

    /// It adds a row behind all others.
    func append(to table: Table, size: Int) throws(Damage) {
        let need = PageLayout.bytes(ofKey: 8, value: size)
        try prepare(forRun: need.run)
        guard let leaf = try locateEnd(of: table) else { return }
        // LMDB divides a page behind its last row, and copies none.
        try gain(need.inside, on: leaf, copiesRows: false)
    }

    /// It deletes a row.
    func delete<Key: TreeKey>(_ key: Key, in table: Table) throws(Damage) {
        try prepare(forRun: 1)
        guard let row = try locate(key, in: table) else { return }
        if row.isEqual { try lose(row) }
        let mark = marks.index(of: row.leaf.number)
        if marks[mark].mayBeDivided || isWeak(row.leaf, marks[mark]) {
            try close(path, path.depth - 1)
        } else {
            // After the last row of a page it goes on to the next page.
            try lookRight()
        }
    }

    /// It deletes all rows of a table, and frees the pages each row names.
    func clear(_ table: Table) throws(Damage) {
        try prepare(forRun: 1)
        guard let record = try record(of: table) else { return }
        var path = Path()
        path.depth = record.depth
        path.keys = table.keys
        guard try descend(from: record.root, level: 0, right: true, &path) != nil else { return }
        repeat {
            for level in 0..<path.depth {
                try vet(path.steps[level].page, isLeaf: level == path.depth - 1, table.keys)
            }
            let leaf = try page(path.steps[path.depth - 1].page, PageLayout.leaf)
            for index in 0..<leaf.count { _ = try tree.value(of: tree.row(index, leaf), on: leaf.number) }
        } while try move(&path, path.depth - 1, right: true)
    }

    /// It reads the record of a table.
    @inline(__always)
    func seekRecord(of table: Table) throws(Damage) {
        _ = try record(of: table)
    }

    /// It looks for the records of tables.
    @inline(__always)
    private func seekTables() throws(Damage) {
        if !hasSeenTables { try lookAtTables() }
    }

    private func lookAtTables() throws(Damage) {
        hasSeenTables = true
        last.table = -1
        guard main.root != PageLayout.noPage else { return }
        path.depth = main.depth
        guard try descend(from: main.root, level: 0, right: true, &path) != nil else { return }
        repeat {
            for level in 0..<path.depth { try vet(path.steps[level].page, isLeaf: level == path.depth - 1, .bytes) }
        } while try move(&path, path.depth - 1, right: true)
    }

    // MARK: Ways

    /// Where a key is, or would be.
    private struct Row {
        let leaf: PageTree.Page
        let index: Int
        let isEqual: Bool
    }

    private struct KnownTable {
        /// `nil` while it has no rows.
        let record: TreeRecord?
    }

    @inline(__always)
    private func record(of table: Table) throws(Damage) -> TreeRecord? {
        if let known = tables[table.index] { return known.record }
        return try find(table)
    }

    private func find(_ table: Table) throws(Damage) -> TreeRecord? {
        try seekTables()
        // LMDB would take a missing one for a key that is not there, and write nowhere.
        guard let found = try tree.table(table, in: main) else {
            throw Damage(kind: .table, page: main.root)
        }
        let isEmpty = found.root == PageLayout.noPage
        guard isEmpty || (1...PageLayout.deepest).contains(found.depth) else {
            throw Damage(kind: .depth, page: found.root)
        }
        tables[table.index] = KnownTable(record: isEmpty ? nil : found)
        return isEmpty ? nil : found
    }

    /// A page on a way, of which at least all rows begin inside it.
    @inline(__always)
    func page(_ number: UInt64, _ kind: UInt16) throws(Damage) -> PageTree.Page {
        let page = try tree.page(number, kind)
        let mark = marks.index(of: number)
        if !marks[mark].wasSeen {
            marks[mark].wasSeen = true
            if freeLists.holds(number) { throw Damage(kind: .twice, page: number) }
            try tree.checkPlaces(page)
        }
        return page
    }

    private func locate<Key: TreeKey>(_ key: Key, in table: Table) throws(Damage) -> Row? {
        let words = key.words
        if let words, last.table == table.index, last.key == words { return last.row }
        last.table = -1
        guard let record = try record(of: table) else { return nil }
        path.depth = record.depth
        path.keys = table.keys
        path.longestKey = table.longestKey
        var number = record.root
        for level in 0..<record.depth - 1 {
            let branch = try page(number, PageLayout.branch)
            let index = try tree.childIndex(of: key, branch)
            path.steps[level] = Step(page: number, index: index, count: branch.count)
            number = try tree.child(index, branch).number
        }
        let leaf = try page(number, PageLayout.leaf)
        let (index, isEqual) = try tree.rowIndex(of: key, leaf)
        path.steps[record.depth - 1] = Step(page: number, index: index, count: leaf.count)
        let row = Row(leaf: leaf, index: index, isEqual: isEqual)
        if let words { last = (table.index, words, row) }
        return row
    }

    /// The last leaf, whose last row LMDB compares with a new key.
    private func locateEnd(of table: Table) throws(Damage) -> PageTree.Page? {
        if last.table == table.index + Table.limit, let row = last.row { return row.leaf }
        guard let leaf = try locateEdge(of: table, atEnd: true) else { return nil }
        guard try tree.row(leaf.count - 1, leaf).keySize == 8 else { throw Damage(kind: .key, page: leaf.number) }
        last = (table.index + Table.limit, KeyWords(), Row(leaf: leaf, index: leaf.count - 1, isEqual: false))
        return leaf
    }

    private func locateEdge(of table: Table, atEnd: Bool) throws(Damage) -> PageTree.Page? {
        last.table = -1
        guard let record = try record(of: table) else { return nil }
        path.depth = record.depth
        path.keys = table.keys
        path.longestKey = table.longestKey
        return try descend(from: record.root, level: 0, right: !atEnd, &path)
    }

    /// Goes down from a page to a leaf, by the first children when it comes from the left.
    func descend(
        from number: UInt64, level: Int, right: Bool, _ path: inout Path
    ) throws(Damage) -> PageTree.Page? {
        guard path.depth >= 1, path.depth <= PageLayout.deepest else { throw Damage(kind: .depth, page: number) }
        var number = number
        for level in level..<path.depth {
            let isLeaf = level == path.depth - 1
            let page = try page(number, isLeaf ? PageLayout.leaf : PageLayout.branch)
            let index = right ? 0 : page.count - 1
            path.steps[level] = Step(page: number, index: index, count: page.count)
            if isLeaf { return page }
            number = try tree.child(index, page).number
        }
        return nil
    }

    /// Moves a way to the page beside its last one on that level; false when there is none.
    func move(_ path: inout Path, _ level: Int, right: Bool) throws(Damage) -> Bool {
        var up = level - 1
        while up >= 0, right ? path.steps[up].index + 1 >= path.steps[up].count : path.steps[up].index == 0 { up -= 1 }
        guard up >= 0 else { return false }
        path.steps[up].index += right ? 1 : -1
        while up < level {
            let branch = try page(path.steps[up].page, PageLayout.branch)
            let number = try tree.child(path.steps[up].index, branch).number
            up += 1
            let next = try page(number, up == path.depth - 1 ? PageLayout.leaf : PageLayout.branch)
            path.steps[up] = Step(page: number, index: right ? 0 : next.count - 1, count: next.count)
        }
        return true
    }

    // MARK: What becomes of pages

    /// Pages are taken. None that was met so far is in a list; those met later are compared then.
    @inline(__always)
    private func prepare(forRun run: Int) throws(Damage) {
        if try freeLists.prepare(forRun: run), let page = marks.first(where: freeLists.holds) {
            throw Damage(kind: .twice, page: page)
        }
    }

    /// A row goes, or gives way to another value.
    private func lose(_ row: Row) throws(Damage) {
        let node = try tree.row(row.index, row.leaf)
        _ = try tree.value(of: node, on: row.leaf.number)
        marks[marks.index(of: row.leaf.number)].lost += PageLayout.bytes(of: node)
    }

    /// A row comes. Before a page may be divided, all of it is looked at; then one comes to the page above.
    private func gain(_ bytes: Int, on leaf: PageTree.Page, copiesRows: Bool) throws(Damage) {
        let mark = marks.index(of: leaf.number)
        marks[mark].gained += bytes
        if marks[mark].gained <= leaf.room { return }
        marks[mark].mayBeDivided = true
        if copiesRows { try vet(leaf.number, isLeaf: true, path.keys) }
        for level in (0..<path.depth - 1).reversed() {
            let branch = try page(path.steps[level].page, PageLayout.branch)
            let above = marks.index(of: branch.number)
            marks[above].gained += PageLayout.bytes(ofBranch: path.longestKey)
            if marks[above].gained <= branch.room { return }
            marks[above].mayBeDivided = true
            try vet(branch.number, isLeaf: false, path.keys)
        }
    }

    /// The first row of the page to the right, where there is one.
    private func lookRight() throws(Damage) {
        let mark = marks.index(of: path.steps[path.depth - 1].page)
        if marks[mark].sawRight { return }
        marks[mark].sawRight = true
        var next = path
        guard try move(&next, path.depth - 1, right: true) else { return }
        let leaf = try page(next.steps[path.depth - 1].page, PageLayout.leaf)
        _ = try tree.row(0, leaf)
    }
}

/// A short key as numbers.
struct KeyWords: Equatable {
    var first: UInt64 = 0
    var second: UInt64 = 0
}

extension TreeKey {
    @inline(__always)
    fileprivate var words: KeyWords? {
        if let key = self as? IntegerKey { return KeyWords(first: key.value) }
        guard let key = self as? BytesKey, key.bytes.count == 16 else { return nil }
        return KeyWords(
            first: key.bytes.loadUnaligned(as: UInt64.self),
            second: key.bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
}
