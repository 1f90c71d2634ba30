import CLMDB

/// Opening the tables, in the format that is wanted.
extension Opening {
    /// Opens the tables, makes those that are missing, and compares the format. Inside `GuardFile.exclusively`.
    func openTables() throws(StoreError) {
        if try openExistingTables() { return }
        try write { (transaction) throws(StoreError) in
            // LMDB will follow what is there.
            try checkStructure()
            isVerified = true
            hasNewVerdict = true
            var opened: [MDB_dbi] = []
            for table in settings.tables + [FormatRecord.table] {
                var number: MDB_dbi = 0
                let flags = MDB_CREATE | (table.keys == .integers ? MDB_INTEGERKEY : 0)
                try succeed(clmdb_dbi_open(transaction, table.name, UInt32(flags), &number), "mdb_dbi_open")
                opened.append(number)
            }
            tables = opened
            let access = Transaction(transaction, opening: self)
            let found = try FormatRecord.read(access)
            if let found, found < settings.format {
                guard let migrate = settings.migrate else {
                    throw .olderFormat(path: dataPath, found: found, supported: settings.format)
                }
                try migrate(found, access)
            }
            if let found, found > settings.format {
                throw .newerFormat(path: dataPath, found: found, supported: settings.format)
            }
            try FormatRecord.write(settings.format, access)
            if let failure = access.failure { throw failure }
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
            mdb_txn_abort(transaction)
            if code == MDB_NOTFOUND { return false }
            throw .from(code, "mdb_dbi_open", path: dataPath)
        }
        // Handles outlive the transaction only when it commits.
        try succeed(mdb_txn_commit(transaction), "mdb_txn_commit")
        tables = opened
        return true
    }

    /// Puts right what a crash of the system may have mixed. Inside `GuardFile.exclusively`, after the structure was
    /// checked.
    func recover() throws(StoreError) {
        guard let recover = settings.recover else { return }
        try write { (transaction) throws(StoreError) in
            let access = Transaction(transaction, opening: self)
            try recover(access)
            if let failure = access.failure { throw failure }
        }
    }

    /// Runs `body` in a write transaction of its own and commits it; when it throws, nothing of it stays.
    private func write(_ body: (_ transaction: OpaquePointer) throws(StoreError) -> Void) throws(StoreError) {
        let transaction = try beginWrite()
        do throws(StoreError) {
            try body(transaction)
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        hasWritten = true
        try succeed(clmdb_commit(transaction), "mdb_txn_commit")
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
