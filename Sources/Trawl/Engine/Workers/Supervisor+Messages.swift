import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSupervision

/// What workers say about leases, checked and turned into answers.
extension Supervisor {
    /// Takes a message of a greeted worker.
    /// - Returns: False when it broke the rules and nothing more is to be read from it.
    mutating func handle(_ message: WorkerMessage, _ descriptors: [Int32], from link: WorkerLink) -> Bool {
        switch message {
        case .ready:
            refuse(link, "a second greeting")
            return false
        case .interim(let lease, let head):
            guard let fetch = fetch(of: lease, from: link) else { return passesOver(lease, from: link) }
            return take(interim: head, of: lease, fetch, from: link)
        case .head(let lease, let head, let questions, let isStored):
            guard let fetch = fetch(of: lease, from: link) else { return passesOver(lease, from: link) }
            return take(head, of: lease, fetch, asks: questions, isStored: isStored, from: link)
        case .data(let lease, let bytes):
            guard let fetch = fetch(of: lease, from: link) else { return passesOver(lease, from: link) }
            return take(bytes, fetch, from: link)
        case .forwards(let lease, let fields):
            guard let fetch = fetch(of: lease, from: link) else { return passesOver(lease, from: link) }
            return take(forwarded: fields, fetch, from: link)
        case .unshared(let lease):
            guard let fetch = fetch(of: lease, from: link) else { return passesOver(lease, from: link) }
            // A worker that says so again says nothing.
            release(fetch, .goAlone)
        case .connections(let origin, let open):
            return told(of: origin, open: open, from: link)
        case .wants(let lease, let wish):
            return wanted(lease, wish, from: link)
        case .closed(let connection):
            guard toldSteps.contains(.connections) else {
                refuse(link, "news that nobody asked for")
                return false
            }
            tell(.connections, "connection \(link.slot):\(connection) closed, which was idle")
        case .ended(let end):
            return ended(end, descriptors, from: link)
        }
        return true
    }

    /// - Returns: False when it was one too many.
    private mutating func take(
        interim head: TrawlHTTP.ResponseHead, of lease: UInt64, _ fetch: RunningFetch, from link: WorkerLink
    ) -> Bool {
        let head = Response.ResponseHead(head)
        // A server may send any number of them, but the worker passes on no more: events nobody reads pile up.
        guard fetch.engine.interim.append(head, of: lease) else {
            refuse(link, "more interim heads than allowed")
            return false
        }
        fetch.channel?.post(.interim(head))
        return true
    }

    /// The final head came ahead of the end: it is told, and its transfer's questions are answered or passed on.
    /// - Returns: False when there was one before.
    private mutating func take(
        _ head: TrawlHTTP.ResponseHead, of lease: UInt64, _ fetch: RunningFetch, asks questions: HeadQuestions,
        isStored: Bool, from link: WorkerLink
    ) -> Bool {
        guard fetch.engine.head == nil else {
            refuse(link, "a second head")
            return false
        }
        fetch.engine.head = head
        tell(.status, fetch, "head: status \(head.status)")
        // Nobody waits for its body, or answers it, any more.
        guard fetch.engine.ending == nil else { return true }
        let challenge = meet(head, fetch, isStored: isStored)
        if challenge == .deliver, !isStored { learn(head, fetch) }
        let isTriedAgain =
            challenge == .deliver && questions.contains(.disposition) && triesAgain(after: head, fetch)
        if fetch.channel != nil, !isTriedAgain, redirect(of: head, fetch) == nil, challenge == .deliver,
            fetch.engine.resumable?.hides(head) != true
        {
            if isStored {
                fetch.engine.holdsHead = true
            } else {
                fetch.channel?.post(.head(Response.ResponseHead(head)))
            }
        }
        if questions.contains(.storing) { askAboutStoring(head, lease, fetch) }
        guard questions.contains(.disposition) else { return true }
        if !isTriedAgain, placeBody(head, fetch) { return true }
        switch head.status {
        case _ where isTriedAgain: dispose(fetch, .proceed)
        case 401, 407: dispose(fetch, challenge == .deliver ? .deliver : .proceed)
        default: askAboutRedirect(head, fetch)
        }
        return true
    }

    /// Tells the head of what is stored. Before any of its body has come that may turn out to be damaged, and another
    /// answer takes its place.
    func tellHeldHead(of fetch: RunningFetch) {
        guard fetch.engine.holdsHead, let head = fetch.engine.head else { return }
        fetch.engine.holdsHead = false
        fetch.channel?.post(.head(Response.ResponseHead(head)))
    }

    /// - Returns: False when there was no room for so many bytes.
    private mutating func take(_ bytes: [UInt8], _ fetch: RunningFetch, from link: WorkerLink) -> Bool {
        guard UInt64(bytes.count) <= fetch.engine.credit else {
            refuse(link, "more bytes than credits")
            return false
        }
        fetch.engine.credit -= UInt64(bytes.count)
        fetch.engine.delivered += UInt64(bytes.count)
        tellHeldHead(of: fetch)
        fetch.channel?.post(.data(bytes))
        return true
    }

    /// The request goes out, with these fields of the cache's.
    /// - Returns: False when it had gone out before.
    private mutating func take(forwarded fields: FieldLines, _ fetch: RunningFetch, from link: WorkerLink) -> Bool {
        guard !fetch.engine.isForwarded, fetch.engine.head == nil else {
            refuse(link, "a second request of a lease")
            return false
        }
        fetch.engine.isForwarded = true
        fetch.channel?.post(.forwarded(Fields(fields)))
        return true
    }

    /// A frame of a lease whose result does not count.
    ///
    /// One that is still held was cancelled, and what its worker said meanwhile is on the way. Frames of others are
    /// ignored up to a number.
    /// - Returns: False when it was one too many.
    mutating func passesOver(_ lease: UInt64, from link: WorkerLink) -> Bool {
        if leases.hop(of: LeaseID(rawValue: lease), from: link.slot) != nil { return true }
        return passesOver(from: link)
    }

    /// A frame that says nothing.
    /// - Parameter allowance: How many are borne beside those that always are.
    /// - Returns: False when it was one too many.
    mutating func passesOver(from link: WorkerLink, beside allowance: Int = 0) -> Bool {
        link.strayFrames += 1
        guard link.strayFrames - allowance > configuration.tolerance.strayFrames else { return true }
        refuse(link, "frames of leases it does not hold, or of connections nobody counts")
        return false
    }

    mutating func fetch(of lease: UInt64, from link: WorkerLink) -> RunningFetch? {
        guard let hop = leases.hop(of: LeaseID(rawValue: lease), from: link.slot),
            let fetch = fetches[FetchKey(rawValue: hop)], fetch.engine.life.activeLease?.rawValue == lease
        else { return nil }
        return fetch
    }

    mutating func ended(_ end: LeaseEnd, _ descriptors: [Int32], from link: WorkerLink) -> Bool {
        if case .givenUp(let wasSent, let kept, _) = end.outcome {
            return gaveUp(end, wasSent: wasSent, kept: kept, descriptors, from: link)
        }
        let body = CarriedBody(descriptors, of: end)
        // Asked while the lease is held: when the worker is ended for this, the hop is lost with its others.
        if let fetch = fetch(of: end.lease, from: link) {
            if let reason = violation(in: end, body, fetch) {
                refuse(link, reason)
                return false
            }
            if case .complete = end.outcome { tellHeldHead(of: fetch) }
        }
        guard let hop = takeEnd(end, from: link) else { return passesOver(end.lease, from: link) }
        guard let fetch = fetches[hop] else { return true }
        switch takeEnd(end, of: fetch) {
        case .none: return true
        case .forget:
            forget(fetch)
            pool.slots[link.slot].completedLease()
            return true
        case .finish:
            if let error = fetch.engine.ending, !isResponse(end, fetch) {
                note(end, fetch.head(at: end), of: fetch, from: link)
                answer(fetch, with: .failure(error))
                pool.slots[link.slot].completedLease()
                return true
            }
        case .accept: break
        }
        fetch.engine.isRepeated = false
        settle(fetch, end, body, from: link)
        pool.slots[link.slot].completedLease()
        return true
    }

    /// Takes an ended lease from its worker.
    /// - Returns: Whose hop it was; nil when the worker did not hold it.
    mutating func takeEnd(_ end: LeaseEnd, from link: WorkerLink) -> FetchKey? {
        let lease = LeaseID(rawValue: end.lease)
        guard let hop = leases.ended(lease, from: link.slot, connections: Int(end.connections)) else { return nil }
        if link.strayFrames > 0 { link.strayFrames -= 1 }
        endMemory(of: lease, hop)
        return FetchKey(rawValue: hop)
    }

    /// Takes an ended lease from its fetch, which leaves its host and its limits.
    mutating func takeEnd(_ end: LeaseEnd, of fetch: RunningFetch) -> FetchLife.LeaseEndAction {
        let lease = LeaseID(rawValue: end.lease)
        // Of a hop without a transfer its line says nothing.
        if end.metrics.ended > 0 { measureEnd(of: fetch, lease) }
        leaveHost(fetch, judge(end, of: fetch))
        leaseEnded(lease, of: fetch)
        return fetch.engine.life.leaseEnded(lease)
    }

    /// Whether the end of a hop is a response for the caller, as far as a caller who gave it up is concerned.
    private mutating func isResponse(_ end: LeaseEnd, _ fetch: RunningFetch) -> Bool {
        guard case .complete = end.outcome, let head = fetch.head(at: end), fetch.engine.retries?.wait == nil
        else { return false }
        if fetch.engine.resumable?.asksAgain == true { return false }
        // A challenge that would be answered is no more the end than a redirect that would be followed.
        if answersChallenge(head, fetch) { return false }
        return redirect(of: head, fetch) == nil
    }

    /// What in the end of a hop makes no sense; nil when it can be accepted.
    mutating func violation(in end: LeaseEnd, _ body: CarriedBody, _ fetch: RunningFetch) -> String? {
        if case .failed(let failure) = end.outcome { return violation(in: failure, fetch) }
        guard case .complete(let delivery) = end.outcome else { return nil }
        guard let status = fetch.status(at: end) else { return "an end without a head" }
        let length = delivery.length.addingClamping(fetch.engine.resumable?.offset ?? 0)
        let counted = delivery.length.addingClamping(fetch.engine.resumable?.passed ?? 0)
        // So that no sum with it is more than numbers hold.
        guard max(length, counted) <= UInt64(Int64.max) else { return "a body longer than any file" }
        // The body of a redirect that is followed is of no interest.
        if (300..<400).contains(status), let head = fetch.head(at: end), redirect(of: head, fetch) != nil {
            return nil
        }
        switch delivery {
        case .discarded, .inline: return nil
        case .memory(let count):
            // That it cannot be mapped is our own trouble.
            if case .failure(.system) = body.memory { return nil }
            guard case .success(let mapped) = body.memory, UInt64(mapped.count) == count else {
                return "a memory file that is not acceptable"
            }
            return count > fetch.plan.terms.profile.memoryBytes ? "a body above its limit" : nil
        case .file(_, let name, let isAdopted):
            guard case .rooted(_, let path, let collision) = fetch.plan.sink else { return "a file nobody asked for" }
            // A hop that is done again may find the file of its first worker, whatever it is to do with others.
            if isAdopted, !fetch.engine.hasLostWorker { return "a file that was there before" }
            let isAsked =
                switch collision {
                case .number: true
                case .onlyNumber(let number): name == (number == 0 ? nil : "\(path).\(number)")
                case .replace, .fail, .failUnlessIdentical: name == nil
                }
            return isAsked ? nil : "a file of a name nobody asked for"
        case .unnamed:
            guard case .rooted(_, _, .onlyNumber) = fetch.plan.sink else { return "a file nobody asked for" }
            return body.file == nil ? "a file of another length" : nil
        case .descriptor:
            guard case .opened(let destination) = fetch.plan.sink else { return "a file nobody asked for" }
            if let part = fetch.engine.resumable, part.offset > 0, status != 206 { return "no rest, behind a part" }
            return destination.holds(length) ? nil : "a file of another length"
        case .streamed(let count):
            if case .stream = fetch.plan.sink, count == fetch.engine.delivered { return nil }
            return "a stream of another length"
        }
    }

    /// What in a failure makes no sense; nil when it can be accepted.
    private func violation(in failure: HopFailure, _ fetch: RunningFetch) -> String? {
        if failure.certificates.isEmpty { return nil }
        // Shown by who stops before a request, where the coordinator has the last word about the server.
        let isAsked = fetch.engine.terms.options.tls.question != .never && fetch.engine.target.isHTTPS
        return isAsked ? nil : "certificates that nobody asked for"
    }

    mutating func settle(
        _ fetch: RunningFetch, _ end: LeaseEnd, _ body: CarriedBody, from link: WorkerLink
    ) {
        let head = fetch.head(at: end)
        note(end, head, of: fetch, from: link)
        switch end.outcome {
        // It did not come here.
        case .givenUp: break
        case .failed(let failure):
            // Its transfer was ended for it.
            if asksForWhole(fetch) { return }
            if decidesAboutTrust(failure, fetch) { return }
            noteIdentity(after: failure, fetch)
            // Once without what is stored is enough; after that it is a mistake of the worker's.
            if failure.kind == .storedResponse, !fetch.engine.passesStoreOver, fetch.engine.delivered == 0 {
                release(fetch, .promote)
                return beginAfterRefusal(fetch)
            }
            // A challenge of a proxy that is asked for a tunnel.
            if end.isProxyFailure, let head = end.head { _ = meet(head, fetch, isOfTunnel: true) }
            if answersChallenge(fetch) { return }
            if goesAnotherWay(fetch, after: failure, refused: end.hasHead) { return }
            noteName(failure, end.metrics, fetch)
            if waitsForNetwork(after: failure, end.metrics, fetch) { return }
            if triesAgain(after: failure, status: head?.status, fetch) { return }
            release(fetch, failure.kind.isForAll ? .fail(failure, end.metrics, head) : .promote)
            if let head, !end.isProxyFailure { fetch.channel?.recordRefused(Response.ResponseHead(head)) }
            answer(fetch, with: .failure(FetchError(failure, fetch: fetch)))
        case .complete(let delivery):
            guard let head = consume head else { preconditionFailure("an end without a head was accepted") }
            // Of one that came before its end it is known already.
            if end.hasHead, fetch.engine.delivered == 0 {
                let isStored = end.cache.source.isStoreAlone
                if meet(head, fetch, isStored: isStored) == .deliver, !isStored { learn(head, fetch) }
            }
            // What is stored says nothing about it.
            if !end.cache.source.isStoreAlone { foundName(fetch) }
            overtakeLeaders(of: fetch, head)
            if answersChallenge(fetch) { return revalidateIfWanted(fetch, end.cache) }
            if goesOnTrying(fetch) || asksForWhole(fetch) { return }
            release(fetch, end.cache.isInStore ? .look : .goAlone)
            revalidateIfWanted(fetch, end.cache)
            // Most are none, and the question is not for free.
            guard (300..<400).contains(head.status) else {
                return answer(fetch, with: response(fetch, head, end, delivery, body))
            }
            switch redirect(of: head, fetch) {
            case .follow(let redirect, let target): follow(redirect, to: target, head, fetch)
            case .refuse(let error):
                fetch.channel?.recordRefused(Response.ResponseHead(head))
                answer(fetch, with: .failure(error))
            case nil: answer(fetch, with: response(fetch, head, end, delivery, body))
            }
        }
    }

    /// Takes down what the end of a hop says beside its outcome.
    ///
    /// - Parameter head: That of its response, if it came.
    mutating func note(
        _ end: LeaseEnd, _ head: TrawlHTTP.ResponseHead?, of fetch: RunningFetch, from link: WorkerLink
    ) {
        count(end, of: fetch, by: link.slot)
        // What refuses a tunnel is the proxy, which has no say in the origin's cookies, nor in how it is spoken to.
        if let head, case .network = end.cache.source, !end.isProxyFailure {
            planner.note(head.fields, from: fetch.engine.target, fetch.engine.terms)
            if !isOfProxy(head, fetch) {
                fetch.plan.terms.cookies?.receive(head.fields, from: fetch.engine.target, by: fetch.engine.way)
            }
        }
        // The head is a stored one then; what that one says was taken when it came.
        let fields = end.cache.serverFields
        if !fields.isEmpty {
            planner.note(fields, from: fetch.engine.target, fetch.engine.terms)
            fetch.plan.terms.cookies?.receive(fields, from: fetch.engine.target, by: fetch.engine.way)
        }
        if end.cache.hasLostCookies { fetch.plan.terms.cookies?.noteLoss() }
        if case .driver = fetch.reply, driving?.readsMetrics != true { return }
        let exchange = fetch.attempts + (fetch.engine.networkWait?.count ?? 0)
        fetch.engine.metrics.append(
            HopReport(
                url: fetch.engine.target.text, status: head.map { Int($0.status) } ?? 0,
                version: head?.version.text ?? "", slot: link.slot, exchange: exchange, metrics: end.metrics))
    }

    mutating func response(
        _ fetch: RunningFetch, _ head: consuming TrawlHTTP.ResponseHead, _ end: LeaseEnd, _ delivery: BodyDelivery,
        _ body: CarriedBody
    ) -> Result<Response, FetchError> {
        let part = fetch.engine.resumable
        var passed: UInt64 = 0
        // The caller knows nothing of a connection that was given up in between.
        if let part, part.hides(head), let first = part.head { (head, passed) = (first, part.passed) }
        var storage = ResponseBody.Storage.bytes([])
        var file: String?
        var unnamed: UnnamedBody?
        let length: UInt64
        do throws(FetchError) {
            switch delivery {
            case .discarded(let count): length = count + passed
            case .inline(let bytes):
                storage = .bytes(bytes)
                length = UInt64(bytes.count)
            case .memory(let count):
                storage = try Self.storage(body.memory, fetch)
                length = count
            case .file(let count, let name, _):
                file = name ?? fetch.plan.path
                length = count
            case .unnamed(let count, let name):
                if let passed = body.file, let path = name ?? fetch.plan.path {
                    unnamed = UnnamedBody(path: path, file: passed)
                }
                length = count
            case .descriptor(let count):
                file = try Self.publish(count, of: fetch, status: head.status)
                length = count + (part?.offset ?? 0)
            case .streamed(let count): length = count + passed
            }
        } catch {
            return .failure(error)
        }
        let kept = fetch.plan.terms.options.contentDecoding == .onRead ? head.codingsToUndo : []
        // Its worker was told to take what is stored, and does not know why.
        let standsIn = fetch.engine.standsIn && end.cache.source == .cache
        return .success(
            Response(
                Response.Content(
                    head: head, body: ResponseBody(storage, codings: kept, limits: fetch.plan.terms.options.sizeLimits),
                    file: file, url: fetch.engine.target.textWithFragment, originalURL: fetch.plan.originalURL,
                    redirects: fetch.engine.redirects.hops, interim: fetch.engine.interim.heads,
                    trailers: Fields(end.trailers), receivedLength: length,
                    source: standsIn ? .stale : Response.Source(end.cache.source), metrics: fetch.engine.metrics,
                    defaultCharset: fetch.plan.terms.options.defaultCharset,
                    authentication: fetch.engine.authentication?.server?.report,
                    proxyAuthentication: fetch.engine.authentication?.proxy?.report,
                    retryCount: fetch.engine.retries?.failed ?? 0, unnamed: unnamed)))
    }

    /// The body that came in a memory file.
    private static func storage(
        _ memory: Result<MappedBytes, MemoryFileError>?, _ fetch: RunningFetch
    ) throws(FetchError) -> ResponseBody.Storage {
        switch memory {
        case .success(let mapped): return .mapped(mapped)
        case .failure(.system(let error)):
            throw FetchError(
                .internalError, "the body cannot be taken over: \(SystemError.text(of: error.errno))",
                cause: .system(error.errno), url: fetch.engine.target.text,
                isRetryable: fetch.engine.method.isIdempotent)
        // Refused before, or nobody's.
        case .failure, nil: return .bytes([])
        }
    }

    /// Gives the file of a body its name.
    ///
    /// - Returns: Its path; nil when there is to be none.
    private static func publish(
        _ count: UInt64, of fetch: RunningFetch, status: UInt16
    ) throws(FetchError) -> String? {
        let makesEmpty = fetch.plan.fileOptions.createsEmptyFile && status != 304
        guard case .opened(let destination) = fetch.plan.sink, count > 0 || makesEmpty else { return nil }
        do throws(SystemError) {
            try destination.publish(replaces: fetch.plan.fileOptions.replaces, syncs: fetch.plan.fileOptions.syncs)
        } catch {
            throw .file(destination.path, error.errno)
        }
        return destination.path
    }
}
