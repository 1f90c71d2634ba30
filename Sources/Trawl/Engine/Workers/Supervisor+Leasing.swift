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
            var fields = try fieldsToSend(for: fetch)
            record(fetch, sending: fields)
            let terms = fetch.engine.terms
            let assignment = profiles.assignment(for: terms)
            let proxy = try proxyRoute(fetch, &fields)
            fetch.engine.sendsOnce = hosts.queues.hasDelay(of: fetch.engine.origin)
            let limits = limits(for: fetch)
            countLease(of: fetch, under: limits)
            var descriptors: [Int32] = []
            let body = bodyToSend(of: fetch, &descriptors)
            let sink = try sinkOfBody(of: fetch, &descriptors)
            let part = partThatCame(of: fetch, &descriptors)
            let trusted = decidedCertificate(for: fetch)
            let cache = cacheAccess(of: fetch, &fields)
            let options = leaseOptions(for: fetch, keepsConnection: keepsConnection)
            let lease = Lease.granting(
                id: grant.id.rawValue, profile: assignment.number, progressIndex: grant.progressIndex,
                method: fetch.engine.method, url: fetch.engine.target.text,
                originLength: UInt16(clamping: fetch.engine.target.originLength), fields: fields, body: body,
                sink: sink, heads: headDelivery(for: fetch), timeout: timeLeft(of: fetch), options: options,
                cache: cache, limits: limits, proxy: proxy, asksNobody: asksNobody(about: fetch), trusted: trusted,
                login: login(of: fetch), identity: fetch.engine.authentication?.server?.identity ?? [],
                counted: counted(fetch.engine.origin, limit: limit), part: part)
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
            try link.send(lease, descriptors: descriptors)
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

    /// Nothing of an attempt before this one counts any more; what came ahead of its answer is told all the same.
    private mutating func beginAttempt(of fetch: RunningFetch, by worker: Int, _ grant: LeaseGrant) {
        fetch.engine.life.leased(grant.id)
        fetch.engine.worker = worker
        fetch.engine.progressIndex = Int(grant.progressIndex)
        fetch.engine.attempts += 1
        tell(.status, fetch, "sent to worker \(worker)")
        fetch.engine.head = nil
        fetch.engine.holdsHead = false
        fetch.engine.isForwarded = false
        fetch.engine.delivered = 0
        if let retries = fetch.engine.retries {
            retries.wait = nil
            if retries.startedAt == nil { retries.startedAt = now }
            endWait(for: retries, of: fetch)
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

    /// Milliseconds that are left for all of a fetch; 0 is no limit.
    private func timeLeft(of fetch: RunningFetch) -> UInt64 {
        guard let deadline = fetch.engine.deadline else { return 0 }
        // A question about a hop whose worker died may be open, and the clock stand since it was asked.
        let time = fetch.engine.stoppedAt ?? now
        let rest = deadline.nanoseconds > time.nanoseconds ? deadline.nanoseconds - time.nanoseconds : 0
        return max(1, rest / 1_000_000)
    }

    private func bodyToSend(of fetch: RunningFetch, _ descriptors: inout [Int32]) -> RequestBody {
        switch fetch.body {
        case .none: return .none
        case .inline(let bytes): return .inline(bytes)
        case .file(let file):
            descriptors.append(file.file.descriptor.rawValue)
            return .descriptor(length: UInt64(file.count))
        }
    }

    /// Where the body of the response goes.
    private func sinkOfBody(of fetch: RunningFetch, _ descriptors: inout [Int32]) throws(FetchError) -> BodySink {
        switch fetch.plan.sink {
        case .memory: return .memory
        case .discard: return .discard
        case .stream: return .stream(credit: UInt32(clamping: fetch.engine.credit))
        case .rooted(let root, let path, let collision):
            return .file(
                root: UInt16(root), path: path,
                collision: fetch.engine.hasLostWorker ? collision.adoptingIdentical : collision)
        case .opened(let destination):
            do throws(SystemError) {
                descriptors.append(try destination.descriptorForHop(keeping: fetch.engine.resumable?.offset ?? 0))
            } catch {
                throw .file(destination.path, error.errno)
            }
            return .descriptor
        }
    }

    /// The certificate of a hop's server that the program has decided about; it is remembered what its worker is told.
    private func decidedCertificate(for fetch: RunningFetch) -> DecidedCertificate {
        if fetch.engine.terms.options.tls.question == .never { return .undecided }
        let decided = programQuestions.decided(about: fetch.engine.target.origin)
        fetch.engine.trusted = decided
        return decided
    }

    /// Whether there is a question about the certificate of a hop's server, and nobody to ask.
    private func asksNobody(about fetch: RunningFetch) -> Bool {
        fetch.engine.terms.options.tls.question != .never && !hasDecider(fetch)
    }

    /// What the hop may do with the cache; without one its fields tell the caches on the way what they are to do.
    private func cacheAccess(of fetch: RunningFetch, _ fields: inout FieldLines) -> CacheAccess {
        var access = fetch.engine.access
        if fetch.engine.leads != nil { access.insert(.leads) }
        if access.isEmpty {
            // Otherwise the worker does, which knows whether a request goes out.
            fetch.engine.terms.reload.tellByItself(in: &fields)
            return access
        }
        if fetch.engine.sharesCookies { access.insert(.sharedCookies) }
        if access.contains(.writes), storingDecider(of: fetch) != nil { access.insert(.asks) }
        return access
    }

    /// Which heads are told before the end, and which of them wait for an answer.
    private func headDelivery(for fetch: RunningFetch) -> HeadDelivery {
        if fetch.engine.resumable?.looksAtHead == true { return .answered }
        if fetch.plan.wantsEvents { return .early }
        // Others wait for what it proves, or finds, and not for its body.
        let isAwaited = fetch.engine.authentication != nil && broker.knows(fetch.engine.key)
        return isAwaited ? .early : .withEnd
    }

    /// What the worker does and leaves alone.
    private func leaseOptions(for fetch: RunningFetch, keepsConnection: Bool) -> LeaseOptions {
        let terms = fetch.engine.terms
        let files = fetch.plan.fileOptions
        let mayFollow = terms.options.redirects.mode != .manual
        var options = LeaseOptions(rawValue: 0)
        options.set(.sendsOnce, fetch.engine.sendsOnce)
        options.set(.mayReuseConnection, terms.reusesConnection && !fetch.engine.isRepeated)
        options.set(.mayKeepConnection, terms.keepsConnection && keepsConnection)
        options.set(.savesErrorBodies, files.savesErrorBodies)
        options.set(.dropsErrorBodies, files.dropsErrorBodies)
        options.set(.dropsPassingErrors, files.dropsPassingErrors)
        options.set(.createsEmptyFile, files.createsEmptyFile)
        options.set(.syncsFile, files.syncs)
        options.set(.namesFromDisposition, files.namesFromDisposition)
        options.set(.metersBody, memory != nil)
        options.set(.storesCookies, terms.cookies?.storesByWorker(from: fetch.engine.target) ?? false)
        options.set(.asksAboutChallenges, answersChallenges(fetch))
        options.set(.asksAboutFailures, mayTryAgain(fetch))
        options.set(.dropsRedirectBodies, mayFollow)
        options.set(.asksAboutRedirects, mayFollow && hasDecider(fetch))
        return options
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
