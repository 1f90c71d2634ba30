import Glibc
import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSession
import TrawlSupervision

/// Attempts that failed and are made again, by the rules of `RetryPolicy`; and fetches that wait for a time.
extension Supervisor {
    /// How long an attempt whose own wait is over may take to come to a worker, where there is a longest time: what a
    /// turn may take (`passOver`), so that none is lost because this thread came late.
    private static let moment = longestTurn

    // MARK: Deciding

    /// Whether the next hop's response may turn out not to be the answer, because of its status: then its worker asks.
    func mayTryAgain(_ fetch: RunningFetch) -> Bool {
        guard let attempts = fetch.engine.attemptsLeft else { return false }
        return fetch.engine.method.isIdempotent || attempts.policy.repeatsAnyMethod
    }

    /// Decides at a head whether the request is made again once this hop is over; while the coordinator closes, whether
    /// it would be. Its body is not wanted then.
    mutating func triesAgain(after head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch) -> Bool {
        guard head.status >= 400, let attempts = fetch.engine.attemptsLeft else { return false }
        let wait = RetryAfter.wait(in: head.fields, now: WallClock.time(), longest: attempts.policy.longestRetryAfter)
        let holdOff = holdOff(of: fetch, attempts, after: head)
        let verdict = attempts.verdict(
            after: .response(status: head.status, retryAfter: wait), isIdempotent: fetch.engine.method.isIdempotent,
            at: now, holdOff: holdOff, random: .random(in: 0...1, using: &random))
        guard case .retry(let delay) = verdict else { return false }
        attempts.wait = delay
        return true
    }

    /// Makes the request again after a failure, where that may help and does no harm. While the coordinator closes the
    /// fetch ends with it, as those that wait for their next attempt already.
    ///
    /// - Parameter status: Of the final head, when there was one.
    /// - Returns: Whether it does either.
    mutating func triesAgain(after failure: HopFailure, status: UInt16?, _ fetch: RunningFetch) -> Bool {
        // Nothing of a response that was not the answer is needed.
        if goesOnTrying(fetch) { return true }
        guard let attempts = fetch.engine.attemptsLeft, !fetch.engine.hasDeliveredPart(status) else { return false }
        let kind = failure.retryKind(status: status, isOutOfTime: isOutOfTime(fetch))
        let holdOff = holdOff(of: fetch, attempts)
        let verdict = attempts.verdict(
            after: .failure(kind, requestWasSent: failure.requestSent), isIdempotent: fetch.engine.method.isIdempotent,
            at: now, holdOff: holdOff, random: .random(in: 0...1, using: &random))
        guard case .retry(let delay) = verdict else { return false }
        tryAgain(fetch, attempts, after: delay, nil, FetchError(failure, fetch: fetch))
        return true
    }

    /// The hop whose head was no answer is over, in whatever way.
    ///
    /// - Returns: Whether there was such a head.
    mutating func goesOnTrying(_ fetch: RunningFetch) -> Bool {
        guard let attempts = fetch.engine.retries, let delay = attempts.wait, fetch.engine.delivered == 0 else {
            return false
        }
        tryAgain(fetch, attempts, after: delay, (fetch.engine.head?.status).map { Int($0) }, nil)
        return true
    }

    /// For how long nothing begins at the host that the next attempt goes to, as far as is known: it asked for that, it
    /// failed too often, or its requests keep a distance. Zero where it makes no difference.
    ///
    /// - Parameter head: That of the response in flight, when it decides.
    private mutating func holdOff(
        of fetch: RunningFetch, _ attempts: Attempts, after head: TrawlHTTP.ResponseHead? = nil
    ) -> Duration {
        guard attempts.policy.longestTime != nil else { return .zero }
        let host = retainHost(ofNextAttempt: beginsAnew(fetch, attempts) ? fetch.plan.target : nil, fetch)
        defer { hosts.release(host) }
        let isEnding = head != nil && host == fetch.engine.origin
        let known = hosts.queues.holdOff(of: host, at: now, isEnding: isEnding)
        guard isEnding, let head, case .origin = RetryAfter.reach(of: head.status) else { return known }
        // It is left alone once its response is over.
        return max(known, rest(askedForBy: head.fields) ?? .zero)
    }

    /// The number of the host that an attempt goes to, in use once more.
    ///
    /// - Parameter first: Where it begins anew; nil where it goes on at the hop that failed.
    private mutating func retainHost(ofNextAttempt first: TargetURI?, _ fetch: RunningFetch) -> OriginKey {
        let here = fetch.engine.target
        let target = first ?? here
        // As when it begins (`secure`).
        let origin = planner.secures(target) ? TransportSecurity.upgrade(target.origin) : target.origin
        let terms = fetch.plan.terms
        // How the last hop went there is known; of others the rules say it.
        let isDirect = origin == here.origin ? fetch.goesDirectly : terms.isDirect(to: origin)
        return hosts.retain(hostKey(of: origin, terms, isDirect: isDirect))
    }

    /// Whether the next attempt begins with the first request, and not where the last one failed.
    private func beginsAnew(_ fetch: RunningFetch, _ attempts: Attempts) -> Bool {
        fetch.plan.method.isIdempotent || attempts.policy.repeatsAnyMethod
    }

    /// Whether the time of the whole fetch, and not that of an attempt, is over.
    private func isOutOfTime(_ fetch: RunningFetch) -> Bool {
        // A worker counts whole milliseconds.
        fetch.engine.wholeDeadline <= now.advanced(by: .milliseconds(10))
    }

    // MARK: Again

    private mutating func tryAgain(
        _ fetch: RunningFetch, _ attempts: Attempts, after delay: Duration, _ status: Int?, _ error: FetchError?
    ) {
        release(fetch, .promote)
        attempts.wait = nil
        guard case .no = closing else {
            return answer(fetch, with: .failure(.shutDown(url: fetch.engine.target.text)))
        }
        let failure = error ?? .noAttemptInTime(fetch, after: status)
        // Its own wait was found to fit in.
        let end = attempts.end.map { max($0, now.advanced(by: delay).advanced(by: Self.moment)) }
        let holdOff = holdOff(of: fetch, attempts)
        // A circuit may have opened at the end of a response that was not the answer.
        if let end, now.advanced(by: holdOff) > end { return answer(fetch, with: .failure(failure)) }
        attempts.failed += 1
        countRetry(of: fetch)
        fetch.channel?.post(
            .retrying(FailedAttempt(number: attempts.failed, status: status, error: error, delay: delay)))
        // The way there may be another one by now. What must not be done twice is not: the fetch goes on where it
        // failed.
        if beginsAnew(fetch, attempts) { rewind(fetch) }
        fetch.engine.isSuspect = false
        // The first of several proxies is tried first again.
        fetch.engine.way = nil
        // What is stored may be that failure.
        fetch.engine.passesStoreOver = true
        attempts.failure = nil
        endExchange(of: fetch)
        if let end {
            attempts.failure = failure
            limitWait(of: fetch, until: end)
        }
        park(fetch, until: now.advanced(by: delay))
    }

    /// An attempt has begun: the time in which it had to counts no more.
    mutating func endWait(for attempts: Attempts, of fetch: RunningFetch) {
        guard attempts.failure != nil else { return }
        attempts.failure = nil
        endExchange(of: fetch)
    }

    /// What a fetch whose deadline is over came to, where it has waited for its next attempt in vain.
    func failureInWaiting(of fetch: RunningFetch) -> FetchError? {
        guard let attempts = fetch.engine.retries, let failure = attempts.failure,
            fetch.engine.deadline != fetch.engine.wholeDeadline
        else { return nil }
        // There was no further one.
        attempts.failed -= 1
        return failure
    }

    /// Makes the first hop of a fetch the next one again.
    private mutating func rewind(_ fetch: RunningFetch) {
        let plan = fetch.plan
        fetch.engine.redirects = FollowedRedirects()
        fetch.engine.target = plan.target
        fetch.engine.method = plan.method
        fetch.engine.fields = plan.fields
        fetch.engine.noteWhetherByHand()
        // What its host has asked for since is seen to when it begins (`secure`).
        fetch.engine.terms = plan.terms
        fetch.engine.sendsBody = plan.body != .none
        fetch.engine.otherBody = nil
        fetch.engine.decided = nil
        fetch.engine.hasLeftOrigin = fetch.beginning.hasLeftOrigin
        fetch.engine.isHomeSecured = false
        fetch.engine.access = .nothing
        restartCredentials(of: fetch)
    }

    // MARK: Waiting

    /// Lets a fetch wait for a time before its next hop begins. It has no place in any queue meanwhile.
    mutating func park(_ fetch: RunningFetch, until time: MonotonicInstant) {
        parked.insert(fetch.engine.key, deadline: time)
    }

    /// Begins the hops whose time has come.
    mutating func beginParked() {
        while let key = parked.next(dueAt: now) {
            if let fetch = fetches[key], fetch.engine.mayBegin { begin(fetch, front: true) }
        }
        parked.compact(living: fetches.count) { fetches[$0.fetch] != nil }
    }
}

extension RunningFetch.EngineState {
    /// What is kept of attempts, when one is left.
    fileprivate var attemptsLeft: Attempts? {
        guard let retries, retries.failed < retries.policy.retries else { return nil }
        return retries
    }

    /// Whether part of a body has gone where it cannot be taken back.
    ///
    /// - Parameter status: Of the final head, when there was one.
    fileprivate func hasDeliveredPart(_ status: UInt16?) -> Bool {
        delivered > 0 || isPaced && status != nil
    }
}

extension FetchError {
    /// A response was not to be the answer, and nothing of it is left when there is no further attempt all the same.
    fileprivate static func noAttemptInTime(_ fetch: RunningFetch, after status: Int?) -> FetchError {
        let response = status.map { "the status was \($0), and " } ?? ""
        return FetchError(
            .timeout, response + "no further attempt could begin in the time for attempts",
            url: fetch.engine.target.text, isRetryable: fetch.engine.method.isIdempotent)
    }
}

extension HopFailure {
    /// What kind of failure it is for an attempt.
    ///
    /// - Parameters:
    ///   - status: Of the final head, when there was one.
    ///   - isOutOfTime: Whether the time of the whole fetch is over.
    fileprivate func retryKind(status: UInt16?, isOutOfTime: Bool) -> RetryPolicy.Failure {
        switch kind {
        case .cannotConnect:
            switch systemError {
            case ECONNREFUSED: .connectionRefused
            // No descriptor or memory for a socket is our own trouble.
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: .own
            // So is the want of a thread for a name (EAGAIN), but transfers need one for a moment only.
            default: .unreachable
            }
        case .hostNotFound, .connectionLost, .truncated: .unreachable
        case .connectTimedOut, .inactive: .timedOut
        case .timedOut: isOutOfTime ? .outOfTime : .timedOut
        case .proxy:
            // A proxy that answers has understood; only its own troubles may pass.
            if let status, status != 429, status < 500 {
                .lasting
            } else if systemError == ECONNREFUSED {
                .connectionRefused
            } else {
                .unreachable
            }
        case .tlsHandshake, .tlsUntrusted, .tlsCertificateDate, .tlsHostMismatch, .tlsClientCertificate,
            .tlsNotYetValid, .tlsSelfSigned, .tlsPin, .tlsClientCertificateRequired, .malformedResponse, .headTooLarge,
            .bodyTooLarge, .decoding:
            .lasting
        case .file, .requestBody, .cancelled, .unsupportedScheme, .malformedRequest, .outOfMemory, .internalError,
            .storedResponse, .tlsUndecided:
            .own
        }
    }
}
