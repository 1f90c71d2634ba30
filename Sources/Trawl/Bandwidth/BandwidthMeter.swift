import TrawlFrontier
import TrawlHTTP
import TrawlPlatform

/// How many bytes have passed, and how many a second lately, from the counters of the workers (ASI-THR-04).
final class BandwidthMeter: Sendable {
    /// What the counters of one worker say.
    struct Counters: Sendable, Hashable {
        var received: UInt64 = 0
        var sent: UInt64 = 0
    }

    /// What has passed in all, and a second over the last five.
    struct Use: Sendable, Hashable {
        var received: UInt64 = 0
        var sent: UInt64 = 0
        var receivedRate: UInt64 = 0
        var sentRate: UInt64 = 0
    }

    private struct State {
        /// What the counters of each worker said last.
        var counted: [Counters] = []
        var sampledAt: MonotonicInstant?
        var use = Use()
        var received = RateMeter()
        var sent = RateMeter()
    }

    private let state = Guarded(State())

    /// Reads the counters. They begin anew when a worker does.
    func sample(_ counters: [Counters], at now: MonotonicInstant) {
        state.withLock { state in
            if state.counted.count != counters.count { state.counted = counters.map { _ in Counters() } }
            var passed = Counters()
            for (index, count) in counters.enumerated() {
                let before = state.counted[index]
                passed.received &+= Self.difference(count.received, before.received)
                passed.sent &+= Self.difference(count.sent, before.sent)
                state.counted[index] = count
            }
            state.use.received &+= passed.received
            state.use.sent &+= passed.sent
            // What has come since the last look began to come then.
            state.received.moved(Int64(clamping: passed.received), at: state.sampledAt ?? now)
            state.sent.moved(Int64(clamping: passed.sent), at: state.sampledAt ?? now)
            state.sampledAt = now
        }
    }

    private static func difference(_ now: UInt64, _ before: UInt64) -> UInt64 { now >= before ? now &- before : now }

    /// Bytes a second in both directions over the last five seconds, or since the first byte when that is not so long
    /// ago.
    var average: Double {
        let use = use
        return Double(use.receivedRate) + Double(use.sentRate)
    }

    /// What has passed, up to the last look.
    var use: Use {
        state.withLock { state in
            var use = state.use
            guard let sampledAt = state.sampledAt else { return use }
            use.receivedRate = state.received.bytesPerSecond(at: sampledAt)
            use.sentRate = state.sent.bytesPerSecond(at: sampledAt)
            return use
        }
    }
}
