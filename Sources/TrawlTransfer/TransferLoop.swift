// TrawlTransfer: libcurl's multi handle, and all that is between it and a lease: requests, heads, bodies and where
// they go, connections, limits of bandwidth. libcurl's own redirects, cookies and decoding stay off. It decides
// nothing about fetches, and no callback of libcurl throws, traps or waits.

import CTrawlCurl
import Glibc
import TrawlCoding
import TrawlHTTP
package import TrawlPlatform
package import TrawlProtocol

/// Why a message of the coordinator makes no sense.
package enum ProtocolViolation: Error, Equatable, Sendable {
    case unknownProfile
    case tooManyLeases
    case progressIndex
    case leaseWhileDraining
    case greetingTwice
}

/// Runs transfers: one libcurl multi handle and everything around it that keeps its answers trustworthy.
///
/// Bound to the transfer thread. It reads no socket of the coordinator's and takes no decision about fetches: leases
/// come in by method calls, and what is to be said goes to `output`.
package final class TransferLoop {
    let multi: UnsafeMutableRawPointer
    let output: TransferOutput
    let connections = ConnectionTable()
    let decoders = DecoderPool()
    let roots: [OutputRoot]
    /// The worker's line of the shared segment.
    package let counters: SharedWorkerLine
    /// Whether its thread waits for a file.
    package let fileCalls = FileCalls()
    /// Keeps responses for later, where there is a cache.
    let keeper: (any ResponseKeeper)?
    /// Remembers what servers say about their user, where that is wanted.
    let stateKeeper: (any StateKeeper)?
    /// Ends that wait for the store.
    @Unchecked var heldEnds = HeldEnds()

    let segment: SharedSegment
    private let slot: Int
    private let leases: Int
    @Unchecked private var profiles: [UInt32: ResolvedProfile] = [:]
    /// The one of the latest lease: most leases have it too.
    @Unchecked private var lastProfile: (number: UInt32, profile: ResolvedProfile)?
    @Unchecked private var idle: ContiguousArray<Transfer> = []
    @Unchecked private var active: ContiguousArray<Transfer> = []
    /// The transfers of all leases, for a look.
    var activeTransfers: ContiguousArray<Transfer> { active }
    @Unchecked private var usedIndexes: [Bool]
    /// Leases whose responses will not be stored, to be told unless they end in this turn.
    @Unchecked private var unshared: ContiguousArray<UInt64> = []
    /// Whether the coordinator wants to know which connections that count were closed.
    private let tellsConnections: Bool
    private var lastTick: UInt64 = 0
    /// What the clock had lost when transfers were given it last.
    private var lostTime: UInt64 = 0
    /// When the first limit of a lease's time may be met, on the running clock.
    private var nextLimit = UInt64.max
    /// Transfers that had their share of this turn and have more to decode.
    @Unchecked private var unfinished: ContiguousArray<Transfer> = []
    /// Transfers that wait for bandwidth, and when the next may go on, by the monotonic clock.
    @Unchecked var throttled: ContiguousArray<Transfer> = []
    var throttleDue = UInt64.max
    /// The one of them whose turn it is.
    var turnOf: Transfer?
    /// The limits that leases are under, by their numbers.
    @Unchecked var limitSets: [LimitNumbers: LimitSet] = [:]
    @Unchecked var lastLimits: LimitSet?
    /// What use is made of each limit, by its number.
    @Unchecked var limitUses: [Int: LimitUse] = [:]
    /// Which count of the places under limits is the latest, and the turn that it is of.
    var placesRound: UInt64 = 0
    var placesTurn = UInt64.max
    /// Where requests went lately.
    @Unchecked var origins = RequestOrigins()
    /// How long responses have been lately.
    @Unchecked var sizes = SizeEstimates()
    /// What systems have taken unread lately.
    @Unchecked var unread = UnreadBytes()
    /// How many transfers libcurl has in hand.
    var transfersInMulti = 0
    /// Whether transfers wait for a pipe or terminal to take more; found out anew at each wait.
    var someAwaitRoom = false
    /// How often libcurl has been let work, in which it begins what it was given.
    private(set) var rounds: UInt64 = 0
    /// Where in `active` stands who goes on first when the output has room again.
    private var nextRelieved = 0
    /// Counts turns, so that a transfer knows when its share is a new one.
    private(set) var turnNumber: UInt64 = 0

    let clock = LoopClock()
    /// Nanoseconds of the monotonic clock at the beginning of this turn.
    var now: UInt64 { clock.now }

    private static let tick: UInt64 = 250_000_000
    /// How long an end waits for its commit: the disk may not answer, or another process be stopped while it writes.
    private static let longestCommit: UInt64 = 1_000_000_000

    /// A loop without transfers, or nil when libcurl cannot make one.
    ///
    /// - Parameters:
    ///   - leases: The most transfers at a time.
    ///   - roots: Directories beneath which files may be made, by the numbers leases use.
    ///   - slot: The worker's place in `segment`.
    ///   - tellsClosing: Whether connections that close while they are idle are told of.
    ///   - tellsConnections: Whether it is told unasked how many connections to an origin are left.
    package convenience init?(
        leases: Int, roots: [OutputRoot], segment: SharedSegment, slot: Int, output: TransferOutput,
        keeper: (any ResponseKeeper)? = nil, stateKeeper: (any StateKeeper)? = nil, tellsClosing: Bool = false,
        tellsConnections: Bool = true
    ) {
        guard slot < segment.workers, leases <= segment.transfersPerWorker, let multi = curl_multi_init() else {
            return nil
        }
        self.init(multi, leases, roots, segment, slot, output, keeper, stateKeeper, tellsClosing, tellsConnections)
    }

    /// Does not fail: what `deinit` frees is there from the first property on.
    private init(
        _ multi: UnsafeMutableRawPointer, _ leases: Int, _ roots: [OutputRoot], _ segment: SharedSegment, _ slot: Int,
        _ output: TransferOutput, _ keeper: (any ResponseKeeper)?, _ stateKeeper: (any StateKeeper)?,
        _ tellsClosing: Bool, _ tellsConnections: Bool
    ) {
        self.multi = multi
        self.output = output
        self.roots = roots
        self.segment = segment
        self.slot = slot
        self.leases = leases
        self.keeper = keeper
        self.stateKeeper = stateKeeper
        self.tellsConnections = tellsConnections
        counters = segment.worker(slot)
        usedIndexes = [Bool](repeating: false, count: segment.transfersPerWorker)
        _ = ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(leases * 2, 16))
        _ = ccurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        guard tellsClosing else { return }
        connections.closes = { [unowned self] connection in
            // A transfer that found it unfit has not used it.
            let isUsed = self.active.contains { $0.connection === connection && !$0.wantsFreshConnection }
            guard connection.uses > 0, !isUsed else { return }
            self.output.send(.closed(connection: connection.number))
        }
    }

    deinit {
        // Commits may still be under way, and `wakeUp` is of no use to anybody without the multi handle.
        keeper?.stopWaking()
        connections.closes = nil
        for transfer in active { transfer.leaveMulti() }
        active.removeAll()
        idle.removeAll()
        curl_multi_cleanup(multi)
        for descriptor in heldEnds.descriptors { _ = Glibc.close(descriptor) }
        _heldEnds.free()
        _profiles.free()
        _lastProfile.free()
        _idle.free()
        _active.free()
        _unfinished.free()
        _unshared.free()
        _usedIndexes.free()
        _throttled.free()
        _limitSets.free()
        _lastLimits.free()
        _limitUses.free()
        _origins.free()
        _sizes.free()
        _unread.free()
    }

    /// How many leases are being carried out; one that waits for its commit is.
    package var activeCount: Int { active.count + heldEnds.count }

    /// Defines a profile, or another one under a known number; leases already begun keep theirs.
    package func define(_ profile: TransferProfile, number: UInt32) {
        profiles[number] = ResolvedProfile(profile)
        lastProfile = nil
    }

    private func profile(_ number: UInt32) -> ResolvedProfile? {
        if let lastProfile, lastProfile.number == number { return lastProfile.profile }
        guard let profile = profiles[number] else { return nil }
        lastProfile = (number, profile)
        return profile
    }

    /// Begins a lease.
    ///
    /// - Parameter descriptors: Those of its frame; they belong to the loop, also after an error.
    package func begin(_ lease: consuming Lease, descriptors: [Int32]) throws(ProtocolViolation) {
        var accepted = false
        defer { if !accepted { for descriptor in descriptors { _ = Glibc.close(descriptor) } } }
        guard let profile = profile(lease.profile) else { throw .unknownProfile }
        guard active.count < leases else { throw .tooManyLeases }
        let index = Int(lease.progressIndex)
        guard index < usedIndexes.count, !usedIndexes[index] else { throw .progressIndex }
        guard let transfer = idleTransfer() ?? Transfer(loop: self, profile: profile) else {
            sendEnd(LeaseEnd(lease: lease.id, outcome: .failed(HopFailure(.outOfMemory))), nil, lease.counted)
            return
        }
        accepted = true
        usedIndexes[index] = true
        transfer.place = active.count
        active.append(transfer)
        let limits = limits(lease.limits)
        transfer.begin(
            consume lease, profile: profile, limits: limits,
            progress: segment.progress(worker: slot, transfer: index), descriptors: descriptors)
    }

    /// A transfer that has ended, and whose handle may be used again.
    private func idleTransfer() -> Transfer? {
        guard let transfer = idle.popLast(), ccurl_forget_line(transfer.easy.raw) != 0 else { return nil }
        return transfer
    }

    /// The answer to a head; ignored when the lease is not known any more.
    package func answer(_ lease: UInt64, _ disposition: HeadDisposition, descriptors: [Int32]) {
        guard let transfer = find(lease) else {
            for descriptor in descriptors { _ = Glibc.close(descriptor) }
            return
        }
        transfer.answered(disposition, descriptors: descriptors)
    }

    /// Ends a lease; ignored when it is not known any more.
    package func cancel(_ lease: UInt64) {
        guard let transfer = find(lease) else { return }
        transfer.failure = HopFailure(.cancelled)
        transfer.conclude(CURLE_ABORTED_BY_CALLBACK)
    }

    /// More room for a streamed or metered body; ignored when the lease is not known any more.
    package func credit(_ lease: UInt64, bytes: UInt32) {
        guard let transfer = find(lease) else { return }
        if transfer.room < .max, !transfer.store.isStream { return transfer.widen(by: bytes) }
        transfer.credit = Int(clamping: UInt64(transfer.credit) + UInt64(bytes))
        transfer.pump()
    }

    /// Lets a transfer rest, go on or give up; ignored when the lease is not known any more.
    package func order(_ lease: UInt64, _ order: TransferOrder) {
        guard let transfer = find(lease) else { return }
        switch order {
        case .goOn: transfer.wake()
        case .rest: transfer.suspend()
        case .giveUp: transfer.giveUp()
        }
    }

    /// Ends a wait, from any thread, as long as the loop lives.
    package var wakeUp: @Sendable () -> Void {
        let handle = WakeUpHandle(multi: multi)
        return { _ = curl_multi_wakeup(handle.multi) }
    }

    /// Closes idle connections to an origin, as far as there are any, and tells how many are open.
    package func release(_ origin: UInt32, count: UInt16) {
        for _ in 0..<count where !connections.closeIdle(of: origin) { break }
        output.send(.connections(origin: origin, open: connections.report(origin)))
    }

    /// Waits for something to happen on a connection or on the control socket.
    ///
    /// - Parameters:
    ///   - control: The control socket; it is always watched for reading.
    ///   - wantsToWrite: Whether to watch it for writing too.
    ///   - milliseconds: The longest wait.
    /// - Returns: What the control socket is ready for.
    package func wait(control: Int32, wantsToWrite: Bool, milliseconds: Int32) -> (readable: Bool, writable: Bool) {
        var watched = curl_waitfd(
            fd: control, events: Int16(CURL_WAIT_POLLIN) | (wantsToWrite ? Int16(CURL_WAIT_POLLOUT) : 0), revents: 0)
        let limit = unfinished.isEmpty ? untilBandwidth(min(milliseconds, untilLimit)) : 0
        let code: CURLMcode
        if someAwaitRoom {
            (code, watched) = waitWithPaced(watched, milliseconds: limit)
        } else {
            code = curl_multi_poll(multi, &watched, 1, limit, nil)
            clock.advance()
        }
        // When even polling fails, the socket is tried anyway: its end must not be missed.
        guard code == CURLM_OK else { return (true, true) }
        let seen = watched.revents
        let isBroken = seen & ~Int16(CURL_WAIT_POLLIN | CURL_WAIT_POLLOUT | CURL_WAIT_POLLPRI) != 0
        return (seen & Int16(CURL_WAIT_POLLIN) != 0 || isBroken, seen & Int16(CURL_WAIT_POLLOUT) != 0)
    }

    /// Lets libcurl work, and ends what has ended.
    package func turn() {
        counters.beat()
        turnNumber &+= 1
        tellCommitted()
        if !throttled.isEmpty { giveBandwidth() }
        if !unfinished.isEmpty {
            let waiting = unfinished
            unfinished.removeAll(keepingCapacity: true)
            for transfer in waiting { transfer.continueDecoding() }
        }
        if clock.lost != lostTime {
            lostTime = clock.lost
            for transfer in active { transfer.makeUpForLostTime() }
        }
        var running: Int32 = 0
        rounds &+= 1
        _ = curl_multi_perform(multi, &running)
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            let result = message.pointee.data.result
            var context: UnsafeMutableRawPointer?
            _ = ccurl_get_pointer(message.pointee.easy_handle, CURLINFO_PRIVATE, &context)
            guard let context else { continue }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            transfer.leaveMulti()
            transfer.end(result)
        }
        if !unshared.isEmpty { tellUnshared() }
        let isTick = clock.running &- lastTick >= Self.tick
        if isTick || clock.running >= nextLimit {
            lastTick = clock.running
            if heldEnds.count > 0 { for end in heldEnds.overdue(at: clock.running) { tell(end) } }
            nextLimit = .max
            // The list gets shorter by those that end.
            for transfer in active {
                transfer.checkTimes()
                if let limit = transfer.timeLimit { note(limit: limit) }
            }
            if isTick { connections.closeStale(at: clock.sinceBoot) }
        }
        if !connections.changed.isEmpty { tellConnections() }
    }

    /// Connections were closed, and no end has told it.
    private func tellConnections() {
        guard tellsConnections else { return connections.changed.removeAll() }
        for origin in connections.changed {
            output.send(.connections(origin: origin, open: connections.report(origin)))
        }
    }

    /// A lease must be over by then, on the running clock.
    func note(limit: UInt64) {
        if limit < nextLimit { nextLimit = limit }
    }

    /// Milliseconds until the next limit of a lease's time.
    private var untilLimit: Int32 {
        if nextLimit == .max { return .max }
        return nextLimit > clock.running ? Int32(clamping: (nextLimit - clock.running) / 1_000_000 + 1) : 0
    }

    /// Others need not wait for the response of a lease. Most are over in the turn that brings their head: their end
    /// tells.
    func tellUnshared(_ lease: UInt64) {
        unshared.append(lease)
    }

    private func tellUnshared() {
        for lease in unshared { output.send(.unshared(lease: lease)) }
        unshared.removeAll(keepingCapacity: true)
    }

    /// The transfer goes on in the next turn, after all others.
    func postpone(_ transfer: Transfer) {
        unfinished.append(transfer)
    }

    /// Lets transfers go on when enough of `output` has been sent. A few may fill it again, so those behind them are
    /// the first the next time.
    package func relieve() {
        guard output.isCongested, output.frames.count <= TransferOutput.highWater / 2 else { return }
        output.isCongested = false
        // The list gets shorter by those that end.
        let transfers = active
        let start = nextRelieved < transfers.count ? nextRelieved : 0
        for offset in transfers.indices {
            let place = (start + offset) % transfers.count
            transfers[place].pump()
            guard output.isCongested else { continue }
            nextRelieved = place + 1
            return
        }
    }

    /// A transfer is over.
    ///
    /// - Parameters:
    ///   - descriptor: What travels with the news; it belongs to the loop.
    ///   - commit: What has to be in the cache before the end is told, so that the next request finds it there.
    ///   - changes: What has to be stored about the user before.
    func retire(
        _ transfer: Transfer, with end: consuming LeaseEnd, descriptor: Int32?, after commit: UInt64?,
        and changes: [UInt64] = []
    ) {
        let index = Int(transfer.lease.progressIndex)
        let lease = end.lease
        if !unshared.isEmpty { unshared.removeAll { $0 == lease } }
        let changes = changes.isEmpty ? [] : heldEnds.open(among: changes)
        if commit != nil || !changes.isEmpty {
            heldEnds.hold(
                HeldEnd(
                    end, descriptor: descriptor, progressIndex: index, counted: transfer.lease.counted, commit: commit,
                    changes: changes, deadline: clock.running &+ Self.longestCommit))
        } else {
            usedIndexes[index] = false
            sendEnd(end, descriptor, transfer.lease.counted)
        }
        guard transfer.place >= 0 else { return }
        if let last = active.popLast(), last !== transfer {
            active[transfer.place] = last
            last.place = transfer.place
        }
        transfer.place = -1
        idle.append(transfer)
        gavePlaceBack()
    }

    /// Takes what has been committed, in each turn: the keeper wakes this thread for the first commit that lies there
    /// alone, so what nobody takes would keep the next one waiting for the end of a wait. And a change that a head has
    /// asked for, of a response whose end comes later, is seen to be done by then.
    private func tellCommitted() {
        guard let keeper else { return }
        for (commit, isStored) in keeper.takeCommitted() {
            if let end = heldEnds.committed(commit, isStored: isStored) { tell(end) }
        }
    }

    private func tell(_ held: HeldEnd) {
        usedIndexes[held.progressIndex] = false
        sendEnd(held.told, held.descriptor, held.counted)
    }

    private func sendEnd(_ end: consuming LeaseEnd, _ descriptor: Int32?, _ counted: CountedOrigin?) {
        // As it is now: what was told of others meanwhile is older.
        if let counted { end.connections = connections.report(counted.number) }
        end.cache.hasLostCookies = heldEnds.takeLostChange()
        output.sendEnd(end, descriptor: descriptor)
    }

    /// Bytes libcurl reads at a time for each transfer: what was asked for, or so much that all together read 8 MiB at
    /// most, unless there are more than 512.
    ///
    /// Over HTTP/2 it is 256 KiB however many there are: of connections with many streams libcurl 7.88 leaves the ends of
    /// some lying where its buffer is small.
    func receiveBuffer(for profile: ResolvedProfile) -> Int {
        if profile.multiplexes { return 256 << 10 }
        if profile.profile.receiveBuffer > 0 { return min(max(Int(profile.profile.receiveBuffer), 1 << 10), 512 << 10) }
        return min(max((8 << 20) / max(leases, 1), 16 << 10), 512 << 10)
    }

    private func find(_ lease: UInt64) -> Transfer? {
        active.first { $0.lease.id == lease }
    }
}

/// `@unchecked Sendable`: libcurl allows this one call from any thread, and who makes it stops before the loop ends.
private struct WakeUpHandle: @unchecked Sendable {
    let multi: UnsafeMutableRawPointer
}
