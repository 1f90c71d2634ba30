import Glibc

/// The lists of free pages LMDB takes from in a transaction, looked at before it does.
///
/// A list is a row of the tree of free pages: how many numbers, then the numbers, falling. LMDB reads rows from the
/// first on as it needs pages, and believes them: a wrong length reads far beyond the row, a wrong number writes over
/// another page.
final class FreeLists {
    private var tree: PageTree
    private var meta: MetaPage
    /// One bit for each page that was found in a list.
    private var listed: UnsafeMutablePointer<UInt64>?
    private var room = 0
    /// Words of `listed` that have bits.
    private var filled: [Int] = []
    @exclusivity(unchecked) private var path = ChangeCheck.Path()
    private var leaf: PageTree.Page?
    private var next = 0
    private var hasBegun = false
    private var isAtEnd = false
    private var rows = 0
    private var numbers = 0
    private var needed = 0

    init(tree: PageTree, meta: MetaPage) {
        self.tree = tree
        self.meta = meta
    }

    deinit { Glibc.free(listed) }

    /// Begins with another transaction, and forgets the last.
    func begin(tree: PageTree, meta: MetaPage) {
        self.tree = tree
        self.meta = meta
        if let listed {
            for word in filled { listed[word] = 0 }
        }
        filled.removeAll(keepingCapacity: true)
        leaf = nil
        next = 0
        hasBegun = false
        isAtEnd = false
        rows = 0
        numbers = 0
        needed = 0
    }

    /// Whether a page was found in a list.
    @inline(__always)
    func holds(_ number: UInt64) -> Bool {
        guard let listed, Int(number >> 6) < room else { return false }
        return listed[Int(number >> 6)] & 1 << (number & 63) != 0
    }

    /// Looks at as many rows as one more change may need.
    ///
    /// - Parameter run: How many pages in a row it wants at once.
    /// - Returns: Whether there were lists that had not been looked at.
    @inline(__always)
    func prepare(forRun run: Int) throws(Damage) -> Bool {
        if isAtEnd { return false }
        // A way may be copied and divided in each of its pages.
        needed += 16 + run
        // For a single page LMDB takes the next row; for more it tries up to 60 rows for each.
        let most = run == 1 ? 2 : 60 * run + 2
        if rows >= most, numbers >= needed { return false }
        try read(most)
        return true
    }

    private func read(_ most: Int) throws(Damage) {
        if !hasBegun { try begin() }
        // So far that it is not to be done again with each change.
        let goal = 2 * needed
        while !isAtEnd, rows < most || numbers < goal {
            guard let leaf, next < leaf.count else {
                guard try move(&path) else {
                    isAtEnd = true
                    return
                }
                try enter()
                continue
            }
            let node = try tree.row(next, leaf)
            next += 1
            guard node.key.loadUnaligned(as: UInt64.self) <= meta.transaction else {
                throw Damage(kind: .freeList, page: leaf.number)
            }
            try take(tree.value(of: node, on: leaf.number), leaf.number)
            rows += 1
        }
    }

    private func begin() throws(Damage) {
        hasBegun = true
        let free = meta.free
        guard free.root != PageLayout.noPage else {
            isAtEnd = true
            return
        }
        guard free.depth >= 1, free.depth <= PageLayout.deepest else { throw Damage(kind: .depth, page: free.root) }
        if room <= Int(meta.lastPage >> 6) {
            let more = Int(meta.lastPage >> 5) + 64
            guard let bits = calloc(more, 8) else {
                isAtEnd = true
                return
            }
            Glibc.free(listed)
            listed = bits.assumingMemoryBound(to: UInt64.self)
            room = more
        }
        path.depth = free.depth
        // The row of this transaction comes behind all others, and first rows go.
        if path.depth > 1 {
            var last = path
            try descend(from: free.root, level: 0, right: false, &last)
        }
        try descend(from: free.root, level: 0, right: true, &path)
        try enter()
    }

    /// Comes to a leaf; LMDB may merge it with the next.
    private func enter() throws(Damage) {
        leaf = try tree.page(path.steps[path.depth - 1].page, PageLayout.leaf)
        next = 0
        if path.depth == 1 { return }
        var beside = path
        _ = try move(&beside)
    }

    /// One list.
    private func take(_ list: UnsafeRawBufferPointer, _ page: UInt64) throws(Damage) {
        guard let listed, list.count >= 8, list.count & 7 == 0, let base = list.baseAddress else {
            throw Damage(kind: .freeList, page: page)
        }
        let count = base.loadUnaligned(as: UInt64.self)
        guard count < UInt64(list.count / 8) else { throw Damage(kind: .freeList, page: page) }
        var previous = meta.lastPage &+ 1
        for index in 0..<Int(count) {
            let number = base.loadUnaligned(fromByteOffset: 8 &+ index &* 8, as: UInt64.self)
            guard number < previous, number >= 2 else { throw Damage(kind: .freeList, page: page) }
            previous = number
            let word = Int(number >> 6)
            let bits = listed[word]
            let bit: UInt64 = 1 << (number & 63)
            if bits & bit != 0 { throw Damage(kind: .twice, page: number) }
            if bits == 0 { filled.append(word) }
            listed[word] = bits | bit
        }
        numbers += Int(count)
    }

    /// Goes down from a page to a leaf, and looks at all of each page.
    private func descend(
        from number: UInt64, level: Int, right: Bool, _ path: inout ChangeCheck.Path
    ) throws(Damage) {
        var number = number
        for level in level..<path.depth {
            let isLeaf = level == path.depth - 1
            let page = try tree.page(number, isLeaf ? PageLayout.leaf : PageLayout.branch)
            if isLeaf {
                try tree.checkRows(page, of: FreeRule.self)
            } else {
                try tree.checkChildren(page, of: FreeRule.self)
            }
            let index = right ? 0 : page.count - 1
            path.steps[level] = ChangeCheck.Step(page: number, index: index, count: page.count)
            if !isLeaf { number = try tree.child(index, page).number }
        }
    }

    /// Moves a way to the next leaf; false when there is none.
    private func move(_ path: inout ChangeCheck.Path) throws(Damage) -> Bool {
        var up = path.depth - 2
        while up >= 0, path.steps[up].index + 1 >= path.steps[up].count { up -= 1 }
        guard up >= 0 else { return false }
        path.steps[up].index += 1
        let branch = try tree.page(path.steps[up].page, PageLayout.branch)
        try descend(from: tree.child(path.steps[up].index, branch).number, level: up + 1, right: true, &path)
        return true
    }
}
