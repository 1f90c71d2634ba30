import TrawlHTTP
import TrawlPlatform

/// The limits of time of a fetch whose hops are fetches of their own (`ProgramCacheExchange`): each goes on where the
/// one before left them.
///
/// The supervisor moves it while it has a hop, and who asks for the hops in between.
final class FetchClock: Sendable {
    /// What it shows.
    struct Reading: Sendable {
        /// When the whole fetch must end; nil is never.
        var wholeDeadline: MonotonicInstant?
        /// Whether the clock of its exchange runs, and when that must end; nil is never.
        var isExchanging = false
        var exchangeDeadline: MonotonicInstant?
        /// Before when the next hop does not begin, because a redirect asked for it.
        var nextBeginning: MonotonicInstant?
    }

    private let state: Guarded<Reading>

    /// A fetch begins.
    init(_ terms: FetchTerms) {
        let limit = terms.resourceLimit.map { Duration.nanoseconds(Int64(clamping: $0)) }
        state = Guarded(Reading(wholeDeadline: limit.map { MonotonicClock.now().advanced(by: $0) }))
    }

    var reading: Reading { state.withLock { $0 } }

    /// The clock of the exchange runs.
    func exchangeBegan(until deadline: MonotonicInstant?) {
        state.withLock { reading in
            reading.isExchanging = true
            reading.exchangeDeadline = deadline
        }
    }

    /// The clock of the exchange does not run before it is begun anew.
    func exchangeEnded() {
        state.withLock { reading in
            reading.isExchanging = false
            reading.exchangeDeadline = nil
        }
    }

    /// The next hop is to begin so much later; nil is at once.
    func delayNextHop(by delay: Duration?) {
        let beginning = delay.map { MonotonicClock.now().advanced(by: $0) }
        state.withLock { $0.nextBeginning = beginning }
    }

    /// So much of the time was not the fetch's own.
    func giveBack(_ pause: Duration) {
        state.withLock { reading in
            reading.wholeDeadline = reading.wholeDeadline?.advanced(by: pause)
            reading.exchangeDeadline = reading.exchangeDeadline?.advanced(by: pause)
        }
    }

    /// All time since then was not.
    func giveBack(since start: MonotonicInstant) {
        giveBack(start.duration(to: MonotonicClock.now()))
    }
}
