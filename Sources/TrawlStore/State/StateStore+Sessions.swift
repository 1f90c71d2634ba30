package import TrawlHTTP
import TrawlSession

/// Coordinators' sessions in a state.
extension StateStore {
    private var sessions: SessionFiles { SessionFiles(in: directory) }

    /// Starts a session. Only coordinators do, before something is stored that ends with it.
    package func beginSession(_ id: SessionID) throws(StoreError) -> OpenSession {
        try sessions.begin(id)
    }

    /// Ends a session, and removes what ends with it. What cannot be removed now leaves its file, by which another
    /// coordinator learns of it.
    package func endSession(_ session: OpenSession) {
        let mark = session.id.first
        // What was never stored need not be removed.
        if changes(of: .cookies) != 0 {
            let removed = try? perform(.cookies) { (transaction) throws(StoreError) in
                try CookieTable.remove(from: nil, in: transaction) {
                    $0.session == mark && $0.flags.contains(.endsWithSession)
                }
            }
            if removed == nil { return }
        }
        session.end()
    }

    /// Whether a session may have left something: there is a file of one that nobody holds. Looks at one directory.
    package var hasUnheldSession: Bool { sessions.hasUnheld }

    /// Removes what dead coordinators' sessions left. For coordinators at their start; a worker never does this.
    ///
    /// A worker may store something a moment after its coordinator is gone, and after this. So the file of a session
    /// stays until it has been purged once more, later than that.
    ///
    /// - Parameter now: Seconds since 1970; the time when nothing is given.
    /// - Returns: How many cookies went.
    @discardableResult
    package func purgeDeadSessions(at now: Int64? = nil) -> Int {
        var purged = 0
        if changes(of: .cookies) != 0 {
            let removed = try? perform(.cookies) { (transaction) throws(StoreError) in
                // Nobody commits meanwhile, and what is committed came after its session had begun.
                let held = try sessions.heldFirstHalves()
                return try CookieTable.remove(from: nil, in: transaction) {
                    $0.flags.contains(.endsWithSession) && !held.contains($0.session)
                }
            }
            guard let removed else { return 0 }
            purged = removed
        }
        sessions.removeDead(afterTwoPurges: true, at: now)
        return purged
    }
}
