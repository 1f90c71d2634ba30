/// How many requests are read ahead of their places in workers.
///
/// Few stay in the processor's caches; more are read when workers stand idle because most of those few are of one host.
struct LookAhead {
    /// Turns without idle workers after which less is read ahead.
    private static let longBusy = 256

    /// Requests that may be in flight or wait at present.
    private(set) var count: Int
    private let least: Int
    private let most: Int
    /// Whether there were as many at the end of the last turn.
    private var isFull = false
    /// Whether no more can be read ahead than is.
    var isExhausted: Bool { isFull && count == most }
    /// Turns without idle workers, since the number was last changed.
    private var busyTurns = 0

    init(most: Int) {
        least = min(max(128, most / 6), most)
        self.most = most
        count = least
    }

    /// At the beginning of a turn: more are read when workers have nothing to do, fewer when they long had.
    mutating func adapt(hasIdleWorkers: Bool) {
        if hasIdleWorkers, isFull {
            count = min(2 * count, most)
            busyTurns = 0
        } else {
            busyTurns += 1
            guard busyTurns == Self.longBusy else { return }
            count = max(count / 2, least)
            busyTurns = 0
        }
    }

    /// At the end of a turn: whether all that may be read ahead is.
    mutating func note(isFull: Bool) {
        self.isFull = isFull
    }
}
