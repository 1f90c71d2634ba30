/// Requests of a pipe that were read, on their way to the coordinator.
///
/// Responses wait in memory for a reader that may be slow, and a fetch that has begun cannot be held up without its server.
/// So fetches begin only as long as what waits and what those in flight are expected to bring fit together. How much that
/// is nobody can know; what the latest responses took is the guess.
struct HandOver<Fetch> {
    private var waiting: [Fetch] = []
    /// Handed over, and not over.
    private var inFlight = 0
    /// The load that a response is expected to be, in bytes: nearly the largest of the latest. Nil before the first one.
    private var expected: Int?
    private let first: Int
    private let mostLoad: Int

    /// - Parameters:
    ///   - first: How many may be in flight before it is known how long responses are.
    ///   - mostLoad: What those in flight may be expected to bring, in bytes; one that is longer goes alone.
    init(first: Int, mostLoad: Int) {
        self.first = first
        self.mostLoad = mostLoad
    }

    /// A request was read.
    mutating func add(_ fetch: Fetch) {
        waiting.append(fetch)
    }

    /// A fetch that was handed over has ended.
    ///
    /// - Parameter load: About how many bytes its response takes.
    mutating func ended(load: Int) {
        inFlight -= 1
        // It forgets by an eighth, so that one long body among short ones does not count for long.
        expected = max(load, (expected ?? 0) / 8 * 7)
    }

    /// The fetches that may begin, in the order of their requests.
    ///
    /// - Parameters:
    ///   - regardless: Whether all of them may.
    ///   - hasRoom: Whether there is room for so many bytes of responses beside those that wait.
    mutating func take(regardless: Bool, hasRoom: (Int) -> Bool) -> [Fetch] {
        var count = 0
        while count < waiting.count {
            if !regardless, !mayBegin(hasRoom) { break }
            count += 1
            inFlight += 1
        }
        let fetches = Array(waiting.prefix(count))
        waiting.removeFirst(count)
        return fetches
    }

    private func mayBegin(_ hasRoom: (Int) -> Bool) -> Bool {
        guard let expected else { return inFlight < first && hasRoom(0) }
        let load = (inFlight + 1) * expected
        return (inFlight == 0 || load < mostLoad) && hasRoom(load)
    }
}
