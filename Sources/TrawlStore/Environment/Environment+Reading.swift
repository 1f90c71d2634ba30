import CTrawlLMDB
import Glibc
import TrawlPlatform

extension Environment {
    /// Runs `body` on a snapshot of what is committed. It waits for nobody, and nobody waits for it but who closes.
    ///
    /// The body is short: pages that others free meanwhile cannot be used again before it ends. A read inside a read is
    /// fine; it sees a later snapshot.
    package func read<Value>(
        _ body: (borrowing Snapshot) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let slot = try enter()
        defer { leave(slot) }
        guard let opening = slot.pointee.opening else { throw .closed }
        return try body(Snapshot(slot, opening))
    }

    @inline(__always)
    private func leave(_ slot: UnsafeMutablePointer<ReaderSlot>) {
        if let transaction = slot.pointee.transaction, !ForkMark.isCopy { mdb_txn_reset(transaction) }
        let generation = slot.pointee.generation
        storeRelease(ReaderSlots.state(slot), ReaderSlot.free)
        // What was let go of meanwhile is not kept until somebody happens to take this slot.
        if generation != loadAcquire(shared.generation) { releaseIdleSlots() }
    }

    private func enter() throws(StoreError) -> UnsafeMutablePointer<ReaderSlot> {
        if ForkMark.isCopy { throw .forked }
        if loadRelaxed(shared.roomSeen) != UInt64(coarseSecond()) &+ 1 { try requireRoom() }
        let free = slots.take()
        let slot = if let free { free } else { try waitForSlot() }
        do throws(StoreError) {
            try begin(slot)
            return slot
        } catch {
            // A transaction that was left open would keep its snapshot's pages, and could not be begun again.
            storeOrdered(ReaderSlots.state(slot), ReaderSlot.open)
            ReaderSlots.empty(slot)
            storeRelease(ReaderSlots.state(slot), ReaderSlot.free)
            throw error
        }
    }

    /// For when more threads read than there are slots.
    private func waitForSlot() throws(StoreError) -> UnsafeMutablePointer<ReaderSlot> {
        for _ in 0..<50_000 {
            MonotonicClock.sleep(for: .microseconds(100))
            if let slot = slots.take() { return slot }
        }
        throw .readersFull
    }

    /// Brings a slot to the newest snapshot.
    private func begin(_ slot: UnsafeMutablePointer<ReaderSlot>) throws(StoreError) {
        if slot.pointee.checked != coarseSecond() { compareFiles(slot) }
        // A writer may commit again between LMDB's choice of a snapshot and our look at its meta page; it cannot do so
        // for long.
        for turn in 0..<100 {
            if turn >= 20 {
                // Known to be damaged, most likely; then nobody waits for it to change.
                if slot.pointee.opening?.takeUnretainedValue().isSuspect ?? true { break }
                MonotonicClock.sleep(for: .microseconds(20))
            }
            try renew(slot)
            if try readMeta(slot) {
                storeRelease(ReaderSlots.state(slot), ReaderSlot.open)
                return
            }
            if let transaction = slot.pointee.transaction { mdb_txn_reset(transaction) }
        }
        guard let opening = slot.pointee.opening?.takeUnretainedValue() else { throw .closed }
        opening.setSuspect(true)
        throw opening.damaged(Damage(kind: .meta, page: slot.pointee.snapshot & 1))
    }

    /// Throws while there is no room for what is mapped. Before anything of it is touched: a read does, too.
    func requireRoom() throws(StoreError) {
        let second = coarseSecond()
        guard let shortage = settings.findShortage(directory) else {
            return storeRelease(shared.roomSeen, UInt64(second) &+ 1)
        }
        storeRelease(shared.roomSeen, 0)
        note(shortage)
        throw shortage
    }

    private func coarseSecond() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return time.tv_sec
    }

    /// Once a second, sees whether another process replaced the files.
    private func compareFiles(_ slot: UnsafeMutablePointer<ReaderSlot>) {
        slot.pointee.checked = coarseSecond()
        // What cannot be looked at goes on as it was; so does a write, whose next one looks itself.
        guard let opening = opening(), let isCurrent = try? opening.isCurrent(), !isCurrent, !writing.isMine else {
            return
        }
        storeOrdered(ReaderSlots.state(slot), ReaderSlot.open)
        defer { storeOrdered(ReaderSlots.state(slot), ReaderSlot.entering) }
        // When that fails there is nothing to read.
        try? writing.holding { () throws(StoreError) in try reopen(insteadOf: opening) }
    }

    /// Makes a slot's transaction belong to the current opening.
    private func bind(_ slot: UnsafeMutablePointer<ReaderSlot>) throws(StoreError) {
        let state = ReaderSlots.state(slot)
        storeOrdered(state, ReaderSlot.open)
        ReaderSlots.empty(slot)
        if opening() == nil {
            if writing.isMine { throw .closed }
            // For all slots one after the other, and not again for a while when it fails.
            try writing.holding { () throws(StoreError) in _ = try presentOpening() }
        }
        let (opening, generation) = current.withLock { ($0.opening, loadAcquire(shared.generation)) }
        guard let opening else { throw .closed }
        enterLibrary(slot)
        try opening.requireMap()
        var transaction: OpaquePointer?
        var code = mdb_txn_begin(opening.environment, nil, UInt32(MDB_RDONLY), &transaction)
        if code == MDB_READERS_FULL {
            // Processes that were killed leave their places behind.
            var dead: Int32 = 0
            mdb_reader_check(opening.environment, &dead)
            code = mdb_txn_begin(opening.environment, nil, UInt32(MDB_RDONLY), &transaction)
            // So do idle slots of this process, one for each thread that ever read.
            if code == MDB_READERS_FULL, releaseIdleSlot() {
                code = mdb_txn_begin(opening.environment, nil, UInt32(MDB_RDONLY), &transaction)
            }
        }
        if code == MDB_MAP_RESIZED {
            try adoptSize(of: opening, slot)
            code = mdb_txn_begin(opening.environment, nil, UInt32(MDB_RDONLY), &transaction)
        }
        guard code == 0, let transaction else {
            throw .fromReading(code, "mdb_txn_begin", path: opening.dataPath)
        }
        mdb_txn_reset(transaction)
        slot.pointee.transaction = transaction
        slot.pointee.opening = Unmanaged.passRetained(opening)
        slot.pointee.generation = generation
    }

    /// Gives up the place of a slot that nobody uses; whether there was one.
    private func releaseIdleSlot() -> Bool {
        for index in 0..<ReaderSlots.count {
            let slot = slots[index]
            let state = ReaderSlots.state(slot)
            guard exchange(state, ReaderSlot.free, ReaderSlot.open) else { continue }
            let hasPlace = slot.pointee.transaction != nil
            if hasPlace { ReaderSlots.empty(slot) }
            storeRelease(state, ReaderSlot.free)
            if hasPlace { return true }
        }
        return false
    }

    /// Marks a slot as inside LMDB, after any move of the mapping.
    @inline(__always)
    private func enterLibrary(_ slot: UnsafeMutablePointer<ReaderSlot>) {
        let state = ReaderSlots.state(slot)
        storeOrdered(state, ReaderSlot.entering)
        while loadOrdered(shared.isResizing) != 0 {
            // Out of the mover's way, which waits for all that are inside.
            storeOrdered(state, ReaderSlot.open)
            MonotonicClock.sleep(for: .microseconds(50))
            storeOrdered(state, ReaderSlot.entering)
        }
    }

    @inline(__always)
    private func renew(_ slot: UnsafeMutablePointer<ReaderSlot>) throws(StoreError) {
        // `take` stored `entering` already, but only a store before this load orders it against the mover's.
        if loadOrdered(shared.isResizing) != 0 { enterLibrary(slot) }
        // After that look: a move that failed has taken the opening with it.
        if slot.pointee.generation != loadAcquire(shared.generation) { try bind(slot) }
        guard let transaction = slot.pointee.transaction else { throw .closed }
        var code = mdb_txn_renew(transaction)
        if code == 0 { return }
        guard let opening = slot.pointee.opening?.takeUnretainedValue() else { throw .closed }
        if code == MDB_MAP_RESIZED {
            try adoptSize(of: opening, slot)
            code = mdb_txn_renew(transaction)
        }
        if code == MDB_PANIC {
            // This slot's transaction is what may keep the files open: whoever has let go of them waits for its end.
            storeOrdered(ReaderSlots.state(slot), ReaderSlot.open)
            if !writing.isMine, self.opening() === opening { writing.holding { retire(opening, isSuspect: true) } }
        }
        if code != 0 { throw .from(code, "mdb_txn_renew", path: opening.dataPath) }
    }

    /// Another process made the environment larger.
    private func adoptSize(of opening: Opening, _ slot: UnsafeMutablePointer<ReaderSlot>) throws(StoreError) {
        // This thread's own write has the size it needs.
        if writing.isMine { throw .from(MDB_MAP_RESIZED, "mdb_txn_renew", path: opening.dataPath) }
        storeOrdered(ReaderSlots.state(slot), ReaderSlot.open)
        try writing.holding { () throws(StoreError) in try adoptSize(of: opening) }
        enterLibrary(slot)
        // Another thread may have lost it since.
        try opening.requireMap()
    }

    /// Takes over the size that another process chose. Writing mutex, no write transaction of this process.
    func adoptSize(of opening: Opening) throws(StoreError) {
        let size: UInt64
        do throws(Damage) {
            size = try opening.latestMetaWhileOthersWrite().mapSize
        } catch {
            opening.setSuspect(true)
            throw opening.damaged(error)
        }
        try resize(opening, to: Int(size))
    }

    /// Changes the size of LMDB's mapping. Writing mutex, no write transaction of this process.
    ///
    /// LMDB gives its mapping up before it asks for the new one. When that cannot be had the opening is let go of: the
    /// files are as good as before, and the next read or write opens them again.
    func resize(_ opening: Opening, to size: Int) throws(StoreError) {
        try opening.requireMap()
        // In the middle of a transaction, which LMDB left then, it refuses.
        if opening.isBroken { throw .from(EINVAL, "mdb_env_set_mapsize", path: opening.dataPath) }
        // Where ours cannot be had, LMDB keeps what it has.
        _ = try opening.map(pages: UInt64(size / PageLayout.size))
        storeOrdered(shared.isResizing, 1)
        defer { storeOrdered(shared.isResizing, 0) }
        for index in 0..<ReaderSlots.count {
            while loadOrdered(ReaderSlots.state(slots[index])) == ReaderSlot.entering { sched_yield() }
        }
        let code = mdb_env_set_mapsize(opening.environment, size)
        if code == 0 { return }
        // Before readers go on, so that none enters LMDB with it.
        opening.noteMapLost()
        retire(opening)
        throw .from(code, "mdb_env_set_mapsize", path: opening.dataPath)
    }

    /// Takes from the meta page where the snapshot's trees are.
    ///
    /// - Returns: False when that is not certain yet, and the snapshot must be chosen again.
    @inline(__always)
    private func readMeta(_ slot: UnsafeMutablePointer<ReaderSlot>) throws(StoreError) -> Bool {
        guard let transaction = slot.pointee.transaction, let opening = slot.pointee.opening else { throw .closed }
        let identifier = UInt64(mdb_txn_id(transaction))
        // Unchanged since the slot's last snapshot: all is known.
        if slot.pointee.snapshot == identifier, slot.pointee.known == 1 { return true }
        slot.pointee.known = 0
        if slot.pointee.mappedPages < 2 {
            let mapping = try opening.takeUnretainedValue().map(pages: 2)
            slot.pointee.base = mapping.base
            slot.pointee.mappedPages = mapping.pages
        }
        // By way of a local: lending a part of the slot counts as an access to all of it, `state` included.
        var seen = slot.pointee.seen
        let found = SnapshotMeta(identifier, at: slot.pointee.base, seenBefore: &seen)
        slot.pointee.seen = seen
        guard let meta = found else { return false }
        slot.pointee.main = meta.main
        for index in 0..<Table.limit { slot.pointee.tables[index] = nil }
        try limit(slot, opening, to: meta.lastPage)
        slot.pointee.snapshot = identifier
        slot.pointee.known = 1
        return true
    }

    /// Sets how far the snapshot may look: to its last page, and never beyond the end of the file.
    private func limit(
        _ slot: UnsafeMutablePointer<ReaderSlot>, _ opening: Unmanaged<Opening>, to lastPage: UInt64
    ) throws(StoreError) {
        let opening = opening.takeUnretainedValue()
        if lastPage >= opening.filePages { opening.refreshFilePages() }
        let pages = min(opening.filePages, lastPage &+ 1)
        if pages > slot.pointee.mappedPages {
            let mapping = try opening.map(pages: max(pages, slot.pointee.mappedPages &* 2))
            slot.pointee.base = mapping.base
            slot.pointee.mappedPages = mapping.pages
        }
        slot.pointee.pages = pages
    }
}
