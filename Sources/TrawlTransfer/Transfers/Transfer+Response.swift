import CTrawlCurl
import Glibc
import TrawlCoding
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

extension Transfer {
    /// How much of a body that nobody wants is read to keep its connection.
    static let drained: UInt64 = 64 << 10
    /// Unfolded bytes after which a transfer lets the others go on.
    private static let share = 4 << 20

    /// The final head is complete.
    ///
    /// - Returns: False when the transfer is over; `failure` says why.
    func receivedHead(_ head: ResponseHead, _ facts: HeadFacts) -> Bool {
        var head = head
        let isMisnamed = head.version == .http2 && !(connection?.isHTTP2 ?? profile.multiplexes)
        if isMisnamed {
            // Over HTTP/2 libcurl writes the status line; this one is the server's. 7.88 believes it and takes the
            // connection for one of HTTP/2, which others may share, and where it waits for the end of a stream.
            head.version = .http1_1
            easy.forbidReuse()
            connection?.isSpoiled = true
        }
        // RFC 9110 §10.1.1: who answers before it has the body may go on reading it, and takes what is sent next for a
        // part of it. libcurl 7.88 sends no more behind a 2xx in place of 100, or a 417, and keeps the connection.
        // Without such a question it goes on sending.
        if head.version != .http2, head.status == 417 || asksBeforeBody, hasUnsentBody { easy.forbidReuse() }
        if holdsBack(head, facts) { return true }
        guard self.head == nil else {
            // What was told of the first cannot be taken back.
            failure = HopFailure(.malformedResponse, detail: "a second response to one request")
            return false
        }
        guard head.status != 101 else {
            // RFC 9110 §15.2.2: only in answer to an Upgrade field, which is never sent.
            failure = HopFailure(.malformedResponse, detail: "101 without a request to upgrade")
            return false
        }
        self.head = head
        self.facts = facts
        keepAliveTimeout = facts.keepAliveTimeout
        if facts.hasSetCookie || facts.hasTransportSecurity { noteState(head) }
        let (framing, keepsConnection) = facts.framing(
            status: head.status, version: head.version, isHead: lease.method == .head)
        // ASI-CONN-02: a server that will take five more requests at most is left alone.
        let isNearlyUsedUp = facts.keepAliveRequests.map { $0 <= 5 } ?? false
        // RFC 9112 §9.6.
        let isLast = !keepsConnection || isNearlyUsedUp || facts.closesConnection
        if head.version != .http2, isLast { easy.forbidReuse() }
        connection?.mayHideExcess = framing == .none || framing == .length(0)
        if head.version != .http2, framing == .chunked { chunks = ChunkDecoder() }
        var length: UInt64?
        if case .length(let announced) = framing { length = announced }
        announced = framing == .none ? 0 : length
        // Beside a transfer coding, `identity` too, libcurl 7.88 passes the length over and reads until the close.
        readsOn = isMisnamed || length != nil && facts.hasTransferEncoding
        if isCharged || limits?.isLimited(.down) == true { chargeHead(expecting: framing == .none ? 0 : length) }
        guard keep(head) else {
            guard failure == nil, feed() else { return false }
            // What would come is not looked at.
            guard ignoresWire, announced != 0 || readsOn else { return true }
            endWhole()
            return false
        }
        begin(head, expecting: length, hasBody: framing != .none)
        guard failure == nil else { return false }
        if isComplete {
            endWhole()
            return false
        }
        endsEarly = endsAtHead
        return !endsEarly
    }

    /// Hands over what a head says about the user, and keeps what is the coordinator's business.
    private func noteState(_ head: ResponseHead) {
        if isOfProxy(head) { return }
        // The coordinator does not see this head when what is stored answers in its place.
        if exchange != nil { serverFields = head.fields }
        if facts.hasSetCookie { storeCookies(of: head) }
    }

    /// Hands over the cookies of a final head when the worker stores them; the lease's end waits for that.
    func storeCookies(of head: ResponseHead) {
        guard !isOfProxy(head), lease.options.contains(.storesCookies), let terms = profile.profile.state,
            let keeper = loop.stateKeeper,
            let change = keeper.received(
                head, of: lease, terms, at: WallClock.time(), leases: loop.activeCount)
        else { return }
        stateChanges.append(change)
        loop.heldEnds.began(change)
    }

    /// The head of the answer is known: chooses where its body goes, and tells who wants to know.
    ///
    /// - Parameter length: How many coded bytes there will be, where that is known.
    func begin(_ head: ResponseHead, expecting length: UInt64?, hasBody: Bool) {
        store.expectedLength = length
        if let length { progress?.set(expected: length) }
        self.hasBody = hasBody
        // RFC 9110 §15.3.7: a rest may end before its range does, whatever ends it.
        if lease.part > 0, head.status == 206 { missing = ContentRange(head.fields)?.length }
        let isChallenge = lease.options.contains(.asksAboutChallenges) && Self.challenges(head)
        // What is stored does not change by asking again.
        let isFailure = lease.options.contains(.asksAboutFailures) && head.status >= 400 && report.source == .network
        let isRedirect =
            lease.options.contains(.dropsRedirectBodies) && Redirect.isFollowed(head.status) && facts.hasLocation
        dropsBody = isChallenge || isFailure || isRedirect || isUnwanted(head)
        if !dropsBody { checkAnnouncedLength() }
        guard failure == nil else { return }
        chooseSink(head)
        chooseDecoder(head)
        guard failure == nil else { return }
        var asks = HeadQuestions()
        if lease.heads == .answered || isChallenge || isFailure
            || (isRedirect && lease.options.contains(.asksAboutRedirects))
        {
            asks.insert(.disposition)
        }
        if lease.cache.contains(.asks), keeper?.mayBeDecided == true { asks.insert(.storing) }
        if lease.heads != .withEnd || !asks.isEmpty {
            let isStored = report.source.isStoreAlone
            guard output.sendHead(lease: lease.id, head, asks: asks, isStored: isStored) else {
                failure = HopFailure(.headTooLarge, detail: "the head is longer than a frame may be")
                return
            }
            isHeadSent = true
            questions = asks
            if awaitsAnswer { rest() }
        }
    }

    /// A body that is delivered must not be longer than is allowed; of one that nobody wants little is read in any case.
    private func checkAnnouncedLength() {
        let limit = bodyLimit
        guard let length = store.expectedLength, length > limit else { return }
        failure = HopFailure(.bodyTooLarge, detail: "\(length) bytes announced, \(limit) allowed")
    }

    /// The most bytes that the response may bring: those that it goes on behind count as well.
    private var bodyLimit: UInt64 {
        let limit = profile.profile.bodyBytes
        guard lease.part > 0, head?.status == 206 else { return limit }
        return limit - min(limit, lease.part)
    }

    /// Whether the body is dropped whatever becomes of the response.
    private func isUnwanted(_ head: ResponseHead) -> Bool {
        guard head.status >= 400 else { return false }
        return lease.options.contains(.dropsErrorBodies)
            || lease.options.contains(.dropsPassingErrors) && ResponseHead.mayPass(head.status)
    }

    /// Whether a head asks who we are (RFC 9110 §15.5.2, §15.5.8).
    private static func challenges(_ head: ResponseHead) -> Bool {
        switch head.status {
        case 401: head.fields.contains("WWW-Authenticate")
        case 407: head.fields.contains("Proxy-Authenticate")
        default: false
        }
    }

    private func chooseDecoder(_ head: ResponseHead) {
        // A part of a coded representation cannot be decoded (RFC 9110 §14.4).
        guard facts.hasContentEncoding, profile.profile.decoding == .streaming, hasBody, head.status != 206, !dropsBody
        else { return }
        do throws(DecodingError) {
            decoder = try loop.decoders.take(
                for: ContentCoding.list(head.fields.values("Content-Encoding")), limits: profile.limits)
        } catch {
            failure = Self.failure(error)
        }
    }

    private func chooseSink(_ head: ResponseHead) {
        if dropsBody {
            store.useNothing()
            return
        }
        switch lease.sink {
        case .file, .descriptor:
            if isForFile(head) {
                use(lease.sink)
            } else {
                store.useMemory(limit: profile.profile.memoryBytes)
            }
        case .discard, .memory, .stream:
            use(lease.sink)
        }
    }

    /// Whether the body goes to a file that the lease has for it.
    private func isForFile(_ head: ResponseHead) -> Bool {
        if lease.part > 0, case .descriptor = lease.sink {
            // Behind a part goes its rest, or a whole in its place (RFC 9110 §15.3.1, §15.3.4), and nothing else.
            return head.status == 206 || head.status == 200 || head.status == 203
        }
        return head.status / 100 == 2 || lease.options.contains(.savesErrorBodies)
    }

    private func use(_ sink: BodySink) {
        switch sink {
        case .discard:
            store.useNothing()
        case .memory:
            store.useMemory(limit: profile.profile.memoryBytes)
            goOnBehindPart()
        case .file(let number, let path, let collision):
            guard Int(number) < loop.roots.count else {
                failure = HopFailure(.file, systemError: EINVAL, detail: "no such output directory")
                return
            }
            let root = loop.roots[Int(number)]
            root.refresh(at: loop.now)
            let suggested = suggestedPath(insteadOf: path)
            // RFC 9110 §15.4.5: the representation is the one that whoever asked has.
            let makesEmpty = lease.options.contains(.createsEmptyFile) && head?.status != 304
            store.useFile(
                root, path: suggested ?? path, isAsked: suggested == nil, collision: collision,
                sync: lease.options.contains(.syncsFile), makesEmpty: makesEmpty)
            goOnBehindPart()
        case .descriptor:
            guard sinkDescriptor >= 0 else {
                failure = HopFailure(.internalError, detail: "the descriptor has gone to an earlier response")
                return
            }
            store.useDescriptor(sinkDescriptor)
            sinkDescriptor = -1
        case .stream:
            store.useStream()
        }
    }

    /// The path with the name that the response suggests as its last part; nil when it suggests none, none is wanted,
    /// or there is no room for it.
    private func suggestedPath(insteadOf path: String) -> String? {
        guard lease.options.contains(.namesFromDisposition), let head, head.status / 100 == 2,
            let name = SuggestedFileName(disposition: head.fields)
        else { return nil }
        // By bytes: a combining character behind the slash is one Character with it.
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let directory = slash.map { String(decoding: path.utf8[...$0], as: UTF8.self) } ?? ""
        let suggested = directory + name.text
        return suggested.utf8.count <= WireProtocol.maximumPath ? suggested : nil
    }

    /// The coordinator's answer to a head.
    func answered(_ disposition: HeadDisposition, descriptors: [Int32]) {
        let question: HeadQuestions = if case .keep = disposition { .storing } else { .disposition }
        guard questions.remove(question) != nil else {
            for descriptor in descriptors { _ = Glibc.close(descriptor) }
            return
        }
        switch disposition {
        case .proceed:
            break
        case .deliver:
            deliverDropped()
            if failure != nil {
                conclude(CURLE_WRITE_ERROR)
                return
            }
        case .keep(let order):
            keeper?.decide(order)
        case .redirectBody(let sink):
            if case .descriptor = sink {
                if sinkDescriptor >= 0 { _ = Glibc.close(sinkDescriptor) }
                sinkDescriptor = descriptors.first ?? -1
            }
            if case .stream(let credit) = sink { self.credit = Int(credit) }
            checkAnnouncedLength()
            store.abandon()
            dropsBody = false
            use(sink)
            if decoder == nil, let head { chooseDecoder(head) }
            if failure != nil {
                conclude(CURLE_WRITE_ERROR)
                return
            }
        case .cancel:
            failure = HopFailure(.cancelled)
            conclude(CURLE_WRITE_ERROR)
            return
        }
        guard !awaitsAnswer else { return }
        if endsAtHead, isInMulti, !isSuspended {
            endsEarly = true
            conclude(CURLE_WRITE_ERROR)
        } else {
            pump()
        }
    }

    /// The body of a redirect, challenge or failure is wanted after all.
    private func deliverDropped() {
        guard dropsBody, let head, !isUnwanted(head) else { return }
        dropsBody = false
        checkAnnouncedLength()
        chooseSink(head)
        chooseDecoder(head)
    }

    /// Takes bytes of the wire, or stored ones: their framing at once, since it says whether the connection can be used
    /// again, and their content as far as credit, room and this turn's share reach. The rest of it is held.
    ///
    /// - Returns: False when the transfer is over; `failure` or `endsEarly` says why.
    func process(_ piece: UnsafeRawBufferPointer) -> Bool {
        if dropsBody, receivedBytes > Self.drained {
            // Cheaper to open a connection than to read on.
            endsEarly = true
            return false
        }
        // Stored bytes have no transfer coding.
        guard chunks != nil, source == nil else { return take(piece) }
        var input = piece
        do throws(ChunkError) {
            while let run = try chunks?.next(in: &input) {
                guard take(run) else { return false }
            }
        } catch {
            // What libcurl would have said of it.
            failure = HopFailure(
                .malformedResponse, curlCode: CURLE_RECV_ERROR.rawValue, detail: "the chunked body is damaged: \(error)"
            )
            return false
        }
        if let chunks, chunks.excess > 0 {
            // libcurl ends the response at the same byte but forgets that there were more.
            easy.forbidReuse()
            connection?.isSpoiled = true
        }
        return true
    }

    /// Takes content, behind what is held.
    private func take(_ content: UnsafeRawBufferPointer) -> Bool {
        if let left = missing, source == nil {
            guard content.count <= left else {
                failure = HopFailure(.malformedResponse, detail: "more bytes than the Content-Range says")
                return false
            }
            missing = left - UInt64(content.count)
        }
        bodyBytes += UInt64(content.count)
        if let keeper {
            keeper.write(content)
            if !isUnshared, !keeper.takesBytes { tellUnshared() }
        }
        guard let decoder else { return deliver(content) }
        var taken = 0
        if !isBackedUp {
            guard let count = decode(content, by: decoder) else { return false }
            taken = count
        }
        if taken < content.count { held.append(UnsafeRawBufferPointer(rebasing: content[taken...])) }
        return true
    }

    /// Whether content that has come is to be decoded yet.
    var isUndecoded: Bool { !held.isEmpty || (decoder?.hasMore ?? false) }

    /// Takes of what is held, as far as credit, room and this turn's share reach.
    ///
    /// - Returns: As `process`.
    func processHeld() -> Bool {
        guard let decoder else { return true }
        let bytes = held
        guard let taken = bytes.withUnsafeBytes({ decode($0, by: decoder) }) else {
            held.removeAll()
            return false
        }
        held.removeFirst(taken)
        return true
    }

    /// Whether the connection broke within a body that nobody wants, as of a redirect that is followed: the head is all of
    /// the response that counts. Until it is known that nobody does, the end is held.
    func isBrokenOffUnwanted(_ result: CURLcode) -> Bool {
        guard dropsBody, head != nil, report.source == .network, result != CURLE_OK else { return false }
        let kind = CurlFailure.kind(result, errorText, easy: easy.raw, hasHead: true)
        return kind == .connectionLost || kind == .truncated
    }

    /// Whether the body has unfolded to as much as one turn of the loop is good for.
    ///
    /// A few hundred bytes can hold a MiB, and one read of them would keep all other transfers, cancels and the
    /// heartbeat waiting.
    var hasHadItsShare: Bool {
        if decodedTurn != loop.turnNumber {
            decodedTurn = loop.turnNumber
            decodedInTurn = 0
        }
        return decodedInTurn >= Self.share
    }

    /// Takes the content codings off, as far as credit, room and this turn's share reach.
    ///
    /// - Returns: How many bytes were taken; nil when the transfer is over, and `failure` says why.
    private func decode(_ content: UnsafeRawBufferPointer, by decoder: ContentDecoder) -> Int? {
        var taken = 0
        while taken < content.count || decoder.hasMore, pending.isEmpty {
            guard !hasHadItsShare else {
                postpone()
                return taken
            }
            guard mayDecode else { return failure == nil ? taken : nil }
            let unfolded = decoder.unfoldedBytes
            let rest = UnsafeRawBufferPointer(rebasing: content[taken...])
            do throws(DecodingError) {
                let count = try decoder.decode(rest, atMost: longestStep) { (decoded) throws(DecodingError) in
                    guard deliver(decoded) else { throw .refused }
                }
                taken += count
            } catch {
                if failure == nil { failure = failure(of: error) }
                return nil
            }
            decodedInTurn += decoder.unfoldedBytes - unfolded
        }
        return taken
    }

    /// Leaves the rest for the next turn.
    func postpone() {
        guard !isPostponed else { return }
        isPostponed = true
        loop.postpone(self)
    }

    /// Hands decoded bytes to where they go.
    private func deliver(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let limit = bodyLimit
        guard dropsBody || store.length - store.base + UInt64(bytes.count) <= limit else {
            failure = HopFailure(.bodyTooLarge, detail: "more than \(limit) bytes")
            return false
        }
        progress?.set(decoded: store.length - store.base + UInt64(bytes.count))
        if store.isStream {
            store.count(bytes.count)
            stream(bytes)
            return true
        }
        if store.isPaced {
            store.count(bytes.count)
            return pace(bytes)
        }
        do throws(HopFailure) {
            try store.write(bytes)
            return true
        } catch {
            failure = error
            return false
        }
    }

    /// Sends what credit reaches for; the rest waits in `pending`.
    func stream(_ bytes: UnsafeRawBufferPointer) {
        let sent = pending.isEmpty ? sendData(bytes) : 0
        if sent < bytes.count { pending.append(UnsafeRawBufferPointer(rebasing: bytes[sent...])) }
    }

    /// Sends of what waits.
    func streamOn() {
        let bytes = pending
        pending.removeFirst(bytes.withUnsafeBytes { sendData($0) })
    }

    /// Sends what credit reaches for.
    ///
    /// - Returns: How many bytes.
    private func sendData(_ bytes: UnsafeRawBufferPointer) -> Int {
        var sent = 0
        while sent < bytes.count, credit > 0 {
            let length = min(bytes.count - sent, credit, WireProtocol.maximumInlineBody)
            output.sendData(lease: lease.id, UnsafeRawBufferPointer(rebasing: bytes[sent..<sent + length]))
            credit -= length
            sent += length
        }
        return sent
    }
}

extension Redirect {
    /// Whether a response of that status with a `Location` is followed (RFC 9110 §15.4).
    static func isFollowed(_ status: UInt16) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }
}
