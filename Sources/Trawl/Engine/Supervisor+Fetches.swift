import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSupervision
import TrawlURL

/// Fetches: queueing, leasing, redirects, ends.
extension Supervisor {
    /// Interim responses of one hop that are told and kept.
    static let interimKept = 64
    /// Bytes of a streamed body that may be on their way to its reader.
    static let streamWindow: UInt32 = 256 << 10

    /// A caller's fetch arrives.
    func submit(_ fetch: RunningFetch) {
        fetch.engine.key = fetches.insert(fetch)
        if let downReason { return conclude(fetch, with: .failure(downReason)) }
        if case .no = closing {
        } else {
            return conclude(
                fetch, with: .failure(FetchError(.shutDown, "the coordinator is shut down", url: fetch.plan.target.text)))
        }
        let limit = fetch.plan.options.timeLimits.resource
        if limit > .zero {
            let deadline = now.advanced(by: limit)
            fetch.engine.deadline = deadline
            deadlines.insert(fetch.engine.key, deadline: deadline)
        }
        if fetch.plan.wantsEvents { observed.insert(fetch.engine.key) }
        enqueue(fetch, front: false)
    }

    private func enqueue(_ fetch: RunningFetch, front: Bool) {
        fetch.engine.origin = origins.retain(fetch.engine.target.origin)
        fetch.engine.place = queues.enqueue(fetch.engine.key.rawValue, host: fetch.engine.origin, front: front)
    }

    /// Gives waiting hops to workers as long as both are there.
    func dispatch() {
        if !suspects.isEmpty {
            let waiting = suspects
            suspects = []
            for hop in waiting {
                guard let fetch = fetches[FetchKey(rawValue: hop.hop)], fetch.engine.life.isWaiting else { continue }
                if let worker = leases.choose(for: hop.host, isSuspect: true) {
                    lease(fetch, to: worker)
                } else {
                    suspects.append(hop)
                }
            }
        }
        while leases.freeCapacity > 0, let ready = queues.next() {
            guard let fetch = fetches[FetchKey(rawValue: ready.hop)] else {
                queues.returned(ready.host)
                continue
            }
            fetch.engine.place = nil
            fetch.engine.isInHostProcess = true
            if fetch.engine.isSuspect {
                suspects.append(ready)
                if let worker = leases.choose(for: ready.host, isSuspect: true) {
                    suspects.removeLast()
                    lease(fetch, to: worker)
                }
                continue
            }
            guard let worker = leases.choose(for: ready.host, isSuspect: false) else {
                fetch.engine.isInHostProcess = false
                fetch.engine.place = queues.putBack(ready)
                return
            }
            lease(fetch, to: worker)
        }
    }

    private func lease(_ fetch: RunningFetch, to worker: Int) {
        guard let link = links[worker] else { preconditionFailure("a lease for a worker that is not there") }
        let grant = leases.grant(
            hop: fetch.engine.key.rawValue, origin: fetch.engine.origin, to: worker, isSuspect: fetch.engine.isSuspect)
        fetch.engine.life.leased(grant.id)
        fetch.engine.worker = worker
        fetch.engine.progressIndex = Int(grant.progressIndex)
        fetch.engine.attempts += 1
        fetch.engine.head = nil
        fetch.engine.interim = []
        fetch.engine.delivered = 0
        let plan = fetch.plan
        if let channel = fetch.channel {
            channel.record(
                SentRequest(
                    method: fetch.engine.method, target: fetch.engine.target, fields: fetch.engine.fields,
                    bodyLength: fetch.engine.sendsBody ? plan.body.count : nil))
            channel.post(.attempt(fetch.engine.attempts))
        }
        let assignment = profiles.assignment(for: plan.profile)
        var lease = Lease(
            id: grant.id.rawValue, profile: assignment.number, progressIndex: grant.progressIndex,
            method: fetch.engine.method, url: fetch.engine.target.text, fields: fetch.engine.fields)
        var descriptors: [Int32] = []
        if fetch.engine.sendsBody {
            switch plan.body {
            case .none: break
            case .inline(let bytes): lease.body = .inline(bytes)
            case .file(let file):
                lease.body = .descriptor(length: UInt64(file.count))
                descriptors.append(file.file.descriptor.rawValue)
            }
        }
        switch plan.sink {
        case .memory: lease.sink = .memory
        case .discard: lease.sink = .discard
        case .stream:
            lease.sink = .stream(credit: Self.streamWindow)
            fetch.engine.credit = UInt64(Self.streamWindow)
        case .rooted(let root, let path):
            lease.sink = .file(root: UInt16(root), path: path, replaces: plan.fileOptions.replaces)
        case .opened(let destination):
            guard let descriptor = destination.descriptorForHop() else {
                return fail(fetch, grant.id, .file(destination.path, 5))
            }
            lease.sink = .descriptor
            descriptors.append(descriptor)
        }
        lease.heads = plan.wantsEvents ? .early : .withEnd
        if let deadline = fetch.engine.deadline { lease.timeout = UInt64(max(1, now.duration(to: deadline).clampedMilliseconds)) }
        lease.savesErrorBodies = plan.fileOptions.savesErrorBodies
        lease.createsEmptyFile = plan.fileOptions.createsEmptyFile
        lease.dropsRedirectBodies = plan.options.redirects.mode != .manual
        lease.syncsFile = plan.fileOptions.syncs
        lease.mayReuseConnection = plan.options.reusesConnection
        lease.mayKeepConnection = plan.options.keepsConnection
        guard link.tell(assignment, plan.profile), link.send(.lease(lease), descriptors: descriptors) else {
            return fail(
                fetch, grant.id,
                FetchError(.badRequest, "the request's head is too large", url: fetch.engine.target.text))
        }
        markDirty(worker)
    }

    /// A lease that was granted could not be sent.
    private func fail(_ fetch: RunningFetch, _ lease: LeaseID, _ error: FetchError) {
        _ = leases.ended(lease, from: fetch.engine.worker)
        _ = fetch.engine.life.leaseEnded(lease)
        leaveHost(fetch)
        answer(fetch, with: .failure(error))
    }

    // MARK: What workers say

    /// Takes a message of a greeted worker.
    /// - Returns: False when it broke the rules and nothing more is to be read from it.
    func handle(_ message: WorkerMessage, _ descriptors: [Int32], from link: WorkerLink) -> Bool {
        switch message {
        case .ready:
            refuse(link, "a second greeting")
            return false
        case .interim(let lease, let head):
            guard let fetch = fetch(of: lease, from: link) else { return true }
            // A server may send any number of them; the first tell enough, and events nobody reads must not pile up.
            guard fetch.engine.interim.count < Self.interimKept else { return true }
            let head = Response.ResponseHead(head)
            fetch.engine.interim.append(head)
            fetch.channel?.post(.interim(head))
        case .head(let lease, let head):
            guard let fetch = fetch(of: lease, from: link) else { return true }
            guard fetch.engine.head == nil else {
                refuse(link, "a second head")
                return false
            }
            fetch.engine.head = head
            if redirect(of: head, fetch) == nil { fetch.channel?.post(.head(Response.ResponseHead(head))) }
        case .data(let lease, let bytes):
            guard let fetch = fetch(of: lease, from: link) else { return true }
            guard UInt64(bytes.count) <= fetch.engine.credit else {
                refuse(link, "more bytes than credits")
                return false
            }
            fetch.engine.credit -= UInt64(bytes.count)
            fetch.engine.delivered += UInt64(bytes.count)
            fetch.channel?.post(.data(bytes))
        case .ended(let end):
            return ended(end, descriptors, from: link)
        }
        return true
    }

    private func fetch(of lease: UInt64, from link: WorkerLink) -> RunningFetch? {
        guard let hop = leases.hop(of: LeaseID(rawValue: lease), from: link.slot),
            let fetch = fetches[FetchKey(rawValue: hop)], fetch.engine.life.activeLease?.rawValue == lease
        else { return nil }
        return fetch
    }

    private func ended(_ end: LeaseEnd, _ descriptors: [Int32], from link: WorkerLink) -> Bool {
        let memory = takeMemory(descriptors)
        let lease = LeaseID(rawValue: end.lease)
        // Asked while the lease is held: when the worker is ended for this, the hop is lost with its others.
        if let fetch = fetch(of: end.lease, from: link), let reason = violation(in: end, memory, fetch) {
            refuse(link, reason)
            return false
        }
        guard let hop = leases.ended(lease, from: link.slot), let fetch = fetches[FetchKey(rawValue: hop)] else {
            return true
        }
        leaveHost(fetch)
        switch fetch.engine.life.leaseEnded(lease) {
        case .none: return true
        case .forget:
            forget(fetch)
            slots[link.slot].completedLease()
            return true
        case .accept: break
        }
        settle(fetch, end, memory, from: link)
        slots[link.slot].completedLease()
        return true
    }

    /// Maps the memory file that came with an end, and closes whatever came.
    private func takeMemory(_ descriptors: [Int32]) -> Result<MappedBytes, MemoryFileError>? {
        var result: Result<MappedBytes, MemoryFileError>?
        for number in descriptors {
            let descriptor = Descriptor(adopting: number)
            guard result == nil else { continue }
            do throws(MemoryFileError) {
                result = .success(try MappedBytes(descriptor, limit: .max))
            } catch {
                result = .failure(error)
            }
        }
        return result
    }

    /// What in the end of a hop makes no sense; nil when it can be accepted.
    private func violation(
        in end: LeaseEnd, _ memory: Result<MappedBytes, MemoryFileError>?, _ fetch: RunningFetch
    ) -> String? {
        guard case .complete(let delivery) = end.outcome else { return nil }
        guard let head = end.head ?? fetch.engine.head else { return "an end without a head" }
        // The body of a redirect that is followed is of no interest.
        if redirect(of: head, fetch) != nil { return nil }
        switch delivery {
        case .discarded, .inline: return nil
        case .memory(let count):
            guard case .success(let mapped) = memory, UInt64(mapped.count) == count else {
                return "a memory file that is not acceptable"
            }
            return count > fetch.plan.profile.memoryBytes ? "a body above its limit" : nil
        case .file:
            if case .rooted = fetch.plan.sink { return nil }
            return "a file nobody asked for"
        case .descriptor:
            if case .opened = fetch.plan.sink { return nil }
            return "a file nobody asked for"
        case .streamed(let count):
            if case .stream = fetch.plan.sink, count == fetch.engine.delivered { return nil }
            return "a stream of another length"
        }
    }

    private func settle(
        _ fetch: RunningFetch, _ end: LeaseEnd, _ memory: Result<MappedBytes, MemoryFileError>?, from link: WorkerLink
    ) {
        let head = end.head ?? fetch.engine.head
        fetch.engine.metrics.append(
            HopReport(
                url: fetch.engine.target.text, status: head.map { Int($0.status) } ?? 0,
                version: head?.version.text ?? "", slot: link.slot, metrics: end.metrics))
        switch end.outcome {
        case .failed(let failure):
            answer(fetch, with: .failure(FetchError(failure, fetch: fetch)))
        case .complete(let delivery):
            guard let head else { preconditionFailure("an end without a head was accepted") }
            switch redirect(of: head, fetch) {
            case .follow(let redirect, let target): follow(redirect, to: target, head, fetch)
            case .refuse(let error): answer(fetch, with: .failure(error))
            case nil: answer(fetch, with: response(fetch, head, end, delivery, memory))
            }
        }
    }

    private func response(
        _ fetch: RunningFetch, _ head: TrawlHTTP.ResponseHead, _ end: LeaseEnd, _ delivery: BodyDelivery,
        _ memory: Result<MappedBytes, MemoryFileError>?
    ) -> Result<Response, FetchError> {
        var storage = ResponseBody.Storage.bytes([])
        var file: String?
        let length: UInt64
        switch delivery {
        case .discarded(let count): length = count
        case .inline(let bytes):
            storage = .bytes(bytes)
            length = UInt64(bytes.count)
        case .memory(let count):
            if case .success(let mapped) = memory { storage = .mapped(mapped) }
            length = count
        case .file(let count):
            file = fetch.plan.path
            length = count
        case .descriptor(let count):
            if case .opened(let destination) = fetch.plan.sink, count > 0 || fetch.plan.fileOptions.createsEmptyFile {
                do throws(SystemError) {
                    try destination.publish(
                        replaces: fetch.plan.fileOptions.replaces, syncs: fetch.plan.fileOptions.syncs)
                } catch {
                    destination.discard()
                    return .failure(.file(destination.path, error.errno))
                }
                file = destination.path
            }
            length = count
        case .streamed(let count): length = count
        }
        let codings =
            end.decoded.isEmpty ? head.fields.values("Content-Encoding") : end.decoded
        let kept = fetch.plan.options.contentDecoding == .onRead ? head.fields.values("Content-Encoding") : []
        return .success(
            Response(
                head: Response.ResponseHead(head),
                body: ResponseBody(storage, codings: kept, limits: fetch.plan.options.sizeLimits), file: file,
                url: fetch.engine.target.textWithFragment, originalURL: fetch.plan.originalURL,
                redirects: fetch.engine.redirects, interim: fetch.engine.interim, trailers: Fields(end.trailers),
                contentCodings: codings.isEmpty ? [] : Response.codingNames(codings),
                expectedLength: head.contentLength, receivedLength: length, metrics: fetch.engine.metrics))
    }

    // MARK: Redirects

    private enum RedirectStep {
        case follow(Redirect, TargetURI)
        case refuse(FetchError)
    }

    /// What to do with a redirect, or nil when the response is the answer.
    private func redirect(of head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch) -> RedirectStep? {
        guard head.status >= 300 && head.status < 400 else { return nil }
        let options = fetch.plan.options.redirects
        guard let redirect = Redirect(head: head, method: fetch.engine.method, mode: options.mode.packageMode) else {
            return nil
        }
        let here = fetch.engine.target
        if fetch.engine.redirects.count >= options.limit {
            return .refuse(FetchError(.tooManyRedirects, "more than \(options.limit) redirects", url: here.text))
        }
        let target: TargetURI
        do throws(URLFailure) {
            target = try urls.resolve(redirect.location, against: here)
        } catch {
            return .refuse(
                FetchError(.redirectRefused, "the redirect leads to no usable URL: \(error.text)", url: here.text))
        }
        if let refusal = FetchPlanner.checkScheme(target, fetch.plan.options.transport) {
            return .refuse(FetchError(.redirectRefused, refusal.detail, url: here.text))
        }
        if here.origin.scheme == "https", target.origin.scheme == "http", !options.allowsDowngrade {
            return .refuse(FetchError(.redirectRefused, "the redirect leads from https to http", url: here.text))
        }
        return .follow(redirect, target)
    }

    private func follow(
        _ redirect: Redirect, to target: TargetURI, _ head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch
    ) {
        let hop = Response.RedirectHop(
            url: fetch.engine.target.text, status: Int(head.status), location: target.textWithFragment,
            head: Response.ResponseHead(head))
        fetch.engine.redirects.append(hop)
        fetch.channel?.post(.redirected(hop))
        fetch.engine.fields = redirect.fields(
            from: fetch.engine.fields, changesOrigin: target.origin != fetch.engine.target.origin)
        fetch.engine.method = redirect.method
        fetch.engine.sendsBody = fetch.engine.sendsBody && redirect.keepsBody
        fetch.engine.target = target
        fetch.engine.isSuspect = false
        enqueue(fetch, front: true)
    }

    // MARK: Loss and end

    /// A hop's worker is gone.
    func lost(_ lost: LostHop, exit: WorkerExit) {
        guard let fetch = fetches[FetchKey(rawValue: lost.hop)] else { return }
        leaveHost(fetch)
        switch fetch.engine.life.leaseEnded(lost.lease) {
        case .none: return
        case .forget: return forget(fetch)
        case .accept: break
        }
        switch lost.verdict {
        case .requeue(let asSuspect): requeueOrFail(fetch, asSuspect: asSuspect, canRepeat: true)
        case .fail(.notRepeatable): requeueOrFail(fetch, asSuspect: false, canRepeat: false)
        case .fail(.secondCrash):
            answer(
                fetch,
                with: .failure(
                    FetchError(
                        .workerLost, "two workers crashed on it", url: fetch.engine.target.text, isRetryable: false)))
        case .cancelled:
            answer(fetch, with: .failure(FetchError(.cancelled, "", url: fetch.engine.target.text)))
        }
    }

    private func requeueOrFail(_ fetch: RunningFetch, asSuspect: Bool, canRepeat: Bool) {
        // What a reader has been given cannot be taken back.
        guard canRepeat, fetch.engine.delivered == 0 else {
            let detail =
                canRepeat
                ? "the worker died in the middle of a stream"
                : "the worker died after the request was sent, and \(fetch.engine.method.name) must not be repeated"
            return answer(
                fetch,
                with: .failure(
                    FetchError(
                        .workerLost, detail, url: fetch.engine.target.text, isRetryable: fetch.engine.method.isIdempotent)))
        }
        if case .no = closing {
            fetch.engine.isSuspect = asSuspect
            enqueue(fetch, front: true)
        } else {
            answer(
                fetch, with: .failure(FetchError(.shutDown, "the coordinator is shut down", url: fetch.engine.target.text)))
        }
    }

    /// Gives back the place a hop had in its host's process.
    private func leaveHost(_ fetch: RunningFetch) {
        guard fetch.engine.isInHostProcess else { return }
        fetch.engine.isInHostProcess = false
        queues.returned(fetch.engine.origin)
        origins.release(fetch.engine.origin)
    }

    /// Answers a fetch before its hop is over: cancelled, out of time, shutdown.
    func conclude(_ fetch: RunningFetch, with result: Result<Response, FetchError>) {
        switch fetch.engine.life.concluded() {
        case .none: return
        case .answerAndWithdraw:
            if let place = fetch.engine.place {
                queues.remove(fetch.engine.key.rawValue, at: place)
                origins.release(fetch.engine.origin)
            } else {
                suspects.removeAll { $0.hop == fetch.engine.key.rawValue }
                leaveHost(fetch)
            }
            deliver(fetch, result)
            forget(fetch)
        case .answerAndCancel(let lease):
            if let worker = leases.cancelRequested(lease), let link = links[worker] {
                _ = link.send(.cancel(lease: lease.rawValue))
                markDirty(worker)
            }
            deliver(fetch, result)
        }
    }

    private func answer(_ fetch: RunningFetch, with result: Result<Response, FetchError>) {
        fetch.engine.life.answered()
        deliver(fetch, result)
        forget(fetch)
    }

    private func deliver(_ fetch: RunningFetch, _ result: Result<Response, FetchError>) {
        if case .opened(let destination) = fetch.plan.sink { destination.discard() }
        fetch.channel?.post(.ended(result))
        fetch.outcome.resolve(result)
    }

    private func forget(_ fetch: RunningFetch) {
        if fetch.plan.wantsEvents { observed.remove(fetch.engine.key) }
        fetches.remove(fetch.engine.key)
    }

    // MARK: Streams and progress

    /// A reader took bytes of a streamed body: the worker may send as many more.
    func consumed(_ fetch: RunningFetch, _ bytes: Int) {
        guard let lease = fetch.engine.life.activeLease, let link = links[fetch.engine.worker] else { return }
        fetch.engine.credit += UInt64(bytes)
        _ = link.send(.credit(lease: lease.rawValue, bytes: UInt32(clamping: bytes)))
        markDirty(fetch.engine.worker)
    }

    /// Reads the progress words of fetches somebody watches.
    func reportProgress() {
        for key in observed {
            guard let fetch = fetches[key], let lease = fetch.engine.life.activeLease,
                let words = segment.progress(worker: fetch.engine.worker, transfer: fetch.engine.progressIndex).snapshot(),
                words.lease == lease.rawValue, words.received &+ words.sent != fetch.engine.lastProgress
            else { continue }
            fetch.engine.lastProgress = words.received &+ words.sent
            fetch.channel?.post(
                .progress(FetchProgress(received: words.received, expected: words.expected, sent: words.sent)))
        }
    }
}
