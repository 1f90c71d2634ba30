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
        for limit in limits where limit.bucket(direction).nanosecondsPerMiB != 0 { return true }
        return false
    }

    /// How long until all that was spent is paid for, in nanoseconds.
    func debt(_ direction: TransferDirection, at now: UInt64) -> UInt64 {
        let now = MonotonicInstant(nanoseconds: now)
        var longest = Duration.zero
        for limit in limits { longest = max(longest, limit.bucket(direction).debt(at: now)) }
        return UInt64(longest.clampedNanoseconds)
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
    var buffer: Int32 { rate(.down).map { LimitedPace(rate: $0).buffer } ?? 0 }
}

/// What is done at a rate so that no second of it gets much more or less than its share.
struct LimitedPace {
    /// Bytes that are read or sent at a time: a sixty-fourth of a second's. Not below what lies in the system's buffer, or
    /// all connections would empty theirs at about the same time.
    let step: Int
    /// What is asked of the system as a buffer for what is not read yet.
    let buffer: Int32
    /// What may be on this side of the wire unread: the system takes not quite twice its buffer, as seen with Linux 6, and
    /// libcurl reads a step before it is told to wait.
    let unread: Int
    /// Transfers of all workers that may be under way; each may have bytes under way that nobody has read.
    let transfers: Int

    init(rate: UInt64) {
        step = Int(clamping: min(max(rate / 64, 8 << 10), 256 << 10))
        buffer = Int32(clamping: min(max(rate / 64, 4 << 10), 256 << 10))
        unread = Int(buffer) * 15 / 8 + step
        transfers = Int(clamping: max(1, rate / (4 << 10)))
    }
}
