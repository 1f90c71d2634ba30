import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// The limits of bandwidth that groups of fetches have of their own, by the names of the groups.
///
/// Their numbers in the shared segment are the last ones.
final class BandwidthShares: Sendable {
    /// How many groups there may be at a time.
    static let most = 64
    /// The number of the first.
    static let first = LimitNumbers.count - most

    private struct State {
        var numbers: [String: Int] = [:]
        var limits: [String: BandwidthLimit] = [:]
        /// Groups that are under no limit.
        var exempt: Set<String> = []
        /// Numbers that are free, the one that has been for longest first: fetches of a group that was given up may
        /// still run.
        var free = Array(first..<LimitNumbers.count)
    }

    private let state = Guarded(State())

    /// The number of a group; nil when it has no limit.
    func number(of name: String) -> Int? { state.withLock { $0.numbers[name] } }

    /// Whether no limit holds for a group, neither its own nor those of others.
    func isExempt(_ name: String) -> Bool { state.withLock { $0.exempt.contains(name) } }

    func setExempt(_ isExempt: Bool, _ name: String) {
        state.withLock { state in
            if isExempt {
                _ = state.exempt.insert(name)
            } else {
                _ = state.exempt.remove(name)
            }
        }
    }

    func limit(of name: String) -> BandwidthLimit { state.withLock { $0.limits[name] ?? .none } }

    /// Sets a group's limit, or takes it away.
    ///
    /// - Returns: False when there are too many groups.
    func set(_ limit: BandwidthLimit, of name: String, in segment: SharedSegment) -> Bool {
        state.withLock { state in
            if limit.isUnlimited {
                state.limits[name] = nil
                guard let number = state.numbers.removeValue(forKey: name) else { return true }
                segment.limit(number).set(limit)
                state.free.append(number)
                return true
            }
            if state.numbers[name] == nil {
                guard !state.free.isEmpty else { return false }
                let number = state.free.removeFirst()
                segment.limit(number).down.clear()
                segment.limit(number).up.clear()
                state.numbers[name] = number
            }
            guard let number = state.numbers[name] else { return false }
            state.limits[name] = limit
            segment.limit(number).set(limit)
            return true
        }
    }
}
