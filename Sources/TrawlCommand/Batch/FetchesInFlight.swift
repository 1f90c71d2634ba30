import TrawlHTTP

/// A request of the list that is not over.
final class FetchInFlight {
    let request: ListedRequest
    let line: Int
    /// Whether its record takes the place of an earlier run's.
    let isAgain: Bool
    /// When it was read.
    let started: MonotonicInstant
    /// How often it was tried, once it is over.
    var attempts = 1
    /// How often there was no descriptor for it.
    var shortages = 0
    /// Its origin's number among those that lines are set aside for; -1 when none is known.
    var originNumber: OriginShares.Number = -1
    /// The file asked for in the latest attempt.
    var path: String?

    init(_ request: ListedRequest, line: Int, isAgain: Bool = false, at now: MonotonicInstant) {
        self.request = request
        self.line = line
        self.isAgain = isAgain
        started = now
    }
}

/// The requests in flight, by the tag their answers bring. Places are used again, so that the table is as large as the
/// look-ahead.
struct FetchesInFlight {
    private var places: [FetchInFlight?] = []
    private var free: [Int] = []

    /// Bodies of requests that are kept, in bytes and in number: each large one takes a descriptor.
    private var bodyBytes = 0
    private var bodies = 0

    /// How many there are.
    var count: Int { places.count - free.count }

    /// Whether one more may be read ahead.
    ///
    /// - Parameters:
    ///   - waiting: How many of them wait to be tried again: they take no place of the others, so that a host that is down or
    ///     busy does not keep the rest of the list waiting. There is an end to that, too.
    ///   - mostWaiting: How many of these, at most.
    func hasRoom(for most: Int, waiting: Int = 0, mostWaiting: Int = FetchesInFlight.mostWaiting) -> Bool {
        count - min(waiting, mostWaiting) < most && !isFullOfBodies
    }

    /// A few hundred bytes each.
    static let mostWaiting = 16_384

    private static let mostBodyBytes = 64 << 20
    private static let mostBodies = 256

    var isEmpty: Bool { count == 0 }

    /// Whether bodies take as much as they may.
    var isFullOfBodies: Bool { bodyBytes >= Self.mostBodyBytes || bodies >= Self.mostBodies }

    /// All of them, in no order.
    func forEach(_ body: (FetchInFlight) -> Void) {
        for fetch in places { if let fetch { body(fetch) } }
    }

    mutating func insert(_ fetch: FetchInFlight) -> UInt64 {
        if let body = fetch.request.own?.body {
            bodyBytes += body.count
            bodies += 1
        }
        if let place = free.popLast() {
            places[place] = fetch
            return UInt64(place)
        }
        places.append(fetch)
        return UInt64(places.count - 1)
    }

    subscript(tag: UInt64) -> FetchInFlight {
        guard let fetch = places[Int(tag)] else { preconditionFailure("an answer without a request") }
        return fetch
    }

    @discardableResult
    mutating func remove(_ tag: UInt64) -> FetchInFlight {
        guard let fetch = places[Int(tag)].take() else { preconditionFailure("an answer without a request") }
        free.append(Int(tag))
        if let body = fetch.request.own?.body {
            bodyBytes -= body.count
            bodies -= 1
        }
        return fetch
    }
}
