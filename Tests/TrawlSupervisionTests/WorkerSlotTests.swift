import TestSupport
import Testing
import TrawlHTTP
import TrawlSupervision

private typealias Phase = WorkerSlot.Phase

private let start = MonotonicInstant(nanoseconds: 1_000_000_000)

private func after(_ duration: Duration) -> MonotonicInstant { start.advanced(by: duration) }

extension WorkerSlot {
    /// Whether a process is in the slot, so that an exit will come.
    fileprivate var hasProcess: Bool {
        switch phase {
        case .starting, .ready, .draining, .ending: true
        case .neverStarted, .backingOff, .retired: false
        }
    }
}

/// One slot in every state there is, told apart by what is to come.
private enum Stage: CaseIterable {
    case neverStarted, starting, ready, draining
    /// Killed for garbage; will restart.
    case killed
    /// Sent SIGTERM; will retire.
    case asked
    /// Killed for an unfit handshake; will retire.
    case givenUp
    case backingOff, retired

    var slot: WorkerSlot {
        var slot = WorkerSlot()
        if self == .neverStarted { return slot }
        _ = slot.started(at: start)
        switch self {
        case .neverStarted, .starting:
            break
        case .givenUp:
            _ = slot.retire(.incompatible)
        case .ready:
            _ = slot.becameReady(at: start)
        case .draining:
            _ = slot.becameReady(at: start)
            _ = slot.drain()
        case .killed:
            _ = slot.becameReady(at: start)
            _ = slot.kill(.garbage)
        case .asked:
            _ = slot.becameReady(at: start)
            _ = slot.kill(.shutdown)
        case .backingOff:
            _ = slot.becameReady(at: start)
            _ = slot.exited(.exited(status: 1), at: start, jitter: 0)
        case .retired:
            _ = slot.exited(.exited(status: 78), at: start, jitter: 0)
        }
        return slot
    }
}

@Suite("Worker slot: every state and event")
struct WorkerSlotTransitionTests {
    /// Checks an event in every state. A state that is not listed must answer `none` and stay as it is.
    private func check<Action: Equatable>(
        _ expected: [Stage: (Action, Phase)], otherwise none: Action, _ event: (inout WorkerSlot) -> Action
    ) {
        for stage in Stage.allCases {
            var slot = stage.slot
            let (action, phase) = expected[stage] ?? (none, slot.phase)
            #expect(event(&slot) == action, "\(stage)")
            #expect(slot.phase == phase, "\(stage)")
        }
    }

    @Test("stages are what they are called")
    func stages() {
        let phases: [Phase] = [
            .neverStarted, .starting, .ready, .draining, .ending, .ending, .ending, .backingOff, .retired,
        ]
        #expect(Stage.allCases.map { $0.slot.phase } == phases)
        #expect(
            Stage.allCases.map { $0.slot.hasProcess } == [false, true, true, true, true, true, true, false, false])
        let reasons: [RetireReason?] = [nil, nil, nil, .shutdown, nil, .shutdown, .incompatible, nil, .cannotWork]
        #expect(Stage.allCases.map { $0.slot.retireReason } == reasons)
    }

    @Test("started: only where a process is missing")
    func started() {
        check(
            [.neverStarted: (.run(generation: 1), .starting), .backingOff: (.run(generation: 2), .starting)],
            otherwise: .kill(.retired)
        ) { $0.started(at: start) }
    }

    @Test("a spawn that failed for now is tried again")
    func startFailed() {
        check(
            [
                .neverStarted: (.restart(after: .milliseconds(100)), .backingOff),
                .backingOff: (.restart(after: .milliseconds(200)), .backingOff),
            ], otherwise: .none
        ) { $0.startFailed(errno: 11, at: start, jitter: 0) }
    }

    @Test("a worker executable that is missing or not allowed retires the slot at once", arguments: [2, 13] as [Int32])
    func executableMissing(errno: Int32) {
        check(
            [
                .neverStarted: (.retire(.cannotStart(errno: errno)), .retired),
                .backingOff: (.retire(.cannotStart(errno: errno)), .retired),
            ], otherwise: .none
        ) { $0.startFailed(errno: errno, at: start, jitter: 0) }
    }

    @Test("ready counts once, from a starting worker")
    func becameReady() {
        check([.starting: (.lease, .ready)], otherwise: .none) { $0.becameReady(at: start) }
    }

    @Test("the end of a backoff starts a worker")
    func backoffElapsed() {
        check([.neverStarted: (.start, .neverStarted), .backingOff: (.start, .backingOff)], otherwise: .none) {
            $0.backoffElapsed(at: after(.milliseconds(100)))
        }
    }

    @Test("a timer that fires early waits on")
    func backoffEarly() {
        check(
            [.neverStarted: (.start, .neverStarted), .backingOff: (.wait(.milliseconds(40)), .backingOff)],
            otherwise: .none
        ) { $0.backoffElapsed(at: after(.milliseconds(60))) }
    }

    @Test("a completed lease changes no state")
    func completedLease() {
        check([:], otherwise: true) { (slot: inout WorkerSlot) -> Bool in
            slot.completedLease()
            return true
        }
    }

    @Test("a tick soon after the start changes no state")
    func tick() {
        check([:], otherwise: .none) { $0.tick(beat: 1, onTime: true, at: after(.seconds(1))) }
    }

    @Test("a long silence kills whatever should speak")
    func silence() {
        check(
            [
                .starting: (.kill(.startDeadline), .ending), .ready: (.kill(.silentHeartbeat), .ending),
                .draining: (.kill(.silentHeartbeat), .ending),
            ], otherwise: .none
        ) { (slot: inout WorkerSlot) -> WorkerSlot.TickAction in
            for second in 1...60 {
                let action = slot.tick(beat: 1, onTime: true, at: after(.seconds(second)))
                if action != .none { return action }
            }
            return .none
        }
    }

    @Test("an exit restarts, or retires where that was decided")
    func exited() {
        let restart = (WorkerSlot.ExitAction.restart(after: .milliseconds(100)), Phase.backingOff)
        check(
            [
                .starting: restart, .ready: restart, .killed: restart, .draining: (.retire(.shutdown), .retired),
                .asked: (.retire(.shutdown), .retired), .givenUp: (.retire(.incompatible), .retired),
            ], otherwise: .none
        ) { $0.exited(.signalled(signal: 11), at: start, jitter: 0) }
    }

    @Test("exit 0 that nobody asked for is an exit like others")
    func exitedZero() {
        let restart = (WorkerSlot.ExitAction.restart(after: .milliseconds(100)), Phase.backingOff)
        check(
            [
                .starting: restart, .ready: restart, .killed: restart, .draining: (.retire(.shutdown), .retired),
                .asked: (.retire(.shutdown), .retired), .givenUp: (.retire(.incompatible), .retired),
            ], otherwise: .none
        ) { $0.exited(.exited(status: 0), at: start, jitter: 0) }
    }

    @Test("a worker that cannot work here retires its slot")
    func exitedCannotWork() {
        let retire = (WorkerSlot.ExitAction.retire(.cannotWork), Phase.retired)
        check(
            [
                .starting: retire, .ready: retire, .killed: retire, .draining: (.retire(.shutdown), .retired),
                .asked: (.retire(.shutdown), .retired), .givenUp: (.retire(.incompatible), .retired),
            ], otherwise: .none
        ) { $0.exited(.exited(status: 78), at: start, jitter: 0) }
    }

    @Test("drain asks a ready worker, ends a starting one and retires an empty slot")
    func drain() {
        check(
            [
                .neverStarted: (.retire(.shutdown), .retired), .backingOff: (.retire(.shutdown), .retired),
                .starting: (.terminate, .ending), .ready: (.askWorker, .draining),
            ], otherwise: .none
        ) { $0.drain() }
    }

    @Test("garbage kills the process, and one that was asked before")
    func killForGarbage() {
        check(
            [
                .starting: (.kill(.garbage), .ending), .ready: (.kill(.garbage), .ending),
                .draining: (.kill(.garbage), .ending), .asked: (.kill(.shutdown), .ending),
            ], otherwise: .none
        ) { $0.kill(.garbage) }
    }

    @Test("shutdown asks first and insists when said again")
    func killForShutdown() {
        check(
            [
                .starting: (.terminate, .ending), .ready: (.terminate, .ending), .draining: (.terminate, .ending),
                .asked: (.kill(.shutdown), .ending),
            ], otherwise: .none
        ) { $0.kill(.shutdown) }
    }

    @Test("retire kills what runs and gives up what does not")
    func retire() {
        check(
            [
                .neverStarted: (.retire(.incompatible), .retired), .backingOff: (.retire(.incompatible), .retired),
                .starting: (.kill(.retired), .ending), .ready: (.kill(.retired), .ending),
                .draining: (.kill(.retired), .ending),
            ], otherwise: .none
        ) { $0.retire(.incompatible) }
    }
}

@Suite("Worker slot: rules")
struct WorkerSlotRuleTests {
    private func startedSlot(ready: Bool) -> WorkerSlot {
        var slot = WorkerSlot()
        _ = slot.started(at: start)
        if ready { _ = slot.becameReady(at: start) }
        return slot
    }

    private func exitAgain(_ slot: inout WorkerSlot, ready: Bool = true) -> WorkerSlot.ExitAction {
        if !slot.hasProcess { _ = slot.started(at: start) }
        if ready { _ = slot.becameReady(at: start) }
        return slot.exited(.signalled(signal: 11), at: start, jitter: 0)
    }

    @Test("restarts double from 0.1 s to 10 s")
    func doubling() {
        var slot = startedSlot(ready: true)
        let delays = [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]
        for delay in delays {
            #expect(exitAgain(&slot) == .restart(after: .milliseconds(delay)))
        }
        #expect(slot.generation == 10)
    }

    @Test("the first exit after a completed lease restarts at once, and the doubling begins anew")
    func goodLease() {
        var slot = startedSlot(ready: true)
        for _ in 0..<6 { _ = exitAgain(&slot) }
        _ = slot.started(at: start)
        _ = slot.becameReady(at: start)
        slot.completedLease()
        #expect(exitAgain(&slot) == .restart(after: .zero))
        #expect(slot.backoffElapsed(at: start) == .start)
        #expect(exitAgain(&slot) == .restart(after: .milliseconds(100)))
        #expect(exitAgain(&slot) == .restart(after: .milliseconds(200)))
    }

    @Test(
        "jitter only shortens a delay",
        arguments: [(0.0, 100), (0.4, 90), (1.0, 75), (7.0, 75), (-3.0, 100), (Double.nan, 100)])
    func jitter(jitter: Double, milliseconds: Int) {
        var slot = startedSlot(ready: true)
        let action = slot.exited(.exited(status: 1), at: start, jitter: jitter)
        guard case .restart(let delay) = action else {
            Issue.record("no restart: \(action)")
            return
        }
        #expect((delay - .milliseconds(milliseconds)).magnitudeIsBelowOneMicrosecond)
    }

    @Test("five failed starts in a row of a slot that was never ready retire it, with the last reason, in under 2 s")
    func neverReady() {
        var slot = WorkerSlot()
        var waited = Duration.zero
        for attempt in 1...4 {
            _ = slot.started(at: start)
            let action = slot.exited(.exited(status: Int32(attempt)), at: start, jitter: 0)
            guard case .restart(let delay) = action else {
                Issue.record("attempt \(attempt): \(action)")
                return
            }
            waited += delay
        }
        _ = slot.started(at: start)
        let last = StartFailure.exited(.exited(status: 0))
        #expect(slot.exited(.exited(status: 0), at: start, jitter: 0) == .retire(.neverReady(last: last)))
        #expect(waited < .seconds(2))
    }

    @Test("spawn errors and exits count together as failed starts")
    func mixedFailures() {
        var slot = WorkerSlot()
        for _ in 0..<4 { _ = exitAgain(&slot, ready: false) }
        let action = slot.startFailed(errno: 12, at: start, jitter: 0)
        #expect(action == .retire(.neverReady(last: .spawn(errno: 12))))
    }

    @Test("a slot that was ready once is given up when nothing has started for more than a minute")
    func onceReady() {
        var slot = startedSlot(ready: true)
        _ = exitAgain(&slot)
        var waited = Duration.zero
        for attempt in 1..<14 {
            _ = slot.started(at: start)
            let action = slot.exited(.exited(status: 0), at: start, jitter: 1)
            guard case .restart(let delay) = action else {
                Issue.record("attempt \(attempt): \(action)")
                return
            }
            waited += delay
        }
        #expect(waited > .seconds(50))
        _ = slot.started(at: start)
        let last = StartFailure.exited(.exited(status: 0))
        #expect(slot.exited(.exited(status: 0), at: start, jitter: 1) == .retire(.neverReady(last: last)))
    }

    @Test("a slot that was ready once is never given up for want of memory or processes")
    func noProcess() {
        var slot = startedSlot(ready: true)
        _ = exitAgain(&slot)
        for _ in 0..<50 {
            #expect(slot.startFailed(errno: 12, at: start, jitter: 0) != .none)
            #expect(slot.phase == .backingOff)
        }
    }

    @Test("the start deadline is 10 s of ticks that were on time")
    func startDeadline() {
        var slot = startedSlot(ready: false)
        for quarter in 1..<40 {
            #expect(slot.tick(beat: 0, onTime: true, at: after(.milliseconds(250 * quarter))) == .none)
        }
        #expect(slot.tick(beat: 0, onTime: false, at: after(.seconds(60))) == .none)
        #expect(slot.tick(beat: 0, onTime: true, at: after(.milliseconds(60_250))) == .kill(.startDeadline))
        #expect(slot.attributed(.signalled(signal: 9)) == .killedByUs(.startDeadline))
        #expect(slot.exited(.signalled(signal: 9), at: after(.seconds(61)), jitter: 0) != .none)
    }

    @Test("a heartbeat that stands still for 30 s of on-time ticks is silent")
    func silentHeartbeat() {
        var slot = startedSlot(ready: true)
        #expect(slot.tick(beat: 7, onTime: true, at: start) == .none)
        for quarter in 1..<120 {
            #expect(slot.tick(beat: 7, onTime: true, at: after(.milliseconds(250 * quarter))) == .none)
        }
        #expect(slot.tick(beat: 7, onTime: true, at: after(.seconds(30))) == .kill(.silentHeartbeat))
        #expect(slot.tick(beat: 7, onTime: true, at: after(.seconds(31))) == .none)
    }

    @Test("late ticks prove nothing, however many")
    func lateTicks() {
        var slot = startedSlot(ready: true)
        for second in 1...10_000 {
            #expect(slot.tick(beat: 7, onTime: false, at: after(.seconds(second))) == .none)
        }
    }

    @Test("one beat in time resets the silence; a counter that wraps is a beat too")
    func beat() {
        var slot = startedSlot(ready: true)
        for second in 1...300 {
            let beat: UInt64 = second.isMultiple(of: 58) ? .max : UInt64(second / 29)
            #expect(slot.tick(beat: beat, onTime: true, at: after(.seconds(second))) == .none)
        }
    }

    @Test("a gap between ticks counts for a second at most, and time that runs backwards for nothing")
    func gaps() {
        var slot = startedSlot(ready: true)
        _ = slot.tick(beat: 7, onTime: true, at: start)
        for hour in 1...29 {
            #expect(slot.tick(beat: 7, onTime: true, at: after(.seconds(hour * 3600))) == .none)
        }
        for _ in 0..<100 { #expect(slot.tick(beat: 7, onTime: true, at: start) == .none) }
    }

    @Test("only signals of ours are attributed to us")
    func attribution() {
        var slot = startedSlot(ready: true)
        #expect(slot.attributed(.signalled(signal: 9)) == .signalled(signal: 9))
        _ = slot.kill(.garbage)
        #expect(slot.attributed(.signalled(signal: 9)) == .killedByUs(.garbage))
        #expect(slot.attributed(.signalled(signal: 11)) == .signalled(signal: 11))
        #expect(slot.attributed(.outOfMemory) == .outOfMemory)
    }

    @Test("shutdown: SIGTERM, then SIGKILL, then nothing; the exit retires")
    func escalation() {
        var slot = startedSlot(ready: true)
        #expect(slot.drain() == .askWorker)
        #expect(slot.kill(.shutdown) == .terminate)
        #expect(slot.kill(.shutdown) == .kill(.shutdown))
        #expect(slot.kill(.shutdown) == .none)
        #expect(slot.attributed(.signalled(signal: 15)) == .killedByUs(.shutdown))
        #expect(slot.exited(.signalled(signal: 9), at: start, jitter: 0) == .retire(.shutdown))
    }

    @Test("a drain while a killed process ends keeps the slot from starting again")
    func drainWhileEnding() {
        var slot = startedSlot(ready: true)
        _ = slot.kill(.garbage)
        #expect(slot.drain() == .none)
        #expect(slot.retireReason == .shutdown)
        #expect(slot.exited(.signalled(signal: 9), at: start, jitter: 0) == .retire(.shutdown))
    }

    @Test(
        "random events: retired is for ever, generations only rise, one exit for one process",
        arguments: 0..<200 as Range<UInt64>)
    func randomWalk(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var slot = WorkerSlot()
        var now = start
        var hadSignals = 0
        for _ in 0..<400 {
            let before = (slot.phase, slot.generation, slot.hasProcess)
            now = now.advanced(by: .milliseconds(Int.random(in: 0...2000, using: &random)))
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1:
                if case .run = slot.started(at: now) {
                    #expect(!before.2, "seed \(seed)")
                    #expect(slot.generation == before.1 + 1, "seed \(seed)")
                    hadSignals = 0
                }
            case 2, 3: _ = slot.becameReady(at: now)
            case 4:
                let action = slot.exited(.signalled(signal: 11), at: now, jitter: 0.5)
                #expect((action != .none) == before.2, "seed \(seed)")
                #expect(!slot.hasProcess, "seed \(seed)")
            case 5: slot.completedLease()
            case 6, 7:
                if slot.tick(beat: 1, onTime: random.once(in: 2), at: now) != .none { hadSignals += 1 }
            case 8: _ = slot.startFailed(errno: 11, at: now, jitter: 1)
            case 9: if slot.kill(.garbage) != .none { hadSignals += 1 }
            case 10:
                if random.once(in: 10) { if slot.kill(.shutdown) != .none { hadSignals += 1 } }
            case 11:
                if random.once(in: 20) { _ = slot.drain() }
            case _: break
            }
            #expect(slot.generation >= before.1, "seed \(seed)")
            #expect(hadSignals <= 2, "seed \(seed)")
            if before.0 == .retired { #expect(slot.phase == .retired, "seed \(seed)") }
        }
    }
}

extension Duration {
    fileprivate var magnitudeIsBelowOneMicrosecond: Bool { self < .microseconds(1) && self > .microseconds(-1) }
}
