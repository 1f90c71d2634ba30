import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlStore
import TrawlSupervision

/// One fetch between its start and its end.
///
/// Two parties meet here. The caller's side (`reply`, `channel`) is guarded by a mutex or immutable. The `engine`
/// part belongs to the supervisor thread.
///
/// `@unchecked Sendable`: `engine` is read and written by the supervisor thread alone, which gets the object through
/// the mailbox's lock; of a fetch that the mailbox did not take (`refuse`), by who made it alone. Everything else is
/// immutable or guarded.
final class RunningFetch: @unchecked Sendable {
    /// What the caller asked for.
    let plan: FetchPlan
    /// Where the answer goes.
    let reply: Reply
    /// Events for the caller, when it wants them.
    let channel: (any FetchEventSink)?
    /// What its caller says about it while it runs; nil when the caller has no handle.
    let control: FetchControl?
    /// Whether the program may be asked for decisions.
    let asksProgram: Bool
    /// Whether it may be asked how a response is stored, also where it may be asked for nothing else.
    let asksAboutStoring: Bool
    /// Whether a question for credentials that is cancelled for one of those that wait for it is cancelled for this one
    /// too, and the other way round: not in a queue whose fetches do not end together (ASI-AUTH-15, ASI-Q-05).
    let cancelsTogether: Bool
    /// Whether a program asked for it: not of what is fetched on the way to that.
    private let isAskedFor: Bool

    /// The supervisor's part. One thread's, and never lent while it is used otherwise: without the checks of exclusive
    /// access, which are made at each use of an object's property.
    @exclusivity(unchecked)
    var engine: EngineState

    init(
        plan: consuming FetchPlan, reply: consuming Reply, channel: (any FetchEventSink)? = nil,
        decisions: (any FetchDecisions)? = nil, asksProgram: Bool = true, asksAboutStoring: Bool? = nil,
        cancelsTogether: Bool = true, isAskedFor: Bool = true, control: FetchControl? = nil
    ) {
        engine = .beginning(plan, decisions)
        self.plan = plan
        self.reply = reply
        self.channel = channel
        self.asksProgram = asksProgram
        self.asksAboutStoring = asksAboutStoring ?? asksProgram
        self.cancelsTogether = cancelsTogether
        self.isAskedFor = isAskedFor
        self.control = control
        if let course = self.reply.course { engine.hasLeftOrigin = course.beginning.hasLeftOrigin }
    }

    /// What the fetch began with, of which this may be a later hop.
    var beginning: FetchCourse.Beginning { reply.course?.beginning ?? FetchCourse.Beginning(plan) }

    /// What was asked for when it began, out of the rest.
    var firstTarget: TargetURI { reply.course?.beginning.target ?? plan.target }

    /// The body that goes with the next hop.
    var body: FetchPlan.Body { engine.sendsBody ? engine.otherBody ?? plan.body : .none }

    /// Whether we say who the hop is made as, and answer who asks. Not with TRACE, which is sent back by whoever gets it
    /// (RFC 9110 §9.3.8). (Asked of the engine's part it would copy all of that.)
    var saysWho: Bool { !engine.isByHand && engine.method != .trace }

    /// Whether the next hop goes through no proxy, by what is settled of its way.
    var goesDirectly: Bool { engine.way?.isDirect ?? true }

    /// Whether nobody waits for it.
    var isForNobody: Bool { if case .nobody = reply { true } else { false } }

    /// Whether it counts as a fetch where those are told by number.
    var isCounted: Bool { isAskedFor && !isForNobody }

    /// The final head of a hop as the hop ends; nil when none came.
    func head(at end: LeaseEnd) -> TrawlHTTP.ResponseHead? {
        if let head = end.head { return head }
        return engine.head
    }

    /// Its status, without a copy of the rest.
    func status(at end: LeaseEnd) -> UInt16? { end.head?.status ?? engine.head?.status }

    /// How often it was tried, the last time included.
    var attempts: Int { 1 + (engine.retries?.failed ?? 0) }

    /// Its result for who takes the answers of many.
    func answer(tag: UInt64, _ result: consuming Result<Response, FetchError>) -> FetchAnswer {
        FetchAnswer(tag: tag, result: result, attempts: attempts, mayHaveBeenSent: engine.attempts > 0)
    }

    /// Answers a fetch that never reached the supervisor.
    func refuse(_ error: FetchError? = nil) {
        let error = error ?? .shutDown(url: plan.target.text)
        engine.decisions = nil
        channel?.post(.ended(.failure(error)))
        switch reply {
        case .cell(let outcome), .hop(let outcome, _): outcome.resolve(.failure(error))
        case .queue(let queue, let tag): queue.post([answer(tag: tag, .failure(error))])
        // A driver hands its fetches over on the supervisor's own thread: none comes too late.
        case .driver, .nobody: break
        }
    }

    /// Who gets the answer.
    enum Reply {
        /// Callers that wait for this one fetch.
        case cell(OutcomeCell)
        /// A caller whose fetch consists of several such, with what they have in common.
        case hop(OutcomeCell, FetchCourse)
        /// A thread that takes the answers of many.
        case queue(AnswerQueue, tag: UInt64)
        /// The driver, which knows the fetch by this number.
        case driver(tag: UInt64)
        /// Nobody waits for it: it validates what a hop of another was answered with, as who that is made as.
        case nobody(FetchCourse)

        /// What goes on from hop to hop, where each is a fetch of its own.
        var course: FetchCourse? {
            switch self {
            case .hop(_, let course), .nobody(let course): course
            case .cell, .queue, .driver: nil
            }
        }
        /// The clock of those.
        var clock: FetchClock? { course?.clock }
    }

    /// Whether an exchange runs, and whose.
    enum Exchange {
        /// None: its turn is to come, or to come again.
        case ahead
        /// That of the identical fetch that it waits for.
        case ofLeader
        case own
    }

    /// What is large and rarely there is an object of its own, so that a fetch is no larger than the blocks that
    /// `malloc` keeps at hand.
    struct EngineState {
        var key = FetchKey(rawValue: 0)
        var life = FetchLife()
        /// How it is made: the plan's options as far as they hold for this hop.
        var terms: FetchTerms
        /// The hop to be sent next or in flight.
        var target: TargetURI
        var method: Method
        var fields: FieldLines
        /// What goes on the wire; see `EffectiveRequest`.
        var sent: FieldLines
        /// Whether the caller, or a program in place of a redirect, wrote the hop's field of credentials: then it goes
        /// out as it is.
        private(set) var isByHand: Bool
        /// The certificate that its worker was told has been decided about.
        var trusted = DecidedCertificate.undecided
        /// Whether its cookies are those that all who use the store have.
        var sharesCookies = false
        /// Whether `sent` is settled for this hop.
        var isSettled = false
        /// Whether its way to a loopback address counted as secure then.
        var settledTrust = true
        /// Whether the request's own URL goes by `https`, although it was planned by `http`.
        var isHomeSecured = false
        /// The count of the jar's changes when it was settled, and until when that is right by the cookies' own times.
        var settledChanges: UInt64?
        var settledUntil = EffectiveRequest.Settled.unlimited
        /// The count of the changes of the session's credentials when it was settled what the hop says.
        var settledCredentials: UInt64 = 0
        /// Whether a redirect has led to another origin than that of the request.
        var hasLeftOrigin = false
        var sendsBody: Bool
        /// A body that a program put in the place of the caller's.
        var otherBody: FetchPlan.Body?
        /// Who decides for this fetch, in place of the coordinator's decider; let go of when the fetch ends.
        var decisions: (any FetchDecisions)?
        /// What the program is being asked.
        var question: OpenQuestion?
        /// What it said about a redirect of this hop.
        var decided: DecidedRedirect?
        var origin: OriginKey = 0
        var isInHostProcess = false
        /// Whether the hop in process finds out whether its host answers again.
        var isProbe = false
        /// Whether the program is asked how the response of the hop in flight is stored.
        var asksAboutStoring = false
        var isSuspect = false
        var place: WaitingPlace?
        /// The limits of bandwidth that its lease counts under.
        var leasedLimits = LimitNumbers.unlimited
        /// The limit it leaves the last leases to others for.
        var awaitedLimit: Int?
        var worker = 0
        var progressIndex = 0
        /// How the hop gets to its origin; nil before that is settled, and when no proxy has to do with it.
        var way: HopWay?
        /// What the hop may do with the cache.
        var access = CacheAccess.nothing
        /// Whether the hop is answered from the store, by a worker and past its host's queue.
        var isStoredHop = false
        /// Whether the next hop may begin: no worker has it, and none is to deliver what is stored.
        var mayBegin: Bool { life.isWaiting && !isStoredHop }
        /// Whether what is stored has turned out to be of no use for this fetch.
        var passesStoreOver = false
        /// Whether it may wait for an identical fetch.
        var mayJoin = true
        /// Whether it may wait only for one with the very same fields: the response to one that was alike varies on
        /// more.
        var joinsSame = false
        /// Whether a fetch it waited for failed for a reason that may not be its own.
        var hasSeenFailure = false
        /// The key under which identical fetches wait for this one.
        var leads: CacheDigest?
        /// Whether an unsafe request to its URL has been answered since it was sent: what it brings may be older, and
        /// nobody joins it any more.
        var isOvertaken = false
        /// Whether that is another group than the first of its URL.
        var leadsOtherGroup = false
        /// The priority of the most urgent of those that have waited for it.
        var urgency = HopPriority.veryLow
        /// The fetches that wait for it.
        var followers: [FetchKey] = []
        /// Whether a worker died with a hop of it.
        var hasLostWorker = false
        /// Whether the worker leaves it to us to repeat the hop's request when its connection ends without a byte of
        /// response, and whether that is done.
        var sendsOnce = false
        var isRepeated = false
        /// Whether the head is one of what is stored, and is told when something of the body has come.
        var holdsHead = false
        /// Whether the worker told that a request goes out.
        var isForwarded = false
        /// Leases so far.
        var attempts = 0
        /// Attempts in the caller's sense, when there may be more than one.
        var retries: Attempts?
        /// What is known of the part of its body that is there; nil when that is of no use.
        var resumable: ResumablePart?
        /// What is kept of it when it is, or was, suspended.
        var suspended: SuspendedFetch?
        /// What it waits with in its host's queue.
        var priority = HopPriority.normal
        /// How it waits for the network, when it may.
        var networkWait: NetworkWait?
        /// Whether the body goes into a pipe or terminal.
        let isPaced: Bool
        /// Whether what a worker delivers from the store stands in for an answer that did not come.
        var standsIn = false
        /// Bytes of a streamed body the consumer has been given in this hop.
        var delivered: UInt64 = 0
        /// Bytes of a streamed body that there is room for: the window, less what was delivered and not read yet, by
        /// whichever hop. There is none for other bodies.
        var credit: UInt64
        var head: TrawlHTTP.ResponseHead?
        var interim = InterimHeads()
        var redirects = FollowedRedirects()
        var metrics = HopReports()
        var deadline: MonotonicInstant?
        /// Whether the clock of its exchange runs.
        var exchange = Exchange.ahead
        /// When the whole fetch must end, whatever the limit of one exchange is.
        var wholeDeadline = MonotonicInstant.never
        /// Since when the deadline moves on with the time.
        var stoppedAt: MonotonicInstant?
        /// Who it is made as; nil while nobody has asked and nothing is to be said.
        var authentication: FetchAuthentication?
        /// The limit that deadline is of, in nanoseconds.
        var limitLength: UInt64 = 0
        /// What the caller will be told when the worker, told to stop, ends the hop without a response.
        var ending: FetchError?
        var lastProgress: UInt64 = 0
        /// When it came here, where somebody wants to know how long it takes.
        var begunAt: MonotonicInstant?

        /// The fields of the hop are others than before.
        mutating func noteWhetherByHand() { isByHand = Self.isByHand(fields) }

        private static func isByHand(_ fields: FieldLines) -> Bool { fields.contains("Authorization") }

        /// Before the first hop. (Made in one go, and not in an initializer: that would copy it once more.)
        static func beginning(
            _ plan: borrowing FetchPlan, _ decisions: consuming (any FetchDecisions)?
        ) -> EngineState {
            let isPaced = if case .opened(let destination) = plan.sink { destination.isPaced } else { false }
            let sendsBody = if case .none = plan.body { false } else { true }
            let credit = if case .stream = plan.sink { UInt64(Supervisor.streamWindow) } else { UInt64(0) }
            return EngineState(
                terms: plan.terms, target: plan.target, method: plan.method, fields: plan.fields, sent: plan.fields,
                isByHand: isByHand(plan.fields), sendsBody: sendsBody, decisions: decisions,
                resumable: ResumablePart.beginning(plan), isPaced: isPaced, credit: credit)
        }
    }
}
