/// Lookups that were given up while they were under way: each keeps a thread of the resolver busy until it ends.
struct AbandonedLookups<Lookup> {
    /// Fewer than the resolver has threads, which are 20 in glibc: some are left for lookups that somebody waits for.
    static var most: Int { 16 }

    private var lookups: [Lookup] = []

    init() {}

    /// One was given up.
    mutating func add(_ lookup: Lookup) {
        lookups.append(lookup)
    }

    /// Whether another lookup may begin. Those that have ended meanwhile no longer count.
    ///
    /// - Parameter hasEnded: Asked until it says so, and then never again about that lookup.
    mutating func haveRoom(hasEnded: (Lookup) -> Bool) -> Bool {
        lookups = lookups.filter { !hasEnded($0) }
        return lookups.count < Self.most
    }
}
