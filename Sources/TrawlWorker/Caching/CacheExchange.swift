import TrawlCache
import TrawlHTTP
import TrawlProtocol
import TrawlSession
import TrawlStore
import TrawlTransfer
import TrawlURL

/// One exchange with a server that the cache takes part in.
final class CacheExchange: KeptExchange {
    private unowned let keeper: CacheKeeper
    private let crowd: Crowd
    private let store: ResponseStore
    private let request: CacheRequest
    private let sending: Sending
    private let candidate: StoredCandidate?
    private let storageClass: StorageClass
    private let dropsBodies: Bool
    private let isDirect: Bool

    /// - Parameter isDirect: Whether no proxy is on the way.
    init(
        _ keeper: CacheKeeper, _ crowd: Crowd, store: ResponseStore, request: CacheRequest, sending: Sending,
        candidate: StoredCandidate?, storageClass: StorageClass, dropsBodies: Bool, isDirect: Bool
    ) {
        self.keeper = keeper
        self.crowd = crowd
        self.store = store
        self.request = request
        self.sending = sending
        self.candidate = candidate
        self.storageClass = storageClass
        self.dropsBodies = dropsBodies
        self.isDirect = isDirect
        crowd.enter()
    }

    deinit { crowd.leave() }

    func received(_ head: TrawlHTTP.ResponseHead, sentAt: WallTime, now: WallTime) -> KeptResponse {
        if let candidate {
            let conclusion = store.rules.conclude(
                request, sending, stored: candidate.response, head, requestTime: sentAt, responseTime: now)
            switch conclusion {
            case .freshened(let response, let reuse):
                return validated(candidate, response, reuse, head, now, writes: mayWrite)
            case .confirmed(let response, let reuse):
                return validated(candidate, response, reuse, head, now, writes: false)
            case .completed(let combination, let reuse): return completed(candidate, combination, reuse, head)
            case .fallBack(let reuse):
                guard var stored = answer(candidate, reuse) else { return .passOn }
                stored.keeper = keeper.change(clearing(head), in: store).map { ChangeKeeper($0, keeper) }
                return .replace(stored)
            case .handOn: return .passOn
            case .repeatPlain:
                remove(candidate)
                return .refuse(HopFailure(.storedResponse, detail: "the answer fits nothing that is stored"))
            case .replace: break
            }
        }
        return plain(head, sentAt: sentAt, now: now)
    }

    func answer(insteadOf failure: HopFailure, at now: WallTime) -> StoredAnswer? {
        guard let candidate, failure.kind.isOutage,
            let reuse = store.rules.fallback(request, candidate.response, after: .unreachable, at: now)
        else { return nil }
        return answer(candidate, reuse)
    }

    // MARK: - Responses that go with what is stored

    /// The server said that the stored response is still right.
    private func validated(
        _ candidate: StoredCandidate, _ response: StoredResponse, _ reuse: Reuse, _ head: TrawlHTTP.ResponseHead,
        _ now: WallTime, writes: Bool
    ) -> KeptResponse {
        guard var stored = answer(candidate, reuse, as: response) else { return gone }
        var changes = clearing(head)
        if writes, changes.isEmpty {
            changes.append(
                .replaceHeader(candidate.use, header: response.encoded(), stored: UInt64(max(0, now.milliseconds))))
        }
        stored.keeper = keeper.change(changes, in: store).map { ChangeKeeper($0, keeper) }
        return .replace(stored)
    }

    /// The bytes came that the stored part lacked.
    private func completed(
        _ candidate: StoredCandidate, _ combination: Combination, _ reuse: Reuse, _ wire: TrawlHTTP.ResponseHead
    ) -> KeptResponse {
        // The rules see to it that what came begins where the stored bytes end.
        guard case .stored(let prefix)? = combination.pieces.first, let body = store.body(of: candidate.use)
        else { return gone }
        let head = combination.response.head(as: reuse)
        var report = CacheReport()
        report.source = reuse.source
        let change = keeper.change(clearing(wire), in: store)
        let record: (any BodyKeeper)? =
            mayWrite && combination.mayBeStored
            ? spool(
                .combined(combination.response), replacing: [candidate.use],
                asked: combination.response.facts.requestTime, after: change)
            : change.map { ChangeKeeper($0, keeper) }
        return .complete(
            StoredAnswer(head: head, body: verified(body, prefix, of: candidate), report: report, keeper: record),
            length: combination.response.facts.body.length)
    }

    /// The stored response as the answer.
    private func answer(
        _ candidate: StoredCandidate, _ reuse: Reuse, as response: StoredResponse? = nil
    ) -> StoredAnswer? {
        let response = response ?? candidate.response
        let head = response.head(as: reuse)
        var report = CacheReport()
        report.source = reuse.source
        let range = reuse.bodyRange(of: response.facts.body) ?? 0..<0
        guard !range.isEmpty else {
            return StoredAnswer(head: head, body: VerifiedBytes(nil, 0..<0, in: keeper.memory), report: report)
        }
        if dropsBodies {
            let bytes = LateBytes(UInt64(range.count)) { [self] in
                store.body(of: candidate.use, like: response).map { verified($0, range, of: candidate) }
            }
            return StoredAnswer(head: head, body: bytes, report: report)
        }
        guard let body = store.body(of: candidate.use, like: response) else { return nil }
        return StoredAnswer(head: head, body: verified(body, range, of: candidate), report: report)
    }

    private func verified(_ body: StoredBody, _ range: Range<UInt64>, of candidate: StoredCandidate) -> VerifiedBytes {
        VerifiedBytes(body, range, in: keeper.memory) { [store] in store.cache.reportDamage(of: $0, candidate.use) }
    }

    private var gone: KeptResponse {
        .refuse(HopFailure(.storedResponse, detail: "what was validated is gone"))
    }

    // MARK: - Responses of their own

    private func plain(_ head: TrawlHTTP.ResponseHead, sentAt: WallTime, now: WallTime) -> KeptResponse {
        var changes = invalidations(head, at: now)
        if mayWrite, request.method == .head, let candidate {
            switch store.rules.updatedByHead(
                request, stored: candidate.response, head, requestTime: sentAt, responseTime: now)
            {
            case .freshened(let response):
                changes.append(
                    .replaceHeader(
                        candidate.use, header: response.encoded(), stored: UInt64(max(0, now.milliseconds))))
            case .remove: changes.append(.remove(candidate.use))
            case .keep: break
            }
        }
        let decision = store.rules.storing(request, head, requestTime: sentAt, responseTime: now) { [keeper, request] in
            try? keeper.urls.resolve($0, against: request.target)
        }
        // What the head alone decides is done whatever becomes of the body (RFC 9111 §4.4).
        guard mayWrite, case .store(let storing) = decision else {
            if mayWrite, let candidate, store.rules.isObsolete(sending, after: head.status) {
                changes.append(.remove(candidate.use))
            }
            return keeper.change(changes, in: store).map { .keep(ChangeKeeper($0, keeper)) } ?? .passOn
        }
        let isForOthers = store.rules.mayServeOthers(request, storing, longestBody: store.cache.longestBody)
        let change = keeper.change(changes, in: store)
        // The answer to an unsafe request shows what that has made of it.
        let asked = request.method.isSafe ? sentAt : now
        return .keep(spool(.new(storing), replacing: [], asked: asked, isForOthers: isForOthers, after: change))
    }

    /// What an answer to an unsafe request, or `Clear-Site-Data`, removes.
    private func invalidations(_ head: TrawlHTTP.ResponseHead, at now: WallTime) -> [CacheWrite] {
        var changes: [CacheWrite] = []
        if let references = store.rules.invalidations(request, head) {
            let answered = UInt64(max(0, now.milliseconds))
            changes.append(.removeAll(CacheDigest(of: request.key), answered: answered))
            for reference in references {
                guard let target = try? keeper.urls.resolve(reference, against: request.target),
                    store.rules.isInvalidated(target, by: request.target)
                else { continue }
                changes.append(.removeAll(CacheDigest(of: CacheKey(target)), answered: answered))
            }
        }
        return changes + clearing(head)
    }

    /// What `Clear-Site-Data` of a response removes, whatever its status.
    private func clearing(_ head: TrawlHTTP.ResponseHead) -> [CacheWrite] {
        guard store.rules.clearsStoredResponses(request, isLocal: isLocal, head.fields) else { return [] }
        return [.removeMatching(ResponseStore.records(of: request.target.origin))]
    }

    private var mayWrite: Bool { request.mayWrite }

    /// A proxy's loopback is not ours.
    private var isLocal: Bool { isDirect && CookieTarget.isLoopback(request.target.host) }

    private func spool(
        _ record: SpoolKeeper.Record, replacing: [CacheUse], asked: WallTime, isForOthers: Bool = true,
        after change: UInt64? = nil
    ) -> SpoolKeeper {
        SpoolKeeper(
            keeper, store, record, storageClass: storageClass, replacing: replacing, asked: asked,
            isForOthers: isForOthers, after: change)
    }

    private func remove(_ candidate: StoredCandidate) {
        guard mayWrite else { return }
        _ = keeper.write(.remove(candidate.use), to: store)
    }
}
