import CTrawlLMDB
import Glibc
import TrawlPlatform

extension Environment {
    /// How a try at a write ended.
    private enum Outcome<Value> {
        case done(Value)
        case failed(StoreError)
        /// It did not fit into the mapping.
        case mapFull
        /// Another process has a larger mapping, and now this one has it too.
        case again
        /// Another process replaced the files.
        case replaced
        /// The files contradict themselves.
        case damaged(StoreError)
        /// LMDB takes nothing more after a write of its own that failed: the files are to be closed and opened again.
        case unusable
    }

    /// Runs `body` in a write transaction and commits it; when it throws, nothing of it stays.
    ///
    /// Blocks while another thread or process writes. The body may run more than once: when the mapping had to grow, or
    /// the files had to be made anew. Not from within another write.
    ///
    /// - Parameter patience: How long another process may go on writing before this one gives up: `busy`.
    package func write<Value>(
        patience: Duration = .seconds(5), _ body: (borrowing Transaction) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let (value, wantsSync) = try writeNotingSync(patience: patience, body)
        // Nobody else knows that it is wanted.
        if wantsSync { try sync() }
        return value
    }

    /// `write`, and whether the transaction asked to be on disk soon; the caller sees to that.
    func writeNotingSync<Value>(
        patience: Duration, _ body: (borrowing Transaction) throws(StoreError) -> Value
    ) throws(StoreError) -> (value: Value, wantsSync: Bool) {
        if ForkMark.isCopy { throw .forked }
        return try writing.holding { () throws(StoreError) in
            try requireRoom()
            let turn = turn.withLock { $0 }
            guard turn.take(within: patience) else { throw .busy(path: directory, process: turn.holder) }
            defer { turn.give() }
            var replacements = 0
            // Each turn but the last grows the mapping or replaces the files, and both have bounds.
            for _ in 0..<100 {
                let opening = try presentOpening()
                if opening.isBroken {
                    guard settings.isRebuildable else {
                        throw .damaged(path: opening.dataPath, detail: "a transaction could not be ended")
                    }
                    try rebuild(insteadOf: opening)
                    continue
                }
                // Who knows nothing of turns may have LMDB's lock.
                guard opening.waitForWriter(within: patience) else { throw .busy(path: directory, process: 0) }
                switch attempt(opening, body) {
                case .done(let value): return value
                case .failed(let error): throw error
                case .mapFull: try grow(opening)
                case .again: continue
                case .replaced: try reopen(insteadOf: opening)
                case .unusable: retire(opening, isSuspect: true)
                case .damaged(let error):
                    opening.isVerified = false
                    opening.setSuspect(true)
                    guard settings.isRebuildable, replacements < 3 else {
                        try? opening.noteVerdict()
                        throw error
                    }
                    replacements += 1
                    try rebuild(insteadOf: opening)
                }
            }
            throw .full
        }
    }

    private func attempt<Value>(
        _ opening: Opening, _ body: (borrowing Transaction) throws(StoreError) -> Value
    ) -> Outcome<(value: Value, wantsSync: Bool)> {
        var handle: OpaquePointer?
        var code = mdb_txn_begin(opening.environment, nil, 0, &handle)
        if code == MDB_READERS_FULL {
            var dead: Int32 = 0
            mdb_reader_check(opening.environment, &dead)
            code = mdb_txn_begin(opening.environment, nil, 0, &handle)
        }
        guard code == 0, let handle else {
            if code == MDB_MAP_RESIZED {
                do throws(StoreError) { try adoptSize(of: opening) } catch { return outcome(error) }
                return .again
            }
            if code == MDB_PANIC { return .unusable }
            return outcome(.from(code, "mdb_txn_begin", path: opening.dataPath))
        }
        // From here on nobody else commits.
        let pages: ChangeCheck
        do throws(StoreError) {
            guard try opening.isCurrent() else {
                mdb_txn_abort(handle)
                return .replaced
            }
            pages = try snapshot(opening, number: UInt64(mdb_txn_id(handle)) - 1)
            if !opening.isVerified || opening.isSuspect {
                try opening.checkStructure()
                opening.isVerified = true
                opening.setSuspect(false)
                opening.hasNewVerdict = true
            }
        } catch {
            mdb_txn_abort(handle)
            return outcome(error)
        }
        let transaction = Transaction(handle, opening: opening, pages: pages)
        let value: Value
        do throws(StoreError) {
            value = try body(transaction)
            if let failure = transaction.failure { throw failure }
        } catch {
            opening.abandon(handle)
            return outcome(transaction.failure ?? error)
        }
        code = opening.commit(handle)
        if code != 0 {
            // A list of free pages that changed behind LMDB's back makes it write far away. A full disk is just that.
            if code != ENOSPC, code != EDQUOT { opening.setSuspect(true) }
            return outcome(commitError(code, opening))
        }
        opening.hasWritten = true
        opening.refreshFilePages()
        if opening.hasNewVerdict { try? opening.noteVerdict() }
        return .done((value, transaction.wantsSync && settings.syncPolicy != .everyCommit))
    }

    private func outcome<Value>(_ error: StoreError) -> Outcome<Value> {
        switch error {
        case .full: .mapFull
        case .damaged: .damaged(error)
        default: .failed(error)
        }
    }

    /// The committed pages a write transaction begins with.
    private func snapshot(
        _ opening: Opening, number: UInt64
    ) throws(StoreError) -> ChangeCheck {
        do throws(Damage) {
            let (meta, mapping) = try opening.latestMeta()
            guard meta.transaction == number else { throw Damage(kind: .meta, page: number & 1) }
            if meta.lastPage >= opening.filePages { opening.refreshFilePages() }
            let length = min(opening.filePages, meta.lastPage + 1)
            var base = mapping.base
            if length > mapping.pages {
                guard let longer = try? opening.map(pages: length) else { throw Damage(kind: .meta, page: number & 1) }
                base = longer.base
            }
            // A file only grows.
            guard meta.lastPage >= opening.lastPage else { throw Damage(kind: .meta, page: number & 1) }
            opening.lastPage = meta.lastPage
            let tree = PageTree(base: base, count: length)
            if let pages = opening.pages {
                pages.begin(tree: tree, meta: meta)
                return pages
            }
            let pages = ChangeCheck(tree: tree, meta: meta, tables: opening.settings.tables.count)
            opening.pages = pages
            return pages
        } catch {
            throw opening.damaged(error)
        }
    }

    /// LMDB reports a write that the disk took only in part as an I/O error; mostly there was no more room.
    private func commitError(_ code: Int32, _ opening: Opening) -> StoreError {
        guard code == EIO else { return .from(code, "mdb_txn_commit", path: opening.dataPath) }
        var system = statvfs()
        let isFull =
            statvfs(opening.directory, &system) == 0
            && UInt64(system.f_bavail) * UInt64(system.f_frsize) < 1 << 20
        var limit = rlimit()
        let isLimited =
            getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0
            && limit.rlim_cur != rlim_t.max
        if isFull { return .diskFull(SystemError(errno: ENOSPC, call: "mdb_txn_commit")) }
        if isLimited { return .diskFull(SystemError(errno: EFBIG, call: "mdb_txn_commit")) }
        return .from(code, "mdb_txn_commit", path: opening.dataPath)
    }

    /// Runs `body` while no process is in the middle of a write, or did not come to its end in time. This one begins no
    /// other before `resumeWrites`: those that come wait for that, as long as they would for another process.
    ///
    /// For who is about to stop other processes, and then this one. Not from within a write.
    package func betweenWrites(patience: Duration, _ body: () -> Void) {
        // Where nothing is written nobody has to be waited for.
        if settings.findShortage(directory) != nil { return body() }
        turn.withLock { $0 }.holdBack(within: patience, body)
    }

    /// Doubles LMDB's mapping, up to the bound. Writing mutex, no transaction.
    private func grow(_ opening: Opening) throws(StoreError) {
        var info = MDB_envinfo()
        mdb_env_info(opening.environment, &info)
        let present = Int(info.me_mapsize)
        let limit = min(settings.mapSizeLimit ?? 1 << 45, 1 << 45) & ~4095
        let next = min(present * 2, limit)
        guard next > present else { throw .full }
        try resize(opening, to: next)
    }

    /// Brings what was committed to the disk. Blocks as long as the disk takes.
    package func sync() throws(StoreError) {
        if ForkMark.isCopy { throw .forked }
        guard let opening = opening() else { throw .closed }
        let code = mdb_env_sync(opening.environment, 1)
        if code != 0 { throw .from(code, "mdb_env_sync", path: opening.dataPath) }
    }

    /// Frees the places of readers whose processes were killed. Once a minute is enough.
    ///
    /// - Returns: How many there were.
    @discardableResult
    package func releaseDeadReaders() throws(StoreError) -> Int {
        if ForkMark.isCopy { throw .forked }
        try requireRoom()
        guard let opening = opening() else { throw .closed }
        var dead: Int32 = 0
        let code = mdb_reader_check(opening.environment, &dead)
        if code != 0 { throw .from(code, "mdb_reader_check", path: opening.dataPath) }
        return Int(dead)
    }
}
