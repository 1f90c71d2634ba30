import TrawlPlatform

/// What an earlier run with the same results file has brought to an end: requests by their keys, and the names of their
/// files.
///
/// It is a hash table in scratch memory of 24 bytes an entry, at most three quarters full, so that tens of millions of
/// records cost this process no memory of its own. Bound to one thread.
struct FinishedRequests {
    /// How a request ended.
    enum Ending: Equatable {
        case fetched
        case failed
    }

    private struct Entry {
        var low: UInt64
        var high: UInt64
        /// How many records of each ending are left to be matched; both zero marks a free place.
        var fetched: UInt32
        var failed: UInt32
    }

    private let scratch: ScratchPlaces
    private var memory: ScratchMemory?
    private var entries: UnsafeMutableBufferPointer<Entry>
    private var used = 0

    /// - Parameter scratch: Where the scratch file is made once there is an entry.
    init(in scratch: ScratchPlaces) {
        self.scratch = scratch
        entries = UnsafeMutableBufferPointer(start: nil, count: 0)
    }

    /// Whether nothing was ever recorded.
    var isEmpty: Bool { used == 0 }

    /// A record said that this request is over.
    ///
    /// - Parameter isAgain: Whether it takes the place of an earlier one that said the request had failed, if there is
    ///   one.
    mutating func insert(_ key: RequestKey, _ ending: Ending, isAgain: Bool = false) throws(SystemError) {
        if (used + 1) * 4 > entries.count * 3 { try grow() }
        let place = place(of: key)
        if entries[place].fetched == 0, entries[place].failed == 0 { used += 1 }
        (entries[place].low, entries[place].high) = (key.low, key.high)
        // Before it counts itself: it must not take its own place.
        if isAgain, entries[place].failed & ~Self.spent > 0 { entries[place].failed -= 1 }
        switch ending {
        case .fetched: entries[place].fetched += 1
        case .failed: entries[place].failed += 1
        }
    }

    /// Takes one record of this request, so that a request listed twice needs two.
    mutating func take(_ key: RequestKey) -> Ending? {
        guard used > 0 else { return nil }
        let place = place(of: key)
        // The last record of a key stays in place, marked, for the chain of entries beyond it.
        if entries[place].fetched & ~Self.spent > 0 {
            entries[place].fetched = (entries[place].fetched & ~Self.spent) - 1 | Self.spent
            return .fetched
        }
        if entries[place].failed & ~Self.spent > 0 {
            entries[place].failed = (entries[place].failed & ~Self.spent) - 1 | Self.spent
            return .failed
        }
        return nil
    }

    /// A record names this file.
    mutating func insert(fileName: String) throws(SystemError) {
        try insert(Self.key(ofFile: fileName), .fetched)
    }

    /// Whether a record names this file.
    func contains(fileName: String) -> Bool {
        guard used > 0 else { return false }
        return entries[place(of: Self.key(ofFile: fileName))].fetched != 0
    }

    private static func key(ofFile name: String) -> RequestKey {
        RequestKey(bytes: "file \(name)".utf8)
    }

    private static let spent: UInt32 = 1 << 31

    /// Where the key is, or the free place where it would be.
    private func place(of key: RequestKey) -> Int {
        let mask = entries.count - 1
        // Keys come of URLs and file names that others choose, and whoever likes finds many that are alike in the bits
        // that count here: with a seed of this process they cannot be chosen for it.
        var hasher = Hasher()
        hasher.combine(key.low)
        hasher.combine(key.high)
        var place = hasher.finalize() & mask
        while entries[place].fetched != 0 || entries[place].failed != 0 {
            if entries[place].low == key.low, entries[place].high == key.high { return place }
            place = (place + 1) & mask
        }
        return place
    }

    private mutating func grow() throws(SystemError) {
        let old = (memory, entries)
        let count = max(1024, old.1.count * 2)
        let grown = try scratch.first { directory throws(SystemError) in
            try ScratchMemory(count: count * MemoryLayout<Entry>.stride, in: directory)
        }
        memory = grown
        // Zero bytes are free entries.
        entries = grown.bytes.bindMemory(to: Entry.self)
        for entry in old.1 where entry.fetched != 0 || entry.failed != 0 {
            let key = RequestKey(bits: UInt128(entry.high) << 64 | UInt128(entry.low))
            entries[place(of: key)] = entry
        }
        withExtendedLifetime(old.0) {}
    }
}
