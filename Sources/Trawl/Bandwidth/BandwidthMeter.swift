import TrawlFrontier
import TrawlHTTP
import TrawlPlatform

/// How many bytes a second have passed lately, from the counters of the workers (ASI-THR-04).
final class BandwidthMeter: Sendable {
    private struct State {
        /// What the counters of each worker said last.
        var counted: [UInt64] = []
        var sampledAt: MonotonicInstant?
        var rate = RateMeter()
    }

    private let state = Guarded(State())

    /// Reads the counters. They begin anew when a worker does.
    func sample(_ counters: [UInt64], at now: MonotonicInstant) {
        state.withLock { state in
            if state.counted.count != counters.count { state.counted = counters.map { _ in 0 } }
            var bytes: UInt64 = 0
            for (index, count) in counters.enumerated() {
                let before = state.counted[index]
                bytes &+= count >= before ? count &- before : count
                state.counted[index] = count
            }
            // What has come since the last look began to come then.
            state.rate.moved(Int64(clamping: bytes), at: state.sampledAt ?? now)
            state.sampledAt = now
        }
    }

    /// Bytes a second over the last five seconds, or since the first byte when that is not so long ago.
    var average: Double {
        state.withLock { state in
            guard let sampledAt = state.sampledAt else { return 0 }
            return Double(state.rate.bytesPerSecond(at: sampledAt))
        }
    }
}
