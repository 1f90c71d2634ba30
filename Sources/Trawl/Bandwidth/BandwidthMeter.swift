import TrawlHTTP
import TrawlPlatform

/// How many bytes a second have passed lately, from the counters of the workers.
final class BandwidthMeter: Sendable {
    /// The time over which the average is made (ASI-THR-04).
    private static let span = Duration.seconds(5)

    private struct State {
        /// What the counters of each worker said last.
        var counted: [UInt64] = []
        /// All bytes so far, and when; the oldest is at the span's beginning or before it.
        var samples: [(time: MonotonicInstant, bytes: UInt64)] = []
        var bytes: UInt64 = 0
    }

    private let state = Guarded(State())

    /// Reads the counters. They begin anew when a worker does.
    func sample(_ counters: [UInt64], at now: MonotonicInstant) {
        state.withLock { state in
            if state.counted.count != counters.count { state.counted = counters.map { _ in 0 } }
            for (index, count) in counters.enumerated() {
                let before = state.counted[index]
                state.bytes &+= count >= before ? count &- before : count
                state.counted[index] = count
            }
            state.samples.append((now, state.bytes))
            while state.samples.count > 2, state.samples[1].time.duration(to: now) >= Self.span {
                state.samples.removeFirst()
            }
        }
    }

    /// Bytes a second over the last five seconds, or since the first sample when that is not so long ago.
    var average: Double {
        state.withLock { state in
            guard let first = state.samples.first, let last = state.samples.last else { return 0 }
            let seconds = first.time.duration(to: last.time) / .seconds(1)
            return seconds > 0 ? Double(last.bytes &- first.bytes) / seconds : 0
        }
    }
}
