extension Task where Success == Never, Failure == Never {
    /// Sleeps for so long, however long that is. When the task is cancelled it throws at once.
    ///
    /// In parts: `sleep(for:)` ends the process where 64 bits do not hold the seconds until then, and one that is
    /// cancelled leaves a timer behind for the rest of its time.
    package static func sleep(forAnyTime duration: Duration) async throws {
        try await sleep(for: duration, inPartsOf: .seconds(60))
    }

    /// The same, where a stop of the process or the machine counts for a second at most.
    static func sleep(forOwnTime duration: Duration) async throws {
        try await sleep(for: duration, inPartsOf: .seconds(1))
    }

    private static func sleep(for duration: Duration, inPartsOf part: Duration) async throws {
        var left = duration
        while left > part {
            try await sleep(for: part)
            left -= part
        }
        try await sleep(for: left)
    }
}
