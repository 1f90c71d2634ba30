import CTrawlCurl
import Glibc
import TrawlCoding
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

// What libcurl calls. Each finds its object, which lives as long as the handle, and calls one method.

private func transfer(_ context: UnsafeMutableRawPointer?) -> Unmanaged<Transfer>? {
    context.map { Unmanaged<Transfer>.fromOpaque($0) }
}

func onHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?)
    -> Int
{
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer(context)?._withUnsafeGuaranteedRef { $0.receivedLine(line) ? line.count : -1 } ?? -1
}

func onBody(_ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?)
    -> Int
{
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer(context)?._withUnsafeGuaranteedRef { $0.received(piece) } ?? -1
}

func onRead(_ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?)
    -> Int
{
    let room = UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
    return transfer(context)?._withUnsafeGuaranteedRef { $0.readBody(into: room) } ?? Int(CURL_READFUNC_ABORT)
}

func onSeek(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    guard origin == SEEK_SET, offset >= 0, let transfer = transfer(context) else { return Int32(CURL_SEEKFUNC_FAIL) }
    transfer._withUnsafeGuaranteedRef { $0.requestFileOffset = UInt64(offset) }
    return Int32(CURL_SEEKFUNC_OK)
}

func onRequest(
    _ context: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?, _ local: UnsafeMutablePointer<CChar>?,
    _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
    guard let remote, let local else { return Int32(CURL_PREREQFUNC_ABORT) }
    let mayGo =
        transfer(context)?._withUnsafeGuaranteedRef { $0.mayRequest(remote, remotePort, local, localPort) } ?? false
    return Int32(mayGo ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT)
}

func onTLS(_ easy: UnsafeMutableRawPointer?, _ tls: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?)
    -> CURLcode
{
    transfer(context)?._withUnsafeGuaranteedRef { $0.trust(in: tls) }
    return CURLE_OK
}

func onOpenSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address else { return -1 }
    return Unmanaged<Transfer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.openSocket(address) }
}

func onCloseSocket(_ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t) -> Int32 {
    guard let context else { return 1 }
    return Unmanaged<ConnectionTable>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.closeSocket(socket) }
}

extension Transfer {
    /// A connection is chosen and the request about to be sent on it: the guard's moment.
    ///
    /// libcurl 7.88 reuses connections on which bytes wait that nobody asked for; they would become the next response.
    func mayRequest(
        _ remote: UnsafePointer<CChar>, _ remotePort: Int32, _ local: UnsafePointer<CChar>, _ localPort: Int32
    ) -> Bool {
        requestsBegun += 1
        if goesOnAfterAnswer {
            if head?.status == 417, announced != 0 {
                failure = HopFailure(.truncated, detail: "libcurl passes over the body of a 417")
            }
            endsEarly = true
            return false
        }
        // libcurl repeats any request that died on a reused connection without a byte of response.
        if requestsBegun > 1 + heldHeads, head == nil, mayHaveBeenSent {
            guard mayRepeat() else { return false }
            isRepeatedByLibcurl = true
        }
        if isProxied { connectionsAtRequest = connectionsMade }
        leaveConnection()
        connection = connections.find(
            remote: remote, remotePort: remotePort, local: local, localPort: localPort)
        if let connection {
            guard mayUse(connection) else { return false }
        } else {
            guard mayUseUnknownConnection() else { return false }
        }
        noteSending()
        return true
    }

    /// Whether a request that may have reached the server goes out again; else why not is known.
    private func mayRepeat() -> Bool {
        if lease.method.isIdempotent {
            wantsOtherLease = lease.options.contains(.sendsOnce)
        } else {
            // The server may have acted on it (RFC 9110 §9.2.2, RFC 9112 §9.3.1).
            failure = HopFailure(
                .connectionLost, curlCode: CURLE_GOT_NOTHING.rawValue,
                detail: "the connection closed under a request that must not be repeated")
        }
        return !wantsOtherLease && failure == nil
    }

    /// Whether the request may go out on the connection that libcurl chose; it counts as used then.
    private func mayUse(_ connection: Connection) -> Bool {
        isReused = connection.uses > 0
        guard suits(connection) else {
            wantsFreshConnection = true
            return false
        }
        if connection.uses == 0, profile.multiplexes {
            connection.isHTTP2 =
                profile.profile.version == .http2PriorKnowledge || ccurl_tls_is_http2(easy.raw) == 1
        }
        if lease.isSecure {
            guard mayTrust() else { return false }
            if connection.tls == nil { connection.tls = profile.profile.tls }
        }
        if connection.uses == 0 {
            connection.interface = profile.profile.interface
            connection.fixBuffer()
        }
        connection.uses += 1
        enter(connection)
        if limits != nil { meter(connection) }
        return true
    }

    /// Whether what was used before on the connection, if anything was, does not keep this request from it.
    private func suits(_ connection: Connection) -> Bool {
        if isProxied, let proxy = lease.proxy, !suits(connection, proxy) { return false }
        guard isReused else { return true }
        // libcurl gives one that is bound to an interface to who asked for none.
        guard connection.interface == profile.profile.interface else { return false }
        // It proves somebody else, or was trusted by other rules. libcurl 7.88 compares neither keys nor passphrases.
        if let tls = connection.tls, tls != profile.profile.tls { return false }
        guard isFit(connection) else {
            // Another may be using it, where libcurl takes it for one of HTTP/2.
            if connection.users == 0 {
                connection.isSpoiled = true
                _ = ccurl_socket_shutdown(connection.socket)
            }
            return false
        }
        return true
    }

    /// Whether the request may go out on a connection that is not in the table.
    private func mayUseUnknownConnection() -> Bool {
        // One that was used before and is not found cannot be looked at.
        guard connectionsMade > 0 else {
            wantsFreshConnection = true
            return false
        }
        isReused = false
        return !lease.isSecure || mayTrust()
    }

    /// The first byte is about to be handed to the system.
    private func noteSending() {
        // Before that: a coordinator that finds this worker dead must know.
        if !mayHaveBeenSent {
            progress?.markRequestMayHaveBeenSent()
            mayHaveBeenSent = true
        }
        lastActivity = clock.running
        // A request begins with the beginning of its body.
        requestFileOffset = 0
        lastUploaded = 0
        awaitFirstByte()
        if exchange != nil { sentAt = WallClock.time() }
    }

    /// Whether a connection that was used before holds nothing but silence.
    private func isFit(_ connection: Connection) -> Bool {
        // What carries others is in use, and what has come is for HTTP/2's frames to say.
        if connection.isHTTP2, connection.users > 0 { return true }
        if connection.isSpoiled || clock.sinceBoot >= connection.idleUntil { return false }
        if connection.isHTTP2 { return true }
        // One that was made for a limit stays slow without it, and one that was made without takes too much.
        if connection.buffer != limits?.buffer ?? 0 { return false }
        // -EAGAIN is the one good answer: no byte waits, and the stream has not ended.
        guard ccurl_socket_peek(connection.socket) == -EAGAIN else { return false }
        // A connection to an `https` proxy, which is TLS whatever goes through it, is not used again.
        let pending = lease.isSecure ? ccurl_tls_pending(easy.raw) : -1
        if pending > 0 { return false }
        if pending < 0, connection.mayHideExcess {
            // libcurl drops, without a word, what came in the same read as a head without a body.
            return ccurl_socket_bytes_received(connection.socket) <= connection.accountedBytes
        }
        return true
    }

    /// A line of a head, or of HTTP/2's trailer section.
    func receivedLine(_ line: UnsafeRawBufferPointer) -> Bool {
        guard failure == nil else { return false }
        lastActivity = clock.running
        if isProxied, isOfTunnel() { return receivedTunnelLine(line) }
        awaitsFirstByte = false
        do throws(HeadError) {
            let isTrailer = heads.isTrailer(line)
            guard try heads.take(line) else { return !isTrailer || takeTrailer(line) }
            connection?.accountedBytes += Int64(heads.length)
            let (head, facts) = try heads.parse()
            if head.isInterim {
                awaitFirstByte()
                if interim.admits(head) { output.send(.interim(lease: lease.id, head)) }
                return true
            }
            if goesOutUnasked(behind: head, facts) { return false }
            return receivedHead(head, facts)
        } catch {
            switch error {
            case .malformed(let text): failure = HopFailure(.malformedResponse, detail: text.description)
            case .tooLarge(let text): failure = HopFailure(.headTooLarge, detail: text.description)
            }
            return false
        }
    }

    /// Bytes of a body as they came from the wire.
    ///
    /// Nothing is taken before it is clear that it can be: what libcurl is told to keep, it delivers again.
    ///
    /// - Returns: What libcurl is told: how many they are, that it is to wait with them, or something else at the end.
    func accept(_ piece: UnsafeRawBufferPointer) -> Int {
        // libcurl keeps the bodies of responses that it follows with another request.
        if heldHeads > 0, head == nil { releaseHeldHead() }
        guard failure == nil, !endsEarly else { return -1 }
        let piece = ownPart(of: piece)
        if isSuspended || awaitsAnswer || isBackedUp || source != nil || output.isCongested {
            isPaused = true
            if !isPostponed { rest() }
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        if decoder == nil, !ignoresWire, !mayKeep(piece.count) {
            isPaused = true
            return failure == nil ? Int(CURL_WRITEFUNC_PAUSE) : -1
        }
        if let limits, limits.isLimited(.down), !mayTake(piece.count, under: limits) {
            isPaused = true
            rest()
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        lastActivity = clock.running
        connection?.accountedBytes += Int64(piece.count)
        receivedBytes += UInt64(piece.count)
        progress?.set(received: receivedBytes)
        counters.countIn(UInt64(piece.count))
        if ignoresWire {
            // Nobody looks where this body ends, so nothing else may come on its connection.
            easy.forbidReuse()
            endWhole()
            return -1
        }
        guard process(piece) else { return -1 }
        if isComplete {
            endWhole()
            return -1
        }
        return piece.count
    }

    /// A line of HTTP/2's trailer section; that of HTTP/1.1 is inside the raw body.
    private func takeTrailer(_ line: UnsafeRawBufferPointer) -> Bool {
        guard head?.version == .http2 else { return true }
        var section = trailers ?? TrailerSection(maxBytes: heads.maximumBytes, maxFields: heads.maximumFields)
        do throws(ChunkError) {
            for byte in line { _ = try section.take(byte) }
        } catch {
            failure = HopFailure(.malformedResponse, detail: "the trailer section is damaged: \(error)")
            return false
        }
        trailers = section
        return true
    }

    /// The next bytes of a request body that lies in a file, or goes out at a limited rate.
    func readBody(into room: UnsafeMutableRawBufferPointer) -> Int {
        let length: UInt64
        switch lease.body {
        case .none: return 0
        case .inline(let bytes): length = UInt64(bytes.count)
        case .descriptor(let announced): length = requestFile >= 0 ? announced : 0
        }
        let left = length - min(length, requestFileOffset)
        guard left > 0 else { return 0 }
        if isSuspended {
            // Asked once more behind a pause.
            isPaused = true
            return Int(CURL_READFUNC_PAUSE)
        }
        guard let wanted = allowance(toSend: Int(clamping: min(left, UInt64(room.count)))) else {
            return Int(CURL_READFUNC_PAUSE)
        }
        if case .inline(let bytes) = lease.body {
            let start = Int(requestFileOffset)
            bytes.withUnsafeBytes {
                room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + wanted]))
            }
            return sent(wanted)
        }
        var count: Int
        repeat {
            count = pread(requestFile, room.baseAddress, wanted, off_t(clamping: requestFileOffset))
        } while count < 0 && errno == EINTR
        guard count > 0 else {
            failure = HopFailure(
                .requestBody, systemError: count < 0 ? errno : 0,
                detail: count < 0 ? "the body's file cannot be read" : "the body's file is shorter than announced")
            return Int(CURL_READFUNC_ABORT)
        }
        return sent(count)
    }

    private func sent(_ count: Int) -> Int {
        requestFileOffset += UInt64(count)
        progress?.set(sent: requestFileOffset)
        countedOut += UInt64(count)
        counters.countOut(UInt64(count))
        lastActivity = clock.running
        return count
    }
}
