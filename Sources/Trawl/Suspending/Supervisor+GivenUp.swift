import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSupervision

/// Hops that were given up because their fetch was suspended for long, or lost their connection after that, or may send
/// their request once, and how those go on.
extension Supervisor {
    /// A worker has given up a lease.
    ///
    /// - Parameters:
    ///   - wasSent: Whether bytes of the request may have reached the server.
    ///   - kept: Bytes of the body that reached their place.
    /// - Returns: False when it broke the rules and nothing more is to be read from it.
    mutating func gaveUp(
        _ end: LeaseEnd, wasSent: Bool, kept: UInt64, _ descriptors: [Int32], from link: WorkerLink
    ) -> Bool {
        let file = PassedFile(descriptors, length: kept)
        // Asked while the lease is held: when the worker is ended for this, the hop is lost with its others.
        var isForSuspension = false
        if let fetch = fetch(of: end.lease, from: link) {
            isForSuspension = fetch.engine.suspended?.mayBeGivenUp == true
            let mayBeRepeated =
                fetch.engine.sendsOnce && fetch.engine.method.isIdempotent && fetch.engine.head == nil
                && fetch.engine.delivered == 0 && kept == 0 && descriptors.isEmpty
            // So that no sum with it is more than numbers hold.
            guard isForSuspension || mayBeRepeated, descriptors.isEmpty || file != nil && kept > 0,
                kept <= UInt64(Int64.max)
            else {
                refuse(link, "a lease given up that is to be carried out, or a part that is none")
                return false
            }
        }
        guard let hop = takeEnd(end, from: link) else { return passesOver(end.lease, from: link) }
        defer { pool.slots[link.slot].completedLease() }
        guard let fetch = fetches[hop] else { return true }
        switch takeEnd(end, of: fetch) {
        case .none: break
        case .forget: forget(fetch)
        case .finish:
            let url = fetch.engine.target.text
            answer(fetch, with: .failure(fetch.engine.ending ?? FetchError(.cancelled, "", url: url)))
        case .accept:
            if let head = end.head { fetch.engine.head = head }
            if kept > 0 { tellHeldHead(of: fetch) }
            note(end, fetch.engine.head, of: fetch, from: link)
            if isForSuspension {
                goOnLater(fetch, wasSent: wasSent, kept: kept, file, isStored: end.cache.source.isStoreAlone)
            } else {
                repeatOnce(fetch)
            }
        }
        return true
    }

    /// The request goes out once more when its host's turn has come, on a connection that nobody has used; but not a
    /// second time.
    private mutating func repeatOnce(_ fetch: RunningFetch) {
        guard !fetch.engine.isRepeated else {
            fetch.engine.isRepeated = false
            var failure = HopFailure(.connectionLost, detail: "the connection ended before a response, twice")
            failure.requestSent = true
            if triesAgain(after: failure, status: nil, fetch) { return }
            release(fetch, .promote)
            return answer(fetch, with: .failure(FetchError(failure, fetch: fetch)))
        }
        release(fetch, .promote)
        guard case .no = closing else {
            return answer(fetch, with: .failure(.shutDown(url: fetch.engine.target.text)))
        }
        fetch.engine.isRepeated = true
        tell(.connections, fetch, "its connection ended without an answer: sent again")
        begin(fetch, front: true)
    }

    /// The next hop begins, as soon as the fetch may go on: with the rest of the body where that is possible.
    ///
    /// - Parameter isStored: Whether the body is that of a stored response, which nobody was asked about.
    private mutating func goOnLater(
        _ fetch: RunningFetch, wasSent: Bool, kept: UInt64, _ file: PassedFile?, isStored: Bool
    ) {
        release(fetch, .promote)
        guard case .no = closing else {
            return answer(fetch, with: .failure(.shutDown(url: fetch.engine.target.text)))
        }
        // What it came to is known: nothing of it has to be repeated.
        if answersChallenge(fetch) || goesOnTrying(fetch) { return }
        // RFC 9110 §9.2.2
        let mayRepeat = fetch.engine.method.isIdempotent || fetch.plan.options.retry.repeatsAnyMethod
        guard !wasSent || mayRepeat else {
            return answer(fetch, with: .failure(.givenUp(fetch, "\(fetch.engine.method.name) must not be repeated")))
        }
        // It is delivered once more, or asked for, whichever is right by then.
        if isStored, !fetch.plan.sink.isReadByOthers { return begin(fetch, front: true) }
        let part = keep(kept, file, of: fetch)
        guard !fetch.plan.sink.isReadByOthers || part.passed == 0 || part.resumption != nil else {
            return answer(fetch, with: .failure(.givenUp(fetch, "the server cannot be asked for the rest")))
        }
        begin(fetch, front: true)
    }

    /// Keeps what has come of a body in this hop.
    private func keep(_ kept: UInt64, _ file: PassedFile?, of fetch: RunningFetch) -> ResumablePart {
        let part = fetch.engine.resumable ?? ResumablePart()
        fetch.engine.resumable = part
        // What a reader has been given is known here.
        var kept = kept
        if case .stream = fetch.plan.sink { kept = fetch.engine.delivered }
        fetch.engine.delivered = 0
        part.brokeOff(fetch.engine.head, to: fetch.engine.method, kept: kept, file, now: WallClock.time())
        // The rest would have to come from the network.
        if fetch.neverLoads { part.resumption = nil }
        return part
    }

    /// How much of the body has come, for the next hop's worker, which is given that where another's file holds it.
    func partThatCame(of fetch: RunningFetch, _ descriptors: inout [Int32]) -> UInt64 {
        guard let part = fetch.engine.resumable, part.offset > 0 else { return 0 }
        switch fetch.plan.sink {
        case .memory, .rooted:
            guard let file = part.file else { return 0 }
            descriptors.append(file.descriptor.rawValue)
        case .discard, .stream, .opened: break
        }
        return part.offset
    }

    /// Whether a stream whose worker died can be gone on with behind what its reader has been given.
    func goesOnWithStream(_ fetch: RunningFetch) -> Bool {
        guard fetch.engine.suspended != nil, case .stream = fetch.plan.sink else { return false }
        return keep(0, nil, of: fetch).resumption != nil
    }
}

extension FetchError {
    /// A fetch that was suspended cannot go on.
    static func givenUp(_ fetch: RunningFetch, _ reason: String) -> FetchError {
        FetchError(
            .connectionLost, "the connection did not outlast the suspension of the fetch, and \(reason)",
            url: fetch.engine.target.text, isRetryable: fetch.engine.method.isIdempotent)
    }
}
