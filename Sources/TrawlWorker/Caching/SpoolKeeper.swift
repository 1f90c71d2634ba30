import TrawlCache
import TrawlProtocol
import TrawlStore
import TrawlTransfer

/// Stores a response whose body it takes as it comes.
final class SpoolKeeper: BodyKeeper {
    /// What the record will be.
    enum Record {
        /// A response of its own.
        case new(Storing)
        /// A stored part and what came after it.
        case combined(StoredResponse)
    }

    private unowned let keeper: CacheKeeper
    private let store: ResponseStore
    private var storageClass: StorageClass
    private var metadata: [UInt8] = []
    private let replacing: [CacheUse]
    private let spool: BodySpool
    private var record: Record?
    private var changes: [CacheWrite] = []
    private var length: UInt64 = 0

    init(
        _ keeper: CacheKeeper, _ store: ResponseStore, storageClass: StorageClass, replacing: [CacheUse]
    ) {
        self.keeper = keeper
        self.store = store
        self.storageClass = storageClass
        self.replacing = replacing
        spool = BodySpool(in: store.cache.blobs, longest: store.cache.longestBody)
    }

    /// Says what is stored at the end.
    func expect(_ record: Record) { self.record = record }

    /// Changes that go before it, stored or not.
    func alsoChange(_ changes: [CacheWrite]) { self.changes = changes }

    var mayBeDecided: Bool {
        if case .new = record { return true }
        return false
    }

    func decide(_ order: StoringOrder?) {
        guard let order else {
            record = nil
            return spool.abandon()
        }
        storageClass = order.session.map { .session(SessionID($0.first, $0.last)) } ?? .permanent
        metadata = order.metadata
    }

    func write(_ bytes: UnsafeRawBufferPointer) {
        length += UInt64(bytes.count)
        if !spool.isOver { spool.append(bytes) }
    }

    func finish() -> UInt64? {
        var last: UInt64?
        for change in changes { last = keeper.write(change, to: store) }
        return commit(isComplete: true) ?? last
    }

    func interrupt() {
        // Nobody waits for it.
        if case .new = record, !spool.isOver { _ = commit(isComplete: false) }
        abandon()
    }

    private func commit(isComplete: Bool) -> UInt64? {
        let response: StoredResponse? =
            switch record {
            case .new(let storing):
                store.rules.finished(storing, received: length, isComplete: isComplete, metadata: metadata)
            case .combined(let response): isComplete && response.facts.body.length == length ? response : nil
            case nil: nil
            }
        record = nil
        guard let response, let body = spool.finish() else { return nil }
        return keeper.write(
            .append(store.record(of: response, body: body, storageClass, replacing: replacing)), to: store)
    }

    func abandon() {
        record = nil
        changes = []
        spool.abandon()
    }
}
