import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// The use that the transfers of this worker make of a limit: each limit has places of its own, whoever else is under
/// way under other limits or none.
final class LimitUse {
    let limit: SharedLimit
    /// The places taken, as they were counted in that round.
    private var taken = 0
    private var round: UInt64 = 0

    init(_ limit: SharedLimit) { self.limit = limit }

    /// The transfers of one of so many workers that may make use of the limit at a time.
    func places(workers: Int) -> Int { limit.transfers.map { max(1, $0 / workers) } ?? .max }

    func taken(in round: UInt64) -> Int { round == self.round ? taken : 0 }

    func take(in round: UInt64) {
        if round != self.round { (self.round, taken) = (round, 0) }
        taken += 1
    }
}

/// The limits of bandwidth that a lease is under: each byte is charged to all of them.
final class LimitSet {
    /// Their numbers in the shared segment.
    let numbers: LimitNumbers
    private let limits: [SharedLimit]
    private let uses: [LimitUse]

    init(_ numbers: LimitNumbers, _ uses: [LimitUse]) {
        self.numbers = numbers
        self.uses = uses
        limits = uses.map(\.limit)
    }

    /// Whether each of the limits has more places than that for the transfers of one of so many workers.
    func hasPlaces(beyond count: Int, workers: Int) -> Bool {
        uses.allSatisfy { count < $0.places(workers: workers) }
    }

    /// Whether each of the limits has a place left.
    ///
    /// - Parameter round: Which count of the transfers that take one holds.
    func hasRoom(workers: Int, in round: UInt64) -> Bool {
        uses.allSatisfy { $0.taken(in: round) < $0.places(workers: workers) }
    }

    /// A transfer takes a place under each of the limits.
    func takePlace(in round: UInt64) {
        for use in uses { use.take(in: round) }
    }

    /// Whether there is a limit in that direction at present; coordinators set and lift them at any time.
    @inline(__always)
    func isLimited(_ direction: TransferDirection) -> Bool {
        for index in limits.indices where limits[index].isSet(direction) { return true }
        return false
    }

    /// How long until all that was spent is paid for, in nanoseconds.
    func debt(_ direction: TransferDirection, at now: UInt64) -> UInt64 {
        let now = MonotonicInstant(nanoseconds: now)
        var longest = Duration.zero
        for index in limits.indices { longest = max(longest, limits[index].with(direction) { $0.debt(at: now) }) }
        return UInt64(longest.clampedNanoseconds)
    }

    /// Spends bytes if all that was spent before is paid for; two processes that see that at once do not both go on.
    func chargeIfPaid(_ bytes: Int, _ direction: TransferDirection, at now: UInt64) -> Bool {
        let now = MonotonicInstant(nanoseconds: now)
        for index in limits.indices where !limits[index].with(direction, { $0.chargeIfPaid(bytes, at: now) }) {
            for earlier in limits[..<index] { earlier.bucket(direction).refund(bytes) }
            return false
        }
        return true
    }

    /// Whether less passes than may.
    func isSlack(_ direction: TransferDirection, at now: UInt64) -> Bool {
        let now = MonotonicInstant(nanoseconds: now)
        for index in limits.indices where !limits[index].with(direction, { $0.isSlack(at: now) }) { return false }
        return true
    }

    /// Spends bytes.
    func charge(_ bytes: Int, _ direction: TransferDirection, at now: UInt64) {
        guard bytes > 0 else { return }
        let now = MonotonicInstant(nanoseconds: now)
        for index in limits.indices { limits[index].with(direction) { _ = $0.charge(bytes, at: now) } }
    }

    /// Gives back bytes that were spent and did not come.
    func refund(_ bytes: Int, _ direction: TransferDirection) {
        guard bytes > 0 else { return }
        for index in limits.indices { limits[index].with(direction) { $0.refund(bytes) } }
    }

    /// The lowest rate of them in bytes a second; nil without a limit.
    func rate(_ direction: TransferDirection) -> UInt64? {
        var lowest: UInt64?
        for index in limits.indices {
            guard let rate = limits[index].with(direction, { $0.bytesPerSecond }) else { continue }
            lowest = min(lowest ?? rate, rate)
        }
        return lowest
    }

    /// The system's buffer for what is not read yet, in bytes; 0 without a limit.
    var buffer: Int32 {
        guard isLimited(.down) else { return 0 }
        return rate(.down).map { LimitedPace(rate: $0).buffer } ?? 0
    }
}
