import Glibc
import TrawlHTTP
import TrawlPlatform

/// Files that were replaced beneath an environment, or that it must let go of.
extension Environment {
    /// The opening there is; opens the files again when they were let go of. Writing mutex.
    func presentOpening() throws(StoreError) -> Opening {
        if let opening = opening() { return opening }
        let (isClosed, isSuspect, failure) = current.withLock { ($0.isClosed, $0.isSuspect, $0.failure) }
        if isClosed { throw .closed }
        if let failure, MonotonicClock.now() < failure.until { throw failure.error }
        do throws(StoreError) {
            try waitForRetired()
            let next = try Opening.open(directory: directory, settings: settings, isSuspect: isSuspect)
            guard install(next, insteadOf: nil) else { throw .closed }
            return next
        } catch {
            noteFailure(error)
            throw error
        }
    }

    /// Notes why the files could not be opened again. Writing mutex.
    private func noteFailure(_ error: StoreError) {
        let end = MonotonicClock.now().advanced(by: settings.reopeningPause)
        current.withLock { $0.failure = (error, end) }
        note(error)
    }

    /// LMDB's locks belong to the process, so it never has the same files open twice. Where there are others by now,
    /// nobody waits.
    private func waitForRetired() throws(StoreError) {
        guard let retired = current.withLock({ $0.retired }), try Opening.lockFile(in: directory) == retired,
            !waitUntilClosed(retired)
        else { return }
        throw .unusable(path: directory + "/data.mdb", reason: "a snapshot of before a failed write is still open")
    }

    /// Puts a new opening of the directory's files in the place of `old`, if nobody did so yet. Writing mutex.
    ///
    /// `old` is not what is there any more: when that cannot be opened, nothing is read or written until it can be.
    /// What was deleted says nothing about what others stored or invalidated since.
    func reopen(insteadOf old: Opening) throws(StoreError) {
        let isOurs = current.withLock { $0.opening === old && !$0.isClosed }
        guard isOurs else { return }
        do throws(StoreError) {
            _ = install(try Opening.open(directory: directory, settings: settings), insteadOf: old)
        } catch {
            retire(old)
            noteFailure(error)
            throw error
        }
    }

    /// Lets go of an opening. The next read or write opens the files again. Writing mutex.
    ///
    /// - Parameter isSuspect: Whether they are walked then.
    func retire(_ old: Opening, isSuspect: Bool = false) {
        let isOurs = current.withLock { current in
            guard current.opening === old else { return false }
            current.opening = nil
            current.retired = old.lockFile
            current.isSuspect = isSuspect
            current.failure = nil
            return true
        }
        if isOurs { raiseGeneration() }
    }

    private func install(_ next: Opening, insteadOf old: Opening?) -> Bool {
        let isInstalled = current.withLock { current in
            guard current.opening === old, !current.isClosed else { return false }
            current.opening = next
            current.isSuspect = false
            current.failure = nil
            return true
        }
        guard isInstalled else { return false }
        if next.followsDamage { noteLoss() }
        if next.isMadeAnew { noteFreshFiles() }
        // The directory may be another one.
        let turn = WriterTurn(in: directory)
        self.turn.withLock { $0 = turn }
        raiseGeneration()
        return true
    }

    private func raiseGeneration() {
        storeOrdered(shared.generation, loadAcquire(shared.generation) + 1)
        releaseIdleSlots()
    }

    /// Throws the files of `old` away, unless another process did so already, and opens new ones. Writing mutex.
    func rebuild(insteadOf old: Opening) throws(StoreError) {
        try old.guardFile.exclusively { () throws(StoreError) -> Void in
            guard try old.isCurrent() else { return }
            try Opening.remove(directory)
            noteLoss()
        }
        try reopen(insteadOf: old)
    }

    /// Throws all rows and the files away and begins with new ones, which are as short as files can be. Not for what
    /// lasts.
    ///
    /// Others that have the environment open find the new files before they write next, and within a second before they
    /// read: the space is given back when the last of them has. What one of them commits in that very moment without a
    /// turn is lost.
    ///
    /// - Parameter patience: How long another process may go on writing before this one gives up: `busy`.
    package func startOver(patience: Duration = .seconds(5)) throws(StoreError) {
        precondition(settings.isRebuildable, "what lasts is not thrown away")
        if ForkMark.isCopy { throw .forked }
        try writing.holding { () throws(StoreError) in
            try requireRoom()
            let turn = turn.withLock { $0 }
            guard turn.take(within: patience) else { throw .busy(path: directory, process: turn.holder) }
            defer { turn.give() }
            try removeFiles(patience)
            _ = try presentOpening()
        }
    }

    /// Removes the files and lets go of them, so that a full disk has room for new ones. Writing mutex.
    private func removeFiles(_ patience: Duration) throws(StoreError) {
        let opening = try presentOpening()
        guard opening.waitForWriter(within: patience) else { throw .busy(path: directory, process: 0) }
        try opening.guardFile.exclusively { () throws(StoreError) in
            // Who did so already has left others, with something in them perhaps.
            if try opening.isCurrent() { try Opening.remove(directory) }
        }
        retire(opening)
    }
}
