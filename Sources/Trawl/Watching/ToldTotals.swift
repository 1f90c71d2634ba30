import TrawlPlatform

/// What counters of a metrics system have been told by the reporters of a coordinator. Such counters are the process's
/// own and outlive each of them.
package final class ToldTotals: Sendable {
    private let totals = Guarded<[String: UInt64]>([:])

    /// How much a counter has grown since it was last told; that counts as told from now on.
    package func growth(of counter: String, to total: UInt64) -> UInt64 {
        totals.withLock { totals in
            let told = totals[counter] ?? 0
            guard total > told else { return 0 }
            totals[counter] = total
            return total - told
        }
    }
}
