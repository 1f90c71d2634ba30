/// What becomes of a transfer whose fetch was suspended, or is to go on.
package enum TransferOrder: UInt8, Sendable, Hashable, CaseIterable {
    /// It goes on.
    case goOn = 0
    /// It rests: nothing is read from its connection or written to it, and its clocks stand still. One whose request
    /// was not sent yet is given up.
    case rest = 1
    /// It gives up its connection and its lease. What has come goes back with the end, for another lease to go on with.
    case giveUp = 2
}
