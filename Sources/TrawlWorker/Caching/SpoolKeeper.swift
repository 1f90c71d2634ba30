import TrawlCache
import TrawlHTTP
import TrawlPlatform
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
    private let asked: WallTime
    private var spool: BodySpool
    private var record: Record?
    private let change: UInt64?
    let isForOthers: Bool
    private var length: UInt64 = 0
    /// The stored part that the response goes on from, and how many of its bytes the spool begins with.
    private var start: (part: StoredResponse, length: UInt64)?

    /// - Parameters:
    ///   - record: What is stored at the end.
    ///   - asked: When it was asked for.
    ///   - isForOthers: Whether those who wait for the response could use what is stored.
    ///   - change: The commit of what the head has changed already, stored or not.
    init(
        _ keeper: CacheKeeper, _ store: ResponseStore, _ record: Record, storageClass: StorageClass,
        replacing: [CacheUse], asked: WallTime, isForOthers: Bool, after change: UInt64?
    ) {
        self.keeper = keeper
        self.store = store
        self.record = record
        self.storageClass = storageClass
        self.replacing = replacing
        self.asked = asked
        self.isForOthers = isForOthers
        self.change = change
        spool = BodySpool(in: store.cache.blobs, longest: store.cache.longestBody)
    }

    var mayBeDecided: Bool {
        if case .new = record { return true }
        return false
    }

    var takesBytes: Bool { record != nil && !spool.isOver }

    func decide(_ order: StoringOrder?) {
        guard let order else {
            record = nil
            return spool.abandon()
        }
        storageClass = order.session.map(StorageClass.session) ?? .permanent
        metadata = order.metadata
    }

    func write(_ bytes: UnsafeRawBufferPointer) {
        if length == 0, !bytes.isEmpty { beginWithStored() }
        length += UInt64(bytes.count)
        if !spool.isOver { spool.append(bytes) }
    }

    func finish() -> UInt64? { both(commit(isComplete: true)) }

    func interrupt() -> UInt64? {
        // The next attempt goes on where this one broke off.
        var part: UInt64?
        if case .new = record, !spool.isOver { part = commit(isComplete: false) }
        abandon()
        return both(part)
    }

    /// The commit after which both the record and what the head has changed are in the store.
    private func both(_ stored: UInt64?) -> UInt64? {
        stored.map { keeper.commit(of: $0, after: change) } ?? keeper.commit(of: change)
    }

    private func commit(isComplete: Bool) -> UInt64? {
        let response: StoredResponse? =
            switch record {
            case .new(let storing):
                store.rules.finished(storing, received: length, isComplete: isComplete, metadata: metadata)
                    .flatMap { joined($0) }
            case .combined(let response): isComplete && response.facts.body.length == length ? response : nil
            case nil: nil
            }
        record = nil
        guard let response, let body = spool.finish() else { return nil }
        let new = store.record(
            of: response, body: body, storageClass, replacing: replacing, asked: asked, at: WallClock.time())
        return keeper.write(.append(new), to: store)
    }

    func abandon() {
        record = nil
        spool.abandon()
    }

    // MARK: - Parts made one

    /// Takes the bytes of a stored part first that the response goes on from.
    ///
    /// - Source: RFC 9111 §3.4.
    private func beginWithStored() {
        guard case .new(let storing) = record, let part = storing.announcedPart,
            let found = store.neighbour(of: part, on: .before, storageClass)
        else { return }
        // Where they overlap, what came counts.
        let count = part.facts.body.first - found.response.facts.body.first
        if append(0..<count, of: found) {
            start = (found.response, count)
        } else {
            spool.abandon()
            spool = BodySpool(in: store.cache.blobs, longest: store.cache.longestBody)
        }
    }

    /// The response with what is stored before it, and with what is stored behind it; nil when the spool does not hold
    /// that.
    private func joined(_ response: StoredResponse) -> StoredResponse? {
        var response = response
        var length = length
        if let start {
            guard let combination = store.rules.combined(start.part, response) else { return nil }
            response = combination.response
            length += start.length
        }
        if !response.facts.body.isComplete,
            let found = store.neighbour(of: response, on: .behind, storageClass),
            let combination = store.rules.combined(found.response, response)
        {
            let stored = found.response.facts.body
            let rest = (response.facts.body.range.upperBound - stored.first)..<stored.length
            guard append(rest, of: found) else { return nil }
            response = combination.response
            length += rest.upperBound - rest.lowerBound
        }
        return response.facts.body.length == length ? response : nil
    }

    /// - Returns: Whether the spool has them; otherwise it holds some of them, or is over.
    private func append(_ range: Range<UInt64>, of item: StoredItem) -> Bool {
        let bytes = VerifiedBytes(item.body, range, in: keeper.memory) { [store] in
            store.cache.reportDamage(of: $0, item.use)
        }
        do throws(HopFailure) {
            while case .bytes(let piece)? = try bytes.next(into: nil) { spool.append(piece) }
        } catch {
            return false
        }
        return !spool.isOver
    }
}
