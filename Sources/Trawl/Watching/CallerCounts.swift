import Synchronization
import TrawlPlatform
import TrawlWatch

/// Answers from the cache that were given on the threads of callers, where nothing else is shared: one addition each.
final class CallerCounts: Sendable {
    private let fresh = Atomic<UInt64>(0)
    private let stale = Atomic<UInt64>(0)
    /// Those of a status other than 200, by status, taken from the sums above.
    private let others = Guarded<[Other: UInt64]>([:])

    private struct Other: Hashable {
        var status: Int
        var isStale: Bool
    }

    /// A response was given. One without a response is not counted.
    func answered(_ result: Result<Response, FetchError>) {
        guard case .success(let response) = result else { return }
        let isStale = response.source == .stale
        if isStale {
            stale.wrappingAdd(1, ordering: .relaxed)
        } else {
            fresh.wrappingAdd(1, ordering: .relaxed)
        }
        guard response.status != 200 else { return }
        let other = Other(status: response.status / 100 * 100, isStale: isStale)
        others.withLock { $0[other, default: 0] += 1 }
    }

    /// Adds all of them.
    func add(to counts: inout EngineCounts) {
        var left = (fresh: fresh.load(ordering: .relaxed), stale: stale.load(ordering: .relaxed))
        for (other, count) in others.withLock({ $0 }) {
            counts.responded(count, status: other.status, from: other.isStale ? .stale : .cache)
            // One may have been counted in the table and not yet in the sum that was read before.
            if other.isStale {
                left.stale -= min(left.stale, count)
            } else {
                left.fresh -= min(left.fresh, count)
            }
        }
        counts.responded(left.fresh, status: 200, from: .cache)
        counts.responded(left.stale, status: 200, from: .stale)
    }
}
