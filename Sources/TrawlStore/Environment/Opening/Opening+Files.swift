import CTrawlLMDB
import Glibc
import TrawlPlatform

extension Opening {
    /// Looks at what is in a directory, throws away what must not be used, and opens the rest.
    ///
    /// - Parameter isSuspect: Whether the structure is walked, whoever has checked it before.
    static func open(
        directory: String, settings: EnvironmentSettings, isSuspect: Bool = false
    ) throws(StoreError) -> Opening {
        try StoreDirectory.prepare(directory)
        if let shortage = settings.findShortage(directory) { throw shortage }
        let boot = settings.boot()
        for _ in 0..<16 {
            let guardFile = try GuardFile(
                directory: directory, mode: 0o600, patience: settings.openingPatience)
            let opening: Opening? = try guardFile.exclusively { () throws(StoreError) in
                // Somebody may have removed the directory, and another made it anew, before the lock was ours.
                guard try guardFile.isCurrent() else { return nil }
                let numbers = TakenNumbers()
                defer { numbers.give() }
                return try openLocked(directory, settings, guardFile, boot, isSuspect)
            }
            if let opening { return opening }
        }
        throw .unusable(path: directory, reason: "is removed again and again")
    }

    private static func openLocked(
        _ directory: String, _ settings: EnvironmentSettings, _ guardFile: GuardFile, _ boot: String,
        _ isSuspect: Bool
    ) throws(StoreError) -> Opening {
        let isAlone = try guardFile.join()
        var note = guardFile.note()
        let path = directory + "/data.mdb"
        var facts = try dataFacts(path, settings)
        // Without syncing, a crash of the system may leave any mixture of old and new pages. An orderly end leaves
        // everything; which of the two it was, nobody knows.
        let isOtherBoot = isAlone && facts != nil && settings.syncPolicy != .everyCommit && note?.boot != boot
        var isTrusted = false
        if let facts, let verified = note?.verified, note?.boot == boot {
            // Whoever has it open checked it, or trusts one who did; or nothing touched the file since it was checked.
            isTrusted = isAlone ? verified == GuardNote.Stamp(facts) : verified.file == facts.identity.inode
        }
        isTrusted = facts == nil || isTrusted && !isSuspect
        // An empty file in which there was something, since an opener left its note.
        var followsDamage = false
        if facts == nil, note != nil { followsDamage = try FileFacts.of(path, followingLinks: false) != nil }
        // A lock file without data is that of files that were removed: whoever has them open keeps it.
        if facts == nil {
            settings.beforeMakingAnew?(directory)
            try remove(directory)
        }
        var mustNote = note?.boot != boot || facts == nil
        if mustNote { note?.verified = nil }

        func attempt(mustCheck: Bool) throws(StoreError) -> Opening {
            if let facts { try checkMetaPages(path, facts, isAlone: isAlone) }
            let opening = try Opening(
                directory: directory, settings: settings, guardFile: guardFile, isVerified: isTrusted,
                wasAlone: isAlone)
            try opening.openTables()
            try opening.checkSnapshot(onlyIfShort: !mustCheck)
            if mustCheck {
                opening.isVerified = true
                opening.hasNewVerdict = true
            }
            if isOtherBoot, mustCheck { try opening.recover() }
            return opening
        }
        let opening: Opening
        do {
            opening = try attempt(mustCheck: isOtherBoot || isSuspect && facts != nil)
        } catch {
            guard settings.isRebuildable, error.isCuredByRebuilding, facts != nil else { throw error }
            if case .damaged = error { followsDamage = true }
            settings.beforeMakingAnew?(directory)
            try remove(directory)
            facts = nil
            isTrusted = true
            mustNote = true
            opening = try attempt(mustCheck: false)
        }
        if mustNote || opening.hasWritten || opening.hasNewVerdict {
            let verified = opening.isVerified ? GuardNote.Stamp(try opening.dataFacts()) : nil
            try guardFile.write(GuardNote(boot: boot, verified: verified))
            opening.hasNewVerdict = false
        }
        if isAlone { WriterTurn.remove(in: directory) }
        opening.followsDamage = followsDamage
        opening.isMadeAnew = facts == nil
        return opening
    }

    /// Facts about the data file; `nil` when there is none, or an empty one.
    private static func dataFacts(
        _ path: String, _ settings: EnvironmentSettings
    ) throws(StoreError) -> FileFacts? {
        guard let facts = try FileFacts.of(path, followingLinks: false) else { return nil }
        guard facts.isRegular else { throw .unusable(path: path, reason: "is no file") }
        guard facts.owner == geteuid() else { throw .unusable(path: path, reason: "belongs to user \(facts.owner)") }
        guard facts.mode & (settings.isRebuildable ? 0o022 : 0o077) == 0 else {
            throw .unusable(path: path, reason: "others have rights to it")
        }
        return facts.size == 0 ? nil : facts
    }

    /// Reads the meta pages before LMDB does.
    private static func checkMetaPages(
        _ path: String, _ facts: FileFacts, isAlone: Bool
    ) throws(StoreError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw .last("open \(path)") }
        // LMDB has no lock on this file, so closing it gives none away.
        defer { Glibc.close(descriptor) }
        try withUnsafeTemporaryAllocation(byteCount: 2 * PageLayout.size, alignment: 8) { buffer throws(StoreError) in
            // Another process may be writing one of them.
            for attempt in 1...100 {
                let count = pread(descriptor, buffer.baseAddress, buffer.count, 0)
                do throws(Damage) {
                    guard count == buffer.count else { throw Damage(kind: .meta, page: 0) }
                    _ = try MetaPage.latest(of: UnsafeRawBufferPointer(buffer))
                    return
                } catch {
                    if attempt == 100 || isAlone { throw .damaged(path: path, detail: error.detail) }
                    MonotonicClock.sleep(for: .microseconds(200))
                }
            }
        }
    }

    /// Removes LMDB's two files. Processes that have them open keep what they have. Inside `GuardFile.exclusively`.
    static func remove(_ directory: String) throws(StoreError) {
        // Together, since the lock file has the readers and the last transaction of its data file.
        for name in ["data.mdb", "lock.mdb"] {
            if unlink(directory + "/" + name) != 0, errno != ENOENT { throw .last("unlink \(directory)/\(name)") }
        }
    }

    /// Tells the next openers that the structure was checked, or that it must be.
    func noteVerdict() throws(StoreError) {
        try guardFile.exclusively { () throws(StoreError) in
            guard try isCurrent(), var note = guardFile.note() else { return }
            note.verified = isVerified && !isSuspect ? GuardNote.Stamp(try dataFacts()) : nil
            try guardFile.write(note)
        }
        hasNewVerdict = false
    }

    /// Brings what this process committed to the disk, unless nobody or each commit did. Before `finish`.
    func bringToDisk() throws(StoreError) {
        guard settings.syncPolicy == .grouped, hasWritten, !isBroken else { return }
        try succeed(mdb_env_sync(environment, 1), "mdb_env_sync")
    }

    /// Brings this opening to its end: notes what the next opener may rely on. The caller drops it then.
    func finish() throws(StoreError) {
        try guardFile.exclusively { () throws(StoreError) in
            guard try guardFile.isCurrent(), try isCurrent(), try guardFile.isLast() else { return }
            guard var note = guardFile.note() else { return }
            let isSound = !isBroken && !isSuspect
            let verified = isSound && isVerified ? GuardNote.Stamp(try dataFacts()) : nil
            if note.verified == verified { return }
            note.verified = verified
            try guardFile.write(note)
        }
    }
}

extension StoreError {
    /// Whether an environment that may start empty should do so.
    var isCuredByRebuilding: Bool {
        switch self {
        case .damaged, .olderFormat: true
        default: false
        }
    }
}
