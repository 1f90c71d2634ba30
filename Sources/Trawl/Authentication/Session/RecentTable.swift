/// A table of bounded size: what was used longest ago makes room for what is new.
///
/// Each use puts its key at the end of a line; a place in the line that a later use has overtaken counts no more.
struct RecentTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        let size: Int
        var lastUse: UInt64
    }

    private let limit: Int
    private var entries: [Key: Entry] = [:]
    private var line: [(key: Key, use: UInt64)] = []
    private var head = 0
    private var uses: UInt64 = 0
    /// What all values take together, as they were put in.
    private(set) var size = 0

    /// An empty table.
    ///
    /// - Parameter limit: What all values may take together. A value that takes more is alone.
    init(limit: Int) { self.limit = limit }

    /// Whether nothing is in it.
    var isEmpty: Bool { entries.isEmpty }
    /// How many values are in it.
    var count: Int { entries.count }
    /// All values, in no particular order.
    var values: [Value] { entries.values.map(\.value) }

    /// The value of a key, without using it.
    subscript(key: Key) -> Value? { entries[key]?.value }

    /// The value of a key, which is the one used last then.
    mutating func use(_ key: Key) -> Value? {
        guard let entry = entries[key] else { return nil }
        if entry.lastUse != uses {
            let use = nextUse(of: key)
            entries[key]?.lastUse = use
            compact()
        }
        return entry.value
    }

    /// Puts a value in, in place of another of its key.
    mutating func set(_ value: Value, for key: Key, size: Int) {
        remove(key)
        let use = nextUse(of: key)
        entries[key] = Entry(value: value, size: size, lastUse: use)
        self.size += size
        while self.size > limit, entries.count > 1 {
            let oldest = line[head]
            head += 1
            if entries[oldest.key]?.lastUse == oldest.use { remove(oldest.key) }
        }
        compact()
    }

    /// Takes a value out.
    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        size -= entry.size
        return entry.value
    }

    /// Takes all values out.
    mutating func removeAll() { self = Self(limit: limit) }

    private mutating func nextUse(of key: Key) -> UInt64 {
        uses += 1
        line.append((key, uses))
        return uses
    }

    /// The line stays within twice the number of those that stand in it.
    private mutating func compact() {
        guard line.count > 2 * entries.count + 64 else { return }
        line = line[head...].filter { entries[$0.key]?.lastUse == $0.use }
        head = 0
    }
}
