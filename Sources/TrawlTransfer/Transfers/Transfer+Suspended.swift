import CTrawlCurl
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// Transfers of fetches that are suspended: they rest with their connection, and after a while give it up.
extension Transfer {
    /// Stops reading and writing, and the clocks.
    ///
    /// What the peer has sent waits in the system's buffer, which then tells the peer to wait, unless others of its
    /// connection are read.
    func suspend() {
        guard !isSuspended else { return }
        isSuspended = true
        hasRested = true
        // Nothing is lost where nothing was sent and nothing has come; others get the place, and the bandwidth it waits
        // for.
        guard mayHaveBeenSent || head != nil else { return giveUp() }
        stopAwaitingBandwidth()
        if isInMulti, curl_easy_pause(easy.raw, isHeadOfStreamAwaited ? sending : CURLPAUSE_ALL) == CURLE_OK {
            isPaused = true
        }
        rest()
    }

    /// Whether a head may come that is to be taken as it comes: of a stream of HTTP/2, which is read for the others of
    /// its connection, libcurl 7.88 keeps for a paused transfer what it has by kind, and makes one line of those of a
    /// head. What follows the head rests, by `received`.
    private var isHeadOfStreamAwaited: Bool { head == nil && connection?.isHTTP2 == true }

    /// What is paused of a transfer whose head may come. With all of the request sent that is nothing: a transfer that
    /// is over would not end, and libcurl would poll its connection without reading.
    private var sending: Int32 { hasUnsentBody ? CURLPAUSE_SEND : CURLPAUSE_CONT }

    /// Goes on as if no time had passed.
    func wake() {
        guard isSuspended else { return }
        isSuspended = false
        pump()
    }

    /// Whether the transfer rested, and its connection ends before the response does: the peer did not wait. That is
    /// known only when what the system had of the response is read, so it does not matter how long ago the transfer
    /// went on.
    func isLeftByPeer(_ result: CURLcode) -> Bool {
        guard hasRested, failure == nil, !endsEarly, result != CURLE_OK else { return false }
        let kind = CurlFailure.kind(result, errorText, easy: easy.raw, hasHead: head != nil)
        return kind == .connectionLost || kind == .truncated
    }

    /// Ends the lease and closes the connection. What has come is handed back.
    func giveUp() {
        isGivenUp = true
        leaveMulti()
        report(CURLE_ABORTED_BY_CALLBACK, succeeded: false)
    }

    /// How a transfer ends that is given up, and the descriptor that goes along.
    func handOver() -> (HopOutcome, Int32?) {
        var (kept, file): (UInt64, Int32?) = (0, nil)
        // Of anything else nothing can be gone on with; but what a pipe or terminal has taken is gone.
        if let status = head?.status, status == 200 || status == 206 || store.isPaced, !dropsBody, failure == nil {
            (kept, file) = store.handOver(without: pending.count)
        } else {
            store.abandon()
        }
        return (.givenUp(requestSent: mayHaveBeenSent, kept: kept, isPassed: file != nil), file)
    }

    /// Puts the rest of a body behind what an earlier lease of the hop left of it.
    func goOnBehindPart() {
        // RFC 9110 §15.3.7: any other response brings the whole.
        guard lease.part > 0, partDescriptor >= 0, head?.status == 206 else { return }
        let file = Descriptor(adopting: partDescriptor)
        partDescriptor = -1
        do throws(HopFailure) {
            try store.goOn(behind: lease.part, in: file)
        } catch {
            failure = error
        }
    }
}
