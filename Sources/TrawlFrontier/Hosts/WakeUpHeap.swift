package import TrawlHTTP

/// Which of some small numbers is due first: a binary heap in which each number stands once and can be moved.
///
/// Every change takes time in proportion to the logarithm of how many there are; looking at the first takes none.
package struct WakeUpHeap: Sendable {
    private struct Entry: Sendable {
        var time: UInt64
        var number: UInt32
    }

    private static let absent = UInt32.max

    private var heap: [Entry] = []
    /// Where each number stands in the heap.
    private var positions: [UInt32] = []

    /// An empty heap.
    package init() {}

    /// How many numbers there are.
    package var count: Int { heap.count }

    /// When the first is due, in nanoseconds of `MonotonicInstant`; `UInt64.max` when there is none.
    package private(set) var earliest = UInt64.max

    /// Whether the number is there.
    package func contains(_ number: UInt32) -> Bool {
        number < positions.count && positions[Int(number)] != Self.absent
    }

    /// When the number is due, or nil when it is not there.
    package func time(of number: UInt32) -> MonotonicInstant? {
        guard contains(number) else { return nil }
        return MonotonicInstant(nanoseconds: heap[Int(positions[Int(number)])].time)
    }

    /// Puts the number in, or moves it.
    package mutating func set(_ number: UInt32, to time: MonotonicInstant) {
        let index = Int(number)
        while positions.count <= index { positions.append(Self.absent) }
        let entry = Entry(time: time.nanoseconds, number: number)
        if positions[index] == Self.absent {
            heap.append(entry)
            raise(entry, from: heap.count - 1)
        } else {
            place(entry, at: Int(positions[index]))
        }
        earliest = heap[0].time
    }

    /// Takes the number out, if it is there.
    package mutating func remove(_ number: UInt32) {
        guard contains(number) else { return }
        let hole = Int(positions[Int(number)])
        positions[Int(number)] = Self.absent
        let last = heap.removeLast()
        if hole < heap.count { place(last, at: hole) }
        earliest = heap.first?.time ?? .max
    }

    /// Takes the first number out if it is due.
    package mutating func next(dueAt now: MonotonicInstant) -> UInt32? {
        guard let first = heap.first, first.time <= now.nanoseconds else { return nil }
        remove(first.number)
        return first.number
    }

    /// Puts an entry where another was or is, and from there to where it belongs.
    private mutating func place(_ entry: Entry, at index: Int) {
        if index > 0, entry.time < heap[(index - 1) / 2].time {
            raise(entry, from: index)
        } else {
            sink(entry, from: index)
        }
    }

    private mutating func raise(_ entry: Entry, from index: Int) {
        var child = index
        while child > 0 {
            let parent = (child - 1) / 2
            if heap[parent].time <= entry.time { break }
            put(heap[parent], at: child)
            child = parent
        }
        put(entry, at: child)
    }

    private mutating func sink(_ entry: Entry, from index: Int) {
        var parent = index
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].time < heap[child].time { child += 1 }
            if heap[child].time >= entry.time { break }
            put(heap[child], at: parent)
            parent = child
        }
        put(entry, at: parent)
    }

    private mutating func put(_ entry: Entry, at index: Int) {
        heap[index] = entry
        positions[Int(entry.number)] = UInt32(truncatingIfNeeded: index)
    }
}
