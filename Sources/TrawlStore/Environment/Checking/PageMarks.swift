/// What is known of committed pages in one transaction.
final class PageMarks {
    struct Mark {
        var page: UInt64 = 0
        /// Bytes of rows, or children, the page may have lost.
        var lost = 0
        /// Bytes of rows it may have got.
        var gained = 0
        /// Its rows begin inside it.
        var wasSeen = false
        /// All of it is as it should be.
        var isVetted = false
        /// So are those beside it that it may be merged with.
        var isClosed = false
        /// More may have come than it has room for.
        var mayBeDivided = false
        /// The first row of the page to its right was looked at.
        var sawRight = false
    }

    private var marks: UnsafeMutablePointer<Mark>
    private var count = 0
    private var room = 32
    /// For a page number's hash and what follows, one more than the place of its mark; 0 where there is none.
    private var places: UnsafeMutablePointer<UInt32>
    /// Twice `room`.
    private var mask = 63

    init() {
        marks = .allocate(capacity: room)
        places = .allocate(capacity: mask + 1)
        places.initialize(repeating: 0, count: mask + 1)
    }

    /// What is kept from one transaction to the next at most.
    private static let mostKept = 2048

    deinit {
        marks.deallocate()
        places.deallocate()
    }

    /// Forgets all pages.
    func removeAll() {
        count = 0
        guard room > Self.mostKept else { return places.update(repeating: 0, count: mask + 1) }
        marks.deallocate()
        places.deallocate()
        room = 32
        mask = 2 * room - 1
        marks = .allocate(capacity: room)
        places = .allocate(capacity: mask + 1)
        places.initialize(repeating: 0, count: mask + 1)
    }

    /// The place of a page's mark, which stays the same.
    @inline(__always)
    func index(of page: UInt64) -> Int {
        var slot = Self.hash(page) & mask
        while places[slot] != 0 {
            let index = Int(places[slot]) &- 1
            if marks[index].page == page { return index }
            slot = (slot &+ 1) & mask
        }
        return add(page)
    }

    /// The first page met that the closure says yes to.
    func first(where isMeant: (UInt64) -> Bool) -> UInt64? {
        for index in 0..<count where isMeant(marks[index].page) { return marks[index].page }
        return nil
    }

    @inline(__always)
    subscript(index: Int) -> Mark {
        get { marks[index] }
        _modify { yield &marks[index] }
    }

    @inline(__always)
    private static func hash(_ page: UInt64) -> Int { Int(truncatingIfNeeded: (page &* 0x9E37_79B9_7F4A_7C15) >> 40) }

    private func add(_ page: UInt64) -> Int {
        if count == room { grow() }
        marks.advanced(by: count).initialize(to: Mark(page: page))
        count += 1
        place(count)
        return count - 1
    }

    /// Enters a mark where its page's hash leads.
    private func place(_ number: Int) {
        var slot = Self.hash(marks[number - 1].page) & mask
        while places[slot] != 0 { slot = (slot + 1) & mask }
        places[slot] = UInt32(number)
    }

    private func grow() {
        let more = UnsafeMutablePointer<Mark>.allocate(capacity: 4 * room)
        more.moveInitialize(from: marks, count: count)
        marks.deallocate()
        marks = more
        room *= 4
        places.deallocate()
        mask = 2 * room - 1
        places = .allocate(capacity: mask + 1)
        places.initialize(repeating: 0, count: mask + 1)
        for number in 0..<count { place(number + 1) }
    }
}
