import CTrawlPlatform
package import TrawlHTTP

/// A token bucket shared by all processes: bandwidth as one "debt until" word.
///
/// All order is relaxed: the word carries its whole meaning, and nothing else is published by it. Any process can spoil
/// it, so sums saturate instead of trapping.
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

    /// The limit in bytes a second; nil is none.
    package var bytesPerSecond: UInt64? {
        let cost = nanosecondsPerMiB
        return cost == 0 ? nil : max(1, Self.costOfOne / cost)
    }

    /// Sets the limit; it holds for all processes from the next charge on. A debt of before stays, in bytes: at a
    /// higher rate it is paid sooner, and without a limit nothing is owed, then or later.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: Zero is unlimited.
    ///   - burst: The credit of idle time.
    ///   - now: The present time.
    package func setLimit(
        bytesPerSecond: UInt64, burst: Duration = .milliseconds(20), at now: MonotonicInstant
    ) {
        let old = nanosecondsPerMiB
        let cost = bytesPerSecond == 0 ? 0 : max(1, Self.costOfOne / bytesPerSecond)
        // What a charge that was under way when the limit was lifted has left.
        if old == 0 { clear() }
        cplatform_store_relaxed(line + cplatform_bucket_burst, UInt64(max(0, burst.clampedNanoseconds)))
        cplatform_store_relaxed(line + cplatform_bucket_cost, cost)
        if cost == 0 { return clear() }
        guard old != 0, old != cost else { return }
        var until = cplatform_load_relaxed(debtUntil)
        while until > now.nanoseconds {
            let product = (until - now.nanoseconds).multipliedFullWidth(by: cost)
            let rest = product.high >= old ? UInt64.max : old.dividingFullWidth(product).quotient
            let (sum, overflow) = now.nanoseconds.addingReportingOverflow(rest)
            if cplatform_exchange_relaxed(debtUntil, &until, overflow ? .max : sum) != 0 { return }
        }
    }

    /// The cost of 1 MiB at one byte a second, in nanoseconds.
    private static let costOfOne: UInt64 = (1 << 20) * 1_000_000_000

    /// Whether the bucket before this one pays for it.
    package var isJoint: Bool { cplatform_load_relaxed(line + cplatform_bucket_joint) != 0 }

    /// Lets the bucket before this one pay for it, or not.
    package func setJoint(_ isJoint: Bool) {
        cplatform_store_relaxed(line + cplatform_bucket_joint, isJoint ? 1 : 0)
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

    /// Spends bytes if all that was spent before is paid for, or there is no limit.
    ///
    /// - Returns: Whether they were spent. Of several processes that try at once one succeeds.
    package func chargeIfPaid(_ bytes: Int, at now: MonotonicInstant) -> Bool {
        let cost = cost(of: bytes)
        if cost == 0 { return debt(at: now) == .zero }
        let burst = burstNanoseconds
        let earliest = now.nanoseconds > burst ? now.nanoseconds - burst : 0
        var old = cplatform_load_relaxed(debtUntil)
        while old <= now.nanoseconds {
            let (sum, overflow) = max(old, earliest).addingReportingOverflow(cost)
            if cplatform_exchange_relaxed(debtUntil, &old, overflow ? .max : sum) != 0 { return true }
        }
        return false
    }

    /// Whether less was spent lately than there was: all the credit of idle time is there, or there is no limit.
    package func isSlack(at now: MonotonicInstant) -> Bool {
        let (end, overflow) = cplatform_load_relaxed(debtUntil).addingReportingOverflow(burstNanoseconds)
        return nanosecondsPerMiB == 0 || !overflow && end <= now.nanoseconds
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
