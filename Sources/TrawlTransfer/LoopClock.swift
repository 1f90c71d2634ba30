import TrawlHTTP
import TrawlPlatform

/// The times of a loop's turn, for the loop and its transfers: read for every line of a head.
///
/// Bound to the transfer thread, and without checks of exclusive access.
final class LoopClock {
    /// Nanoseconds of the monotonic clock at the beginning of this turn.
    @exclusivity(unchecked)
    private(set) var now = MonotonicClock.now().nanoseconds
    /// The same by a clock that goes on while the machine is suspended, as those of servers do.
    @exclusivity(unchecked)
    private(set) var sinceBoot = MonotonicClock.sinceBoot().nanoseconds
    /// Nanoseconds in which the loop ran. It leaves out the time in which this process was stopped or starved, so that
    /// no transfer pays for it.
    @exclusivity(unchecked)
    private(set) var running: UInt64 = 0
    /// Nanoseconds that it left out.
    @exclusivity(unchecked)
    private(set) var lost: UInt64 = 0

    /// How long a turn may take before the rest of it does not count.
    private static let longestTurn: UInt64 = 1_000_000_000

    /// A turn begins.
    func advance() {
        pass(to: MonotonicClock.now().nanoseconds)
        sinceBoot = MonotonicClock.sinceBoot().nanoseconds
    }

    /// A turn begins at that time of the monotonic clock.
    func pass(to time: UInt64) {
        let counted = min(time &- now, Self.longestTurn)
        running &+= counted
        lost &+= time &- now &- counted
        now = time
    }
}
