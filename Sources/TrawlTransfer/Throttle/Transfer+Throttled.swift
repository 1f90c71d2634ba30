import CTrawlCurl
import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// A transfer's part in the limits of bandwidth.
///
/// What counts is what is on the wire, and the system takes bytes for us that we have not read: as many as its buffer
/// for the connection holds. So a transfer pays before it starts for what can come unread, or for less where less is
/// expected, and before each reading for what takes the place of what is read. Whenever it is looked at, what came in
/// fact is taken from what is paid, and charged where that was not enough.
extension Transfer {
    /// What a transfer waits with until there is bandwidth.
    enum BandwidthWait {
        case start, download, upload
    }

    /// Bytes of a response to HEAD, which has no body, that are expected.
    private static let headSize = 1 << 10

    /// Whether the request may go to libcurl now; else it waits for bandwidth.
    func mayStart() -> Bool {
        guard let limits, limits.isLimited(.down) || limits.isLimited(.up) else {
            readsLittle(nil)
            return true
        }
        guard loop.mayPass(self, waitingWith: .start), reserve(limits) else {
            awaitsBandwidth = .start
            rest()
            loop.awaitBandwidth(self)
            return false
        }
        lastFull = clock.now
        limits.takePlace(in: loop.placesRound)
        return true
    }

    /// How long a transfer has its place under its limits when nothing comes or goes, or too little to wait for.
    private static let longestIdle: UInt64 = 1_000_000_000

    /// Whether it takes a place under its limits. What is suspended, and what its peer lets wait, leaves it to others.
    var takesPlace: Bool { isInMulti && !isSuspended && clock.now &- lastFull < Self.longestIdle }

    /// Notes whether a good part of what a turn is for is there: then the limit is what holds the transfer back.
    private func noteFullness(at pace: LimitedPace) {
        if let arrived, arrived - takenBefore < loop.unread.window(at: pace) / 4 { return }
        lastFull = clock.now
    }

    /// Bounds what system and libcurl take at a time, or does not any more.
    private func readsLittle(_ pace: LimitedPace?) {
        connections.buffer = pace?.buffer ?? 0
        guard pace != nil || readsLittle else { return }
        readsLittle = pace != nil
        easy.set(CURLOPT_BUFFERSIZE, readLength(pace))
    }

    /// What libcurl reads at a time: at a limit no less than the system has for it.
    private func readLength(_ pace: LimitedPace?) -> Int {
        guard readsLittle, let pace else { return loop.receiveBuffer(for: profile) }
        return 2 * Int(pace.buffer)
    }

    /// Charges what is expected of the response, as far as it can come without being read: what the system takes, and
    /// what libcurl has read before it is told to wait.
    ///
    /// - Returns: False when another process was faster.
    private func reserve(_ limits: LimitSet) -> Bool {
        let pace = limits.rate(.down).map { LimitedPace(rate: $0) }
        var charge = 0
        if let pace {
            charge = loop.unread.start(at: pace)
            if let expected = lease.method == .head ? Self.headSize : loop.sizes.size(of: lease.url) {
                charge = min(charge, pace.onWire(expected))
            }
        }
        guard limits.chargeIfPaid(charge, .down, at: clock.now) else { return false }
        readsLittle(pace)
        isCharged = true
        reservation.down = charge
        progress?.reservation = UInt64(charge)
        return true
    }

    /// A connection carries the transfer from now on, and what is paid goes to it.
    func meter(_ connection: Connection) {
        guard isCharged else { return }
        connection.metered.prepaid = connection.metered.prepaid + reservation
        reservation = Connection.Traffic()
        trafficBefore = connection.metered.known
        // What TLS said before is no part of the response.
        if lease.isSecure, let limits { settleTraffic(limits) }
        receivedBefore = connection.metered.received
    }

    /// Takes what is paid back from a connection that does not carry the transfer any more.
    func leaveConnection() {
        granted = 0
        takenBefore = 0
        isStartSettled = false
        leave(connection)
        guard let connection else { return }
        self.connection = nil
        guard isCharged, !connection.isHTTP2 else { return }
        reservation = reservation + connection.metered.prepaid
        connection.metered.prepaid = Connection.Traffic()
    }

    /// Charges what came and went beyond what is paid.
    private func settleTraffic(_ limits: LimitSet) {
        lastLook = clock.now
        guard let connection else { return }
        let new = connection.newTraffic()
        let paid = Connection.Traffic(
            down: min(connection.metered.prepaid.down, new.down), up: min(connection.metered.prepaid.up, new.up))
        connection.metered.prepaid.down -= paid.down
        connection.metered.prepaid.up -= paid.up
        limits.charge(new.down - paid.down, .down, at: clock.now)
        limits.charge(new.up - paid.up, .up, at: clock.now)
    }

    /// Gives back what is paid beyond what is expected.
    private func refund(beyond expected: Int, _ limits: LimitSet) {
        guard let connection, !connection.isHTTP2 else { return }
        let excess = connection.metered.prepaid.down - expected
        guard excess > 0 else { return }
        connection.metered.prepaid.down = expected
        limits.refund(excess, .down)
    }

    /// Bytes of the response that have come, read or not, heads included; nil when the connection carries others too.
    private var arrived: Int? {
        guard let connection, !connection.isHTTP2 else { return nil }
        return connection.metered.received - receivedBefore
    }

    /// Bytes of the whole response, heads included, where so many are announced for its body.
    private func whole(_ length: UInt64) -> Int {
        Int(clamping: bytesBeforeBody) + Int(clamping: min(length, UInt64(LimitedPace.longest)))
    }

    /// The head of the response is there, and tells what is to be expected.
    ///
    /// - Parameter length: How long the body will be on the wire, where that is known.
    func chargeHead(expecting length: UInt64?) {
        progress?.reservation = 0
        guard let limits, let rate = limits.rate(.down) else { return }
        noteUncharged()
        guard let length else { return }
        let (whole, pace) = (whole(length), LimitedPace(rate: rate))
        if lease.method != .head { loop.sizes.note(whole, of: lease.url) }
        // No more was paid than will come: the next look is early enough.
        guard let connection, connection.metered.prepaid.down > pace.onWire(whole) else { return }
        settleTraffic(limits)
        refund(beyond: pace.onWire(max(0, whole - (arrived ?? 0))), limits)
    }

    /// How often a transfer that waits is looked at: its peer goes on trying whether there is room.
    private static let lookInterval: UInt64 = 100_000_000

    /// Charges what comes while the transfer waits.
    func settleWaiting() {
        if awaitsBandwidth == .upload { lastFull = clock.now }
        guard awaitsBandwidth == .download, let limits, let rate = limits.rate(.down) else { return }
        if isStartSettled {
            guard clock.now &- lastLook >= Self.lookInterval else { return }
            settleTraffic(limits)
            noteFullness(at: LimitedPace(rate: rate))
            return
        }
        // It was let go and waits with its first bytes: what a start costs is known.
        isStartSettled = true
        settleTraffic(limits)
        guard let arrived, let connection else { return }
        refund(beyond: 0, limits)
        let traffic = connection.metered.known - trafficBefore
        loop.unread.note(arrived, traffic.down + traffic.up, at: LimitedPace(rate: rate))
    }

    /// Whether bytes of the body may be taken now; else the transfer waits for bandwidth.
    func mayTake(_ count: Int, under limits: LimitSet) -> Bool {
        noteUncharged()
        // What is left of its turn.
        if count <= granted {
            granted -= count
            return true
        }
        guard let rate = limits.rate(.down) else { return true }
        let received = Int(clamping: bytesBeforeBody) + Int(clamping: receivedBytes)
        let whole = store.expectedLength.map(whole)
        // What has come to its end need not wait, and is charged with it.
        if let whole, whole - received <= count { return true }
        if limits.isSlack(.down, at: clock.now) { connection?.widen(for: rate) }
        settleTraffic(limits)
        let left = whole.map { $0 - (arrived ?? received) } ?? .max
        if left <= 0 { return true }
        let pace = LimitedPace(rate: rate)
        noteFullness(at: pace)
        let turn = turn(count, at: pace)
        let due = min(turn.due, left)
        guard loop.mayPass(self, waitingWith: .download), limits.chargeIfPaid(due, .down, at: clock.now) else {
            awaitsBandwidth = .download
            loop.awaitBandwidth(self)
            return false
        }
        connection?.metered.prepaid.down += due
        granted = max(0, turn.granted - count)
        if let arrived, let connection { takenBefore = arrived - connection.metered.unread }
        return true
    }

    /// What a turn costs, and how much of the body may be delivered in it: all that libcurl has, so that it reads next
    /// what the system has, as a whole where the connection was opened for a limit. As much comes in the place of that,
    /// beyond what is paid and has not come: a peer need not send as fast as there is room.
    private func turn(_ count: Int, at pace: LimitedPace) -> (due: Int, granted: Int) {
        let paid = connection?.metered.prepaid.down ?? 0
        if let arrived, let unread = connection?.metered.unread {
            return (max(0, min(unread, readLength(pace)) - paid), arrived - unread - takenBefore)
        }
        let window = max(count, loop.unread.window(at: pace))
        return (max(0, window - paid), window)
    }

    /// How many of so many bytes of the request's body may be sent now; nil when it waits for bandwidth.
    func allowance(toSend count: Int) -> Int? {
        guard let limits, let rate = limits.rate(.up) else { return count }
        noteUncharged()
        settleTraffic(limits)
        lastFull = clock.now
        let count = min(count, LimitedPace(rate: rate).piece)
        guard loop.mayPass(self, waitingWith: .upload), limits.chargeIfPaid(count, .up, at: clock.now) else {
            awaitsBandwidth = .upload
            isPaused = true
            rest()
            loop.awaitBandwidth(self)
            return nil
        }
        connection?.metered.prepaid.up += count
        return count
    }

    /// A limit that comes while a transfer runs is for what comes after it.
    private func noteUncharged() {
        guard !isCharged else { return }
        isCharged = true
        guard let connection else { return }
        _ = connection.newTraffic()
        takenBefore = Int(clamping: bytesBeforeBody) + Int(clamping: receivedBytes)
        receivedBefore = connection.metered.received - connection.metered.unread - takenBefore
    }

    /// There is bandwidth for what the transfer waits with. When another process takes it first, it waits again.
    func goOnWithBandwidth() {
        let wait = awaitsBandwidth
        awaitsBandwidth = nil
        switch wait {
        case .start:
            guard mayStart() else { return }
            stopResting()
            enterMulti()
        case .download, .upload: pump()
        case nil: break
        }
    }

    /// The transfer waits for bandwidth no more; others may go on in its place.
    func stopAwaitingBandwidth() {
        guard awaitsBandwidth != nil else { return }
        awaitsBandwidth = nil
        loop.throttled.removeAll { $0 === self }
        loop.gavePlaceBack()
    }

    /// Charges what is still owed at the end, or gives back what was too much.
    func settleBandwidth(_ metrics: HopMetrics) {
        stopAwaitingBandwidth()
        guard let limits, isCharged else { return }
        settleTraffic(limits)
        leaveConnection()
        limits.refund(reservation.down, .down)
        limits.refund(reservation.up, .up)
        reservation = Connection.Traffic()
        // What was announced is known since the head.
        if lease.method != .head, head != nil, store.expectedLength == nil {
            loop.sizes.note(Int(clamping: metrics.bytesReceived), of: lease.url)
        }
    }
}
