/// A write of a group.
protocol GroupedWrite: AnyObject, Sendable {
    /// Makes the change; as ``GroupedWrites/Work``.
    func run(in transaction: borrowing Transaction) throws(StoreError)
    /// Told once, after the commit, on the store thread; with what went wrong.
    func ended(_ failure: StoreError?)
}

/// A write of two closures.
final class ClosureWrite: GroupedWrite {
    private let work: GroupedWrites.Work
    private let completion: GroupedWrites.Completion

    init(work: @escaping GroupedWrites.Work, completion: @escaping GroupedWrites.Completion) {
        self.work = work
        self.completion = completion
    }

    func run(in transaction: borrowing Transaction) throws(StoreError) { try work(transaction) }

    func ended(_ failure: StoreError?) { completion(failure.map { .failure($0) } ?? .success(())) }
}
