import TrawlCache
import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSession
import TrawlSupervision

/// What a worker is told to do: from a hop whose turn it is to a lease.
extension Supervisor {
    /// Bytes of a streamed body that may be on their way to its reader.
    static let streamWindow: UInt32 = 256 << 10

    /// Gives a hop to a worker.
    ///
    /// - Parameters:
    ///   - limit: The most connections to its origin over all workers; `UInt32.max` is no limit.
    ///   - keepsConnection: Whether the connection may stay open after it.
    mutating func lease(
        _ fetch: RunningFetch, to worker: Int, limit: UInt32 = .max, keepsConnection: Bool = true
    ) {
        guard let link = pool.links[worker] else { preconditionFailure("a lease for a worker that is not there") }
        let grant = leases.grant(
            hop: fetch.engine.key.rawValue, origin: fetch.engine.origin, to: worker, isSuspect: fetch.engine.isSuspect,
            isCounted: leases.countsConnections(limit))
        beginAttempt(of: fetch, by: worker, grant)
        do throws(FetchError) {
            let fields = try fieldsToSend(for: fetch)
            record(fetch, sending: fields)
            let terms = fetch.engine.terms
            let assignment = profiles.assignment(for: terms)
            var lease = Lease(
                id: grant.id.rawValue, profile: assignment.number, progressIndex: grant.progressIndex,
                method: fetch.engine.method, url: fetch.engine.target.text,
                originLength: fetch.engine.target.originLength, fields: fields)
            lease.proxy = try proxyRoute(fetch, &lease.fields)
            fetch.engine.sendsOnce = hosts.queues.hasDelay(of: fetch.engine.origin)
            lease.options.set(.sendsOnce, fetch.engine.sendsOnce)
            lease.options.set(.mayReuseConnection, terms.reusesConnection && !fetch.engine.isRepeated)
            lease.options.set(.mayKeepConnection, terms.keepsConnection && keepsConnection)
            lease.counted = counted(fetch.engine.origin, limit: limit)
            lease.limits = limits(for: fetch)
            countLease(of: fetch, under: lease.limits)
            if let deadline = fetch.engine.deadline {
                // A question about a hop whose worker died may be open, and the clock stand since it was asked.
                let time = fetch.engine.stoppedAt ?? now
                let rest = deadline.nanoseconds > time.nanoseconds ? deadline.nanoseconds - time.nanoseconds : 0
                lease.timeout = max(1, rest / 1_000_000)
            }
            var descriptors: [Int32] = []
            addBody(of: fetch, to: &lease, &descriptors)
            try addSink(of: fetch, to: &lease, &descriptors)
            addIdentity(of: fetch, to: &lease)
            addCache(of: fetch, to: &lease)
            addQuestions(about: fetch, to: &lease)
            guard link.tell(assignment, terms) else { throw FetchError.headTooLarge(fetch) }
            try send(lease, descriptors, of: fetch, to: link)
            pool.markDirty(worker)
        } catch {
            fail(fetch, grant.id, error)
        }
    }

    private func send(
        _ lease: Lease, _ descriptors: [Int32], of fetch: RunningFetch, to link: WorkerLink
    ) throws(FetchError) {
        do throws(WorkerLink.SendError) {
            try link.send(.lease(lease), descriptors: descriptors)
        } catch {
            switch error {
            case .tooLong: throw FetchError.headTooLarge(fetch)
            case .system(let error):
                throw FetchError(
                    .internalError, "the request cannot be handed to a worker: \(SystemError.text(of: error.errno))",
                    cause: .system(error.errno), url: fetch.engine.target.text, isRetryable: true)
            }
        }
    }

    /// A lease that was granted could not be sent.
    mutating func fail(_ fetch: RunningFetch, _ lease: LeaseID, _ error: FetchError) {
        _ = leases.ended(lease, from: fetch.engine.worker)
        _ = fetch.engine.life.leaseEnded(lease)
        leaveHost(fetch)
        answer(fetch, with: .failure(error))
    }

    /// Nothing of an attempt before this one counts any more.
    private mutating func beginAttempt(of fetch: RunningFetch, by worker: Int, _ grant: LeaseGrant) {
        fetch.engine.life.leased(grant.id)
        fetch.engine.worker = worker
        fetch.engine.progressIndex = Int(grant.progressIndex)
        fetch.engine.attempts += 1
        tell(.status, fetch, "sent to worker \(worker)")
        fetch.engine.head = nil
        fetch.engine.holdsHead = false
        fetch.engine.isForwarded = false
        fetch.engine.interim = []
        fetch.engine.delivered = 0
        if let retries = fetch.engine.retries {
            retries.wait = nil
            if retries.startedAt == nil { retries.startedAt = now }
        }
        startExchange(of: fetch)
        if !fetch.engine.followers.isEmpty { limitHeadWait(for: grant.id, of: fetch) }
    }

    /// The fields as they are settled now: what was known when the hop was queued may have changed.
    private mutating func fieldsToSend(for fetch: RunningFetch) throws(FetchError) -> FieldLines {
        if let error = settleCredentialsAgain(of: fetch) { throw error }
        settleRequestAgain(of: fetch)
        var fields = fetch.engine.sent
        do throws(CredentialsFault) {
            try prove(fetch, &fields)
        } catch {
            throw FetchError(.authentication, error.explanation, url: fetch.engine.target.text)
        }
        askForRest(fetch, &fields)
        return fields
    }

    /// For callers who want to know what goes out.
    private func record(_ fetch: RunningFetch, sending fields: FieldLines) {
        guard let channel = fetch.channel else { return }
        var shown = fields
        if fetch.engine.access.isEmpty { fetch.engine.terms.reload.tellByItself(in: &shown) }
        channel.record(
            SentRequest(
                method: fetch.engine.method, target: fetch.engine.target, fields: shown,
                bodyLength: fetch.engine.sendsBody ? fetch.body.count : nil,
                passesCache: !fetch.engine.access.isEmpty))
        channel.post(.attempt(fetch.engine.attempts))
    }

    private func addBody(of fetch: RunningFetch, to lease: inout Lease, _ descriptors: inout [Int32]) {
        switch fetch.body {
        case .none: break
        case .inline(let bytes): lease.body = .inline(bytes)
        case .file(let file):
            lease.body = .descriptor(length: UInt64(file.count))
            descriptors.append(file.file.descriptor.rawValue)
        }
    }

    /// Where the body of the response goes.
    private func addSink(
        of fetch: RunningFetch, to lease: inout Lease, _ descriptors: inout [Int32]
    ) throws(FetchError) {
        switch fetch.plan.sink {
        case .memory: lease.sink = .memory
        case .discard: lease.sink = .discard
        case .stream:
            lease.sink = .stream(credit: UInt32(clamping: fetch.engine.credit))
        case .rooted(let root, let path, let collision):
            lease.sink = .file(
                root: UInt16(root), path: path,
                collision: fetch.engine.hasLostWorker ? collision.adoptingIdentical : collision)
        case .opened(let destination):
            do throws(SystemError) {
                descriptors.append(try destination.descriptorForHop(keeping: fetch.engine.resumable?.offset ?? 0))
            } catch {
                throw .file(destination.path, error.errno)
            }
            lease.sink = .descriptor
        }
        addPart(of: fetch, to: &lease, &descriptors)
        let files = fetch.plan.fileOptions
        lease.options.set(.savesErrorBodies, files.savesErrorBodies)
        lease.options.set(.dropsErrorBodies, files.dropsErrorBodies)
        lease.options.set(.dropsPassingErrors, files.dropsPassingErrors)
        lease.options.set(.createsEmptyFile, files.createsEmptyFile)
        lease.options.set(.syncsFile, files.syncs)
        lease.options.set(.namesFromDisposition, files.namesFromDisposition)
        lease.options.set(.metersBody, memory != nil)
    }

    /// Who the request comes from, and whom it trusts.
    private func addIdentity(of fetch: RunningFetch, to lease: inout Lease) {
        let terms = fetch.engine.terms
        lease.options.set(.storesCookies, terms.cookies?.storesByWorker(from: fetch.engine.target) ?? false)
        lease.login = login(of: fetch)
        lease.identity = fetch.engine.authentication?.server?.identity ?? []
        if terms.options.tls.question != .never {
            lease.asksNobody = decider(of: fetch) == nil
            lease.trusted = programQuestions.decided(about: fetch.engine.target.origin)
            fetch.engine.trusted = lease.trusted
        }
    }

    /// What the hop may do with the cache.
    private func addCache(of fetch: RunningFetch, to lease: inout Lease) {
        lease.cache = fetch.engine.access
        if fetch.engine.leads != nil { lease.cache.insert(.leads) }
        if lease.cache.isEmpty {
            // Otherwise the worker does, which knows whether a request goes out.
            fetch.engine.terms.reload.tellByItself(in: &lease.fields)
        } else if fetch.engine.sharesCookies {
            lease.cache.insert(.sharedCookies)
        }
    }

    /// Which heads are told before the end, and which of them wait for an answer.
    private func addQuestions(about fetch: RunningFetch, to lease: inout Lease) {
        lease.heads = fetch.plan.wantsEvents ? .early : .withEnd
        // Others wait for what it proves, or finds, and not for its body.
        if lease.heads == .withEnd, fetch.engine.authentication != nil, broker.knows(fetch.engine.key) {
            lease.heads = .early
        }
        if fetch.engine.resumable?.looksAtHead == true { lease.heads = .answered }
        lease.options.set(.asksAboutChallenges, answersChallenges(fetch))
        lease.options.set(.asksAboutFailures, mayTryAgain(fetch))
        if fetch.engine.terms.options.redirects.mode != .manual {
            lease.options.insert(.dropsRedirectBodies)
            lease.options.set(.asksAboutRedirects, decider(of: fetch) != nil)
        }
        if lease.cache.contains(.writes), storingDecider(of: fetch) != nil { lease.cache.insert(.asks) }
    }
}

extension FileCollision {
    /// The rule for a hop done again after its worker died: it may have made the file and died before it could say so.
    fileprivate var adoptingIdentical: FileCollision {
        switch self {
        case .number(let first, _): .number(from: first, adoptsIdentical: true)
        case .fail, .failUnlessIdentical: .failUnlessIdentical
        case .replace, .onlyNumber: self
        }
    }
}

extension FetchError {
    /// A request that no frame can hold.
    fileprivate static func headTooLarge(_ fetch: RunningFetch) -> FetchError {
        FetchError(.badRequest, "the request's head is too large", url: fetch.engine.target.text)
    }
}
