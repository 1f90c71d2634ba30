import CTrawlCurl
import TrawlCoding
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// The cache's part in a lease.
///
/// Stored bytes take the same way as those of the wire: decoder, sink, credits.
extension Transfer {
    /// Asks the cache before anything is sent.
    ///
    /// - Returns: The fields of the request to send; nil when there is none and the lease has ended or will.
    func consultKeeper() -> FieldLines? {
        guard let keeper = loop.keeper, let terms = profile.profile.cache else { return lease.fields }
        switch keeper.begin(lease, profile.profile, terms, at: WallClock.time()) {
        case .request(let fields, let added, let exchange):
            self.exchange = exchange
            // Who wants heads early wants to see what goes out as well.
            if lease.heads != .withEnd { output.send(.forwards(lease: lease.id, added)) }
            return fields
        case .answer(let stored):
            use(stored)
            end(CURLE_OK)
        case .refuse(let refusal):
            failure = refusal
            end(CURLE_OK)
        }
        return nil
    }

    /// What the cache makes of a response whose head has come.
    ///
    /// - Returns: Whether the head is that of the answer; else there is another, or `failure` says what is wrong.
    func keep(_ head: ResponseHead) -> Bool {
        guard let exchange else {
            tellUnshared()
            return true
        }
        switch exchange.received(head, sentAt: sentAt, now: WallClock.time()) {
        case .passOn:
            tellUnshared()
            return true
        case .keep(let body):
            keeper = body
            if !body.isForOthers { tellUnshared() }
            return true
        case .replace(let stored):
            ignoresWire = true
            if chunks != nil {
                // Nobody looks where this body ends, so nothing else may come on its connection.
                chunks = nil
                easy.forbidReuse()
                connection?.isSpoiled = true
            }
            use(stored, after: .answered(status: head.status))
            // The coordinator does not see this head.
            if report.exchange.mayAskForRest, head.fields.contains("Retry-After") { serverFields = head.fields }
        case .complete(let stored, let length):
            missing = length - min(length, stored.body.length)
            use(stored, after: .answered(status: head.status), length: length)
        case .refuse(let refusal):
            failure = refusal
        }
        return false
    }

    /// Others need not wait for this response any more.
    func tellUnshared() {
        guard !isUnshared, lease.cache.contains(.leads) else { return }
        isUnshared = true
        loop.tellUnshared(lease.id)
    }

    /// Lets a stored response answer in place of an exchange that failed.
    ///
    /// - Returns: Whether there is one.
    func answerFromStore(insteadOf failure: HopFailure) -> Bool {
        // What its reader has seen cannot be taken back.
        guard let exchange, !isHeadSent, !store.isStream || head == nil, !store.isPaced, !hasUsedDescriptor,
            let stored = exchange.answer(insteadOf: failure, at: WallClock.time())
        else { return false }
        let why = CacheReport.Exchange.failed(
            failure.kind, systemError: failure.systemError, requestSent: failure.requestSent, hasHead: head != nil)
        self.exchange = nil
        self.failure = nil
        store.abandon()
        resetResponse()
        use(stored, after: why)
        return self.failure == nil
    }

    /// Whether the file that came with the lease has gone to a response, with whatever is in it now.
    private var hasUsedDescriptor: Bool {
        if case .descriptor = lease.sink { sinkDescriptor < 0 } else { false }
    }

    /// Makes a stored response the answer, or the beginning of it.
    private func use(
        _ stored: StoredAnswer, after exchange: CacheReport.Exchange = .unasked, length: UInt64? = nil
    ) {
        report = stored.report
        report.exchange = exchange
        keeper = stored.keeper
        head = stored.head
        facts = HeadFacts(of: stored.head.fields)
        source = stored.body
        let length = length ?? stored.body.length
        begin(stored.head, expecting: length, hasBody: length > 0)
    }

    /// Delivers stored bytes as far as credit and this turn's share reach.
    ///
    /// - Returns: False when the transfer is over; `failure` says why.
    func feed() -> Bool {
        guard source != nil else { return true }
        while let source, !awaitsAnswer, !isBackedUp, !output.isCongested {
            if store.isDiscard, decoder == nil, !(keeper?.takesBytes ?? false) {
                // Nobody looks at them, so nobody reads them.
                store.count(Int(clamping: source.length - min(source.length, store.length)))
                self.source = nil
                return true
            }
            guard decoder == nil ? mayKeep(0) : mayDecode else { return failure == nil }
            guard !hasHadItsShare else {
                postpone()
                return true
            }
            do throws(HopFailure) {
                if store.isStream || store.isPaced, store.length == 0 {
                    let count = try source.inspect()
                    if count > 0 {
                        lastActivity = clock.running
                        decodedInTurn += count
                        continue
                    }
                }
                let next = try source.next(into: fileToShare(source))
                lastActivity = clock.running
                switch next {
                case nil:
                    self.source = nil
                    return true
                case .shared(let count):
                    decodedInTurn += count
                    store.count(count)
                case .bytes(let piece):
                    if decoder == nil { decodedInTurn += piece.count }
                    guard process(piece) else {
                        if endsEarly { self.source = nil }
                        return endsEarly
                    }
                }
            } catch {
                failure = isSeen ? HopFailure(.truncated, detail: error.detail) : error
                return false
            }
        }
        return true
    }

    /// Whether a reader has seen some of the body, which cannot be taken back: there is no other answer.
    private var isSeen: Bool { store.length > 0 && (store.isStream || store.isPaced) }

    /// What a body that cannot be decoded means; a stored one is fetched anew.
    func failure(of error: DecodingError) -> HopFailure {
        let failure = Self.failure(error)
        switch error {
        case .corrupt, .truncated:
            if report.source == .network || isSeen { return failure }
            return HopFailure(.storedResponse, detail: failure.detail)
        case .tooManyLayers, .stackedBrotli, .tooLarge, .ratioTooHigh, .outOfMemory, .tooMuchMemory, .refused:
            return failure
        }
    }

    /// The file that stored bytes go to as they are; nil when something is done to them on the way, or counted.
    private func fileToShare(_ source: any StoredBytes) throws(HopFailure) -> Int32? {
        let limit = profile.profile.bodyBytes
        guard source.length > 0, source.length <= limit, decoder == nil, !dropsBody,
            keeper?.takesBytes != true
        else { return nil }
        return try store.openFile()
    }

    /// What the coordinator has to see of a response in whose place what is stored answers.
    func fieldsToTell() -> FieldLines {
        var fields = serverFields
        // The jar is the coordinator's where the worker knows of none.
        let hasOwnJar = profile.profile.state != nil
        // A date is compared with that of the response.
        let asksForRest = report.exchange.mayAskForRest && fields.contains("Retry-After")
        fields.removeAll { name in
            if !hasOwnJar, FieldSyntax.equalIgnoringCase(name, "Set-Cookie") { return false }
            if asksForRest, FieldSyntax.equalIgnoringCase(name, "Retry-After") { return false }
            if asksForRest, FieldSyntax.equalIgnoringCase(name, "Date") { return false }
            return !FieldSyntax.equalIgnoringCase(name, "Strict-Transport-Security")
        }
        return fields
    }
}

extension HeadFacts {
    /// What the fields of a stored head say; its framing was settled when it came.
    init(of fields: FieldLines) {
        var facts = HeadFacts()
        fields.forEach { name, value in
            // A field that makes no sense says nothing.
            _ = try? facts.note(name, value)
        }
        self = facts
    }
}
