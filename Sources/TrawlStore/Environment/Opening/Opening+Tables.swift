import CTrawlLMDB

/// Opening the tables, in the format that is wanted.
extension Opening {
    /// Opens the tables, makes those that are missing, and compares the format. Inside `GuardFile.exclusively`.
    func openTables() throws(StoreError) {
        if try openExistingTables() { return }
        try write { (handle, transaction) throws(StoreError) in
            // LMDB will follow what is there.
            try checkStructure()
            isVerified = true
            hasNewVerdict = true
            var opened: [MDB_dbi] = []
            for table in settings.tables + [FormatRecord.table] {
                var number: MDB_dbi = 0
                let flags = MDB_CREATE | (table.keys == .integers ? MDB_INTEGERKEY : 0)
                let code = clmdb_dbi_open(handle, table.name, UInt32(flags), &number)
                try transaction.succeed(code, "mdb_dbi_open")
                opened.append(number)
            }
            tables = opened
            let found = try FormatRecord.read(transaction)
            if let found, found < settings.format {
                guard let migrate = settings.migrate else {
                    throw .olderFormat(path: dataPath, found: found, supported: settings.format)
                }
                try migrate(found, transaction)
            }
            if let found, found > settings.format {
                throw .newerFormat(path: dataPath, found: found, supported: settings.format)
            }
            try FormatRecord.write(settings.format, transaction)
        }
    }

    /// Opens the tables if all are there in the right format.
    private func openExistingTables() throws(StoreError) -> Bool {
        let format = try withSnapshot { meta throws(StoreError) -> UInt32? in
            do throws(Damage) {
                try check(meta, tablesOnly: true)
                let pages = min(filePages, meta.lastPage + 1)
                guard let mapping = try? map(pages: pages) else { throw Damage(kind: .meta, page: 0) }
                return try FormatRecord.read(PageTree(base: mapping.base, count: pages), main: meta.main)
            } catch {
                throw damaged(error)
            }
        }
        if let format, format > settings.format {
            throw .newerFormat(path: dataPath, found: format, supported: settings.format)
        }
        guard format == settings.format else { return false }
        let transaction = try beginRead()
        var opened: [MDB_dbi] = []
        for table in settings.tables + [FormatRecord.table] {
            var number: MDB_dbi = 0
            let flags = table.keys == .integers ? MDB_INTEGERKEY : 0
            let code = clmdb_dbi_open(transaction, table.name, UInt32(flags), &number)
            if code == 0 {
                opened.append(number)
                continue
            }
            noteAssertion(code)
            if !isBroken { mdb_txn_abort(transaction) }
            if code == MDB_NOTFOUND { return false }
            throw .from(code, "mdb_dbi_open", path: dataPath)
        }
        // Handles outlive the transaction only when it commits.
        try succeed(clmdb_commit(transaction), "mdb_txn_commit")
        tables = opened
        return true
    }

    /// Puts right what a crash of the system may have mixed. Inside `GuardFile.exclusively`, after the structure was
    /// checked.
    func recover() throws(StoreError) {
        guard let recover = settings.recover else { return }
        try write { (_, transaction) throws(StoreError) in try recover(transaction) }
    }

    /// Runs `body` in a write transaction of its own and commits it; when it throws, nothing of it stays.
    private func write(
        _ body: (_ handle: OpaquePointer, _ transaction: borrowing Transaction) throws(StoreError) -> Void
    ) throws(StoreError) {
        let handle = try beginWrite()
        let transaction = Transaction(handle, opening: self)
        do throws(StoreError) {
            try body(handle, transaction)
            if let failure = transaction.failure { throw failure }
        } catch {
            abandon(handle)
            throw error
        }
        hasWritten = true
        try succeed(commit(handle), "mdb_txn_commit")
        refreshFilePages()
    }

    /// Begins a write transaction before there is a turn to take; others may have the files open, and be in the middle
    /// of one.
    private func beginWrite() throws(StoreError) -> OpaquePointer {
        guard waitForWriter(within: min(settings.openingPatience, .seconds(5))) else {
            throw .busy(path: directory, process: 0)
        }
        var transaction: OpaquePointer?
        try succeed(mdb_txn_begin(environment, nil, 0, &transaction), "mdb_txn_begin")
        guard let transaction else { throw .closed }
        return transaction
    }
}
