import TrawlStore

/// Validations that nobody waits for (RFC 5861 §3): those that run, and those that begin as others end.
///
/// What is stored is asked about once at a time, however many were served it meanwhile.
struct RevalidationLine<Fetch> {
    /// At most so many run at a time.
    static var mostRunning: Int { 64 }
    /// At most so many wait, so that their memory has a bound and a program that ends has not long to wait for them.
    static var mostWaiting: Int { 1024 }

    /// Of all of them.
    private var digests: Set<CacheDigest> = []
    private var waiting: [Fetch] = []
    /// How many at the beginning of `waiting` have begun.
    private var begun = 0
    private var running = 0

    /// Whether there is none.
    var isEmpty: Bool { digests.isEmpty }

    /// Whether there is room for another one. Without, what is stale is validated before it is served.
    func hasRoom(for digest: CacheDigest) -> Bool {
        waiting.count - begun < Self.mostWaiting || digests.contains(digest)
    }

    /// Takes one in.
    ///
    /// - Returns: Whether it begins now. Otherwise it waits, or is left out: the same is asked already, or there is no
    ///   room.
    mutating func admit(_ fetch: Fetch, for digest: CacheDigest) -> Bool {
        guard hasRoom(for: digest), digests.insert(digest).inserted else { return false }
        if running < Self.mostRunning {
            running += 1
            return true
        }
        waiting.append(fetch)
        return false
    }

    /// The next that begins; nil while as many run as may, and when none waits.
    mutating func next() -> Fetch? {
        guard begun < waiting.count, running < Self.mostRunning else { return nil }
        let fetch = waiting[begun]
        begun += 1
        running += 1
        // Those that have begun take room until they are as many as those that wait.
        if begun * 2 >= waiting.count {
            waiting.removeFirst(begun)
            begun = 0
        }
        return fetch
    }

    /// One that ran is over.
    mutating func end(_ digest: CacheDigest) {
        if digests.remove(digest) != nil { running -= 1 }
    }
}
