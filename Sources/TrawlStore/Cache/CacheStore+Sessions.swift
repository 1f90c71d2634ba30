package import TrawlHTTP

/// A coordinator's sessions in a cache.
extension CacheStore {
    private var sessions: SessionFiles { SessionFiles(in: directory) }

    /// Starts a session. Only coordinators do, and only when something is to be stored for a session.
    package func beginSession(_ id: SessionID = .make()) throws(StoreError) -> OpenSession {
        try sessions.begin(id)
    }

    /// Ends a session and removes what was stored for it: how many records.
    ///
    /// What cannot be removed now leaves its file, by which another coordinator learns of it.
    @discardableResult
    package func endSession(_ session: OpenSession) -> CacheOutcome {
        let outcome = perform(.removeMatching(CacheFilter(storageClass: .session(session.id))))
        if case .removed = outcome { session.end() }
        return outcome
    }

    /// Removes what sessions stored whose coordinators are dead: how many sessions. For coordinators at their start; a
    /// worker never does this.
    @discardableResult
    package func purgeDeadSessions() -> Int {
        var purged = 0
        var isWhole = true
        for id in sessionsWithRecords() where !sessions.isAlive(id) {
            if case .removed = perform(.removeMatching(CacheFilter(storageClass: .session(id)))) {
                purged += 1
            } else {
                isWhole = false
            }
        }
        if isWhole { sessions.removeDead() }
        return purged
    }

    /// Whether a session may have left something: there is a file of one that nobody holds, or a record of one, which a
    /// worker may have stored after its coordinator was gone. Looks at one directory, and once for each session with
    /// records.
    package var hasUnheldSession: Bool {
        sessions.hasUnheld || sessionsWithRecords().contains { !sessions.isAlive($0) }
    }

    /// The sessions that have records.
    func sessionsWithRecords() -> [SessionID] {
        var found: [SessionID] = []
        do throws(StoreError) {
            try environment.read { (snapshot) throws(StoreError) in
                var position = ScopedKey(SessionID(0, 0), 0)
                while true {
                    let count = found.count
                    try position.withBytes { (start) throws(StoreError) in
                        try snapshot.scan(CacheSchema.scoped, from: start) { key, _ in
                            guard let key = ScopedKey.read(key) else { return true }
                            if key.session == found.last { return true }
                            found.append(key.session)
                            return false
                        }
                    }
                    guard found.count > count, let last = found.last else { return }
                    position = ScopedKey(last, .max)
                }
            }
        } catch {
            // What cannot be read now is purged another time.
        }
        return found
    }
}
