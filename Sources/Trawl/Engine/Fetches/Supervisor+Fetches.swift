import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSupervision

/// The ends of fetches, good and bad, and what is told on the way.
extension Supervisor {
    /// A hop's worker is gone.
    mutating func lost(_ lost: LostHop, exit: WorkerExit) {
        endMemory(of: lost.lease, lost.hop)
        guard let fetch = fetches[FetchKey(rawValue: lost.hop)] else { return }
        giveBackReservation(of: lost.lease, fetch)
        leaveHost(fetch)
        leaseEnded(lost.lease, of: fetch)
        switch fetch.engine.life.leaseEnded(lost.lease) {
        case .none: return
        case .forget: return forget(fetch)
        case .finish:
            if let error = fetch.engine.ending { return answer(fetch, with: .failure(error)) }
        case .accept: break
        }
        switch lost.verdict {
        case .requeue(let asSuspect): requeueOrFail(fetch, asSuspect: asSuspect, canRepeat: true)
        case .fail(.notRepeatable): requeueOrFail(fetch, asSuspect: false, canRepeat: false)
        case .fail(.secondCrash):
            // No third worker meets it.
            if fallsBack(fetch, byWorker: false) { return }
            answer(
                fetch,
                with: .failure(
                    FetchError(
                        .workerLost, "two workers crashed on it", url: fetch.engine.target.text, isRetryable: false)))
        case .cancelled:
            answer(fetch, with: .failure(FetchError(.cancelled, "", url: fetch.engine.target.text)))
        }
    }

    mutating func requeueOrFail(_ fetch: RunningFetch, asSuspect: Bool, canRepeat: Bool) {
        // What it came to is known: nothing of it has to be repeated.
        if case .no = closing, answersChallenge(fetch) { return }
        if goesOnTrying(fetch) { return }
        // What a reader has been given cannot be taken back.
        guard canRepeat, fetch.engine.delivered == 0 || goesOnWithStream(fetch) else {
            let detail =
                canRepeat
                ? "the worker died in the middle of a stream"
                : "the worker died after the request was sent, and \(fetch.engine.method.name) must not be repeated"
            return answer(
                fetch,
                with: .failure(
                    FetchError(
                        .workerLost, detail, url: fetch.engine.target.text,
                        isRetryable: fetch.engine.method.isIdempotent)))
        }
        if case .no = closing {
            fetch.engine.isSuspect = asSuspect
            fetch.engine.hasLostWorker = true
            requeue(fetch)
        } else {
            answer(fetch, with: .failure(.shutDown(url: fetch.engine.target.text)))
        }
    }

    /// A suspect takes the way of the others: it must run alone, which the cache has no part in.
    private mutating func requeue(_ fetch: RunningFetch) {
        if fetch.engine.isSuspect {
            release(fetch, .promote)
            if fetch.engine.access == .reads { fetch.engine.access = .readsAndSends }
            enqueue(fetch, front: true)
        } else {
            release(fetch, .promote)
            begin(fetch, front: true)
        }
    }

    /// Gives back the place a hop had in its host's process.
    ///
    /// - Parameter outcome: What the hop's end says about the host.
    mutating func leaveHost(_ fetch: RunningFetch, _ outcome: HostOutcome = .unknown) {
        leaveLimits(fetch)
        if fetch.engine.isStoredHop {
            fetch.engine.isStoredHop = false
            return hosts.release(fetch.engine.origin)
        }
        guard fetch.engine.isInHostProcess else { return }
        fetch.engine.isInHostProcess = false
        hosts.queues.returned(fetch.engine.origin, at: now, outcome, wasProbe: fetch.engine.isProbe, random: lot())
        hosts.release(fetch.engine.origin)
    }

    /// Ends a fetch before its hop is over: cancelled, out of time, shutdown.
    ///
    /// A worker that is to give a file its name may just have done so: it is asked to stop, and what it says to that is
    /// the answer. So no file stays that nobody was told of. A caller may also want to know what the hop took.
    ///
    /// - Parameter waitsForWorker: Whether there is time for that.
    mutating func conclude(_ fetch: RunningFetch, _ error: FetchError, waitsForWorker: Bool = true) {
        let isAwaited =
            fetch.plan.sink.isNamedByWorker || fetch.engine.resumable?.outlivesFetch == true
            || fetch.control?.awaitsWorker == true
        switch fetch.engine.life.concluded(waitsForWorker: waitsForWorker && isAwaited) {
        case .none: return
        case .answerAndWithdraw:
            withdraw(fetch)
            release(fetch, .promote)
            deliver(fetch, .failure(error))
            forget(fetch)
        case .cancel(let lease):
            fetch.engine.ending = error
            withdrawQuestion(fetch)
            release(fetch, .promote)
            cancel(lease, of: fetch)
        case .answerAndCancel(let lease):
            release(fetch, .promote)
            cancel(lease, of: fetch)
            deliver(fetch, .failure(fetch.engine.ending ?? error))
        }
    }

    private mutating func cancel(_ lease: LeaseID, of fetch: RunningFetch) {
        if let worker = leases.cancelRequested(lease), let link = pool.links[worker] {
            _ = link.send(.cancel(lease: lease.rawValue))
            pool.markDirty(worker)
        }
        cancelling[fetch.engine.key] = now.advanced(by: configuration.tolerance.cancelGrace)
    }

    mutating func answer(_ fetch: RunningFetch, with result: consuming Result<Response, FetchError>) {
        fetch.engine.life.answered()
        release(fetch, .promote)
        deliver(fetch, consume result)
        forget(fetch)
    }

    mutating func deliver(_ fetch: RunningFetch, _ result: consuming Result<Response, FetchError>) {
        if case .failure(let error) = result { result = .failure(error.reporting(fetch.engine.metrics)) }
        keepPart(&result, fetch)
        lend(&result)
        withdrawQuestion(fetch)
        if fetch.isCounted { count(result, of: fetch) }
        fetch.engine.decisions = nil
        fetch.channel?.post(.ended(result))
        switch fetch.reply {
        case .cell(let outcome), .hop(let outcome, _): outcome.resolve(result)
        case .queue(let queue, let tag):
            answers.add(fetch.answer(tag: tag, result), for: queue)
        case .driver(let tag):
            driving?.answers.append(fetch.answer(tag: tag, result))
        case .nobody: endRevalidation(fetch)
        }
    }

    mutating func forget(_ fetch: RunningFetch) {
        endAuthentication(of: fetch)
        if fetch.plan.wantsEvents { observed.remove(fetch.engine.key) }
        if fetch.engine.networkWait != nil { networkWaits.remove(fetch.engine.key) }
        if let question = scriptAnswers.leave(fetch.engine.key) { scripts.withdraw(question) }
        if !cancelling.isEmpty { cancelling[fetch.engine.key] = nil }
        fetches.remove(fetch.engine.key)
    }

    /// A reader took bytes of a streamed body: the worker may send as many more, that of this hop or of the next.
    mutating func consumed(_ fetch: RunningFetch, _ bytes: Int) {
        fetch.engine.credit += UInt64(bytes)
        guard let lease = fetch.engine.life.activeLease, let link = pool.links[fetch.engine.worker] else { return }
        _ = link.send(.credit(lease: lease.rawValue, bytes: UInt32(clamping: bytes)))
        pool.markDirty(fetch.engine.worker)
    }

    /// Reads the progress words of fetches somebody watches.
    mutating func reportProgress() {
        for key in observed {
            guard let fetch = fetches[key], let lease = fetch.engine.life.activeLease,
                let progress = progress(of: fetch, in: lease)
            else { continue }
            fetch.channel?.measured(progress, at: now)
            guard progress.received &+ progress.sent != fetch.engine.lastProgress else { continue }
            fetch.engine.lastProgress = progress.received &+ progress.sent
            fetch.channel?.post(.progress(progress))
        }
    }

    /// Reads the progress words of a hop whose lease just ended: nobody has its line yet.
    func measureEnd(of fetch: RunningFetch, _ lease: LeaseID) {
        guard let channel = fetch.channel, let progress = progress(of: fetch, in: lease) else { return }
        channel.measured(progress, at: now)
    }

    /// The progress words, if they are that lease's.
    func words(of fetch: RunningFetch, in lease: LeaseID) -> SharedProgressLine.Snapshot? {
        let line = segment.progress(worker: fetch.engine.worker, transfer: fetch.engine.progressIndex)
        guard let words = line.snapshot(), words.lease == lease.rawValue else { return nil }
        return words
    }

    private func progress(of fetch: RunningFetch, in lease: LeaseID) -> FetchProgress? {
        guard let words = words(of: fetch, in: lease) else { return nil }
        return FetchProgress(
            received: words.received, expected: words.expected, sent: words.sent, decoded: words.decoded)
    }
}
