import TrawlProtocol
import TrawlStore
import TrawlTransfer

/// Changes the store when a response has ended well, and keeps nothing of its body.
final class ChangeKeeper: BodyKeeper {
    private unowned let keeper: CacheKeeper
    private let store: ResponseStore
    private var changes: [CacheWrite]

    init(_ keeper: CacheKeeper, _ store: ResponseStore, _ changes: [CacheWrite]) {
        self.keeper = keeper
        self.store = store
        self.changes = changes
    }

    var mayBeDecided: Bool { false }
    func decide(_ order: StoringOrder?) {}
    func interrupt() { abandon() }

    func write(_ bytes: UnsafeRawBufferPointer) {}

    func finish() -> UInt64? {
        defer { changes = [] }
        // Changes are committed in their order, so the last one's commit is that of all.
        return changes.map { keeper.write($0, to: store) }.last
    }

    func abandon() { changes = [] }
}
