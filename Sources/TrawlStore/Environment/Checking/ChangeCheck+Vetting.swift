extension ChangeCheck {
    /// Whether so much of a page may be gone that LMDB merges it with another, or takes from another to fill it.
    func isWeak(_ page: PageTree.Page, _ mark: PageMarks.Mark) -> Bool {
        // LMDB's bound is a quarter of a leaf.
        PageLayout.size - PageLayout.headerSize - page.room - mark.lost < PageLayout.size / 4
    }

    /// The same of a page of branches, which must keep two. One may also go to a page beside it.
    private func isWeakBranch(_ page: PageTree.Page, _ mark: PageMarks.Mark) -> Bool {
        page.count - mark.lost < 4
    }

    /// Looks at the pages beside one that may become too empty.
    ///
    /// A page that is merged may take its neighbour's place and meet the next one. That has been looked at as well:
    /// what is left of a page that was merged is less than a quarter, so either rows of it were deleted, which brought
    /// us here for that page too, or it was so from the start, and then we go on to the next.
    func close(_ path: Path, _ level: Int) throws(Damage) {
        let number = path.steps[level].page
        let own = marks.index(of: number)
        if marks[own].isClosed { return }
        marks[own].isClosed = true
        try vet(path, through: level)
        for right in [false, true] {
            var side = path
            while try move(&side, level, right: right) {
                try vet(side, through: level)
                let isLeaf = level == path.depth - 1
                let beside = try page(side.steps[level].page, isLeaf ? PageLayout.leaf : PageLayout.branch)
                let mark = marks.index(of: beside.number)
                if marks[mark].isClosed { break }
                guard isLeaf ? isWeak(beside, marks[mark]) : isWeakBranch(beside, marks[mark]) else { break }
                marks[mark].isClosed = true
                try loseChild(side, level - 1)
            }
        }
        try loseChild(path, level - 1)
    }

    /// A page of branches may have one child less.
    private func loseChild(_ path: Path, _ level: Int) throws(Damage) {
        // A root has nothing beside it.
        guard level > 0 else { return }
        let branch = try page(path.steps[level].page, PageLayout.branch)
        let mark = marks.index(of: branch.number)
        marks[mark].lost += 1
        if isWeakBranch(branch, marks[mark]) { try close(path, level) }
    }

    /// Looks at all of a page and of those above it, and at the lowest row below it, whose key LMDB moves with a
    /// branch.
    private func vet(_ path: Path, through level: Int) throws(Damage) {
        for above in 0...level { try vet(path.steps[above].page, isLeaf: above == path.depth - 1, path.keys) }
        if level == path.depth - 1 { return }
        var lowest = path
        if let leaf = try descend(from: path.steps[level].page, level: level, right: true, &lowest) {
            _ = try tree.row(0, leaf)
        }
    }

    /// Looks at all of one page, once.
    func vet(_ number: UInt64, isLeaf: Bool, _ keys: Table.Keys) throws(Damage) {
        let page = try page(number, isLeaf ? PageLayout.leaf : PageLayout.branch)
        let mark = marks.index(of: number)
        if marks[mark].isVetted { return }
        marks[mark].isVetted = true
        switch (isLeaf, keys) {
        case (true, .integers): try tree.checkRows(page, of: IntegerRule.self)
        case (true, .bytes): try tree.checkRows(page, of: BytesRule.self)
        case (false, .integers): try tree.checkChildren(page, of: IntegerRule.self)
        case (false, .bytes): try tree.checkChildren(page, of: BytesRule.self)
        }
    }
}

extension PageTree.Page {
    /// Bytes between the places of its rows and the rows.
    @inline(__always)
    var room: Int { upper - PageLayout.headerSize - 2 * count }
}

extension PageLayout {
    /// The longest row that stays in a leaf: two fit.
    private static let longestRow = 2038

    /// How many pages of its own a value takes; none when it stays in its leaf.
    @inline(__always)
    static func ownPages(ofKey key: Int, value: Int) -> UInt64 {
        nodeHeaderSize + key + value <= longestRow ? 0 : run(ofValue: value)
    }

    /// What a row takes of a leaf, its place among them included, and of pages of its own.
    @inline(__always)
    static func bytes(ofKey key: Int, value: Int) -> (inside: Int, run: Int) {
        let whole = nodeHeaderSize + key + value
        if whole <= longestRow { return ((whole + 1) & ~1 + 2, 1) }
        return ((nodeHeaderSize + key + 8 + 1) & ~1 + 2, Int(run(ofValue: value)))
    }

    /// What a child takes of a page of branches at most, its place among them included.
    @inline(__always)
    static func bytes(ofBranch longestKey: Int) -> Int { (nodeHeaderSize + longestKey + 1) & ~1 + 2 }

    /// What a row takes of its leaf, its place among them included.
    @inline(__always)
    static func bytes(of node: PageTree.Node) -> Int {
        let inside = node.flags & bigValue == 0 ? node.dataSize : 8
        return (nodeHeaderSize + node.keySize + inside + 1) & ~1 + 2
    }
}

extension PageTree {
    /// That all rows of a page begin inside it.
    @inline(__always)
    func checkPlaces(_ page: Page) throws(Damage) {
        let places = page.address + PageLayout.headerSize
        var lowest = Int16.max
        var highest = Int16.min
        var all: Int16 = 0
        if page.count >= 8 {
            // As signed numbers, since those are compared at once everywhere; none is as large as the sign.
            var low = SIMD8<Int16>(repeating: .max)
            var high = SIMD8<Int16>(repeating: .min)
            var bits = SIMD8<Int16>(repeating: 0)
            var index = 0
            while true {
                let next = places.loadUnaligned(fromByteOffset: index &* 2, as: SIMD8<Int16>.self)
                low = pointwiseMin(low, next)
                high = pointwiseMax(high, next)
                bits |= next
                if index &+ 8 == page.count { break }
                index = min(index &+ 8, page.count &- 8)
            }
            for lane in 0..<8 {
                lowest = min(lowest, low[lane])
                highest = max(highest, high[lane])
                all |= bits[lane]
            }
        } else {
            for index in 0..<page.count {
                let next = places.load(fromByteOffset: index &* 2, as: Int16.self)
                lowest = min(lowest, next)
                highest = max(highest, next)
                all |= next
            }
        }
        guard Int(lowest) >= page.upper, Int(highest) <= PageLayout.size - PageLayout.nodeHeaderSize, all & 1 == 0
        else {
            throw Damage(kind: .node, page: page.number)
        }
    }

    /// That the rows of a leaf are in order, lie side by side inside it, and name runs of pages inside the file.
    func checkRows<Rule: WalkRule>(_ page: Page, of rule: Rule.Type) throws(Damage) {
        var used = 0
        var previous: Rule.Key?
        for index in 0..<page.count {
            let node = try row(index, page)
            guard Rule.Key.takes(node.keySize) else { throw Damage(kind: .key, page: page.number) }
            let key = Rule.key(node.key, node.keySize)
            if let previous, !Rule.isBefore(previous, key) { throw Damage(kind: .order, page: page.number) }
            previous = key
            if node.flags == PageLayout.bigValue {
                let first = node.data.loadUnaligned(as: UInt64.self)
                guard first >= 2, first < count, PageLayout.run(ofValue: node.dataSize) <= count - first else {
                    throw Damage(kind: .pageOutside, page: first)
                }
            } else if node.flags != 0,
                node.flags != PageLayout.subTable || node.dataSize != PageLayout.tableRecordSize
            {
                throw Damage(kind: .value, page: page.number)
            }
            used += PageLayout.bytes(of: node) - 2
        }
        guard used == PageLayout.size - page.upper else { throw Damage(kind: .pageBounds, page: page.number) }
    }

    /// That the children of a page are in order, lie side by side inside it, and are inside the file.
    func checkChildren<Rule: WalkRule>(_ page: Page, of rule: Rule.Type) throws(Damage) {
        guard page.count >= Rule.fewestChildren else { throw Damage(kind: .pageBounds, page: page.number) }
        var used = 0
        var previous: Rule.Key?
        for index in 0..<page.count {
            let child = try child(index, page)
            guard child.number >= 2, child.number < count else { throw Damage(kind: .pageOutside, page: child.number) }
            used += (PageLayout.nodeHeaderSize + child.keySize + 1) & ~1
            if index == 0 { continue }
            guard Rule.Key.takes(child.keySize) else { throw Damage(kind: .key, page: page.number) }
            let key = Rule.key(child.key, child.keySize)
            if let previous, !Rule.isBefore(previous, key) { throw Damage(kind: .order, page: page.number) }
            previous = key
        }
        guard used == PageLayout.size - page.upper else { throw Damage(kind: .pageBounds, page: page.number) }
    }
}
