package import TrawlHTTP

/// How many fetches there are, told so that a person can follow it.
///
/// The first is told at once. That there are none is told when there have been none for half a second, so that an
/// indicator does not flicker between two fetches. In between the number is told four times a second at most.
///
/// - Source: ASI-MISC-01.
package struct ActivityTally: Sendable, Hashable {
    /// How long there must be none before that is told.
    package static let quietTime = Duration.milliseconds(500)
    /// The least time between two numbers.
    package static let interval = Duration.milliseconds(250)

    private var told = 0
    private var count = 0
    private var toldAt: MonotonicInstant?
    private var quietSince: MonotonicInstant?

    /// A tally that has told that there are none.
    package init() {}

    /// What was told last.
    package var current: Int { told }

    /// When there may be something to tell although nothing changes; nil is never.
    package var nextLook: MonotonicInstant? {
        if let quietSince { return quietSince.advanced(by: Self.quietTime) }
        return count == told ? nil : toldAt?.advanced(by: Self.interval)
    }

    /// Looks at the number.
    ///
    /// - Returns: What is to be told now; nil is nothing.
    package mutating func look(_ count: Int, at now: MonotonicInstant) -> Int? {
        self.count = count
        if count > 0 {
            quietSince = nil
            guard count != told, told == 0 || toldAt.map({ $0.advanced(by: Self.interval) <= now }) ?? true else {
                return nil
            }
        } else {
            guard told > 0 else { return nil }
            let since = quietSince ?? now
            quietSince = since
            guard since.advanced(by: Self.quietTime) <= now else { return nil }
            quietSince = nil
        }
        told = count
        toldAt = now
        return count
    }
}
