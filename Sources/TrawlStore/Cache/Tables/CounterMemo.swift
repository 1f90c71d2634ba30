/// The counters while a group of changes is made, so that they are read and written once for all of them.
///
/// `@unchecked Sendable`: it is touched only inside write transactions, of which a process has one at a time.
final class CounterMemo: @unchecked Sendable {
    /// Whether a group is under way; without one, counters go to the table at once.
    private(set) var isOpen = false
    /// What the group has come to; nothing before the first change of it.
    private(set) var counters: CacheCounters?
    private var isChanged = false
    /// Steps left of the group.
    private var steps = 0
    /// Bytes that the group may store before the budget is looked at again: counting pages costs as much as a small
    /// record.
    private var room: UInt64 = 0

    /// Rows that a group looks at beside those it is asked for, at most: to evict, above all. Neither a budget made
    /// smaller nor many hits at the same time shall keep everybody else waiting; what is left is done in later groups.
    private static let mostSteps = 4096

    /// Whether one more row may be looked at.
    func step() -> Bool {
        if isOpen { steps -= 1 }
        return steps >= 0
    }

    /// Whether so many more bytes are within the budget for certain.
    func takes(_ bytes: UInt64) -> Bool {
        guard isOpen, room >= bytes else { return false }
        room -= bytes
        return true
    }

    /// Takes what was found to be left of the budget.
    func note(room: UInt64) { self.room = room }

    /// A transaction begins, and knows nothing of one before it that may have come to nothing.
    func begin() {
        isOpen = true
        steps = Self.mostSteps
        room = 0
        isChanged = false
        counters = nil
    }

    /// Takes what was read from the table.
    func note(_ counters: CacheCounters) {
        if isOpen { self.counters = counters }
    }

    /// Takes what is to be written.
    ///
    /// - Returns: Whether that happens at the end of the group.
    func change(_ counters: CacheCounters) -> Bool {
        if !isOpen { return false }
        self.counters = counters
        isChanged = true
        return true
    }

    /// The group is complete: what is to be written now.
    func end() -> CacheCounters? {
        defer {
            isOpen = false
            steps = 0
            counters = nil
        }
        return isChanged ? counters : nil
    }
}
