import CTrawlCurl
import TrawlCoding
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// One lease being carried out, with the easy handle that does it.
///
/// Objects are reused for lease after lease. libcurl calls back into the methods of `Transfer+Callbacks`; those never
/// throw past C, they note a `failure` and return a code that ends the transfer. What is reached again and again in
/// each transfer is without checks of exclusive access (see `Unchecked`).
final class Transfer {
    // Safe: the loop owns all its transfers and outlives them.
    unowned(unsafe) let loop: TransferLoop
    // The loop's, which never change: what is reached by way of an unowned reference costs a pair of counts each time.
    let multi: UnsafeMutableRawPointer
    let output: TransferOutput
    let connections: ConnectionTable
    let counters: SharedWorkerLine
    let clock: LoopClock
    let easy: EasyHandle
    let store: BodyStore
    @Unchecked var heads = HeadAssembler()
    @exclusivity(unchecked)
    var interim = InterimAllowance()

    // One lease.
    @Unchecked var lease = Lease(id: 0, profile: 0, progressIndex: 0, method: .get, url: "", fields: FieldLines())
    var profile: ResolvedProfile
    /// Where it stands in the loop's list; -1 when idle.
    var place = -1
    @Unchecked var progress: SharedProgressLine?
    var requestBody = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// Whether libcurl has the request's body in memory as a whole.
    var holdsRequestBody = false
    @exclusivity(unchecked)
    var requestFile: Int32 = -1
    var requestFileOffset: UInt64 = 0
    var sinkDescriptor: Int32 = -1
    /// What an earlier lease of the hop left of the body.
    var partDescriptor: Int32 = -1
    /// Whether it rests because its fetch is suspended, and whether it ends for that.
    var isSuspended = false
    var hasRested = false
    var isGivenUp = false
    /// The limits of bandwidth it is under; nil is none.
    @Unchecked var limits: LimitSet?
    /// Whether the limits have been told of it.
    var isCharged = false
    /// What is paid for it while no connection carries it.
    var reservation = Connection.Traffic()
    /// Bytes of the response's body that may be delivered without another turn.
    var granted = 0
    /// Bytes of the response that had been taken from the system at its last turn.
    var takenBefore = 0
    /// What had come over its connection before, and all its traffic.
    var receivedBefore = 0
    var trafficBefore = Connection.Traffic()
    /// When its traffic was looked at last, by the monotonic clock.
    var lastLook: UInt64 = 0
    /// Whether it is known what its start cost.
    var isStartSettled = false
    /// Whether libcurl reads no more at a time than a limit is good for.
    var readsLittle = false
    /// What it waits with until there is bandwidth.
    var awaitsBandwidth: BandwidthWait?
    /// When it began, or as much as a turn is for was there last, by the monotonic clock.
    var lastFull: UInt64 = 0
    /// The loop's count of rounds when libcurl was given the request first; nil before.
    var givenInRound: UInt64?
    /// Whether the request went out once more for a connection that was used before.
    var isRepeated = false
    /// Whether libcurl has sent the request once more for such a connection.
    var isRepeatedByLibcurl = false
    /// Whether a 417 said that the request is not to ask before it sends its body.
    var goesUnasked = false
    var startedAt: UInt64 = 0
    var lastActivity: UInt64 = 0
    /// The time that the clock had lost when libcurl got the request.
    var lostBefore: UInt64 = 0
    /// When libcurl was last made to look for what it has read of the stream.
    var lastNudge: UInt64 = 0
    var restingSince: UInt64?
    var lastUploaded: Int64 = 0
    /// Whether a limit runs for the first byte of the response.
    var awaitsFirstByte = false
    /// The cache's part in the exchange.
    @exclusivity(unchecked)
    var exchange: (any KeptExchange)?
    /// Commits of what the heads said about the user.
    @Unchecked var stateChanges: [UInt64] = []
    /// Whether the lease has a proxy: asked for every line of a head.
    var isProxied = false
    /// When the request was sent, for a lease that has to do with the cache.
    var sentAt = WallTime(seconds: 0)

    // One attempt.
    /// Why the transfer was ended from here.
    @Unchecked var failure: HopFailure?
    @Unchecked var connection: Connection?
    var isReused = false
    /// Whether it is one of the users of `connection`.
    var isUser = false
    /// The numbers of the connections that were opened for it, until one of them carries it.
    @Unchecked var opened: [UInt32] = []
    var requestsBegun = 0
    var mayHaveBeenSent = false
    var wantsFreshConnection = false
    /// Whether the request is to go out once more, and its lease lets it go out once.
    var wantsOtherLease = false
    /// How long the server keeps the connection when it is idle, in seconds, where it says so.
    var keepAliveTimeout: UInt64?
    var isInMulti = false
    /// The proxy's answers to CONNECT, as they come.
    @Unchecked var tunnelHeads: HeadAssembler?
    /// The last of them that is whole.
    @Unchecked var tunnelHead: ResponseHead?
    /// Connections that libcurl had made for the attempt when the last request went out.
    var connectionsAtRequest = 0
    /// libcurl's result while the end still waits for an answer or for credit.
    var heldResult: CURLcode?

    // One exchange of NTLM or Negotiate.
    /// Whether the handle says who it is to servers, and to proxies.
    var hasLogin = false
    var hasProxyLogin = false

    // Heads that libcurl may follow with a request of its own.
    /// The latest of them, and how many there were.
    @Unchecked var heldHead: ResponseHead?
    @Unchecked var heldFacts = HeadFacts()
    var heldHeads = 0

    // One response.
    @Unchecked var head: ResponseHead?
    @Unchecked var facts = HeadFacts()
    var isHeadSent = false
    /// What the coordinator has been asked about the head and has not answered.
    @exclusivity(unchecked)
    var questions = HeadQuestions()
    /// Whether a body follows the head.
    var hasBody = false
    var isPaused = false
    @Unchecked var chunks: ChunkDecoder?
    /// What came of HTTP/2's trailer section.
    @Unchecked var trailers: TrailerSection?
    /// How many bytes of a body the head on the wire announced; nil when it does not say.
    var announced: UInt64?
    @Unchecked var decoder: ContentDecoder?
    var receivedBytes: UInt64 = 0
    /// Bytes of the body without its framing, content codings still on.
    var bodyBytes: UInt64 = 0
    /// Bytes of the request's body that were counted as they went, sent again ones too.
    var countedOut: UInt64 = 0
    /// Bytes of bodies whose place another response took.
    var replacedBytes: UInt64 = 0
    /// The rest of the body is not wanted, and the transfer ends well.
    var dropsBody = false
    var endsEarly = false
    /// It ends early with all of the answer, and only libcurl would go on.
    var endsWhole = false
    /// Whether libcurl reads on behind the end of the response.
    var readsOn = false
    /// Decoded bytes that credit did not reach for.
    @Unchecked var pending = WaitingBytes()
    /// Content that is not decoded yet: for want of credit, room or a turn, or because of `pending`.
    @Unchecked var held = WaitingBytes()
    /// Bytes of the wire that libcurl had kept and that there is no room for yet; see `Transfer+Kept`.
    @Unchecked var kept = WaitingBytes()
    /// Whether libcurl is handing over what it has kept.
    var takesOver = false
    var credit = 0
    /// How long a body may be that is kept in memory.
    var room = UInt64.max
    /// How long it is to be, where the coordinator has been asked; else 0.
    var wanted: UInt64 = 0
    /// Whether the body's pipe or terminal took less than there is, or has no reader yet.
    var awaitsRoom = false
    /// Whether the loop will come back to it for `held`; its clocks go on meanwhile.
    var isPostponed = false
    /// Unfolded bytes of the turn `decodedTurn`.
    var decodedInTurn = 0
    var decodedTurn: UInt64 = 0
    /// Takes the coded body while it is delivered.
    @exclusivity(unchecked)
    var keeper: (any BodyKeeper)?
    /// Stored bytes that are still to be delivered, before any of the wire. While there are, `held` is of these.
    @exclusivity(unchecked)
    var source: (any StoredBytes)?
    /// How many coded bytes must still come behind the stored ones that the answer begins with, or behind what earlier
    /// leases of the hop have brought.
    var missing: UInt64?
    /// Whether a stored response took the place of the one that is coming, whose body is dropped.
    var ignoresWire = false
    /// Whether it is known that nobody else will get the response.
    var isUnshared = false
    /// What the cache has to do with the answer.
    var report = CacheReport()
    /// What the server sent, where the coordinator may have to see some of it, as long as the answer may become a
    /// stored one.
    var serverFields = FieldLines()

    init?(loop: TransferLoop, profile: ResolvedProfile) {
        guard let easy = EasyHandle() else { return nil }
        self.loop = loop
        multi = loop.multi
        output = loop.output
        connections = loop.connections
        counters = loop.counters
        clock = loop.clock
        store = BodyStore(loop.fileCalls)
        self.easy = easy
        self.profile = profile
        setFixedOptions()
    }

    deinit {
        requestBody.deallocate()
        keeper?.abandon()
        closeDescriptors()
        _heads.free()
        _lease.free()
        _stateChanges.free()
        _progress.free()
        _limits.free()
        _failure.free()
        _heldHead.free()
        _heldFacts.free()
        _tunnelHeads.free()
        _tunnelHead.free()
        _connection.free()
        _opened.free()
        _head.free()
        _facts.free()
        _chunks.free()
        _trailers.free()
        _decoder.free()
        _pending.free()
        _held.free()
        _kept.free()
    }

    /// Takes a lease and gives it to libcurl. A failure is an end that has been reported already.
    func begin(
        _ lease: consuming Lease, profile: ResolvedProfile, limits: LimitSet?, progress: SharedProgressLine,
        descriptors: [Int32]
    ) {
        let (id, fields) = (lease.id, lease.fields)
        isProxied = lease.proxy != nil
        self.lease = consume lease
        self.profile = profile
        self.limits = limits
        isCharged = false
        reservation = Connection.Traffic()
        awaitsBandwidth = nil
        givenInRound = nil
        isRepeated = false
        isRepeatedByLibcurl = false
        goesUnasked = false
        self.progress = progress
        var descriptors = descriptors[...]
        if case .descriptor = self.lease.body { requestFile = descriptors.popFirst() ?? -1 }
        if case .descriptor = self.lease.sink { sinkDescriptor = descriptors.popFirst() ?? -1 }
        if self.lease.part > 0 { partDescriptor = descriptors.popFirst() ?? -1 }
        isSuspended = false
        hasRested = false
        isGivenUp = false
        requestFileOffset = 0
        countedOut = 0
        startedAt = clock.running
        restingSince = nil
        if let timeLimit { loop.note(limit: timeLimit) }
        lastUploaded = 0
        if case .stream(let credit) = self.lease.sink { self.credit = Int(credit) } else { credit = 0 }
        room = self.lease.options.contains(.metersBody) ? UInt64(WireProtocol.maximumInlineBody) : .max
        progress.begin(lease: id)
        interim = InterimAllowance()
        heads.maximumBytes = Int(profile.profile.headBytes)
        heads.maximumFields = Int(profile.profile.headFields)
        resetAttempt()
        mayHaveBeenSent = false
        exchange = nil
        var sent = fields
        if !self.lease.cache.isEmpty {
            guard let changed = consultKeeper() else { return }
            sent = changed
        }
        if let refusal = setOptions(sent) {
            failure = refusal
            end(CURLE_OK)
            return
        }
        if mayStart() { enterMulti() }
    }

    /// Tries once more on a connection nobody has used.
    func restart() {
        // It may have waited to send on the connection that it leaves.
        stopAwaitingBandwidth()
        stopResting()
        resetResponse()
        resetAttempt()
        if goesUnasked { easy.omitExpect() }
        var shape = easy.shape
        shape.freshConnect = true
        shape.forbidReuse = !mayKeepConnection
        easy.apply(shape)
        // It may have been longer for the first time.
        profile.limitConnecting(of: easy)
        enterMulti()
    }

    /// Gives the request to libcurl.
    func enterMulti() {
        lastActivity = clock.running
        lostBefore = clock.lost
        guard ccurl_forget_line(easy.raw) != 0 else {
            failure = HopFailure(.internalError, detail: "libcurl cannot use this handle again")
            end(CURLE_OK)
            return
        }
        let code = curl_multi_add_handle(multi, easy.raw)
        guard code == CURLM_OK else {
            failure = HopFailure(.internalError, detail: "libcurl refuses the transfer (\(code.rawValue))")
            end(CURLE_OK)
            return
        }
        isInMulti = true
        if givenInRound == nil { givenInRound = loop.rounds }
        loop.transfersInMulti += 1
    }

    /// Forgets the attempt. What came of a response is forgotten with its end, or before.
    private func resetAttempt() {
        failure = nil
        leaveConnection()
        isReused = false
        isUnshared = false
        requestsBegun = 0
        awaitsFirstByte = false
        heldHeads = 0
        if heldHead != nil { heldHead = nil }
        wantsFreshConnection = false
        wantsOtherLease = false
        keepAliveTimeout = nil
        heldResult = nil
        requestFileOffset = 0
        easy.errorBuffer.pointee = 0
        tunnelHeads = nil
        tunnelHead = nil
        connectionsAtRequest = 0
        replacedBytes = 0
        heads.reset()
    }

    /// Forgets what came so far, when another response takes its place.
    func resetResponse() {
        head = nil
        facts = HeadFacts()
        isHeadSent = false
        // An empty literal is a sequence that is gone through.
        questions = HeadQuestions()
        isPaused = false
        chunks = nil
        if trailers != nil { trailers = nil }
        announced = nil
        if let decoder { loop.decoders.give(decoder) }
        decoder = nil
        if let keeper {
            keeper.abandon()
            self.keeper = nil
        }
        source = nil
        missing = nil
        ignoresWire = false
        report = CacheReport()
        replacedBytes += receivedBytes
        receivedBytes = 0
        bodyBytes = 0
        dropsBody = false
        endsEarly = false
        endsWhole = false
        readsOn = false
        isPostponed = false
        awaitsRoom = false
        wanted = 0
        if !pending.isEmpty { pending.removeAll() }
        if !held.isEmpty { held.removeAll() }
        if !kept.isEmpty { kept.removeAll() }
    }

    /// Whether the transfer rests at its head.
    var awaitsAnswer: Bool { !questions.isEmpty }

    /// Whether bytes of the body still have to leave, or to be kept.
    var isBackedUp: Bool { !pending.isEmpty || isUndecoded || awaitsRoom || awaitsMemory }

    /// What came over the wire before the body: heads, and bodies whose place another response took.
    var bytesBeforeBody: UInt64 { UInt64(heads.bytes) + replacedBytes }

    /// Goes on as far as answer, credit and the coordinator's buffer allow.
    func pump() {
        guard !isSuspended, !awaitsAnswer, awaitsBandwidth == nil, !awaitsMemory, !output.isCongested,
            failure == nil
        else {
            return
        }
        if awaitsRoom {
            guard paceOn() else {
                conclude(CURLE_WRITE_ERROR)
                return
            }
        } else if !pending.isEmpty {
            streamOn()
        }
        if pending.isEmpty, !awaitsRoom, isUndecoded, !processHeld() {
            conclude(CURLE_WRITE_ERROR)
            return
        }
        if source != nil, !isBackedUp, !feed() {
            conclude(CURLE_WRITE_ERROR)
            return
        }
        guard !isBackedUp, source == nil else { return }
        stopResting()
        guard takeKept() else {
            conclude(CURLE_WRITE_ERROR)
            return
        }
        guard kept.isEmpty, !isBackedUp else {
            if !isPostponed { rest() }
            return
        }
        if let result = heldResult {
            heldResult = nil
            end(result)
        } else if isPaused {
            let code = endPause()
            if code != CURLE_OK { conclude(code) }
        }
    }

    /// The next turn has come for a body that unfolds to more than one turn's share.
    func continueDecoding() {
        guard isPostponed else { return }
        isPostponed = false
        lastActivity = clock.running
        pump()
    }
}
