/// Names one fetch of a coordinator: a place in the table and which use of that place.
struct FetchKey: Sendable, Hashable {
    /// 32 bits of use, 32 bits of place; also the hop id of the machines below.
    let rawValue: UInt64

    var place: Int { Int(truncatingIfNeeded: rawValue & 0xFFFF_FFFF) }

    init(rawValue: UInt64) { self.rawValue = rawValue }
    init(use: UInt32, place: Int) { rawValue = UInt64(use) << 32 | UInt64(place) }
}

/// The fetches alive, by key, without hashing.
struct FetchTable {
    private var fetches: [RunningFetch?] = []
    private var uses: [UInt32] = []
    private var free: [Int] = []
    /// Which use the first of a new place is.
    private var firstUse: UInt32 = 1

    /// How many fetches are alive.
    private(set) var count = 0

    mutating func insert(_ fetch: RunningFetch) -> FetchKey {
        count += 1
        if let place = free.popLast() {
            uses[place] &+= 1
            fetches[place] = fetch
            return FetchKey(use: uses[place], place: place)
        }
        fetches.append(fetch)
        uses.append(firstUse)
        return FetchKey(use: firstUse, place: fetches.count - 1)
    }

    subscript(key: FetchKey) -> RunningFetch? {
        let place = key.place
        guard place < fetches.count, UInt64(uses[place]) == key.rawValue >> 32 else { return nil }
        return fetches[place]
    }

    mutating func remove(_ key: FetchKey) {
        guard self[key] != nil else { return }
        fetches[key.place] = nil
        free.append(key.place)
        count -= 1
        if count == 0 && fetches.count > 65_536 {
            // The uses go too. Timers and waiting lists still hold keys of the past, which no new one may equal.
            firstUse = (uses.max() ?? 0) &+ 1
            fetches = []
            uses = []
            free = []
        }
    }

    /// All fetches alive, oldest place first.
    var all: [RunningFetch] { fetches.compactMap { $0 } }
}
