import CTrawlCurl
import Glibc
import TrawlCoding
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// How a transfer comes to its end, and what it says then.
extension Transfer {
    /// Takes the transfer out of libcurl and ends it.
    func conclude(_ result: CURLcode) {
        leaveMulti()
        end(result)
    }

    func leaveMulti() {
        guard isInMulti else { return }
        isInMulti = false
        loop.transfersInMulti -= 1
        _ = curl_multi_remove_handle(multi, easy.raw)
    }

    /// libcurl is done with the transfer; it is no longer in the multi handle.
    func end(_ result: CURLcode) {
        var result = result
        // What came before the end comes first.
        if failure == nil, !endsEarly, !kept.isEmpty {
            heldResult = result
            if !isPostponed { rest() }
            return
        }
        if failure == nil, wantsOtherLease || wantsFreshConnection || mayRepeat(result) {
            if isSuspended || wantsOtherLease { giveUp() } else { restart() }
            return
        }
        if isLeftByPeer(result) { return giveUp() }
        if result == CURLE_OK, heldHeads > 0 { releaseHeldHead() }
        var succeeded = result == CURLE_OK || (failure == nil && (endsEarly || isBrokenOffUnwanted(result)))
        if !succeeded || failure != nil, exchange != nil, answerFromStore(insteadOf: describe(result)) {
            // What libcurl says is not of the answer any more, which may have to be delivered in several turns.
            (succeeded, result) = (true, CURLE_OK)
        }
        if succeeded, failure == nil { _ = feed() }
        if succeeded, failure == nil, awaitsAnswer || isBackedUp || source != nil || paceEmpty() {
            if awaitsAnswer || isBackedUp || source != nil {
                heldResult = result
                if !isPostponed { rest() }
                return
            }
            if isBrokenOffUnwanted(result) { endsEarly = true }
            checkFraming()
            if hasRested, failure != nil {
                failure = nil
                return giveUp()
            }
            checkCoding()
            // What is stored may have to be delivered in several turns, too.
            if failure != nil, exchange != nil, answerFromStore(insteadOf: describe(result)) { return end(CURLE_OK) }
        }
        report(result, succeeded: succeeded)
    }

    /// Whether the request goes out once more, on a new connection: it may be repeated, and the one it went out on was used
    /// before and ended without a byte of response (RFC 9112 §9.3.1), or its stream was refused or left out (RFC 9113 §8.7).
    ///
    /// libcurl does that by itself, but five times at most in an easy handle's life before it fails once and begins to count
    /// anew (7.88, `Curl_retry_request`). Where the host is to be spared, another lease does it when its time has come.
    private func mayRepeat(_ result: CURLcode) -> Bool {
        guard isConnectionLost(result), !isRepeated, lease.method.isIdempotent, head == nil, heads.bytes == 0,
            heldHeads == 0, refusalOfTunnel == nil, isReused || isOutOfRetries
        else { return false }
        isRepeated = true
        wantsOtherLease = lease.options.contains(.sendsOnce)
        return true
    }

    /// Whether the connection ended, or its peer gave the stream back.
    private func isConnectionLost(_ result: CURLcode) -> Bool {
        switch result {
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR: true
        // 7.88 says so to the last stream that GOAWAY left out, and to the last that was refused.
        case CURLE_HTTP2, CURLE_PARTIAL_FILE: connection?.isHTTP2 == true
        // And so to all streams of a connection that ended but the first.
        case CURLE_HTTP2_STREAM: CurlFailure.isStreamCutOff(errorText)
        default: false
        }
    }

    private var isOutOfRetries: Bool { errorText.hasPrefix("Connection died, tried ") }

    /// Whether the connection ended before the response did, where only the end can show it.
    private func checkFraming() {
        guard head != nil else {
            // RFC 9112 §8: a head that did not come whole is no response; no rule of its syntax was broken.
            failure = HopFailure(.connectionLost, detail: "the connection ended within the head of the response")
            return
        }
        guard !endsEarly || endsWhole else { return }
        if let chunks, !chunks.isComplete {
            // RFC 9112 §8.
            if dropsBody {
                endsEarly = true
                return
            }
            failure = HopFailure(.truncated, detail: "\(ChunkError.truncated)")
            return
        }
        if readsOn, !ignoresWire, let announced, receivedBytes < announced {
            // RFC 9112 §8: libcurl does not count here, and takes any close for the end.
            if dropsBody {
                endsEarly = true
                return
            }
            failure = HopFailure(
                .truncated, detail: "\(announced - receivedBytes) bytes of the Content-Length did not come")
            return
        }
        if let missing, missing > 0 {
            failure = HopFailure(.truncated, detail: "\(missing) bytes of the Content-Range did not come")
        }
    }

    /// Whether the content coding came to its end.
    private func checkCoding() {
        guard failure == nil, !endsEarly || endsWhole else { return }
        do throws(DecodingError) {
            try decoder?.finish()
        } catch {
            var why = failure(of: error)
            if case .truncated = error, why.kind == .decoding, isEndedByClose { why.kind = .truncated }
            failure = why
        }
    }

    /// Whether nothing but the end of the connection says that the body is whole (RFC 9112 §8): where its coding has no end
    /// then, it is not.
    private var isEndedByClose: Bool {
        report.source == .network && head?.version != .http2 && chunks == nil && announced == nil
    }

    /// Tells the end of the lease, and makes the transfer ready for the next one.
    func report(_ result: CURLcode, succeeded: Bool) {
        var outcome = HopOutcome.complete(.discarded(length: 0))
        var cache: CacheReport = report
        if cache.source != .network { cache.serverFields = fieldsToTell() }
        var descriptor: Int32?
        var commit: UInt64?
        if isGivenUp {
            (outcome, descriptor) = handOver()
            commit = keeper?.interrupt()
            keeper = nil
        } else if succeeded, failure == nil {
            do throws(HopFailure) {
                let (delivery, passed) = try store.finish()
                outcome = .complete(delivery)
                descriptor = passed
                commit = endsEarly && !endsWhole ? keeper?.interrupt() : keeper?.finish()
                keeper = nil
            } catch {
                failure = error
            }
        }
        if !isGivenUp, !succeeded || failure != nil {
            store.abandon()
            let why = describe(result)
            if why.kind != .cancelled, why.kind != .decoding { commit = keeper?.interrupt() } else { keeper?.abandon() }
            keeper = nil
            outcome = .failed(why)
        }
        var fields = FieldLines()
        if let chunks, chunks.isComplete { fields = chunks.trailers }
        if var trailers {
            // The section's own end does not come from libcurl.
            _ = try? trailers.take(0x0D)
            fields = trailers.fields
        }
        var decoded: [String] = []
        if let decoder, !decoder.chain.undone.isEmpty {
            decoded = decoder.chain.undone.reversed().map(\.name)
        }
        // Beside any other outcome it would be taken for the server's word.
        var refusal: ResponseHead?
        if case .failed(let why) = outcome, why.kind == .proxy { refusal = refusalOfTunnel }
        let end = LeaseEnd(
            lease: lease.id, outcome: outcome, head: isHeadSent ? nil : head ?? refusal, trailers: fields,
            decoded: decoded, cache: cache, metrics: wasBegun ? metrics() : HopMetrics())
        settleBandwidth(end.metrics)
        resetResponse()
        clearLogin()
        closeDescriptors()
        leave(connection)
        connection = nil
        progress?.finish()
        progress = nil
        exchange = nil
        if !serverFields.isEmpty { serverFields = FieldLines() }
        if stateChanges.isEmpty {
            loop.retire(self, with: consume end, descriptor: descriptor, after: commit)
        } else {
            let changes = stateChanges
            stateChanges = []
            loop.retire(self, with: consume end, descriptor: descriptor, after: commit, and: changes)
        }
    }

    /// Whether libcurl has begun the request. Until then what it says is of the one before, whose handle it was.
    private var wasBegun: Bool { givenInRound.map { $0 < loop.rounds } ?? false }

    /// Closes what came with the lease.
    func closeDescriptors() {
        if requestFile >= 0 { _ = Glibc.close(requestFile) }
        requestFile = -1
        if sinkDescriptor >= 0 { _ = Glibc.close(sinkDescriptor) }
        sinkDescriptor = -1
        if partDescriptor >= 0 { _ = Glibc.close(partDescriptor) }
        partDescriptor = -1
    }
}
