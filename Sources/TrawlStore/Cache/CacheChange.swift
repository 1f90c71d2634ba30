/// One change of a cache on its way through the store thread.
///
/// `@unchecked Sendable`: from the moment it is handed over only the store thread touches it, one call after the other.
final class CacheChange: GroupedWrite, @unchecked Sendable {
    /// What is done in the transaction.
    enum Work {
        case change(CacheWrite)
        case other(CacheStore.Work)
    }

    private let store: CacheStore
    private let work: Work
    private let then: @Sendable (CacheOutcome) -> Void
    private var outcome = CacheOutcome.removed(0)
    private var effects = CacheTables.Effects()

    /// - Parameter then: Called once.
    init(_ store: CacheStore, _ work: Work, _ then: @escaping @Sendable (CacheOutcome) -> Void) {
        self.store = store
        self.work = work
        self.then = then
    }

    func run(in transaction: borrowing Transaction) throws(StoreError) {
        effects = CacheTables.Effects()
        switch work {
        case .change(let change): outcome = try store.apply(change, in: transaction, &effects)
        case .other(let work): outcome = try work(transaction, &effects)
        }
        store.settings.pass(.beforeCommit)
    }

    func ended(_ failure: StoreError?) {
        if let failure {
            if isHelpedByRoom(failure), store.reserve.release() { return store.hand(self, .now) }
            return end(.notDone(.failed(failure)))
        }
        store.settings.pass(.afterCommit)
        store.settle(effects)
        end(outcome)
    }

    /// Whether it failed for the room that removing takes on a full disk.
    private func isHelpedByRoom(_ failure: StoreError) -> Bool {
        guard case .diskFull = failure, case .change(let change) = work else { return false }
        return change.onlyRemoves
    }

    /// Tells who asked.
    func end(_ outcome: CacheOutcome) {
        if case .change(.append(let record)) = work { store.settleFile(of: record, outcome) }
        then(outcome)
    }
}
