import TrawlHTTP
import TrawlPlatform
import TrawlSupervision

/// When fetches must end, and who sees to it.
///
/// There are two limits and one deadline, the earlier: the limit of the whole fetch runs from its start, that of the
/// exchange from its first lease. While a worker has the hop, the worker's own clock decides, so that a response which
/// is complete in time is one, on whichever side of the socket it is; the coordinator's clock is there for workers that
/// do not answer, and for the time in between.
extension Supervisor {
    /// How much later than a worker the coordinator ends a hop.
    static let headStart = Duration.milliseconds(500)
    /// How long a turn may take before the rest of it does not count.
    static let longestTurn = Duration.seconds(1)

    /// The limit of the whole fetch runs from now on, or as before in an earlier hop of the same.
    mutating func limitWhole(_ fetch: RunningFetch, until known: MonotonicInstant?) {
        guard let limit = fetch.plan.terms.resourceLimit else { return }
        let deadline = known ?? instant(after: limit)
        fetch.engine.wholeDeadline = deadline
        limitTime(of: fetch, to: limit, until: deadline)
    }

    /// The next attempt has to begin before that.
    mutating func limitWait(of fetch: RunningFetch, until end: MonotonicInstant) {
        limitTime(of: fetch, to: fetch.engine.limitLength, until: end)
    }

    /// The exchange that an earlier hop of the same fetch began goes on.
    mutating func goOnExchanging(_ fetch: RunningFetch, until deadline: MonotonicInstant?) {
        fetch.engine.exchange = .own
        guard let deadline, let limit = fetch.plan.terms.exchangeLimit else { return }
        limitTime(of: fetch, to: limit, until: deadline)
    }

    /// When a limit, in nanoseconds, is over that runs from now on.
    private func instant(after limit: UInt64) -> MonotonicInstant {
        let (end, overflow) = now.nanoseconds.addingReportingOverflow(limit)
        return MonotonicInstant(nanoseconds: overflow ? .max : end)
    }

    /// A limit, in nanoseconds, holds until then, unless an earlier one does.
    private mutating func limitTime(of fetch: RunningFetch, to limit: UInt64, until deadline: MonotonicInstant) {
        if let earlier = fetch.engine.deadline, earlier <= deadline { return }
        fetch.engine.deadline = deadline
        fetch.engine.limitLength = limit
        deadlines.insert(fetch.engine.key, deadline: deadline)
    }

    /// A worker gets the first hop of a fetch, or a later one: the clock of its exchange runs from the first of these,
    /// and from then on those of the identical fetches that wait for it.
    mutating func startExchange(of fetch: RunningFetch) {
        leaveExchange(of: fetch)
        if fetch.engine.exchange == .ahead { beginExchange(of: fetch, .own) }
        for key in fetch.engine.followers { if let follower = fetches[key] { followExchange(follower) } }
    }

    /// A worker has the hop of the identical fetch that this one waits for.
    mutating func followExchange(_ fetch: RunningFetch) {
        if fetch.engine.exchange == .ahead { beginExchange(of: fetch, .ofLeader) }
    }

    private mutating func beginExchange(of fetch: RunningFetch, _ exchange: RunningFetch.Exchange) {
        fetch.engine.exchange = exchange
        fetch.channel?.exchangeBegan(at: now)
        var end: MonotonicInstant?
        if let limit = fetch.plan.terms.exchangeLimit {
            let deadline = instant(after: limit)
            limitTime(of: fetch, to: limit, until: deadline)
            end = deadline
        }
        fetch.reply.clock?.exchangeBegan(until: end)
    }

    /// A fetch waited in vain for an identical one: that was waiting for others, and no exchange of its own.
    mutating func leaveExchange(of fetch: RunningFetch) {
        if fetch.engine.exchange == .ofLeader { endExchange(of: fetch) }
    }

    /// No exchange runs until the next lease: what holds is the limit of the whole fetch, and that of the wait for its next
    /// attempt, where that has not begun.
    mutating func endExchange(of fetch: RunningFetch) {
        fetch.engine.exchange = .ahead
        fetch.reply.clock?.exchangeEnded()
        fetch.engine.deadline = fetch.engine.wholeDeadline == .never ? nil : fetch.engine.wholeDeadline
        fetch.engine.limitLength = fetch.plan.terms.resourceLimit ?? 0
        // The first entry is too early where time was given back.
        if let deadline = fetch.engine.deadline { deadlines.insert(fetch.engine.key, deadline: deadline) }
        if let attempts = fetch.engine.retries, attempts.failure != nil, let end = attempts.end {
            limitWait(of: fetch, until: end)
        }
    }

    /// Ends the fetches whose time is up.
    mutating func meetDeadlines() {
        while let key = deadlines.next(dueAt: now) {
            // The time for which a clock stands is added afterwards.
            guard let fetch = fetches[key], fetch.engine.stoppedAt == nil, let deadline = fetch.engine.deadline,
                deadline <= now
            else { continue }
            if isAtWorker(fetch) {
                let end = deadline.advanced(by: Self.headStart)
                guard end <= now else {
                    deadlines.insert(key, deadline: end)
                    continue
                }
            }
            // A worker that has the hop knows what is stored.
            if fetch.engine.life.activeLease == nil, fallsBack(fetch) { continue }
            conclude(fetch, failureInWaiting(of: fetch) ?? .tookTooLong(fetch))
        }
        deadlines.compact(living: fetches.count) { entry in
            guard let deadline = fetches[entry.fetch]?.engine.deadline else { return false }
            return entry.deadline == deadline || entry.deadline == deadline.advanced(by: Self.headStart)
        }
    }

    /// Whether a worker's clock decides before ours: it has the hop, or that of the identical fetch this one waits for.
    private func isAtWorker(_ fetch: RunningFetch) -> Bool {
        fetch.engine.life.activeLease != nil
            || fetch.engine.exchange == .ofLeader && fetch.engine.deadline != fetch.engine.wholeDeadline
    }

    /// Whether a fetch has waited for an identical one at a worker as long as its exchange may take.
    func hasFollowedForTooLong(_ fetch: RunningFetch) -> Bool {
        guard fetch.engine.exchange == .ofLeader, let deadline = fetch.engine.deadline else { return false }
        // A worker counts whole milliseconds.
        return deadline <= now.advanced(by: .milliseconds(10))
    }

    /// Adds to all deadlines what a turn took beyond what was expected of it: this process was stopped, with its
    /// workers, or it starved. Their clocks rest then, too.
    mutating func passOver(from before: MonotonicInstant, expecting wake: MonotonicInstant) {
        let expected = max(before, wake).advanced(by: Self.longestTurn)
        guard expected < now else { return }
        let pause = max(before, wake).duration(to: now)
        deadlines.postpone(by: pause)
        coalescing.postpone(by: pause)
        // What workers were given to end a lease, or themselves.
        for (key, time) in cancelling { cancelling[key] = time.advanced(by: pause) }
        for case let link? in pool.links { link.lostAt = link.lostAt?.advanced(by: pause) }
        for fetch in fetches.all where fetch.engine.stoppedAt == nil {
            fetch.postpone(by: pause)
            postponeNetworkWait(of: fetch, by: pause)
        }
    }

    /// The clock of a fetch stands from now on, with those of the fetches that wait for it: their limits do not count
    /// what others take their time for.
    func stopClock(of fetch: RunningFetch) {
        guard fetch.engine.stoppedAt == nil else { return }
        fetch.engine.stoppedAt = now
        for key in fetch.engine.followers { if let follower = fetches[key] { stopClock(of: follower) } }
    }

    /// The clock goes on as if no time had passed, unless there is another reason for it to stand.
    mutating func startClock(of fetch: RunningFetch) {
        guard let since = fetch.engine.stoppedAt, !fetch.engine.isHeldUp else { return }
        fetch.engine.stoppedAt = nil
        giveBack(since.duration(to: now), to: fetch)
        for key in fetch.engine.followers { if let follower = fetches[key] { startClock(of: follower) } }
    }

    /// Gives time back to a fetch that was not its own: it waited for a decision, for memory, or for its caller.
    private mutating func giveBack(_ pause: Duration, to fetch: RunningFetch) {
        fetch.postpone(by: pause)
        if let deadline = fetch.engine.deadline { deadlines.insert(fetch.engine.key, deadline: deadline) }
        postponeNetworkWait(of: fetch, by: pause)
    }

    /// The same for its wait for the network, if it waits.
    private mutating func postponeNetworkWait(of fetch: RunningFetch, by pause: Duration) {
        guard let wait = fetch.engine.networkWait, wait.since != nil else { return }
        wait.giveBack(pause, at: now)
        networkWaits.insert(fetch.engine.key, until: wait.end)
    }
}

extension RunningFetch {
    /// Moves all its deadlines, those of the hops that follow it included.
    fileprivate func postpone(by pause: Duration) {
        engine.postpone(by: pause)
        reply.clock?.giveBack(pause)
    }
}

extension RunningFetch.EngineState {
    /// The limit of time that the fetch is under, or was when it was over.
    var limit: Duration { .nanoseconds(Int64(clamping: limitLength)) }

    /// Whether somebody decides, or its caller has suspended it.
    fileprivate var isHeldUp: Bool {
        isSuspended || question != nil || asksAboutStoring || authentication?.question != nil
    }

    /// Moves the deadline, those that later attempts go back to, and the start that the time of all attempts counts from.
    fileprivate mutating func postpone(by pause: Duration) {
        deadline = deadline?.advanced(by: pause)
        wholeDeadline = wholeDeadline.advanced(by: pause)
        if let retries { retries.startedAt = retries.startedAt?.advanced(by: pause) }
    }
}

extension FetchError {
    /// One of the limits of time was met.
    static func tookTooLong(_ fetch: RunningFetch) -> FetchError {
        FetchError(
            .timeout, "the fetch took longer than \(fetch.engine.limit)", url: fetch.engine.target.text,
            isRetryable: fetch.engine.method.isIdempotent)
    }
}
