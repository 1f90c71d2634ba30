import TrawlProtocol

/// Ends of leases that are told when what goes with them is in the store, so that the next request finds it there.
///
/// An end waits for the commit of its response, for those of what its heads said about the user, or for both. Each commit
/// is said to be over once, in time or not; an end is ready after the last of its own.
///
/// There are at most as many as leases, and commits come in their order nearly always: what is looked for in an array is
/// its first element.
struct HeldEnds {
    /// Those that wait, each as often as it has commits to come.
    private var waiting: [(number: UInt64, end: HeldEnd)] = []
    /// What was said about users and is not committed yet.
    private var changes: [UInt64] = []
    /// Whether one of these was not stored, and nobody was told yet.
    private var hasLostChange = false
    /// How many ends wait.
    private(set) var count = 0

    /// What is to travel with the ends that wait.
    var descriptors: Set<Int32> { Set(waiting.compactMap(\.end.descriptor)) }

    /// A change about a user is on its way to the store.
    mutating func began(_ change: UInt64) {
        changes.append(change)
    }

    /// Those of the changes that are not committed yet.
    func open(among changes: [UInt64]) -> [UInt64] {
        changes.filter { self.changes.contains($0) }
    }

    /// Lets an end wait for its commits, of which there is one at least.
    mutating func hold(_ end: HeldEnd) {
        if let commit = end.commit { waiting.append((commit, end)) }
        for change in end.changes { waiting.append((change, end)) }
        count += 1
    }

    /// A commit is over.
    ///
    /// - Returns: The end that waited for it, when it was its last.
    mutating func committed(_ number: UInt64, isStored: Bool) -> HeldEnd? {
        // One whose end was told meanwhile is late, and no harm.
        if forget(number), !isStored { hasLostChange = true }
        return settled(number, isStored: isStored)
    }

    /// The ends that waited for commits which take too long: that costs the record, not the fetch.
    ///
    /// - Parameter now: Of the loop's running clock.
    mutating func overdue(at now: UInt64) -> [HeldEnd] {
        var ends: [HeldEnd] = []
        for (number, end) in waiting where end.deadline <= now {
            _ = forget(number)
            if let end = settled(number, isStored: false) { ends.append(end) }
        }
        return ends
    }

    /// Whether it was a change about a user that was not over.
    private mutating func forget(_ change: UInt64) -> Bool {
        guard let place = changes.firstIndex(of: change) else { return false }
        changes.remove(at: place)
        return true
    }

    private mutating func settled(_ number: UInt64, isStored: Bool) -> HeldEnd? {
        guard let place = waiting.firstIndex(where: { $0.number == number }) else { return nil }
        let end = waiting.remove(at: place).end
        guard end.isReady(after: number, isStored: isStored) else { return nil }
        count -= 1
        return end
    }

    /// Whether a change was lost since this was asked last.
    mutating func takeLostChange() -> Bool {
        defer { hasLostChange = false }
        return hasLostChange
    }
}

/// The end of a lease that waits for its commits.
final class HeldEnd {
    private let end: LeaseEnd
    /// What travels with it.
    let descriptor: Int32?
    let progressIndex: Int
    let counted: CountedOrigin?
    /// The commit of its response; nil when none is stored.
    let commit: UInt64?
    /// Those of what its heads said about the user.
    let changes: [UInt64]
    /// Of the loop's running clock.
    let deadline: UInt64
    private var isStored = false
    /// How many commits are still to come.
    private var left: Int

    init(
        _ end: LeaseEnd, descriptor: Int32?, progressIndex: Int, counted: CountedOrigin?, commit: UInt64?,
        changes: [UInt64], deadline: UInt64
    ) {
        self.end = end
        self.descriptor = descriptor
        self.progressIndex = progressIndex
        self.counted = counted
        self.commit = commit
        self.changes = changes
        self.deadline = deadline
        left = changes.count + (commit == nil ? 0 : 1)
    }

    /// One of the commits is over: whether it was the last.
    fileprivate func isReady(after number: UInt64, isStored: Bool) -> Bool {
        if number == commit { self.isStored = isStored }
        left -= 1
        return left == 0
    }

    /// What is to be told.
    var told: LeaseEnd {
        guard commit != nil else { return end }
        var end = end
        end.cache.isStored = isStored
        return end
    }
}
