/// Writes that wait for a transaction, in the order in which they came.
///
/// However many wait for another process that is in the middle of a write: what is done for each try that was in vain
/// grows with a group and with what came since the last one, and not with what waits.
struct WriteQueue {
    struct Item {
        /// Whether it goes on waiting when another process is in the way.
        let insists: Bool
        let write: any GroupedWrite
    }

    /// Those that came since the last try.
    private var new: [Item] = []
    /// Before these: those that insist and met another process, the oldest first.
    private var kept: [Item] = []

    var count: Int { kept.count + new.count }
    var isEmpty: Bool { kept.isEmpty && new.isEmpty }
    /// How many came since the last try.
    var newCount: Int { new.count }
    /// Whether some wait for another process.
    var hasKept: Bool { !kept.isEmpty }

    mutating func append(_ item: Item) {
        new.append(item)
    }

    /// Takes the first, so many at most, and makes room for as many more: not on a thread of transfers.
    mutating func take(_ most: Int) -> [Item] {
        if kept.isEmpty, new.count <= most {
            var all: [Item] = []
            all.reserveCapacity(most)
            swap(&all, &new)
            return all
        }
        let first = Array(kept.prefix(most))
        kept.removeFirst(first.count)
        let rest = new.prefix(most - first.count)
        defer { new.removeFirst(rest.count) }
        return first + rest
    }

    /// Another process was in the way of a group: those of it that insist come first again, and what came behind it has
    /// waited as long, so that those that do not insist are over with it.
    ///
    /// - Parameters:
    ///   - failures: Why writes of the group failed by themselves; changed to be those of what is returned.
    ///   - keeps: Whether any may go on waiting.
    /// - Returns: Those that are over.
    mutating func putBack(_ group: [Item], _ failures: inout [StoreError?], keeps: Bool) -> [Item] {
        guard keeps else {
            let over = group + kept + new
            failures += [StoreError?](repeating: nil, count: count)
            kept = []
            new = []
            return over
        }
        var waiting: [Item] = []
        var over: [Item] = []
        var reasons: [StoreError?] = []
        for (item, failure) in zip(group, failures) {
            if item.insists, failure == nil {
                waiting.append(item)
            } else {
                over.append(item)
                reasons.append(failure)
            }
        }
        kept.insert(contentsOf: waiting, at: 0)
        for item in new {
            if item.insists {
                kept.append(item)
            } else {
                over.append(item)
                reasons.append(nil)
            }
        }
        new.removeAll(keepingCapacity: true)
        failures = reasons
        return over
    }
}
