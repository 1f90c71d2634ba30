import TrawlHTTP

/// How many requests of each origin are in flight or wait, and which rows of lines are set aside: an origin that has
/// its share in flight gets no more, and its lines come back in their order when it has less.
///
/// An origin takes some 250 bytes as long as it has requests or lines.
struct OriginShares {
    typealias Number = Int32

    private struct Entry {
        var origin: Origin?
        var inFlight = 0
        var aside = 0
        /// The row of its lines; without meaning when there are none.
        var first: AsideFile.Place = 0
        var last: AsideFile.Place = 0
        /// Whether it stands among those that are due.
        var isDue = false
    }

    /// Requests that all origins together may have by their shares.
    private let inAll: Int
    /// The largest share.
    private let most: Int
    private var entries: [Entry] = []
    private var free: [Number] = []
    private var numbers: [Origin: Number] = [:]
    /// Origins with lines that may come back, in turns; those before `firstDue` are taken.
    private var due: [Number] = []
    private var firstDue = 0
    /// Lines that are set aside.
    private(set) var asideCount = 0

    /// - Parameters:
    ///   - most: Requests an origin may have in flight, or waiting for that.
    ///   - inAll: What they share when they are many; each may have one.
    init(most: Int, inAll: Int) {
        self.most = most
        self.inAll = inAll
    }

    /// Origins that have requests or lines.
    var count: Int { numbers.count }

    /// What each may have beyond its share.
    private var extra = 0

    /// Requests an origin may have now.
    private var share: Int { max(1, min(most, inAll / max(1, numbers.count))) + extra }

    /// Lets each origin have about so many more than its share: some wait for nothing but a time, as after a failure,
    /// and are to take no place of the others.
    mutating func widen(by extra: Int) {
        if extra <= self.extra {
            self.extra = extra
        } else if extra - self.extra >= 16 + self.extra / 4 {
            // All are looked at, so not for each request more.
            self.extra = extra
            for index in entries.indices where entries[index].aside > 0 { settle(Number(index)) }
        }
    }

    /// The origin's number. It keeps it as long as it has requests or lines.
    mutating func number(of origin: Origin) -> Number {
        if let number = numbers[origin] { return number }
        let number: Number
        if let reused = free.popLast() {
            number = reused
        } else {
            number = Number(entries.count)
            entries.append(Entry())
        }
        entries[Int(number)].origin = origin
        numbers[origin] = number
        return number
    }

    /// Whether ``nextDue()`` may name one.
    var hasDue: Bool { firstDue < due.count }

    /// Whether the origin's next request may start: it has less than its share, and no line of its was read before.
    func mayStart(_ number: Number) -> Bool {
        entries[Int(number)].aside == 0 && entries[Int(number)].inFlight < share
    }

    /// Whether lines of the origin are set aside.
    func hasRow(_ number: Number) -> Bool { entries[Int(number)].aside > 0 }

    /// A request of the origin starts.
    mutating func started(_ number: Number) {
        entries[Int(number)].inFlight += 1
    }

    /// A request of the origin is over.
    mutating func ended(_ number: Number) {
        entries[Int(number)].inFlight -= 1
        settle(number)
    }

    /// Where the last of the origin's lines is; nil when there are none.
    func last(of number: Number) -> AsideFile.Place? {
        hasRow(number) ? entries[Int(number)].last : nil
    }

    /// A line of the origin is set aside, after the others.
    mutating func setAside(_ number: Number, at place: AsideFile.Place) {
        if !hasRow(number) { entries[Int(number)].first = place }
        entries[Int(number)].last = place
        entries[Int(number)].aside += 1
        asideCount += 1
        settle(number)
    }

    /// The next origin of which a line may come back, and where that is. Origins take turns.
    mutating func nextDue() -> (number: Number, place: AsideFile.Place)? {
        while firstDue < due.count {
            let number = due[firstDue]
            if hasRow(number), entries[Int(number)].inFlight < share { return (number, entries[Int(number)].first) }
            dropFirstDue()
            settle(number)
        }
        return nil
    }

    /// The line that ``nextDue()`` named is back, and its request starts.
    ///
    /// - Parameter next: Where the next of its row is.
    mutating func cameBack(_ number: Number, next: AsideFile.Place?) {
        entries[Int(number)].aside -= 1
        entries[Int(number)].inFlight += 1
        if let next { entries[Int(number)].first = next }
        asideCount -= 1
        dropFirstDue()
        settle(number)
    }

    private mutating func dropFirstDue() {
        entries[Int(due[firstDue])].isDue = false
        firstDue += 1
        if firstDue > 64, firstDue * 2 > due.count {
            due.removeFirst(firstDue)
            firstDue = 0
        }
    }

    /// Puts the origin among those that are due, or forgets it, as it stands now.
    private mutating func settle(_ number: Number) {
        let index = Int(number)
        if entries[index].aside > 0 {
            guard !entries[index].isDue, entries[index].inFlight < share else { return }
            entries[index].isDue = true
            due.append(number)
        } else if entries[index].inFlight == 0, !entries[index].isDue, let origin = entries[index].origin {
            numbers[origin] = nil
            entries[index] = Entry()
            free.append(number)
        }
    }
}
