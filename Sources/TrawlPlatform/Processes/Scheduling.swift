import CTrawlPlatform

/// How the kernel shares processors among threads.
package enum Scheduling {
    /// Asks for throughput in place of quick wake-ups, for the calling thread and all threads and processes it starts
    /// from now on.
    ///
    /// A thread that wakes does not interrupt another that runs then, so that each deals with more at a time. Many
    /// small fetches take 6 % less time and their coordinator 19 % less CPU that way (`Tests/Benchmarks/run w1`, two
    /// cores). Where it is not allowed, or somebody has chosen another policy for this process, nothing changes.
    ///
    /// - Source: sched(7), SCHED_BATCH.
    package static func preferThroughput() {
        _ = cplatform_schedule_as_batch()
    }
}
