/// How an environment is opened. All processes that share one use the same tables and format.
package struct EnvironmentSettings: Sendable {
    /// When commits reach the disk.
    package enum SyncPolicy: Sendable, Hashable {
        /// When the system likes. For what can be made anew.
        case none
        /// Within a second of a transaction that asked for it (`Transaction.requestSync`), many at once, and when a
        /// process that wrote closes it.
        case grouped
        /// With each commit.
        case everyCommit
    }

    /// The tables, in the order of their indexes.
    package var tables: [Table]
    /// The version of what the tables hold. A newer one is refused; an older one is carried over or refused.
    package var format: UInt32
    /// Whether damage or an older format means to start empty in place of an error.
    package var isRebuildable: Bool
    /// When what is committed is brought to the disk.
    package var syncPolicy: SyncPolicy = .none
    /// Addresses set aside at first, in bytes. No memory or disk is used until there is data.
    package var mapSize = 1 << 34
    /// The most the environment may grow to, in bytes; `nil` for no bound of our own.
    package var mapSizeLimit: Int?
    /// Snapshots open at one time, over all processes. The process that opens first decides.
    package var maxReaders = 510
    /// Carries tables of an older format over, inside the transaction that then sets the new format.
    package var migrate: (@Sendable (_ found: UInt32, borrowing Transaction) throws(StoreError) -> Void)?
    /// Puts right what the system may have mixed when the machine went down: older states of some rows beside newer
    /// ones of others. Runs in the first transaction after a start of the machine, when the structure was found whole.
    package var recover: (@Sendable (borrowing Transaction) throws(StoreError) -> Void)?
    /// Called before files are made where there are none, or none that can be used: what belonged to what they held is
    /// nobody's from then on, also should this process be killed at once. The directory is there, and locked.
    package var beforeMakingAnew: (@Sendable (_ directory: String) -> Void)?
    /// How long opening and closing wait for other processes that do the same.
    package var openingPatience: Duration = .seconds(10)
    /// For so long nobody tries again to open files that were replaced and could not be opened.
    package var reopeningPause: Duration = .seconds(2)
    /// Why nothing may be written where files of a directory are mapped: then nothing is read or written.
    package var findShortage: @Sendable (_ directory: String) -> StoreError? = MappedSpace.shortage(in:)
    /// Names the boot of the machine; `nil` asks the kernel.
    package var bootIdentity: String?

    /// Settings with the defaults above.
    package init(tables: [Table], format: UInt32, isRebuildable: Bool, syncPolicy: SyncPolicy = .none) {
        self.tables = tables
        self.format = format
        self.isRebuildable = isRebuildable
        self.syncPolicy = syncPolicy
    }
}
