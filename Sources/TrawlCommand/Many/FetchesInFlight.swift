import TrawlHTTP
import TrawlProtocol

/// A request of the list that is not over.
final class FetchInFlight {
    let request: ListedRequest
    let line: Int
    /// Whether its record takes the place of an earlier run's.
    let isAgain: Bool
    /// Whether its body is too long for a message to a worker: it takes a descriptor.
    let hasLongBody: Bool
    /// What its line takes in memory, in bytes: here, or in the fetch that was made of it.
    let lineBytes: Int
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
    /// What happens to its fetch, where `-w` is to tell.
    var notes: FetchNotes?

    /// - Parameter keepsTerms: Whether what the line says beside its URL is needed once its fetch is made. A long body
    ///   is in a memory file then.
    init(
        _ request: ListedRequest, line: Int, isAgain: Bool = false, keepsTerms: Bool = true, at now: MonotonicInstant
    ) {
        self.request = keepsTerms ? request : request.withoutTerms
        self.line = line
        self.isAgain = isAgain
        hasLongBody = (request.own?.body?.count ?? 0) > WireProtocol.maximumInlineBody
        lineBytes = request.byteCount
        started = now
    }
}

/// The requests in flight, by the tag their answers bring. Places are used again, so that the table is as large as the
/// look-ahead.
struct FetchesInFlight {
    private var places: [FetchInFlight?] = []
    private var free: [Int] = []

    /// What the requests' lines take in memory, in bytes.
    private var lineBytes = 0
    /// Bodies among that which are too long for a message to a worker: each takes a descriptor.
    private var longBodies = 0

    /// How many there are.
    var count: Int { places.count - free.count }

    /// Whether one more may be read ahead.
    ///
    /// - Parameters:
    ///   - waiting: How many of them wait to be tried again: they take no place of the others, so that a host that is down or
    ///     busy does not keep the rest of the list waiting. There is an end to that, too.
    ///   - mostWaiting: How many of these, at most.
    func hasRoom(for most: Int, waiting: Int = 0, mostWaiting: Int = FetchesInFlight.mostWaiting) -> Bool {
        count - min(waiting, mostWaiting) < most && !isFullOfLines
    }

    /// A few hundred bytes each.
    static let mostWaiting = 16_384

    private static let mostLineBytes = 64 << 20
    private let mostLongBodies = DescriptorLimit.longBodies()

    var isEmpty: Bool { count == 0 }

    /// Whether lines, and the bodies in them, take as much as they may.
    var isFullOfLines: Bool { lineBytes >= Self.mostLineBytes || longBodies >= mostLongBodies }

    /// All of them, in no order.
    func forEach(_ body: (FetchInFlight) -> Void) {
        for fetch in places { if let fetch { body(fetch) } }
    }

    mutating func insert(_ fetch: FetchInFlight) -> UInt64 {
        lineBytes += fetch.lineBytes
        if fetch.hasLongBody { longBodies += 1 }
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
        lineBytes -= fetch.lineBytes
        if fetch.hasLongBody { longBodies -= 1 }
        return fetch
    }
}
