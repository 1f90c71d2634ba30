import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// The limits of bandwidth that a lease is under: each byte is charged to all of them.
final class LimitSet {
    /// Their numbers in the shared segment.
    let numbers: LimitNumbers
    private let limits: [SharedLimit]

    init(_ numbers: LimitNumbers, in segment: SharedSegment) {
        self.numbers = numbers
        limits = numbers.numbers.map { segment.limit($0) }
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
        for limit in limits { longest = max(longest, limit.bucket(direction).debt(at: now)) }
        return UInt64(longest.clampedNanoseconds)
    }

    /// Spends bytes if all that was spent before is paid for; two processes that see that at once do not both go on.
    func chargeIfPaid(_ bytes: Int, _ direction: TransferDirection, at now: UInt64) -> Bool {
        let now = MonotonicInstant(nanoseconds: now)
        for (place, limit) in limits.enumerated() where !limit.bucket(direction).chargeIfPaid(bytes, at: now) {
            for earlier in limits[..<place] { earlier.bucket(direction).refund(bytes) }
            return false
        }
        return true
    }

    /// Whether less passes than may.
    func isSlack(_ direction: TransferDirection, at now: UInt64) -> Bool {
        let now = MonotonicInstant(nanoseconds: now)
        return limits.allSatisfy { $0.bucket(direction).isSlack(at: now) }
    }

    /// Spends bytes.
    func charge(_ bytes: Int, _ direction: TransferDirection, at now: UInt64) {
        guard bytes > 0 else { return }
        let now = MonotonicInstant(nanoseconds: now)
        for limit in limits { limit.bucket(direction).charge(bytes, at: now) }
    }

    /// Gives back bytes that were spent and did not come.
    func refund(_ bytes: Int, _ direction: TransferDirection) {
        guard bytes > 0 else { return }
        for limit in limits { limit.bucket(direction).refund(bytes) }
    }

    /// The lowest rate of them in bytes a second; nil without a limit.
    func rate(_ direction: TransferDirection) -> UInt64? {
        var lowest: UInt64?
        for limit in limits {
            guard let rate = limit.bucket(direction).bytesPerSecond else { continue }
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
