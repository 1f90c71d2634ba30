import TrawlProtocol
import TrawlTransfer

/// Keeps nothing of a body: the head has changed the store already, and the answer ends after that commit.
final class ChangeKeeper: BodyKeeper {
    private let change: UInt64
    private unowned let keeper: CacheKeeper

    init(_ change: UInt64, _ keeper: CacheKeeper) {
        self.change = change
        self.keeper = keeper
    }

    var mayBeDecided: Bool { false }
    var takesBytes: Bool { false }
    var isForOthers: Bool { false }
    func decide(_ order: StoringOrder?) {}
    func write(_ bytes: UnsafeRawBufferPointer) {}
    func finish() -> UInt64? { keeper.commit(of: change) }
    func interrupt() -> UInt64? { keeper.commit(of: change) }
    func abandon() {}
}
