import TrawlHTTP

/// How long something has been awaited in vain, counting only time in which the supervisor itself ran.
struct Silence: Sendable {
    private var lastTick: MonotonicInstant
    private var total = Duration.zero

    init(since now: MonotonicInstant) {
        lastTick = now
    }

    /// Adds the time since the last tick if this one was on time, and gives the silence so far.
    mutating func tick(onTime: Bool, at now: MonotonicInstant, longest: Duration) -> Duration {
        if onTime && lastTick < now {
            total += min(lastTick.duration(to: now), longest)
        }
        lastTick = max(lastTick, now)
        return total
    }
}

/// A heartbeat and how long it has stood still.
struct Watch: Sendable {
    private var silence: Silence
    private var beat: UInt64?

    init(since now: MonotonicInstant) {
        silence = Silence(since: now)
    }

    /// Whether the beat has stood still for longer than the policy allows.
    mutating func tick(beat: UInt64, onTime: Bool, at now: MonotonicInstant, policy: RestartPolicy) -> Bool {
        if self.beat != beat {
            self.beat = beat
            silence = Silence(since: now)
            return false
        }
        return silence.tick(onTime: onTime, at: now, longest: policy.longestTick) >= policy.heartbeatDeadline
    }
}
