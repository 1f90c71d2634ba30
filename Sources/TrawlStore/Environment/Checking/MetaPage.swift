import CTrawlLMDB

/// One of the two pages that say where the trees of a snapshot are.
struct MetaPage: Equatable, Sendable {
    let mapSize: UInt64
    let free: TreeRecord
    let main: TreeRecord
    let lastPage: UInt64
    let transaction: UInt64

    /// The fields of a page, checked as far as a single page can be.
    ///
    /// - Parameter number: Which of the two it is.
    init(at address: UnsafeRawPointer, number: UInt64) throws(Damage) {
        func word(_ offset: Int) -> UInt64 { address.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        mapSize = word(PageLayout.metaMapSize)
        free = TreeRecord(at: address + PageLayout.metaFreeTable)
        main = TreeRecord(at: address + PageLayout.metaMainTable)
        lastPage = word(PageLayout.metaLastPage)
        transaction = word(PageLayout.metaTransaction)
        let pageSize = address.loadUnaligned(fromByteOffset: PageLayout.metaFreeTable, as: UInt32.self)
        guard address.loadUnaligned(as: UInt64.self) == number,
            address.loadUnaligned(fromByteOffset: PageLayout.flags, as: UInt16.self) == PageLayout.meta,
            address.loadUnaligned(fromByteOffset: PageLayout.metaMagic, as: UInt32.self) == PageLayout.magic,
            address.loadUnaligned(fromByteOffset: PageLayout.metaVersion, as: UInt32.self) == PageLayout.version,
            pageSize == PageLayout.size,
            // The free table's flags hold the environment's beside its own; we use none that is kept there.
            free.flags == PageLayout.integerKeys, main.flags == 0,
            free.depth <= PageLayout.deepest, main.depth <= PageLayout.deepest,
            mapSize & 4095 == 0, mapSize <= 1 << 46, lastPage >= 1, lastPage < mapSize >> 12
        else { throw Damage(kind: .meta, page: number) }
    }

    /// The two pages of a new file, as LMDB writes them where the system's pages have 4 KiB.
    static func fresh(mapSize: UInt64) -> [UInt8] {
        var file = [UInt8](repeating: 0, count: 2 * PageLayout.size)
        file.withUnsafeMutableBytes { file in
            for number in 0..<2 {
                let page = UnsafeMutableRawBufferPointer(rebasing: file[(number * PageLayout.size)...])
                func set<Number: FixedWidthInteger & BitwiseCopyable>(_ value: Number, at offset: Int) {
                    page.storeBytes(of: value, toByteOffset: offset, as: Number.self)
                }
                set(UInt64(number), at: 0)
                set(PageLayout.meta, at: PageLayout.flags)
                set(PageLayout.magic, at: PageLayout.metaMagic)
                set(PageLayout.version, at: PageLayout.metaVersion)
                set(mapSize, at: PageLayout.metaMapSize)
                set(UInt32(PageLayout.size), at: PageLayout.metaFreeTable)
                set(PageLayout.integerKeys, at: PageLayout.metaFreeTable + PageLayout.tableFlags)
                set(PageLayout.noPage, at: PageLayout.metaFreeTable + PageLayout.tableRoot)
                set(PageLayout.noPage, at: PageLayout.metaMainTable + PageLayout.tableRoot)
                set(UInt64(1), at: PageLayout.metaLastPage)
            }
        }
        return file
    }

    /// The later of two meta pages, which together must look like a pair LMDB wrote.
    ///
    /// - Parameter pages: The first 8 KiB of the file.
    static func latest(of pages: UnsafeRawBufferPointer) throws(Damage) -> MetaPage {
        guard let base = pages.baseAddress, pages.count >= 2 * PageLayout.size else {
            throw Damage(kind: .meta, page: 0)
        }
        let first = try MetaPage(at: base, number: 0)
        let second = try MetaPage(at: base + PageLayout.size, number: 1)
        // A transaction's meta page is the one of its number's last bit, and each follows the one before. A new file
        // has two pages of transaction 0.
        let (older, newer) = first.transaction >= second.transaction ? (second, first) : (first, second)
        let isFresh = newer.transaction == 0 && newer == older
        let isPair =
            newer.transaction == older.transaction &+ 1
            && newer.transaction & 1 == (second.transaction > first.transaction ? 1 : 0)
        guard isFresh || isPair else { throw Damage(kind: .meta, page: 1) }
        return newer
    }
}

/// Where the trees of the snapshot are that a read transaction holds on to, read while others may write.
struct SnapshotMeta: Equatable, Sendable {
    let identifier: UInt64
    let main: TreeRecord
    let lastPage: UInt64

    /// Reads the meta page of the snapshot LMDB chose.
    ///
    /// Two transactions on, that page is written again, so it must be known that this was not yet under way. It was not
    /// while the other page is older; and not while LMDB's lock file still names our snapshot as the last one, which a
    /// second choice after the look tells. (The writer of the next one may have been stopped, or killed, just before it
    /// said so.)
    ///
    /// - Parameters:
    ///   - base: Where the file is mapped.
    ///   - seen: What was seen when the snapshot was chosen the time before; set when this look is not certain.
    init?(_ identifier: UInt64, at base: UnsafeRawPointer, seenBefore seen: inout SnapshotMeta?) {
        if let before = seen, before.identifier == identifier {
            self = before
            seen = nil
            return
        }
        let page = base + Int(identifier & 1) &* PageLayout.size
        let other = base + Int(~identifier & 1) &* PageLayout.size
        lastPage = page.load(fromByteOffset: PageLayout.metaLastPage, as: UInt64.self)
        main = TreeRecord(at: page + PageLayout.metaMainTable)
        self.identifier = identifier
        seen = nil
        // Else a word below might be loaded, on some machines, before those above it.
        clmdb_fence_acquire()
        guard clmdb_load_acquire(page + PageLayout.metaTransaction) == identifier else { return nil }
        if clmdb_load_acquire(other + PageLayout.metaTransaction) < identifier { return }
        seen = self
        return nil
    }
}
