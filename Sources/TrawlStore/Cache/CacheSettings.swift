/// How a cache store is opened. All processes that share one are given the same budget by their user.
package struct CacheSettings: Sendable {
    /// Bytes the cache may take: the pages of its tables, and its blobs.
    package var budget: UInt64 = 1 << 30
    /// A body longer than this part of the budget is not stored, so that one download does not push everything out.
    package var largestShare: UInt64 = 8
    /// Snapshots open at one time, over all processes.
    package var maxReaders = 510
    /// How long opening waits for other processes that open or close the same store.
    package var openingPatience: Duration = .seconds(10)
    /// Names the boot of the machine; `nil` asks the kernel.
    package var bootIdentity: String?
    #if DEBUG
        /// Called where a test may want to kill the process.
        package var faultHook: (@Sendable (CacheFaultPoint) -> Void)?
    #endif

    /// 1 GiB, of which one body may take an eighth.
    package init() {}

    /// The most bytes a body may have.
    package var longestBody: UInt64 { budget / max(1, largestShare) }

    /// What eviction goes down to once the budget is passed, so that it does not come with every record.
    var lowWater: UInt64 { budget - min(budget / 256, 16 << 20) }

    func pass(_ point: CacheFaultPoint) {
        #if DEBUG
            faultHook?(point)
        #endif
    }
}

/// Where a process that stores a response may die, with an own consequence each.
package enum CacheFaultPoint: String, Sendable, CaseIterable {
    /// The body is in its spool file.
    case afterSpool
    /// The blob has its name, no committed record refers to it.
    case afterRename
    /// All of the transaction is written, nothing is committed.
    case beforeCommit
    /// The record is there, nobody was told.
    case afterCommit
}
