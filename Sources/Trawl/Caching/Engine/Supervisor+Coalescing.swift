import TrawlCache
import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlStore
import TrawlSupervision

/// Identical fetches: one is sent, the others wait for what it brings.
extension Supervisor {
    /// Groups of fetches of one URL that wait for one of theirs, at a time.
    private static let mostGroups = 8

    // MARK: - Identical fetches

    /// Lets a fetch wait for an identical one in flight, or makes it the one that others wait for.
    ///
    /// - Returns: Whether it waits.
    mutating func join(_ fetch: RunningFetch, _ request: CacheRequest, _ store: ResponseStore) -> Bool {
        guard fetch.engine.mayJoin, fetch.engine.access == .unrestricted, store.rules.mayLead(request) else {
            return false
        }
        let digest = CacheDigest(of: request.key)
        if coalescing.isUnshared(digest, at: now) { return false }
        // Who asks for the same URL in another way leads a group of its own, under a digest that is nobody's.
        var place = digest
        var free: CacheDigest?
        for _ in 0..<Self.mostGroups {
            if let key = coalescing[place], let leader = fetches[key] {
                if leader === fetch { return false }
                if mayFollow(fetch, request, leader, store) {
                    leader.engine.followers.append(fetch.engine.key)
                    urge(leader, to: fetch.ownPriority)
                    if let lease = leader.engine.life.activeLease {
                        followExchange(fetch)
                        if leader.engine.followers.count == 1 { limitHeadWait(for: lease, of: leader) }
                    }
                    if leader.engine.stoppedAt != nil { stopClock(of: fetch) }
                    return true
                }
            } else {
                free = free ?? place
                if !coalescing.hasOtherGroups { break }
            }
            guard let next = place.next else { break }
            place = next
        }
        // Whose reader takes its time, or does not read at all, is not waited for.
        guard let free, !fetch.plan.sink.isReadByOthers else { return false }
        let isOtherGroup = free != digest
        coalescing.lead(fetch.engine.key, under: free, isOtherGroup: isOtherGroup)
        fetch.engine.leads = free
        fetch.engine.isOvertaken = false
        fetch.engine.leadsOtherGroup = isOtherGroup
        return false
    }

    /// Whether a fetch may wait for one in flight.
    private func mayFollow(
        _ fetch: RunningFetch, _ request: CacheRequest, _ leader: RunningFetch, _ store: ResponseStore
    ) -> Bool {
        guard !leader.engine.isOvertaken, let (led, _) = cacheRequest(of: leader), store.rules.mayFollow(request, led),
            !fetch.engine.joinsSame || request.fields == led.fields
        else { return false }
        // Nobody waits at the pace of limits of bandwidth that are not its own.
        guard haveSameLimits(fetch, leader) else { return false }
        // Limits, trust and the way to the server are the same, so that a failure is too. What follows it need not be.
        let (terms, leading) = (fetch.engine.terms, leader.engine.terms)
        return leading === terms || leading.isAlike(terms)
    }

    /// Has a fetch wait for its host with the priority of the most urgent of those that wait for what it brings.
    private mutating func urge(_ leader: RunningFetch, to level: HopPriority) {
        guard leader.engine.urgency < level else { return }
        leader.engine.urgency = level
        reorder(leader)
    }

    /// A fetch was resumed, or its priority has changed: one that it waits for, if any, is as urgent, and its clock
    /// stands as long as that one's does.
    mutating func urgeLeader(of fetch: RunningFetch) {
        guard !coalescing.isEmpty, fetch.engine.place == nil, fetch.engine.leads == nil, fetch.engine.mayBegin,
            fetch.engine.mayJoin, fetch.engine.suspended?.machine.isSuspended != true,
            let (request, store) = cacheRequest(of: fetch)
        else { return }
        var place = CacheDigest(of: request.key)
        for _ in 0..<Self.mostGroups {
            if let key = coalescing[place], let leader = fetches[key], mayFollow(fetch, request, leader, store) {
                if leader.engine.stoppedAt != nil, leader.engine.followers.contains(fetch.engine.key) {
                    stopClock(of: fetch)
                }
                return urge(leader, to: fetch.ownPriority)
            }
            guard coalescing.hasOtherGroups, let next = place.next else { break }
            place = next
        }
    }

    /// An answer came to a request that may have changed what is at its URL: who asks from now on is not answered by
    /// what was asked for before.
    ///
    /// - Source: RFC 9111 §4.4, which is about what is stored already.
    func overtakeLeaders(of fetch: RunningFetch, _ head: TrawlHTTP.ResponseHead) {
        guard !coalescing.isEmpty, !fetch.engine.method.isSafe, (200..<400).contains(head.status) else { return }
        var place = CacheDigest(of: CacheKey(fetch.engine.target))
        for _ in 0..<Self.mostGroups {
            if let key = coalescing[place], let leader = fetches[key] { leader.engine.isOvertaken = true }
            guard let next = place.next else { break }
            place = next
        }
    }

    /// What becomes of those who waited for a fetch.
    enum Following {
        /// Its response is stored: they look again.
        case look
        /// It has no response that others could use: each sends its own.
        case goAlone
        /// It ended without a result that says anything to others: one takes its place.
        case promote
        /// It failed, after so long and in spite of this head, or with that of the proxy that failed: so would they.
        case fail(HopFailure, HopMetrics, TrawlHTTP.ResponseHead?)
    }

    /// A fetch others may wait for has come to an end of its hop.
    mutating func release(_ fetch: RunningFetch, _ following: Following) {
        guard let digest = fetch.engine.leads else { return }
        fetch.engine.leads = nil
        coalescing.remove(digest, isOtherGroup: fetch.engine.leadsOtherGroup)
        fetch.engine.leadsOtherGroup = false
        let urgency = fetch.engine.urgency
        fetch.engine.urgency = .veryLow
        if fetch.engine.followers.isEmpty { return }
        let followers = fetch.engine.followers
        fetch.engine.followers = []
        for (index, key) in followers.enumerated() {
            guard let follower = fetches[key], follower.engine.mayBegin else { continue }
            // It may have stood still with the fetch's own.
            startClock(of: follower)
            if let (failure, metrics, head) = sharedFailure(of: following, fetch, follower) {
                share(failure, metrics, head, with: follower)
                continue
            }
            leaveExchange(of: follower)
            switch following {
            case .promote:
                begin(follower, front: true)
                // Who could wait for the one can wait for the other.
                if follower.engine.leads == digest, follower.engine.sent == fetch.engine.sent {
                    urge(follower, to: urgency)
                    return handOver(followers[(index + 1)...], from: fetch, to: follower)
                }
            case .look:
                // Whoever it does not answer sends its own, and does not wait for the next one. But where the request
                // was another one, what was stored may vary on just that: then those of the same request are a group.
                let isSame = follower.engine.sent == fetch.engine.sent
                if isSame { follower.engine.mayJoin = false } else { follower.engine.joinsSame = true }
                begin(follower, front: true)
                if isSame, follower.engine.place != nil { noteUnshared(fetch) }
            case .goAlone:
                follower.engine.mayJoin = false
                enqueue(follower, front: true)
                noteUnshared(fetch)
            case .fail:
                follower.engine.hasSeenFailure = true
                begin(follower, front: true)
            }
        }
    }

    /// What a fetch that waited for another one fails by; nil when it goes on.
    private func sharedFailure(
        of following: Following, _ leader: RunningFetch, _ follower: RunningFetch
    ) -> (HopFailure, HopMetrics, TrawlHTTP.ResponseHead?)? {
        switch following {
        case .look: return nil
        case .fail(let failure, let metrics, let head) where isShared(failure, leader, follower):
            return (failure, metrics, head)
        // A worker has asked for it as long as it may take. Were it asked again for each of those who wait, the last
        // of them would fail after so many times as long.
        case .goAlone, .promote, .fail:
            return hasFollowedForTooLong(follower) ? (HopFailure(.timedOut, requestSent: true), HopMetrics(), nil) : nil
        }
    }

    /// A fetch that waited for another one fails as that did: with attempts left it makes the next of its own, and
    /// where the network is missing it waits for it, if its options say so.
    private mutating func share(
        _ failure: HopFailure, _ metrics: HopMetrics, _ head: TrawlHTTP.ResponseHead?, with follower: RunningFetch
    ) {
        let isOfProxy = failure.kind == .proxy
        if waitsForNetwork(after: failure, metrics, follower) { return }
        if triesAgain(after: failure, status: isOfProxy ? head?.status : nil, follower) { return }
        if let head, !isOfProxy { follower.channel?.recordRefused(Response.ResponseHead(head)) }
        answer(follower, with: .failure(FetchError(failure, fetch: follower)))
    }

    /// Who waits for a fetch does so until its response has to have begun.
    mutating func limitHeadWait(for lease: LeaseID, of leader: RunningFetch) {
        coalescing.wait(
            for: lease, of: leader.engine.key, until: now.advanced(by: configuration.tolerance.sharedHeadWait))
    }

    /// Where no response begins those who wait for it send their own: a server may answer the one when it has the
    /// other. While the request itself has not gone out, for want of a connection or bandwidth, theirs would not either.
    mutating func endHeadWaits() {
        for wait in coalescing.takeOverdue(at: now) {
            guard let leader = fetches[wait.leader], leader.engine.life.activeLease == wait.lease,
                !leader.engine.followers.isEmpty
            else { continue }
            guard let words = words(of: leader, in: wait.lease), words.requestMayHaveBeenSent else {
                limitHeadWait(for: wait.lease, of: leader)
                continue
            }
            // Its length is known from its head on, where it has one.
            if words.expected == nil, words.received == 0 { release(leader, .goAlone) }
        }
    }

    /// Lets those who waited for a fetch wait for another one of the same request. Were each begun anew, as many that
    /// are cancelled one after the other would take time that grows with the square of their number.
    private mutating func handOver(_ rest: ArraySlice<FetchKey>, from fetch: RunningFetch, to leader: RunningFetch) {
        leader.engine.followers += rest
        guard fetch.engine.stoppedAt != nil || fetch.engine.exchange == .own else { return }
        for key in rest {
            guard let follower = fetches[key] else { continue }
            startClock(of: follower)
            leaveExchange(of: follower)
        }
    }

    /// Whether who waited for a fetch that failed fails with it.
    private func isShared(_ failure: HopFailure, _ leader: RunningFetch, _ follower: RunningFetch) -> Bool {
        // A connection that breaks may be one that broke. When the next breaks too, nobody tries a third.
        if failure.kind.isOfOneConnection { return follower.engine.hasSeenFailure }
        // What is too long for memory is not for a file.
        return failure.kind != .bodyTooLarge || follower.plan.sink.hasLimit(of: leader.plan.sink)
    }

    /// Who waited for that fetch waited in vain: the next ones do not, for a while.
    private mutating func noteUnshared(_ fetch: RunningFetch) {
        coalescing.noteUnshared(CacheDigest(of: CacheKey(fetch.engine.target)), at: now)
    }
}

extension HopFailure.Kind {
    /// Whether another fetch of the same would fail the same way: it is the server's doing, and not that of one fetch.
    var isForAll: Bool {
        switch self {
        case .hostNotFound, .cannotConnect, .tlsHandshake, .tlsUntrusted, .tlsCertificateDate, .tlsHostMismatch,
            .tlsClientCertificate, .tlsNotYetValid, .tlsSelfSigned, .tlsPin, .tlsClientCertificateRequired,
            .connectTimedOut, .inactive, .connectionLost, .truncated, .malformedResponse, .headTooLarge,
            .bodyTooLarge, .decoding, .unsupportedScheme, .malformedRequest, .proxy:
            true
        case .timedOut, .file, .requestBody, .cancelled, .outOfMemory, .internalError, .storedResponse, .tlsUndecided:
            false
        }
    }

    /// Whether it may have been that connection's fault, and the next one brings the same response well.
    var isOfOneConnection: Bool {
        switch self {
        case .inactive, .connectionLost, .truncated: true
        default: false
        }
    }
}

extension FetchPlan.Target {
    /// Whether somebody outside reads the body at a pace of its own: a stream's consumer, who has a pipe or terminal.
    var isReadByOthers: Bool {
        switch self {
        case .stream: true
        case .opened(let destination): destination.isPaced
        case .memory, .discard, .rooted: false
        }
    }

    /// Whether as much goes in here as into the other.
    fileprivate func hasLimit(of other: FetchPlan.Target) -> Bool {
        if case .memory = self { return true }
        if case .memory = other { return false }
        return true
    }
}
