import Glibc
import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSupervision
import TrawlWatch

/// What is counted as it happens, and what is gathered when somebody asks.
extension Supervisor {
    /// Hosts that a report names.
    static let reportedHosts = 64

    // MARK: Counting

    /// A fetch came.
    func countStart(of fetch: RunningFetch) {
        if counts.measuresTimes { fetch.engine.begunAt = now }
        tellStart(fetch)
    }

    /// An attempt is followed by another one.
    mutating func countRetry(of fetch: RunningFetch) {
        if fetch.isCounted { counts.retried() }
        tell(.status, fetch, "tried again")
    }

    /// A fetch of the program's is answered.
    mutating func count(_ result: Result<Response, FetchError>, of fetch: RunningFetch) {
        tellEnd(fetch, result)
        switch result {
        case .success(let response):
            counts.responded(status: response.status, from: EngineCounts.Origin(response.source))
        case .failure(let error): counts.failed(error.code.rawValue)
        }
        if counts.measuresTimes, let begun = fetch.engine.begunAt { counts.took(begun.duration(to: now)) }
    }

    /// A hop that was made by a worker ended.
    mutating func count(_ end: LeaseEnd, of fetch: RunningFetch, by slot: Int) {
        // What the store alone answered, or was to, is no exchange with a server.
        guard end.metrics.ended > 0 || !end.isOfStoreAlone else { return }
        tellConnection(fetch, end, slot)
        tellPassed(fetch, end)
        counts.hopEnded(
            wasConnected: end.metrics.connection != 0, reused: end.metrics.reusedConnection,
            firstByte: end.metrics.firstByte)
    }

    // MARK: Gathering

    /// What the engine is doing, and what it has done.
    ///
    /// Costs nothing before it is asked for; then microseconds, and milliseconds where very many hops wait.
    func snapshot() -> EngineSnapshot {
        meterBandwidth()
        var counts = counts
        callerCounts.add(to: &counts)
        var report = StatusReport(
            program: configuration.programName ?? Self.processName, process: getpid(),
            uptime: startedAt.duration(to: now), stage: stage)
        report.workers = pool.slots.indices.map { worker($0) }
        report.fetches.inFlight = leases.heldCount
        report.fetches.waiting = max(0, fetches.count - leases.heldCount)
        report.fetches.waitingForNetwork = networkWaits.count
        report.fetches.done = counts.done
        report.fetches.failed = counts.failed
        report.fetches.retries = counts.retries
        report.traffic = traffic
        report.cache = counts.cache
        report.failures = counts.failuresByCount
        let busiest = hosts.queues.busiest(Self.reportedHosts)
        report.hosts = busiest.hosts.compactMap { host($0) }
        report.hostCount = busiest.count
        return EngineSnapshot(report: report, counts: counts, startedAt: startedOn)
    }

    /// Answers who looks on.
    mutating func answer(_ question: StatusQuestion) {
        var snapshot = snapshot()
        if question.takesTimes { snapshot.latestTimes = counts.takeLatestTimes() }
        question.answer(snapshot)
    }

    /// Leaves what was counted to those that tell it after the end.
    mutating func leaveSnapshot() {
        followers.finish()
        guard counts.measuresTimes else { return }
        var snapshot = snapshot()
        snapshot.latestTimes = counts.latestTimes ?? LatestTimes()
        lastSnapshot.snapshot.withLock { [snapshot] in $0 = snapshot }
    }

    private var stage: StatusReport.Stage {
        switch closing {
        case .no: downReason == nil ? .running : .down
        case .draining: .draining
        case .ending: .ending
        }
    }

    private func worker(_ slot: Int) -> StatusReport.Worker {
        var process: Int32?
        if case .process(let child)? = pool.links[slot]?.engine { process = child.processID }
        return StatusReport.Worker(
            slot: slot, process: process, state: StatusReport.Worker.State(pool.slots[slot].phase),
            transfers: leases.heldCount(of: slot), restarts: max(0, Int(pool.slots[slot].generation) - 1))
    }

    var traffic: StatusReport.Traffic {
        let limit = segment.limit(LimitNumbers.all)
        let use = meter.use
        var traffic = StatusReport.Traffic()
        (traffic.received, traffic.sent) = (use.received, use.sent)
        (traffic.receivedRate, traffic.sentRate) = (use.receivedRate, use.sentRate)
        traffic.receivedLimit = limit.down.bytesPerSecond
        traffic.isJoint = limit.up.isJoint && traffic.receivedLimit != nil
        traffic.sentLimit = limit.up.isJoint ? nil : limit.up.bytesPerSecond
        traffic.isThrottled = limit.bucket(.down).debt(at: now) > .zero || limit.bucket(.up).debt(at: now) > .zero
        return traffic
    }

    private func host(_ load: HostLoad) -> StatusReport.Host? {
        guard let origin = hosts.origin(of: load.host) else { return nil }
        var snoozedFor: Duration?
        if case .snoozed(let until) = load.state { snoozedFor = max(.zero, now.duration(to: until)) }
        return StatusReport.Host(
            origin: origin.hostText, inFlight: load.inProcess, waiting: load.waiting,
            state: StatusReport.Host.State(load.state), snoozedFor: snoozedFor,
            circuit: StatusReport.Host.Circuit(load.circuit))
    }

    /// The name of this program's executable.
    private static let processName: String = {
        let name = CommandLine.arguments.first?.split(separator: "/").last.map { String($0) } ?? ""
        return name.isEmpty ? "program" : name
    }()
}

extension LeaseEnd {
    /// Whether it is the end of what is stored, good or bad.
    fileprivate var isOfStoreAlone: Bool {
        if case .failed(let failure) = outcome { return failure.kind == .storedResponse }
        return cache.source.isStoreAlone
    }
}

extension EngineCounts.Origin {
    fileprivate init(_ source: Response.Source) {
        self =
            switch source {
            case .network: .network
            case .cache: .cache
            case .revalidated: .validated
            case .stale: .stale
            case .generated: .nobody
            }
    }
}

extension StatusReport.Worker.State {
    fileprivate init(_ phase: WorkerSlot.Phase) {
        self =
            switch phase {
            case .neverStarted, .backingOff: .waiting
            case .starting: .starting
            case .ready: .ready
            case .draining: .draining
            case .ending: .ending
            case .retired: .retired
            }
    }
}

extension StatusReport.Host.State {
    fileprivate init(_ state: HostState) {
        self =
            switch state {
            case .ready: .ready
            case .inProcess: .inProcess
            case .snoozed: .snoozed
            case .retired: .retired
            case .exhausted: .exhausted
            }
    }
}

extension StatusReport.Host.Circuit {
    fileprivate init(_ state: HostCircuit.State) {
        self =
            switch state {
            case .closed: .closed
            case .open: .open
            case .halfOpen: .halfOpen
            case .probing: .probing
            }
    }
}
