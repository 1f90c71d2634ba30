import Glibc
import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSession
import TrawlStore
import TrawlSupervision
import TrawlURL
import TrawlWatch

/// The coordinator's one thread: it owns workers, leases and fetches, waits for what happens and lets the machines
/// decide. Nothing else touches its state.
///
/// Bound to the thread that calls `run()`.
struct Supervisor: ~Copyable {
    /// What a poller event is about.
    enum Token {
        static let wakeUp: UInt64 = 0
        static let driverInput: UInt64 = 3
        static func socket(_ slot: Int) -> UInt64 { UInt64(slot) << 2 | 1 }
        static func exit(_ slot: Int) -> UInt64 { UInt64(slot) << 2 | 2 }
    }

    /// How far a shutdown has come.
    enum Closing {
        case no
        /// Fetches in flight may go on until then.
        case draining(until: MonotonicInstant)
        /// Workers were told to end; SIGTERM then SIGKILL follow at these times.
        case ending(nextSignal: MonotonicInstant)
    }

    static let tickInterval = Duration.milliseconds(250)
    /// Leases in flight from which on turns keep a distance, and that distance: little beside what a worker has in hand
    /// then, and enough for several of its ends.
    static let crowd = 16
    static let turnSpacing = Duration.microseconds(100)
    /// Without fetches the heartbeats alone need a look.
    static let idleTickInterval = Duration.seconds(1)
    /// How long a worker may take to exit once its socket is closed, and again after SIGTERM.
    static let exitGrace = Duration.seconds(1)

    let configuration: Configuration
    let mailbox: Mailbox
    let poller: Poller
    let segment: SharedSegment
    let meter: BandwidthMeter
    let shares: BandwidthShares
    let executable: WorkerExecutable?
    /// The directories beneath which workers make files.
    let outputRoots: [HeldDirectory]
    let planner: FetchPlanner
    let vaultWork: VaultWork

    var pool: WorkerPool
    var leases: LeaseTable
    /// What waits for hosts, and what is known of them.
    var hosts: HostRegister
    /// Suspects that wait for a worker of their own, and hops that wait until an idle connection to their origin is
    /// closed; they keep their place in their host's process.
    var heldHops: [ReadyHop] = []
    /// Leases under limits of bandwidth, and hops that wait for theirs because of them.
    var limitedHops = LimitedHops()
    /// Hops that wait until their cache is open, in their order, by its directory; those that wait for the state by the
    /// name `state`.
    var awaitingStores: [ExactText: [(fetch: RunningFetch, front: Bool)]] = [:]
    /// Hops that are answered from the store, in their order.
    var storedHops = Line<FetchKey>()
    /// Fetches that identical ones may wait for.
    var coalescing = CoalescingTable()
    /// Fetches for nobody.
    var revalidations = RevalidationLine<RunningFetch>()
    /// What worked before, and the nonces of servers.
    var credentials: SessionCredentials
    /// Who asks for credentials, and who waits for what is answered.
    var broker = AuthenticationBroker<CredentialSubject, FetchKey>()
    /// Questions for credentials so far.
    var questions: UInt64 = 0
    var fetches = FetchTable()
    var deadlines = DeadlineQueue()
    var profiles = ProfileTable()
    let urls = URLParser()
    /// The way to origins for fetches that say nothing about proxies.
    let proxies: ProxyTerms
    let scripts: ProxyScripts
    /// What scripts said, and who waits for it.
    var scriptAnswers = ScriptAnswers()
    /// Fetches that wait for a time: to be tried again, or because a redirect asked for it.
    var parked = DeadlineQueue()
    /// Until when connections of suspended fetches are kept.
    var resting = DeadlineQueue()
    /// What the network is, watched when it matters, and who waits for it.
    let network: CoordinatorNetwork
    var followsNetwork = false
    var networkWaits = NetworkWaits()
    /// Names that were not found lately.
    var unknownNames: UnknownNames
    /// At which addresses hosts are, where politeness goes by them, and who waits until that is known.
    var addresses = HostAddresses()
    var nameless = NamelessHops()
    let lookups: NameLookups
    /// Streams and observed fetches, looked at on each tick for progress.
    var observed: Set<FetchKey> = []
    /// Fetches that were answered while a worker held them, and when that worker must have ended the lease.
    var cancelling: [FetchKey: MonotonicInstant] = [:]
    var closing = Closing.no
    /// How long a shutdown waits for validations that nobody waits for.
    var validationGrace = ValidationGrace()
    var now: MonotonicInstant
    var random = SystemRandomNumberGenerator()
    /// Answers for queues, posted at the end of each turn.
    var answers = GatheredAnswers()
    /// Who drives many fetches from this thread, when somebody does.
    var driving: Driving?
    /// What memory there is for bodies, when there is a bound.
    var memory: MemoryBudget?
    let ledger: MemoryLedger?
    /// What a program is being asked about certificates, and what it said.
    var programQuestions = ProgramQuestions()
    /// Why no worker can run any more.
    var downReason: FetchError?
    /// What became of everything so far.
    var counts: EngineCounts
    let callerCounts: CallerCounts
    /// Who follows how many fetches there are.
    var followers = ActivityFollowers()
    let lastSnapshot: LastSnapshot
    /// What is told step by step; at hand, since it is asked at each step.
    let toldSteps: DebugLog.Categories
    /// What was told of bandwidth last, where it is told.
    var debugged: DebuggedThrottle
    /// When it began, by both clocks; the latter in seconds since 1970.
    let startedAt: MonotonicInstant
    let startedOn: Int64

    init(_ start: SupervisorStart) {
        configuration = start.configuration
        mailbox = start.mailbox
        poller = start.poller
        segment = start.segment
        meter = start.meter
        shares = start.shares
        executable = start.executable
        outputRoots = start.outputRoots
        planner = start.planner
        vaultWork = start.vaultWork
        credentials = SessionCredentials(start.credentialState)
        pool = WorkerPool(start.slots, start.configuration.tolerance.restartPolicy)
        leases = LeaseTable(workers: start.slots, leasesPerWorker: start.configuration.transfersPerWorker)
        memory = start.configuration.memoryBudget.map {
            MemoryBudget(limit: $0, free: WireProtocol.maximumInlineBody)
        }
        ledger = memory == nil ? nil : MemoryLedger(start.mailbox)
        hosts = HostRegister(
            start.configuration.politeness, connectionsPerHost: start.configuration.connectionsPerHost)
        proxies = ProxyTerms(start.configuration.proxy)
        scripts = start.scripts
        lookups = NameLookups(start.mailbox)
        network = start.network
        unknownNames = UnknownNames(lifetime: start.configuration.unknownNameLifetime)
        now = MonotonicClock.now()
        counts = EngineCounts(measuresTimes: start.configuration.metricsFile != nil)
        callerCounts = start.callerCounts
        lastSnapshot = start.lastSnapshot
        startedAt = now
        toldSteps = start.configuration.debugLog?.categories ?? []
        debugged = DebuggedThrottle(at: now)
        startedOn = WallClock.now().seconds
        setBandwidthLimits()
    }

    /// Works until a shutdown is complete.
    mutating func run() {
        do throws(SystemError) {
            try poller.add(mailbox.wakeUp.rawValue, token: Token.wakeUp, interest: .read)
        } catch {
            goDown(FetchError(.engineDown, "\(error)", cause: .system(error.errno)))
        }
        for slot in pool.slots.indices { start(slot) }
        var interval = Self.tickInterval
        var nextTick = now.advanced(by: interval)
        var commands: [Mailbox.Command] = []
        while !isFinished {
            spaceTurns()
            let wake = nextWakeUp(notAfter: nextTick)
            var events: [Poller.Event] = []
            do throws(SystemError) {
                try poller.wait(until: wake, at: now) { events.append($0) }
            } catch {
                // Only a mistake of ours makes epoll fail; without it nothing can be supervised.
                goDown(FetchError(.engineDown, "\(error)", cause: .system(error.errno)))
                break
            }
            let before = now
            now = MonotonicClock.now()
            passOver(from: before, expecting: wake)
            for event in events { handle(event) }
            for command in mailbox.take(reusing: &commands) { handle(command) }
            if now >= nextTick {
                tick(onTime: nextTick.duration(to: now) < Self.tickInterval)
                interval = fetches.count == 0 ? Self.idleTickInterval : Self.tickInterval
                nextTick = now.advanced(by: interval)
            }
            runTimers()
            drive()
            settleMemory()
            dispatch()
            if leases.hasNewsOfOrigins { keepCountedOrigins() }
            noteRoom()
            if !followers.isEmpty { followers.look(fetches.count, at: now) }
            answers.post()
            flush()
        }
        finish()
    }

    /// Lets events gather while much is in flight: a turn for each frame would cost more than the frames.
    private mutating func spaceTurns() {
        guard leases.heldCount >= Self.crowd else { return }
        let elapsed = now.duration(to: MonotonicClock.now())
        guard elapsed < Self.turnSpacing else { return }
        MonotonicClock.sleep(for: Self.turnSpacing - elapsed)
    }

    private var isFinished: Bool {
        if case .ending = closing { return pool.isEmpty }
        return false
    }

    private mutating func nextWakeUp(notAfter tick: MonotonicInstant) -> MonotonicInstant {
        var wake = tick
        if let time = pool.earliestRestart, time < wake { wake = time }
        if let earliest = deadlines.earliest, earliest < wake { wake = earliest }
        if let time = nextDriverTurn, time < wake { wake = time }
        if let time = parked.earliest, time < wake { wake = time }
        if let time = resting.earliest, time < wake { wake = time }
        if let time = networkWaits.earliest, time < wake { wake = time }
        if let time = followers.nextLook, time < wake { wake = time }
        // Without room for a lease there is nothing to wake up for: an end makes room, and wakes.
        if hasRoom, let time = hosts.queues.nextWakeUp, time < wake { wake = time }
        switch closing {
        case .no: break
        case .draining(let until):
            wake = min(wake, now < until ? until : max(validationGrace.end, until.advanced(by: Self.exitGrace)))
        case .ending(let next): wake = min(wake, next)
        }
        return wake
    }

    private mutating func handle(_ event: Poller.Event) {
        switch event.token {
        case Token.wakeUp: return mailbox.wakeUp.drain()
        // The driver has its turn anyway.
        case Token.driverInput: return
        default: break
        }
        let slot = Int(event.token >> 2)
        guard slot < pool.links.count, let link = pool.links[slot] else { return }
        if event.token & 3 == 1 {
            // A token may be of a generation that is gone; reading then merely finds nothing.
            if event.isReadable || event.isHungUp { read(link) }
            if event.isWritable { pool.markDirty(slot) }
        } else {
            workerExited(link)
        }
    }

    private mutating func handle(_ command: Mailbox.Command) {
        switch command {
        case .submit(let fetch): submit(fetch)
        case .submitAll(let fetches): for fetch in fetches { submit(fetch) }
        case .drive(let driver, let done): driving = Driving(driver.driver, done: done)
        case .decided(let fetch, let lease, let answer): decided(fetch, lease, answer)
        case .redirectDecided(let fetch, let question, let answer): redirectDecided(fetch, question, answer)
        case .credentials(let request): request.perform(&credentials)
        case .told(let fetch, let question, let decision): told(fetch, question: question, decision)
        case .askNext(let fetch, let question): askNext(fetch, question: question)
        case .notKept(let reason): tellNotKept(reason)
        case .trustDecided(let subject, let answer): trustDecided(subject, answer)
        case .identityDecided(let origin, let answer): identityDecided(origin, answer)
        case .cancel(let fetch):
            conclude(fetch, FetchError(.cancelled, "", url: fetch.engine.target.text))
        case .controlChanged(let fetch): controlChanged(fetch)
        case .storeOpened(let directory): storeOpened(directory)
        case .routed(let question, let answer): routed(question, answer)
        case .located(let name, let addresses): located(name, addresses)
        case .consumed(let fetch, let bytes): consumed(fetch, bytes)
        case .networkChanged: networkChanged()
        case .setHostRules(let origin, let rules): setHostRules(rules, of: origin)
        case .restoreHost(let origin): restoreHost(origin)
        case .shutDown(let grace): beginShutdown(grace: grace)
        case .status(let question): answer(question)
        case .follow(let number, let continuation): followers.add(number, continuation, fetches.count, at: now)
        case .unfollow(let number): followers.remove(number)
        case .signalWorkers(let signal, let done):
            signalWorkers(signal)
            done.open()
        }
    }

    /// Sends a signal to all workers, and waits a moment for those that are to stop.
    private func signalWorkers(_ signal: Int32) {
        let end = now.advanced(by: .milliseconds(100))
        for case .process(let process)? in pool.links.map({ $0?.engine }) { _ = try? process.signal(signal) }
        guard signal == SIGSTOP else { return }
        for case .process(let process)? in pool.links.map({ $0?.engine }) {
            while process.isRunning, MonotonicClock.now() < end { MonotonicClock.sleep(for: .microseconds(200)) }
        }
    }

    private mutating func runTimers() {
        for slot in pool.slots.indices where pool.takeRestart(slot, dueAt: now) { start(slot) }
        meetDeadlines()
        beginParked()
        endResting()
        endNetworkWaits()
        runClosing()
    }

    private mutating func flush() {
        for slot in pool.dirty {
            guard let link = pool.links[slot] else { continue }
            link.flush(poller, token: Token.socket(slot))
            if !link.canSend { lostContact(link) }
        }
        pool.clearDirty()
    }

    /// Nothing will ever be fetched again: everybody who waits is told why.
    mutating func goDown(_ reason: FetchError) {
        if downReason == nil { downReason = reason }
        for fetch in fetches.all { conclude(fetch, reason, waitsForWorker: false) }
    }

    private mutating func finish() {
        let late = mailbox.close()
        let error = downReason ?? .shutDown()
        for fetch in fetches.all { conclude(fetch, error, waitsForWorker: false) }
        finishDriving()
        answers.post()
        for command in late {
            switch command {
            case .submit(let fetch): fetch.refuse(error)
            case .submitAll(let fetches): for fetch in fetches { fetch.refuse(error) }
            case .drive(let driver, let done):
                driving = Driving(driver.driver, done: done)
                finishDriving()
            case .signalWorkers(_, let done): done.open()
            case .credentials(let request): request.refuse()
            case .notKept(let reason): tellNotKept(reason)
            case .status(let question): question.answer(nil)
            case .follow(_, let continuation): continuation.finish()
            case .cancel, .storeOpened, .consumed, .decided, .redirectDecided, .trustDecided, .identityDecided, .routed,
                .located, .told, .askNext, .shutDown, .networkChanged, .setHostRules, .restoreHost, .unfollow,
                .controlChanged:
                break
            }
        }
        scripts.stop()
        lookups.stop()
        network.stop()
        credentials.end()
        leaveSnapshot()
    }
}
