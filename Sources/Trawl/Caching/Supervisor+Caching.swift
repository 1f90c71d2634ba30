import TrawlCache
import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlStore
import TrawlSupervision

/// The cache's part in fetches: what answers from it, who waits for whom, and what goes on in the background.
extension Supervisor {
    /// Groups of fetches of one URL that wait for one of theirs, at a time.
    private static let mostGroups = 8
    /// Keys remembered whose responses others could not use, and for how long.
    private static let mostUnshared = 4096
    private static let unsharedTime = Duration.seconds(10)

    /// A hop begins: it is answered from the cache, waits for an identical one, or waits for a worker.
    ///
    /// Stored redirects lead on from here, one after the other and none inside another: there may be a thousand.
    mutating func begin(_ fetch: RunningFetch, front: Bool) {
        guard !holdsBack(fetch) else { return }
        var goesOn = beginHop(fetch, front: front)
        while goesOn { goesOn = beginHop(fetch, front: true) }
    }

    /// - Returns: Whether there is another hop to begin: a stored redirect was followed, or what is stored is of no use.
    private mutating func beginHop(_ fetch: RunningFetch, front: Bool) -> Bool {
        if let error = settleCredentials(of: fetch) {
            answer(fetch, with: .failure(error))
            return false
        }
        if goesOnBehindPart(fetch) {
            fetch.engine.access = .nothing
            fetch.engine.isSettled = false
            enqueue(fetch, front: front)
            return false
        }
        guard let binding = fetch.engine.terms.cache else {
            // Nobody looks at what goes on the wire before the hop is leased.
            fetch.engine.isSettled = false
            enqueueUnlessForbidden(fetch, front: front)
            return false
        }
        settleRequest(of: fetch)
        var found = cacheRequest(of: fetch)
        if found == nil {
            if waitForStore(fetch, binding, front: front) { return false }
            // It may have come to be open meanwhile.
            found = cacheRequest(of: fetch)
        }
        guard let (request, store) = found else {
            enqueueUnlessForbidden(fetch, front: front)
            return false
        }
        if case .nobody = fetch.reply, isFresh(request, store) {
            // Another brought it between the answer that asked for this one and now.
            answerWithNothing(fetch)
            return false
        }
        var access = binding.access(for: fetch.plan.sink)
        if fetch.engine.passesStoreOver {
            // What was found turned out to be gone.
            access.remove(.reads)
            if fetch.neverLoads {
                answerWithNothing(fetch)
                return false
            }
        } else {
            switch store.lookup(
                request, at: WallClock.time(), bodies: fetch.plan.sink.isKept ? StoredAnswers.longestBody : 0)
            {
            case .serve(let hit): return serve(hit, from: store, to: fetch)
            case .unsatisfiable:
                answerWithNothing(fetch)
                return false
            case .send: break
            }
        }
        fetch.engine.access = access
        if !join(fetch, request, store) { enqueue(fetch, front: front) }
        return false
    }

    /// Lets a hop wait until its cache is open, which others than this thread see to.
    ///
    /// - Returns: False when there is nothing to wait for.
    private mutating func waitForStore(_ fetch: RunningFetch, _ binding: CacheBinding, front: Bool) -> Bool {
        let mailbox = mailbox
        return binding.open(for: fetch.engine.target) { mailbox.post(.storeOpened(fetch, front: front)) }
    }

    /// The cache of a hop that waits is open, or cannot be.
    mutating func storeOpened(_ fetch: RunningFetch, front: Bool) {
        guard fetch.engine.life.isWaiting else { return }
        begin(fetch, front: front)
    }

    /// Without a cache a hop goes to a worker, if it may be sent at all.
    private mutating func enqueueUnlessForbidden(_ fetch: RunningFetch, front: Bool) {
        if fetch.neverLoads { answerWithNothing(fetch) } else { enqueue(fetch, front: front) }
    }

    // MARK: - Hits

    /// - Returns: Whether the fetch goes on: it is a redirect that is followed, or cannot be decoded.
    private mutating func serve(_ hit: StoredHit, from store: ResponseStore, to fetch: RunningFetch) -> Bool {
        if hit.reuse.revalidates, !revalidate(fetch) {
            validateFirst(fetch)
            return true
        }
        store.cache.used(hit.use)
        if !unshared.isEmpty { unshared[hit.use.digest] = nil }
        if hit.isRedirect {
            switch redirect(of: hit.head, fetch) {
            case .follow where asksAboutRedirect(hit.head, fetch):
                return false
            case .follow(let redirect, let target):
                turn(fetch, to: target, by: redirect, hit.head)
                return true
            case .refuse(let error):
                answer(fetch, with: .failure(error))
                return false
            case nil: break
            }
        }
        // No proxy has said what is stored.
        if hit.head.status == 401, meet(hit.head, fetch) == .goOn {
            _ = goOn(fetch)
            return false
        }
        guard fetch.plan.sink.isKept, hit.length == 0 || hit.body != nil else {
            deliverByWorker(fetch)
            return false
        }
        let response = StoredAnswers.response(to: hit, fetch.frame, fetch.plan.options)
        if case .failure(let error) = response, error.code == .decoding {
            // What cannot be decoded is fetched anew.
            fetch.engine.passesStoreOver = true
            return true
        }
        fetch.channel?.post(.head(Response.ResponseHead(hit.head)))
        answer(fetch, with: response)
        return false
    }

    private mutating func answerWithNothing(_ fetch: RunningFetch) {
        answer(fetch, with: StoredAnswers.nothing(fetch.frame, fetch.plan.options))
    }

    /// Files, streams and long bodies are a worker's. No connection is needed, so no host's queue either.
    private mutating func deliverByWorker(_ fetch: RunningFetch) {
        fetch.engine.access = .reads
        fetch.engine.origin = retainHost(of: fetch)
        fetch.engine.isStoredHop = true
        storedHops.append(fetch.engine.key)
    }

    /// Gives hops that are answered from the store to workers, before all others.
    mutating func dispatchStored() {
        while let key = storedHops.first {
            if let fetch = fetches[key], fetch.engine.life.isWaiting, fetch.engine.isStoredHop {
                guard leases.freeCapacity > 0, memory?.admitsLease ?? true,
                    let worker = leases.choose(for: fetch.engine.origin, isSuspect: false)
                else { return }
                storedHops.removeFirst()
                lease(fetch, to: worker)
            } else {
                storedHops.removeFirst()
            }
        }
    }

    /// A worker found that what should have answered cannot.
    mutating func beginWithoutStore(_ fetch: RunningFetch) {
        fetch.engine.passesStoreOver = true
        begin(fetch, front: true)
    }

    // MARK: - Identical fetches

    /// Lets a fetch wait for an identical one in flight, or makes it the one that others wait for.
    ///
    /// - Returns: Whether it waits.
    private mutating func join(_ fetch: RunningFetch, _ request: CacheRequest, _ store: ResponseStore) -> Bool {
        guard fetch.engine.mayJoin, fetch.engine.access == .unrestricted, store.rules.mayLead(request) else {
            return false
        }
        let digest = CacheDigest(of: request.key)
        if !unshared.isEmpty, let end = unshared[digest], now < end { return false }
        // Who asks for the same URL in another way leads a group of its own, under a digest that is nobody's.
        var place = digest
        var free: CacheDigest?
        for _ in 0..<Self.mostGroups {
            if let key = leaders[place], let leader = fetches[key] {
                if leader === fetch { return false }
                if mayFollow(fetch, request, leader, store) {
                    leader.engine.followers.append(fetch.engine.key)
                    if leader.engine.life.activeLease != nil { startExchange(of: fetch) }
                    return true
                }
            } else {
                free = free ?? place
                if otherGroups == 0 { break }
            }
            guard let next = place.next else { break }
            place = next
        }
        // Whose reader takes its time, or does not read at all, is not waited for.
        guard let free, !fetch.plan.sink.isReadByOthers else { return false }
        leaders.set(fetch.engine.key, for: free)
        fetch.engine.leads = free
        if free != digest {
            fetch.engine.leadsOtherGroup = true
            otherGroups += 1
        }
        return false
    }

    /// Whether a fetch may wait for one in flight.
    private func mayFollow(
        _ fetch: RunningFetch, _ request: CacheRequest, _ leader: RunningFetch, _ store: ResponseStore
    ) -> Bool {
        guard let (led, _) = cacheRequest(of: leader), store.rules.mayFollow(request, led),
            !fetch.engine.joinsSame || request.fields == led.fields
        else { return false }
        // Limits, trust and the way to the server are the same, so that a failure is too.
        let (terms, leading) = (fetch.engine.terms, leader.engine.terms)
        return leading === terms
            || (leading.profile == terms.profile && leading.options.proxy == terms.options.proxy)
    }

    /// The next hop of a fetch as the cache sees it; nil when there is no cache for it.
    private func cacheRequest(of fetch: RunningFetch) -> (CacheRequest, ResponseStore)? {
        fetch.engine.terms.cache?.request(
            fetch.engine.method, fetch.engine.target, fetch.engine.sent,
            identity: fetch.engine.authentication?.server?.identity,
            sharesCookies: fetch.engine.sharesCookies, hasBody: fetch.body != .none, opens: false)
    }

    /// What becomes of those who waited for a fetch.
    enum Following {
        /// Its response is stored: they look again.
        case look
        /// It has no response that others could use: each sends its own.
        case goAlone
        /// It ended without a result that says anything to others: one takes its place.
        case promote
        /// It failed, and so would they.
        case fail(HopFailure)
    }

    /// A fetch others may wait for has come to an end of its hop.
    mutating func release(_ fetch: RunningFetch, _ following: Following) {
        guard let digest = fetch.engine.leads else { return }
        fetch.engine.leads = nil
        if fetch.engine.leadsOtherGroup {
            fetch.engine.leadsOtherGroup = false
            otherGroups -= 1
        }
        leaders.remove(digest)
        if fetch.engine.followers.isEmpty { return }
        let followers = fetch.engine.followers
        fetch.engine.followers = []
        for key in followers {
            guard let follower = fetches[key], follower.engine.life.isWaiting else { continue }
            // It may have stood still with the fetch's own, which waited for memory.
            startClock(of: follower)
            switch following {
            case .promote:
                begin(follower, front: true)
            case .look:
                // Whoever it does not answer sends its own, and does not wait for the next one. But where the request was
                // another one, what was stored may vary on just that: then those of the same request are a group.
                let isSame = follower.engine.sent == fetch.engine.sent
                if isSame { follower.engine.mayJoin = false } else { follower.engine.joinsSame = true }
                begin(follower, front: true)
                if isSame, follower.engine.place != nil { noteUnshared(fetch) }
            case .goAlone:
                follower.engine.mayJoin = false
                enqueue(follower, front: true)
                noteUnshared(fetch)
            case .fail(let failure):
                if isShared(failure, fetch, follower) {
                    answer(follower, with: .failure(FetchError(failure, fetch: follower)))
                } else {
                    follower.engine.hasSeenFailure = true
                    begin(follower, front: true)
                }
            }
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
        if unshared.count >= Self.mostUnshared { unshared.removeAll() }
        unshared[CacheDigest(of: CacheKey(fetch.engine.target))] = now.advanced(by: Self.unsharedTime)
    }

    // MARK: - In the background

    /// Has what is served stale asked about, with nobody waiting.
    ///
    /// - Returns: False when there is no room for that.
    private mutating func revalidate(_ fetch: RunningFetch) -> Bool {
        // What it brought could not be kept.
        guard fetch.engine.terms.cache?.mayStore == true else { return true }
        guard revalidations.hasRoom(for: CacheDigest(of: CacheKey(fetch.engine.target))) else { return false }
        submit(
            .revalidation(
                of: fetch.plan, fetch.engine.target, fetch.engine.fields, fetch.engine.terms,
                sendsManual: fetch.sendsManualCookies))
        return true
    }

    /// Has what is stored asked about before it is served; it still answers where the server does not.
    private func validateFirst(_ fetch: RunningFetch) {
        let terms = fetch.engine.terms
        var options = terms.options
        let policy = options.caching.policy.isEmpty ? configuration.cache.policy : options.caching.policy
        options.caching.policy = policy.subtracting(.askServerIfStale)
            .union([.askServerIfModified, .fallBackToCacheIfLoadFails])
        fetch.engine.terms = terms.changed(to: options)
    }

    /// Whether a validation with nobody waiting begins now: each thing that is stored is asked about once at a time.
    mutating func admitRevalidation(_ fetch: RunningFetch) -> Bool {
        guard case .no = closing, downReason == nil else { return false }
        return revalidations.admit(fetch, for: CacheDigest(of: CacheKey(fetch.plan.target)))
    }

    /// Begins validations that waited until others were over.
    mutating func beginRevalidations() {
        while let fetch = revalidations.next() { enter(fetch) }
    }

    /// Whether what is stored would answer without being asked about.
    private func isFresh(_ request: CacheRequest, _ store: ResponseStore) -> Bool {
        let byProtocol = CacheRequest(request, policy: .useProtocolCachePolicy)
        guard case .serve(let hit) = store.lookup(byProtocol, at: WallClock.time(), bodies: 0) else { return false }
        return !hit.reuse.revalidates
    }

    /// It is over, well or not.
    mutating func endRevalidation(_ fetch: RunningFetch) {
        revalidations.end(CacheDigest(of: CacheKey(fetch.plan.target)))
        // The bound of a shutdown is for servers that do not answer.
        if case .draining = closing {
            validationsEnd = min(
                validationsLimit, max(validationsEnd, now.advanced(by: configuration.validationGrace)))
        }
    }

    /// After an answer of a worker that should be validated with nobody waiting.
    mutating func revalidateIfWanted(_ fetch: RunningFetch, _ report: CacheReport) {
        if report.wantsRevalidation { _ = revalidate(fetch) }
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

extension RunningFetch {
    /// Whether the network must not be used: the policy says so, or the request (RFC 9111 §5.2.1.7).
    var neverLoads: Bool {
        plan.terms.neverLoads || plan.options.caching.respectsCacheControl && engine.fields.wantStoredOnly
    }

    /// What its answer has beside head and body.
    var frame: StoredAnswers.Frame {
        StoredAnswers.Frame(
            originalURL: plan.originalURL, target: engine.target, redirects: engine.redirects, metrics: engine.metrics,
            authentication: engine.authentication?.server?.report)
    }

    /// A fetch that validates what is stored, for nobody.
    static func revalidation(
        of plan: FetchPlan, _ target: TargetURI, _ fields: FieldLines, _ terms: FetchTerms, sendsManual: Bool
    ) -> RunningFetch {
        var options = terms.options
        options.caching.policy = options.caching.policy.validating
        options.redirects.mode = .manual
        if !sendsManual { options.cookies.manual = [] }
        // Credentials of the request belong to its own URL.
        if target.text != plan.target.text { options.authentication.credential = nil }
        return RunningFetch(
            plan: FetchPlan(
                originalURL: target.text, target: target, method: .get, fields: fields, body: .none,
                sink: .discard, fileOptions: .init(), path: nil, terms: terms.changed(to: options),
                wantsEvents: false),
            reply: .nobody, asksProgram: false)
    }
}

/// What a program decides about storing.
extension Supervisor {
    /// A response rests at its head until it is decided how it is stored.
    mutating func askAboutStoring(_ head: TrawlHTTP.ResponseHead, _ lease: UInt64, _ fetch: RunningFetch) {
        guard let decisions = decider(of: fetch), let binding = fetch.engine.terms.cache else {
            return decided(fetch, lease, nil)
        }
        let proposal = StoringChoice(storage: binding.terms.session == nil ? .permanent : .session)
        let (mailbox, url) = (mailbox, fetch.engine.target.text)
        Task {
            let choice = await decisions.storing(Response.ResponseHead(head), from: url, proposal: proposal)
            var order: StoringOrder?
            if let choice, choice.metadata.count <= StoringChoice.longestMetadata {
                order = StoringOrder(session: nil, metadata: choice.metadata)
                if choice.storage == .session {
                    order?.session = binding.session
                    // Without a session there is nothing that would end it.
                    if order?.session == nil { order = nil }
                }
            }
            mailbox.post(.decided(fetch, lease: lease, order))
        }
    }

    /// It is decided how the response of a lease is stored.
    mutating func decided(_ fetch: RunningFetch, _ lease: UInt64, _ order: StoringOrder?) {
        guard fetch.engine.life.activeLease?.rawValue == lease, let link = links[fetch.engine.worker] else { return }
        if order == nil { release(fetch, .goAlone) }
        _ = link.send(.answer(lease: lease, .keep(order)))
        markDirty(fetch.engine.worker)
    }
}
