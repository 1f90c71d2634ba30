import CPlatform
package import TrawlHTTP

/// A token bucket shared by all processes: bandwidth as one "debt until" word.
///
/// All order is relaxed: the word carries its whole meaning, and nothing else is published by it. Any process can spoil it,
/// so sums saturate instead of trapping.
///
/// `@unchecked Sendable`: it holds the segment, whose mapping is reached only by atomics.
package struct SharedBucket: @unchecked Sendable {
    let segment: SharedSegment
    let line: UnsafeMutableRawPointer

    private var debtUntil: UnsafeMutableRawPointer { line + cplatform_bucket_debt_until }

    /// The cost of 1 MiB in nanoseconds; zero is unlimited.
    package var nanosecondsPerMiB: UInt64 {
        cplatform_load_relaxed(line + cplatform_bucket_cost)
    }

    /// The credit that idle time may build up, in nanoseconds.
    package var burstNanoseconds: UInt64 {
        cplatform_load_relaxed(line + cplatform_bucket_burst)
    }

    /// Sets the limit; it holds for all processes from the next charge on. A debt of before stays.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: Zero is unlimited.
    ///   - burst: The credit of idle time.
    package func setLimit(bytesPerSecond: UInt64, burst: Duration = .milliseconds(20)) {
        let cost = bytesPerSecond == 0 ? 0 : max(1, ((1 << 20) * 1_000_000_000) / bytesPerSecond)
        cplatform_store_relaxed(line + cplatform_bucket_burst, UInt64(max(0, burst.clampedNanoseconds)))
        cplatform_store_relaxed(line + cplatform_bucket_cost, cost)
    }

    /// Forgets debt and credit, as for a bucket that gets a new use.
    package func clear() {
        cplatform_store_relaxed(debtUntil, 0)
    }

    /// Spends bytes.
    ///
    /// - Returns: How long to rest until they are paid for; zero when there was credit or no limit.
    @discardableResult
    package func charge(_ bytes: Int, at now: MonotonicInstant) -> Duration {
        let cost = cost(of: bytes)
        if cost == 0 { return debt(at: now) }
        let burst = burstNanoseconds
        let earliest = now.nanoseconds > burst ? now.nanoseconds - burst : 0
        var old = cplatform_load_relaxed(debtUntil)
        while true {
            let (sum, overflow) = max(old, earliest).addingReportingOverflow(cost)
            let new = overflow ? .max : sum
            if cplatform_exchange_relaxed(debtUntil, &old, new) != 0 { return Self.wait(until: new, at: now) }
        }
    }

    /// Gives back bytes that were charged as an estimate and did not come.
    package func refund(_ bytes: Int) {
        let cost = cost(of: bytes)
        if cost == 0 { return }
        var old = cplatform_load_relaxed(debtUntil)
        while cplatform_exchange_relaxed(debtUntil, &old, old > cost ? old - cost : 0) == 0 {}
    }

    /// How long until all that was spent is paid for; zero without a limit.
    package func debt(at now: MonotonicInstant) -> Duration {
        if nanosecondsPerMiB == 0 { return .zero }
        return Self.wait(until: cplatform_load_relaxed(debtUntil), at: now)
    }

    private func cost(of bytes: Int) -> UInt64 {
        let product = nanosecondsPerMiB.multipliedFullWidth(by: UInt64(max(0, bytes)))
        return product.high >> 20 == 0 ? product.high << 44 | product.low >> 20 : .max
    }

    private static func wait(until: UInt64, at now: MonotonicInstant) -> Duration {
        until > now.nanoseconds ? .nanoseconds(Int64(clamping: until - now.nanoseconds)) : .zero
    }
}
