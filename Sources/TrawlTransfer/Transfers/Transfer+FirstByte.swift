import CTrawlCurl
import TrawlProtocol

/// How long a response may take to begin.
extension Transfer {
    /// The request begins to go out, or an interim response has come: the response itself is waited for.
    func awaitFirstByte() {
        awaitsFirstByte = profile.profile.firstByteTimeout > 0
    }

    /// Why the transfer ends because its response does not begin; nil when it does not.
    ///
    /// It is not waited for before all of the request has gone, for which the limit of inactivity holds: libcurl may
    /// wait for 100 with the body, or the peer take none. As long as nothing of the response has come, all activity is
    /// the request's, or the end of a rest. A body inside the lease is sent by libcurl without asking, so its count is
    /// looked at.
    func overdueFirstByte(at now: UInt64) -> HopFailure? {
        guard awaitsFirstByte, !hasUnsentBody else { return nil }
        var uploaded: Int64 = 0
        _ = ccurl_get_offset(easy.raw, CURLINFO_SIZE_UPLOAD_T, &uploaded)
        if uploaded > lastUploaded {
            lastUploaded = uploaded
            lastActivity = now
        }
        let limit = profile.profile.firstByteTimeout
        guard now - lastActivity >= UInt64(limit) * 1_000_000 else { return nil }
        return HopFailure(.inactive, detail: "no byte of a response for \(Duration.milliseconds(limit))")
    }
}
