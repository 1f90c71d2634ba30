import CTrawlCurl
import TrawlHTTP
import TrawlProtocol

/// The clocks of a transfer: how long it may take, and when they stand still.
extension Transfer {
    /// Stops the clocks of the transfer.
    func rest() {
        if restingSince == nil { restingSince = clock.running }
    }

    /// Lets the clocks go on as if no time had passed.
    func stopResting() {
        guard let since = restingSince else { return }
        startedAt += clock.running - since
        lastActivity = clock.running
        restingSince = nil
        if let timeLimit { loop.note(limit: timeLimit) }
    }

    /// When the lease must be over, on the loop's running clock; nil without a limit, while the clock rests, and when
    /// it is.
    var timeLimit: UInt64? {
        guard lease.timeout > 0, restingSince == nil, place >= 0 else { return nil }
        let (nanoseconds, overflow) = lease.timeout.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? nil : startedAt.addingReportingOverflow(nanoseconds).overflow ? nil : startedAt + nanoseconds
    }

    /// Ends the transfer when one of its times is up.
    func checkTimes() {
        guard restingSince == nil else { return }
        let now = clock.running
        if let timeLimit, now >= timeLimit {
            failure = HopFailure(.timedOut, detail: "not complete after \(lease.timeout) ms")
            conclude(CURLE_OPERATION_TIMEDOUT)
            return
        }
        if let failure = overdueFirstByte(at: now) ?? overdueConnection(at: now) {
            self.failure = failure
            conclude(CURLE_OPERATION_TIMEDOUT)
            return
        }
        if requestsBegun > 0 { nudge(at: now) }
        // That may have been the end of it.
        guard place >= 0 else { return }
        if drains, now - lastActivity >= Self.silence {
            // To read it would have saved the connection; that takes too long.
            endsEarly = true
            conclude(CURLE_WRITE_ERROR)
            return
        }
        var limit = UInt64(profile.profile.inactivityTimeout) * 1_000_000
        // Before a connection stands, another limit holds: libcurl's, or that of `overdueConnection`.
        guard limit > 0, requestsBegun > 0, now - lastActivity >= limit else { return }
        // A body inside the lease is sent by libcurl without asking.
        var uploaded: Int64 = 0
        _ = ccurl_get_offset(easy.raw, CURLINFO_SIZE_UPLOAD_T, &uploaded)
        if uploaded > lastUploaded {
            lastUploaded = uploaded
            lastActivity = now
            return
        }
        // ASI-RTY-01: a server that is about to take a body has more to do before it answers anything.
        if uploaded == 0, head == nil, requestBodyLength > 0 { limit += limit / 2 }
        guard now - lastActivity >= limit else { return }
        failure = HopFailure(.inactive, detail: "no byte for \(Duration.nanoseconds(limit))")
        conclude(CURLE_OPERATION_TIMEDOUT)
    }

    /// Why the transfer ends because there is no connection for it; nil when it does not.
    ///
    /// libcurl 7.88 limits the time of one that it connects, and not of one that waits for another's connection, to
    /// share it (CURLOPT_PIPEWAIT): each that fails has the next one begin, with all of its time.
    private func overdueConnection(at now: UInt64) -> HopFailure? {
        let limit = profile.profile.connectTimeout
        guard profile.multiplexes, isInMulti, requestsBegun == 0, limit > 0,
            now - lastActivity >= UInt64(limit) * 1_000_000
        else { return nil }
        return HopFailure(
            .connectTimedOut, curlCode: CURLE_OPERATION_TIMEDOUT.rawValue,
            detail: "no connection for \(Duration.milliseconds(limit))")
    }

    /// Gives the making of its connection the time that was lost meanwhile: libcurl goes by a clock that does not rest.
    func makeUpForLostTime() {
        guard isInMulti, clock.lost != lostBefore else { return }
        profile.limitConnecting(of: easy, lost: (clock.lost &- lostBefore) / 1_000_000)
        // The next that uses the handle has all options set anew.
        easy.profile = nil
    }

    /// Has libcurl look for what it has read of a silent stream of HTTP/2.
    ///
    /// Where many streams share a connection, 7.88 can read the end of one and not come back to it before the connection
    /// says more. It does when a pause ends.
    private func nudge(at now: UInt64) {
        guard connection?.isHTTP2 == true, isInMulti, !isPaused, now - max(lastActivity, lastNudge) >= Self.silence
        else {
            return
        }
        lastNudge = now
        var code = curl_easy_pause(easy.raw, CURLPAUSE_RECV)
        if code == CURLE_OK { code = curl_easy_pause(easy.raw, CURLPAUSE_CONT) }
        if code != CURLE_OK { conclude(code) }
    }

    /// After how long a peer is silent.
    private static let silence: UInt64 = 1_000_000_000
}
