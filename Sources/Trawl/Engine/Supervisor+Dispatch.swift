import TrawlCache
import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSession
import TrawlSupervision

/// From a caller to a worker: queueing and leasing.
extension Supervisor {
    /// Bytes of a streamed body that may be on their way to its reader.
    static let streamWindow: UInt32 = 256 << 10

    /// A caller's fetch arrives.
    mutating func submit(_ fetch: RunningFetch) {
        if case .nobody = fetch.reply, !admitRevalidation(fetch) { return }
        enter(fetch)
    }

    /// A fetch begins that was let in.
    mutating func enter(_ fetch: RunningFetch) {
        fetch.engine.key = fetches.insert(fetch)
        countStart(of: fetch)
        if let downReason { return conclude(fetch, downReason) }
        if case .no = closing {
        } else if !mayStillValidate(fetch) {
            return conclude(
                fetch, FetchError(.shutDown, "the coordinator is shut down", url: fetch.plan.target.text))
        }
        if let limit = fetch.plan.terms.resourceLimit { limitTime(of: fetch, to: limit) }
        if let policy = fetch.plan.terms.retry, !fetch.isForNobody {
            fetch.engine.retries = Attempts(policy, wholeDeadline: fetch.engine.deadline)
        }
        if fetch.plan.terms.waitsForNetwork, !fetch.isForNobody {
            fetch.engine.networkWait = NetworkWait(
                limit: fetch.plan.terms.networkLimit, wholeDeadline: fetch.engine.deadline)
        }
        if fetch.plan.wantsEvents { observed.insert(fetch.engine.key) }
        if fetch.control?.isSuspended == true { suspend(fetch) }
        begin(fetch, front: false)
    }

    mutating func enqueue(_ fetch: RunningFetch, front: Bool) {
        guard !holdsBack(fetch), hasWay(fetch, front: front) else { return }
        fetch.engine.origin = retainHost(of: fetch)
        if let control = fetch.control { fetch.engine.priority = HopPriority(control.priority) }
        fetch.engine.place = queues.enqueue(
            fetch.engine.key.rawValue, host: fetch.engine.origin, priority: fetch.engine.priority, front: front)
    }

    /// Who decides for a fetch: its own decider, else the coordinator's, and only one of them; nil when nobody may be asked.
    func decider(of fetch: RunningFetch) -> (any FetchDecisions)? {
        fetch.asksProgram ? fetch.decisions ?? configuration.decisions : nil
    }

    /// Whether another lease may be granted.
    var hasRoom: Bool {
        leases.freeCapacity > 0 && leases.heldCount < configuration.transfersInAll && memory?.admitsLease ?? true
    }

    /// Gives waiting hops to workers as long as both are there.
    mutating func dispatch() {
        failAbandoned()
        beginRevalidations()
        dispatchStored()
        if !heldHops.isEmpty { dispatchHeld() }
        while hasRoom, let ready = queues.next(at: now, random: lot()) {
            guard let fetch = fetches[FetchKey(rawValue: ready.hop)] else {
                queues.returned(ready.host, at: now, wasProbe: ready.isProbe)
                continue
            }
            fetch.engine.place = nil
            if !unknownNames.isEmpty, failsByName(ready, fetch) { continue }
            if goesOver(ready, fetch) { continue }
            fetch.engine.isInHostProcess = true
            fetch.engine.isProbe = ready.isProbe
            if place(ready, fetch) { continue }
            if fetch.engine.isSuspect {
                heldHops.append(ready)
                continue
            }
            fetch.engine.isInHostProcess = false
            fetch.engine.place = queues.putBack(ready)
            return
        }
    }

    /// Gives a hop that left its queue to a worker, or holds it until a connection that stands in its way is closed.
    ///
    /// - Returns: False when no worker has room for it.
    mutating func place(_ hop: ReadyHop, _ fetch: RunningFetch) -> Bool {
        let limit = queues.limit(of: hop.host)
        switch leases.place(hop.host, isSuspect: fetch.engine.isSuspect, limit: limit) {
        case .worker(let worker, let keepsConnection):
            lease(fetch, to: worker, limit: limit, keepsConnection: keepsConnection)
        case .awaitsConnection(let holder):
            heldHops.append(hop)
            if let holder { askToClose(1, hop.host, of: holder) }
        case .nowhere:
            return false
        }
        return true
    }

    /// Gives a hop to a worker.
    ///
    /// - Parameters:
    ///   - limit: The most connections to its origin over all workers; `UInt32.max` is no limit.
    ///   - keepsConnection: Whether the connection may stay open after it.
    mutating func lease(
        _ fetch: RunningFetch, to worker: Int, limit: UInt32 = .max, keepsConnection: Bool = true
    ) {
        guard let link = links[worker] else { preconditionFailure("a lease for a worker that is not there") }
        let grant = leases.grant(
            hop: fetch.engine.key.rawValue, origin: fetch.engine.origin, to: worker, isSuspect: fetch.engine.isSuspect,
            isCounted: leases.countsConnections(limit))
        fetch.engine.life.leased(grant.id)
        fetch.engine.worker = worker
        fetch.engine.progressIndex = Int(grant.progressIndex)
        fetch.engine.attempts += 1
        tell(.status, fetch, "sent to worker \(worker)")
        fetch.engine.head = nil
        fetch.engine.interim = []
        fetch.engine.delivered = 0
        if let retries = fetch.engine.retries {
            retries.wait = nil
            if retries.startedAt == nil { retries.startedAt = now }
        }
        let terms = fetch.engine.terms
        startExchange(of: fetch)
        if let error = settleCredentialsAgain(of: fetch) { return fail(fetch, grant.id, error) }
        settleRequestAgain(of: fetch)
        var fields = fetch.engine.sent
        do throws(CredentialsFault) {
            try prove(fetch, &fields)
        } catch {
            return fail(
                fetch, grant.id, FetchError(.authentication, error.explanation, url: fetch.engine.target.text))
        }
        askForRest(fetch, &fields)
        if let channel = fetch.channel {
            channel.record(
                SentRequest(
                    method: fetch.engine.method, target: fetch.engine.target, fields: fields,
                    bodyLength: fetch.engine.sendsBody ? fetch.body.count : nil,
                    isForStore: fetch.engine.isStoredHop))
            channel.post(.attempt(fetch.engine.attempts))
        }
        let assignment = profiles.assignment(for: terms)
        var lease = Lease(
            id: grant.id.rawValue, profile: assignment.number, progressIndex: grant.progressIndex,
            method: fetch.engine.method, url: fetch.engine.target.text, fields: fields)
        do throws(FetchError) {
            lease.proxy = try proxyRoute(fetch, &lease.fields)
        } catch {
            return fail(fetch, grant.id, error)
        }
        var descriptors: [Int32] = []
        switch fetch.body {
        case .none: break
        case .inline(let bytes): lease.body = .inline(bytes)
        case .file(let file):
            lease.body = .descriptor(length: UInt64(file.count))
            descriptors.append(file.file.descriptor.rawValue)
        }
        switch fetch.plan.sink {
        case .memory:
            lease.sink = .memory
            addPart(of: fetch, to: &lease, &descriptors)
        case .discard: lease.sink = .discard
        case .stream:
            lease.sink = .stream(credit: Self.streamWindow)
            fetch.engine.credit = UInt64(Self.streamWindow)
        case .rooted(let root, let path, let collision):
            lease.sink = .file(
                root: UInt16(root), path: path,
                collision: fetch.engine.hasLostWorker ? collision.adoptingIdentical : collision)
            addPart(of: fetch, to: &lease, &descriptors)
        case .opened(let destination):
            guard let descriptor = destination.descriptorForHop(keeping: fetch.engine.resumable?.offset ?? 0)
            else {
                return fail(fetch, grant.id, .file(destination.path, 5))
            }
            lease.sink = .descriptor
            descriptors.append(descriptor)
        }
        lease.heads = fetch.plan.wantsEvents ? .early : .withEnd
        if let deadline = fetch.engine.deadline {
            let rest = deadline.nanoseconds > now.nanoseconds ? deadline.nanoseconds - now.nanoseconds : 0
            lease.timeout = max(1, rest / 1_000_000)
        }
        lease.savesErrorBodies = fetch.plan.fileOptions.savesErrorBodies
        lease.createsEmptyFile = fetch.plan.fileOptions.createsEmptyFile
        lease.dropsRedirectBodies = terms.options.redirects.mode != .manual
        lease.syncsFile = fetch.plan.fileOptions.syncs
        lease.namesFromDisposition = fetch.plan.fileOptions.namesFromDisposition
        lease.mayReuseConnection = terms.reusesConnection
        lease.mayKeepConnection = terms.keepsConnection && keepsConnection
        lease.counted = counted(fetch.engine.origin, limit: limit)
        lease.storesCookies = terms.cookies?.storesByWorker(from: fetch.engine.target) ?? false
        lease.limits = limits(for: fetch)
        lease.isMetered = memory != nil
        // Others wait for what it proves, and not for its body.
        if fetch.engine.authentication?.proving != nil, lease.heads == .withEnd { lease.heads = .early }
        if fetch.engine.resumable?.looksAtHead == true { lease.heads = .answered }
        lease.asksAboutChallenges = answersChallenges(fetch)
        lease.asksAboutFailures = mayTryAgain(fetch)
        lease.login = login(of: fetch)
        lease.identity = fetch.engine.authentication?.server?.identity ?? []
        if terms.options.tls.question != .never {
            lease.trusted = acceptedCertificates[fetch.engine.target.origin] ?? []
            fetch.engine.trusted = lease.trusted
        }
        lease.cache = fetch.engine.access
        if fetch.engine.leads != nil { lease.cache.insert(.leads) }
        if lease.cache.isEmpty {
            // Otherwise the worker does, which knows whether a request goes out.
            terms.reload.tellByItself(in: &lease.fields)
        } else if fetch.engine.sharesCookies {
            lease.cache.insert(.sharedCookies)
        }
        if decider(of: fetch) != nil {
            if lease.cache.contains(.writes) { lease.cache.insert(.asks) }
            lease.asksAboutRedirects = lease.dropsRedirectBodies
        }
        guard link.tell(assignment, terms), link.send(.lease(lease), descriptors: descriptors) else {
            return fail(
                fetch, grant.id,
                FetchError(.badRequest, "the request's head is too large", url: fetch.engine.target.text))
        }
        markDirty(worker)
    }

    /// A lease that was granted could not be sent.
    mutating func fail(_ fetch: RunningFetch, _ lease: LeaseID, _ error: FetchError) {
        _ = leases.ended(lease, from: fetch.engine.worker)
        _ = fetch.engine.life.leaseEnded(lease)
        leaveHost(fetch)
        answer(fetch, with: .failure(error))
    }
}

extension FileCollision {
    /// The rule for a hop done again after its worker died: it may have made the file and died before it could say so.
    fileprivate var adoptingIdentical: FileCollision {
        if case .number(let first, _) = self { return .number(from: first, adoptsIdentical: true) }
        return self
    }
}
