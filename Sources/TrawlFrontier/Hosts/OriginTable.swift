package import TrawlHTTP

/// Small dense numbers for the origins that hops are waiting for or running on.
///
/// Each hop retains its origin's number and releases it when it ends. A number out of use is kept for a while, so that
/// an origin asked again and again keeps it (and with it the worker that has the connection); beyond a fixed count the
/// oldest is given to another origin, unless its host is held back or retired (``HostQueues/isKept(_:)``). So memory
/// follows the origins in use, not those ever seen.
package struct OriginTable: Sendable {
    private struct Entry: Sendable {
        /// Whether the number is an origin's, and whose. (An optional would be copied each time it is asked for.)
        var isTaken = false
        var origin = Origin(scheme: "", host: "", port: 0)
        var uses: UInt32 = 0
        /// Links of the list of numbers out of use, oldest first.
        var older: UInt32 = OriginTable.none
        var newer: UInt32 = OriginTable.none
    }

    private static let none = UInt32.max
    private static let recentCount = 256

    /// Where an origin's number may be in `recent`.
    ///
    /// The dictionary's own hash is made for hostile keys and takes longer than all else that is done for a hop here.
    private static func place(of origin: Origin) -> Int {
        var host = origin.host
        var hash = UInt32(origin.port)
        host.withUTF8 { bytes in
            for byte in bytes.prefix(32) { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        }
        return Int((hash ^ hash >> 15) & UInt32(recentCount - 1))
    }

    private let idleLimit: Int
    private var numbers: [Origin: UInt32] = [:]
    /// Numbers given out lately, by a weak hash of their host; what is there may have been given to another origin
    /// since.
    private var recent = [UInt32](repeating: OriginTable.none, count: OriginTable.recentCount)
    private var entries: [Entry] = []
    private var free: [UInt32] = []
    private var oldestIdle = OriginTable.none
    private var newestIdle = OriginTable.none
    private var idleCount = 0

    /// An empty table.
    ///
    /// - Parameter idleLimit: How many numbers out of use are kept.
    package init(idleLimit: Int = 1024) {
        self.idleLimit = max(0, idleLimit)
    }

    /// Origins that have a number, in use or not.
    package var count: Int { numbers.count }

    /// The origin's number, in use once more.
    package mutating func retain(_ origin: Origin) -> UInt32 {
        let place = Self.place(of: origin)
        let known = recent[place]
        if known < entries.count, entries[Int(known)].isTaken, entries[Int(known)].origin == origin {
            retain(known)
            return known
        }
        let number = number(of: origin)
        recent[place] = number
        return number
    }

    private mutating func number(of origin: Origin) -> UInt32 {
        if let number = numbers[origin] {
            retain(number)
            return number
        }
        let number: UInt32
        if let reused = free.popLast() {
            number = reused
        } else {
            number = UInt32(truncatingIfNeeded: entries.count)
            entries.append(Entry())
        }
        entries[Int(number)] = Entry(isTaken: true, origin: origin, uses: 1)
        numbers[origin] = number
        return number
    }

    /// A number that has an origin, in use once more.
    package mutating func retain(_ number: UInt32) {
        precondition(entries[Int(number)].isTaken, "the number has no origin")
        if entries[Int(number)].uses == 0 { removeIdle(number) }
        entries[Int(number)].uses += 1
    }

    /// One use of the number is over.
    ///
    /// - Parameter queues: Hosts by these numbers. A host of which it has to keep something keeps its number; what it
    ///   knows of one that is given up is forgotten.
    package mutating func release(_ number: UInt32, of queues: inout HostQueues) {
        precondition(entries[Int(number)].uses > 0, "an origin was released more often than retained")
        entries[Int(number)].uses -= 1
        guard entries[Int(number)].uses == 0 else { return }
        appendIdle(number)
        // Two are looked at for one that was added, so that numbers kept for long are given up in the end.
        for _ in 0..<2 where idleCount > idleLimit {
            let oldest = oldestIdle
            removeIdle(oldest)
            if queues.isKept(oldest) {
                appendIdle(oldest)
            } else {
                queues.forget(oldest)
                giveUp(oldest)
            }
        }
    }

    private mutating func giveUp(_ number: UInt32) {
        numbers[entries[Int(number)].origin] = nil
        entries[Int(number)] = Entry()
        free.append(number)
    }

    /// The origin that has this number; `nil` when it has been given up.
    package subscript(number: UInt32) -> Origin? {
        number < entries.count && entries[Int(number)].isTaken ? entries[Int(number)].origin : nil
    }

    private mutating func appendIdle(_ number: UInt32) {
        entries[Int(number)].older = newestIdle
        entries[Int(number)].newer = Self.none
        if newestIdle == Self.none { oldestIdle = number } else { entries[Int(newestIdle)].newer = number }
        newestIdle = number
        idleCount += 1
    }

    private mutating func removeIdle(_ number: UInt32) {
        let older = entries[Int(number)].older
        let newer = entries[Int(number)].newer
        if older == Self.none { oldestIdle = newer } else { entries[Int(older)].newer = newer }
        if newer == Self.none { newestIdle = older } else { entries[Int(newer)].older = older }
        idleCount -= 1
    }
}
