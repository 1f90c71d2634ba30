import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlStore
import TrawlSupervision

/// The cache's part in fetches: what answers from it, and by whom.
extension Supervisor {
    /// A hop begins: it is answered from the cache, waits for an identical one, or waits for a worker.
    ///
    /// Stored redirects lead on from here, one after the other and none inside another: there may be a thousand.
    mutating func begin(_ fetch: RunningFetch, front: Bool) {
        guard !holdsBack(fetch) else { return }
        var goesOn = beginHop(fetch, front: front)
        while goesOn { goesOn = beginHop(fetch, front: true) }
    }

    /// - Returns: Whether there is another hop to begin: a stored redirect was followed, or what is stored is of no
    ///   use.
    private mutating func beginHop(_ fetch: RunningFetch, front: Bool) -> Bool {
        if waitForState(fetch, front: front) { return false }
        // Before the cache: who shows a certificate uses none.
        guard secure(fetch), hasIdentity(fetch, front: front) else { return false }
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
        if found == nil || !awaitingStores.isEmpty {
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

    /// Lets a hop wait until its cache is open, which others than this thread see to; behind those that wait already, also
    /// when it came to be open a moment ago.
    ///
    /// - Returns: False when there is nothing to wait for.
    private mutating func waitForStore(_ fetch: RunningFetch, _ binding: CacheBinding, front: Bool) -> Bool {
        let directory = ExactText(binding.terms.directory)
        if awaitingStores[directory] == nil {
            let mailbox = mailbox
            guard binding.open(then: { mailbox.post(.storeOpened(directory: directory)) }) else { return false }
        }
        awaitingStores[directory, default: []].append((fetch, front))
        return true
    }

    /// Lets a hop wait until the cookies of its jar and what is known of its host can be looked up without waiting,
    /// which others than this thread see to.
    ///
    /// - Returns: False when there is nothing to wait for.
    private mutating func waitForState(_ fetch: RunningFetch, front: Bool) -> Bool {
        var (state, topic) = (fetch.plan.terms.cookies?.unopened, StateTopic.cookies)
        if state == nil {
            state = planner.secureHosts.unopened(for: fetch.engine.target.host)
            topic = .hosts
        }
        guard let state else { return false }
        // No directory, so no cache has that name.
        let name = ExactText("state")
        if awaitingStores[name] == nil {
            let mailbox = mailbox
            guard state.open(for: topic, then: { mailbox.post(.storeOpened(directory: name)) }) else { return false }
        }
        awaitingStores[name, default: []].append((fetch, front))
        return true
    }

    /// The cache or state of hops that wait is open, or cannot be: they begin in their order.
    mutating func storeOpened(_ directory: ExactText) {
        for (fetch, front) in awaitingStores.removeValue(forKey: directory) ?? [] where fetch.engine.life.isWaiting {
            begin(fetch, front: front)
        }
    }

    /// Without a cache a hop goes to a worker, if it may be sent at all.
    private mutating func enqueueUnlessForbidden(_ fetch: RunningFetch, front: Bool) {
        if fetch.neverLoads { answerWithNothing(fetch) } else { enqueue(fetch, front: front) }
    }

    /// The next hop of a fetch as the cache sees it; nil when there is no cache for it.
    func cacheRequest(of fetch: RunningFetch) -> (CacheRequest, ResponseStore)? {
        fetch.engine.terms.cache?.request(
            fetch.engine.method, fetch.engine.target, fetch.engine.sent,
            identity: fetch.engine.authentication?.server?.identity,
            sharesCookies: fetch.engine.sharesCookies, hasBody: fetch.body != .none, opens: false)
    }

    // MARK: - Hits

    /// - Parameters:
    ///   - standsIn: Whether it is served in the place of an answer that does not come.
    ///   - byWorker: Whether a worker may deliver it.
    /// - Returns: Whether the fetch goes on: it is a redirect that is followed, or cannot be decoded.
    private mutating func serve(
        _ hit: StoredHit, from store: ResponseStore, to fetch: RunningFetch, standsIn: Bool = false,
        byWorker: Bool = true
    ) -> Bool {
        if hit.reuse.revalidates, !revalidate(fetch, isAlike: hit.isValidatedAlike) {
            validateFirst(fetch)
            return true
        }
        store.cache.used(hit.use)
        coalescing.noteShared(hit.use.digest)
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
        if hit.head.status == 401, meet(hit.head, fetch, isStored: true) == .goOn {
            _ = goOn(fetch)
            return false
        }
        guard hit.isAtHand(for: fetch), let response = responseAtHand(to: hit, fetch, isLent: byWorker) else {
            if standsIn {
                fetch.engine.standsIn = hit.reuse.source == .stale
                takeWhatIsStored(fetch)
            }
            deliverByWorker(fetch)
            return false
        }
        if case .failure(let error) = response, error.code == .decoding {
            // What cannot be decoded is fetched anew.
            fetch.engine.passesStoreOver = true
            return true
        }
        fetch.channel?.post(.head(Response.ResponseHead(hit.head)))
        answer(fetch, with: response)
        return false
    }

    /// The response of what is at hand.
    ///
    /// - Parameter isLent: Whether its body takes of the memory there is, if that is bounded.
    /// - Returns: Nil where a worker is to deliver it, when there is room: the body gets longer than what needs no room
    ///   beforehand, or those wait, too.
    private func responseAtHand(
        to hit: StoredHit, _ fetch: RunningFetch, isLent: Bool
    ) -> Result<Response, FetchError>? {
        var options = fetch.plan.options
        let isDecoded = options.contentDecoding == .streaming && !hit.head.codingsToUndo.isEmpty
        if let memory, isLent, hit.length > 0 {
            guard memory.admitsLease else { return nil }
            if isDecoded {
                let longest = UInt64(WireProtocol.maximumInlineBody)
                options.sizeLimits.memoryBytes = min(options.sizeLimits.memoryBytes, longest)
            }
        }
        let response = StoredAnswers.response(to: hit, fetch.frame, options)
        // One that is damaged is for the worker to find, too.
        if memory != nil, isLent, case .failure(let error) = response, error.code == .decoding { return nil }
        return response
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

    // MARK: - In the place of an answer

    /// Answers a fetch with what is stored, where that may stand in for an answer that does not come.
    ///
    /// For what fails here: the worker does the same where it fails there.
    ///
    /// - Parameter byWorker: Whether a worker may deliver it.
    /// - Returns: Whether it does; otherwise nothing is changed.
    /// - Source: RFC 5861 §4; ASIHTTPRequest's `ASIFallbackToCacheIfLoadFailsCachePolicy`.
    mutating func fallsBack(_ fetch: RunningFetch, byWorker: Bool = true) -> Bool {
        guard case .no = closing, !fetch.isForNobody, fetch.engine.mayBegin, fetch.engine.delivered == 0,
            fetch.engine.access.contains(.reads), !fetch.engine.passesStoreOver,
            let (request, store) = cacheRequest(of: fetch),
            let hit = store.fallback(
                request, at: WallClock.time(), bodies: fetch.plan.sink.isKept ? StoredAnswers.longestBody : 0),
            byWorker || hit.isAtHand(for: fetch)
        else { return false }
        withdraw(fetch)
        release(fetch, .promote)
        if serve(hit, from: store, to: fetch, standsIn: true, byWorker: byWorker) { begin(fetch, front: true) }
        // It may not be over, and its time is: what comes next is answered from the store, or not at all.
        if let deadline = fetch.engine.deadline, deadline <= now, fetches[fetch.engine.key] != nil {
            deadlines.insert(fetch.engine.key, deadline: deadline)
        }
        return true
    }

    /// Has the next hop answered by what is stored, however old. The limits of time are those of servers: a deadline
    /// that is over goes, and only the limit it was of stays.
    private func takeWhatIsStored(_ fetch: RunningFetch) {
        var options = fetch.engine.terms.options
        options.caching.policy = .doNotLoad
        fetch.engine.terms = fetch.engine.terms.changed(to: options)
        if let deadline = fetch.engine.deadline, deadline <= now { fetch.engine.deadline = nil }
    }

    /// What was to stand in is of no use: the next hop ends as it would have without.
    private func takeNothingStored(_ fetch: RunningFetch) {
        var options = fetch.engine.terms.options
        options.caching.policy = fetch.plan.options.caching.policy
        fetch.engine.terms = fetch.engine.terms.changed(to: options)
        fetch.engine.standsIn = false
        fetch.engine.passesStoreOver = true
    }

    /// Gives hops that are answered from the store to workers, before all that wait in queues.
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
    mutating func beginAfterRefusal(_ fetch: RunningFetch) {
        if fetch.engine.terms.neverLoads, !fetch.plan.terms.neverLoads {
            // It was to stand in for an answer that does not come, and does not come in time now either.
            if fetch.engine.deadline == nil, fetch.engine.limit > .zero {
                return answer(fetch, with: .failure(.tookTooLong(fetch)))
            }
            takeNothingStored(fetch)
        }
        // What has become stale while it waited for its worker is still there: the server is asked about it.
        if fetch.engine.access != .reads || !isToBeSent(fetch) { fetch.engine.passesStoreOver = true }
        begin(fetch, front: true)
    }

    /// Whether the rules have the next hop sent to its server, with what is stored or without.
    private func isToBeSent(_ fetch: RunningFetch) -> Bool {
        guard let (request, store) = cacheRequest(of: fetch),
            case .send = store.lookup(request, at: WallClock.time(), bodies: 0)
        else { return false }
        return true
    }
}

extension StoredHit {
    /// Whether it can be handed over where it was found.
    fileprivate func isAtHand(for fetch: RunningFetch) -> Bool {
        fetch.plan.sink.isKept && (length == 0 || body != nil)
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
            originalURL: plan.originalURL, target: engine.target, redirects: engine.redirects.hops,
            metrics: engine.metrics, interim: engine.interim.heads,
            authentication: engine.authentication?.server?.report, retryCount: engine.retries?.failed ?? 0)
    }
}
