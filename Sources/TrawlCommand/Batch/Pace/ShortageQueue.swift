import TrawlHTTP

/// Requests for which there was no descriptor, and when they are begun once more.
struct ShortageQueue {
    /// Earliest first, from `first` on; what is before it was taken.
    private var waiting: [(time: MonotonicInstant, tag: UInt64)] = []
    private var first = 0

    var isEmpty: Bool { count == 0 }

    /// How many wait.
    var count: Int { waiting.count - first }

    /// When the next is due.
    var next: MonotonicInstant? { isEmpty ? nil : waiting[first].time }

    mutating func insert(_ tag: UInt64, at time: MonotonicInstant) {
        // All wait for as long, so new ones belong to the end.
        var (low, high) = (first, waiting.count)
        while low < high {
            let middle = low + (high - low) / 2
            if waiting[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        waiting.insert((time, tag), at: low)
    }

    mutating func takeDue(at now: MonotonicInstant) -> UInt64? {
        guard let next, next <= now else { return nil }
        let tag = waiting[first].tag
        first += 1
        if first > 64, first * 2 > waiting.count {
            waiting.removeFirst(first)
            first = 0
        }
        return tag
    }

    /// Empties the queue and returns what waited.
    mutating func removeAll() -> [UInt64] {
        defer { (waiting, first) = ([], 0) }
        return waiting[first...].map(\.tag)
    }
}
