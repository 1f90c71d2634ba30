extension RequestOptions {
    /// The first of the times and numbers that is negative, or nil.
    var rangeProblem: String? {
        let times = [
            ("timeLimits.connect", timeLimits.connect), ("timeLimits.inactivity", timeLimits.inactivity),
            ("timeLimits.firstByte", timeLimits.firstByte), ("timeLimits.resource", timeLimits.resource),
            ("timeLimits.exchange", timeLimits.exchange), ("timeLimits.connectivity", timeLimits.connectivity),
            ("retry.longestTime", retry.longestTime ?? .zero), ("retry.delay", retry.delay ?? .zero),
            ("retry.longestRetryAfter", retry.longestRetryAfter), ("transport.idleLifetime", transport.idleLifetime),
        ]
        // The time itself is not told: one of more seconds than 64 bits hold has no description.
        if let (name, _) = times.first(where: { $0.1 < .zero }) { return "\(name) is negative" }
        return retry.count < 0 ? "retry.count is negative" : nil
    }
}
