import TrawlHTTP

/// A request of the list that is not over.
final class FetchInFlight {
    let request: ListedRequest
    let line: Int
    /// Whether its record takes the place of an earlier run's.
    let isAgain: Bool
    /// When it was read.
    let started: MonotonicInstant
    /// Attempts that were started.
    var attempts = 0
    /// Whether the next attempt is one because the last failed.
    var isRetry = false
    /// The file asked for in the latest attempt.
    var path: String?
    /// The number its name starts at: above 0 when the names before it are others'.
    var firstNumber: UInt32 = 0
    /// How often it took over a file that is another's.
    var mistakes = 0

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
    func hasRoom(for most: Int) -> Bool {
        count < most && bodyBytes < Self.mostBodyBytes && bodies < Self.mostBodies
    }

    private static let mostBodyBytes = 64 << 20
    private static let mostBodies = 256

    var isEmpty: Bool { count == 0 }

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
