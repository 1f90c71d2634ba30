import CCurl
import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// A transfer's part in the limits of bandwidth.
///
/// What counts is what is on the wire, and the system takes bytes for us that we have not read: as many as its buffer for
/// the connection holds. So a transfer is charged for that buffer before it starts, or for less where less is expected,
/// and for each byte it reads as for the one that takes its place. What did not come is given back at the end.
extension Transfer {
    /// What a transfer waits with until there is bandwidth.
    enum BandwidthWait {
        case start, download, upload
    }

    /// Bytes of a response to HEAD, which has no body, that are expected.
    private static let headSize = 1 << 10
    /// Bytes of a body after which its segments are counted.
    private static let segmentInterval = 64 << 10

    /// Whether the request may go to libcurl now; else it waits for bandwidth.
    func mayStart() -> Bool {
        guard let limits, limits.isLimited(.down) || limits.isLimited(.up) else {
            readsLittle(nil)
            return true
        }
        guard loop.hasBandwidth(toStart: self) else {
            awaitsBandwidth = .start
            rest()
            loop.awaitBandwidth(self)
            return false
        }
        reserve(limits)
        return true
    }

    /// Bounds what system and libcurl take at a time, or does not any more.
    private func readsLittle(_ pace: LimitedPace?) {
        loop.connections.buffer = pace?.buffer ?? 0
        guard pace != nil || readsLittle else { return }
        easy.set(CURLOPT_BUFFERSIZE, pace?.step ?? loop.receiveBuffer(for: profile))
        readsLittle = pace != nil
    }

    /// Charges what is expected of the response, as far as it can come without being read.
    private func reserve(_ limits: LimitSet) {
        isCharged = true
        let pace = limits.rate(.down).map { LimitedPace(rate: $0) }
        readsLittle(pace)
        guard let most = pace?.unread else { return }
        let expected = lease.method == .head ? Self.headSize : loop.sizes.size(of: lease.url) ?? most
        chargedDown = min(expected, most)
        limits.charge(chargedDown, .down, at: loop.now)
        progress?.reservation = UInt64(chargedDown)
    }

    /// The head of the response is there: it is charged at the least, and what is announced at the most.
    ///
    /// - Parameter length: How long the body will be on the wire, where that is known.
    func chargeHead(expecting length: UInt64?) {
        progress?.reservation = 0
        guard let limits, limits.isLimited(.down) else { return }
        noteUncharged()
        let before = Int(clamping: bytesBeforeBody)
        if before > chargedDown {
            limits.charge(before - chargedDown, .down, at: loop.now)
            chargedDown = before
        }
        guard let length else { return }
        let whole = before + Int(clamping: length)
        if lease.method != .head { loop.sizes.note(whole, of: lease.url) }
        if whole < chargedDown {
            limits.refund(chargedDown - whole, .down)
            chargedDown = whole
        }
    }

    /// Whether bytes of the body may be taken now; else the transfer waits for bandwidth.
    func mayTake(_ count: Int, under limits: LimitSet) -> Bool {
        noteUncharged()
        let before = Int(clamping: bytesBeforeBody)
        let received = before + Int(clamping: receivedBytes)
        let whole = store.expectedLength.map { before + Int(clamping: $0) } ?? .max
        // What is paid for to its end need not wait.
        if whole <= chargedDown { return true }
        guard limits.debt(.down, at: loop.now) == 0 else {
            awaitsBandwidth = .download
            loop.awaitBandwidth(self)
            return false
        }
        let unread = limits.rate(.down).map { LimitedPace(rate: $0).unread } ?? 0
        let wanted = min(whole, received + count + unread)
        if wanted > chargedDown {
            limits.charge(wanted - chargedDown, .down, at: loop.now)
            chargedDown = wanted
        }
        sinceSegments += count
        if sinceSegments >= Self.segmentInterval { chargeSegments(limits) }
        return true
    }

    /// Charges the heads of segments, which nobody but the system has counted.
    private func chargeSegments(_ limits: LimitSet) {
        sinceSegments = 0
        guard let segments = connection?.newSegments() else { return }
        limits.charge(Int(segments.down) * Connection.Segments.headLength, .down, at: loop.now)
        limits.charge(Int(segments.up) * Connection.Segments.headLength, .up, at: loop.now)
    }

    /// How many of so many bytes of the request's body may be sent now; nil when it waits for bandwidth.
    func allowance(toSend count: Int) -> Int? {
        guard let limits, limits.isLimited(.up) else { return count }
        noteUncharged()
        guard limits.debt(.up, at: loop.now) == 0 else {
            awaitsBandwidth = .upload
            isPaused = true
            rest()
            loop.awaitBandwidth(self)
            return nil
        }
        let count = limits.rate(.up).map { min(count, LimitedPace(rate: $0).step) } ?? count
        limits.charge(count, .up, at: loop.now)
        chargedUp += count
        return count
    }

    /// A limit that comes while a transfer runs is for what comes after it.
    private func noteUncharged() {
        guard !isCharged else { return }
        isCharged = true
        chargedDown = Int(clamping: bytesBeforeBody + receivedBytes)
        chargedUp = Int(clamping: requestFileOffset)
    }

    /// There is bandwidth for what the transfer waits with.
    func goOnWithBandwidth() {
        let wait = awaitsBandwidth
        awaitsBandwidth = nil
        switch wait {
        case .start:
            stopResting()
            if let limits { reserve(limits) }
            enterMulti()
        case .download, .upload: pump()
        case nil: break
        }
    }

    /// Charges what is still owed at the end, or gives back what was too much.
    func settleBandwidth(_ metrics: HopMetrics) {
        awaitsBandwidth = nil
        guard let limits, isCharged else { return }
        chargeSegments(limits)
        let received = Int(clamping: metrics.bytesReceived)
        limits.charge(received - chargedDown, .down, at: loop.now)
        limits.refund(chargedDown - received, .down)
        let sent = Int(clamping: metrics.bytesSent)
        limits.charge(sent - chargedUp, .up, at: loop.now)
        limits.refund(chargedUp - sent, .up)
        // What was announced is known since the head.
        if lease.method != .head, head != nil, store.expectedLength == nil { loop.sizes.note(received, of: lease.url) }
    }
}
