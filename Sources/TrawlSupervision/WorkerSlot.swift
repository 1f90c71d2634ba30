// TrawlSupervision decides when workers start, end and restart, and which worker holds which hop. It never touches a
// process, a socket or a clock: a driver on the supervisor thread feeds events in and carries the actions out.

package import TrawlHTTP

/// The life of one numbered place for a worker process, over all the processes that are in it one after another.
///
/// Every event is legal in every state, since exits, frames and timers race.
package struct WorkerSlot: Sendable {
    /// Which child is in the slot now: 0 before the first start, one more at each.
    package private(set) var generation: UInt32 = 0

    private let policy: RestartPolicy
    private var state = State.neverStarted
    private var history = History()

    /// A slot in which no worker was started yet.
    package init(policy: RestartPolicy = RestartPolicy()) {
        self.policy = policy
    }

    // MARK: Start

    /// A process was spawned for this slot.
    package mutating func started(at now: MonotonicInstant) -> StartAction {
        switch state {
        case .neverStarted, .backingOff:
            generation &+= 1
            state = .starting(Silence(since: now))
            return .run(generation: generation)
        case .starting, .ready, .draining, .ending, .retired:
            return .kill(.retired)
        }
    }

    /// A process could not be spawned for this slot.
    ///
    /// - Parameters:
    ///   - errno: What the spawn call gave.
    ///   - jitter: A random number from 0 to 1.
    package mutating func startFailed(errno: Int32, at now: MonotonicInstant, jitter: Double) -> ExitAction {
        switch state {
        case .neverStarted, .backingOff:
            if LinuxErrno.isWrongExecutable(errno) { return retireNow(.cannotStart(errno: errno)) }
            return startEnded(.spawn(errno: errno), at: now, jitter: jitter)
        case .starting, .ready, .draining, .ending, .retired:
            return .none
        }
    }

    /// The worker said that it is ready, and its handshake fits.
    package mutating func becameReady(at now: MonotonicInstant) -> ReadyAction {
        switch state {
        case .starting:
            history.wasEverReady = true
            history.failedStarts = 0
            state = .ready(Watch(since: now))
            return .lease
        case .neverStarted, .ready, .draining, .ending, .backingOff, .retired:
            return .none
        }
    }

    /// The wait before a restart is over. A slot that was never started is due at any time.
    package mutating func backoffElapsed(at now: MonotonicInstant) -> BackoffAction {
        switch state {
        case .neverStarted:
            return .start
        case .backingOff(let until):
            return now < until ? .wait(now.duration(to: until)) : .start
        case .starting, .ready, .draining, .ending, .retired:
            return .none
        }
    }

    // MARK: Work

    /// The worker brought one lease to its proper end, whatever the response was.
    package mutating func completedLease() {
        switch state {
        case .ready, .draining:
            history.hasGoodLease = true
        case .neverStarted, .starting, .ending, .backingOff, .retired:
            break
        }
    }

    /// The supervisor's regular look at the worker, at least once a second.
    ///
    /// Silence is counted in ticks that were on time: when the supervisor itself was late, the whole machine may have
    /// stood still, and that proves nothing against the worker.
    ///
    /// - Parameters:
    ///   - beat: The worker's heartbeat counter as it stands; any change counts as life.
    ///   - onTime: Whether the supervisor ran this tick when it meant to.
    package mutating func tick(beat: UInt64, onTime: Bool, at now: MonotonicInstant) -> TickAction {
        switch state {
        case .starting(var silence):
            let silent = silence.tick(onTime: onTime, at: now, longest: policy.longestTick)
            guard silent >= policy.startDeadline else {
                state = .starting(silence)
                return .none
            }
            state = .ending(Ending(reason: .startDeadline, wasReady: false))
            return .kill(.startDeadline)
        case .ready(var watch):
            guard watch.tick(beat: beat, onTime: onTime, at: now, policy: policy) else {
                state = .ready(watch)
                return .none
            }
            state = .ending(Ending(reason: .silentHeartbeat, wasReady: true))
            return .kill(.silentHeartbeat)
        case .draining(var watch):
            guard watch.tick(beat: beat, onTime: onTime, at: now, policy: policy) else {
                state = .draining(watch)
                return .none
            }
            state = .ending(Ending(reason: .silentHeartbeat, wasReady: true, thenRetire: .shutdown))
            return .kill(.silentHeartbeat)
        case .neverStarted, .ending, .backingOff, .retired:
            return .none
        }
    }

    // MARK: End

    /// The exit as this slot's history explains it: a signal that we sent becomes ``WorkerExit/killedByUs(_:)``.
    ///
    /// Ask before ``exited(_:at:jitter:)`` and give the answer to ``LeaseTable`` too.
    package func attributed(_ exit: WorkerExit) -> WorkerExit {
        guard case .ending(let ending) = state, case .signalled(let signal) = exit,
            signal == LinuxSignal.kill || signal == LinuxSignal.terminate
        else { return exit }
        return .killedByUs(ending.reason)
    }

    /// The process ended.
    ///
    /// - Parameter jitter: A random number from 0 to 1.
    package mutating func exited(_ exit: WorkerExit, at now: MonotonicInstant, jitter: Double) -> ExitAction {
        let exit = attributed(exit)
        switch state {
        case .starting:
            return ended(exit, wasReady: false, at: now, jitter: jitter)
        case .ready:
            return ended(exit, wasReady: true, at: now, jitter: jitter)
        case .draining:
            return retireNow(.shutdown)
        case .ending(let ending):
            if let reason = ending.thenRetire { return retireNow(reason) }
            return ended(exit, wasReady: ending.wasReady, at: now, jitter: jitter)
        case .neverStarted, .backingOff, .retired:
            return .none
        }
    }

    /// The coordinator wants this worker to finish what it holds and to exit; nothing is started here again.
    package mutating func drain() -> DrainAction {
        switch state {
        case .neverStarted, .backingOff:
            state = .retired(.shutdown)
            return .retire(.shutdown)
        case .starting:
            state = .ending(Ending(reason: .shutdown, wasReady: false, thenRetire: .shutdown))
            return .terminate
        case .ready(let watch):
            state = .draining(watch)
            return .askWorker
        case .ending(var ending):
            ending.thenRetire = ending.thenRetire ?? .shutdown
            state = .ending(ending)
            return .none
        case .draining, .retired:
            return .none
        }
    }

    /// The process must end: it sent garbage, or the time to drain is over.
    ///
    /// `.shutdown` asks with SIGTERM first; said once more, it insists with SIGKILL and then keeps silent.
    package mutating func kill(_ reason: KillReason) -> KillAction {
        let isShutdown = reason == .shutdown
        switch state {
        case .starting:
            state = .ending(Ending(reason: reason, wasReady: false, thenRetire: isShutdown ? .shutdown : nil))
            return isShutdown ? .terminate : .kill(reason)
        case .ready:
            state = .ending(Ending(reason: reason, wasReady: true, thenRetire: isShutdown ? .shutdown : nil))
            return isShutdown ? .terminate : .kill(reason)
        case .draining:
            state = .ending(Ending(reason: reason, wasReady: true, thenRetire: .shutdown))
            return isShutdown ? .terminate : .kill(reason)
        case .ending(var ending):
            let insists = ending.isAsked
            ending.isAsked = false
            if isShutdown { ending.thenRetire = ending.thenRetire ?? .shutdown }
            state = .ending(ending)
            return insists ? .kill(ending.reason) : .none
        case .neverStarted, .backingOff, .retired:
            return .none
        }
    }

    /// The slot is given up; a process in it is killed first.
    package mutating func retire(_ reason: RetireReason) -> RetireAction {
        switch state {
        case .neverStarted, .backingOff:
            state = .retired(reason)
            return .retire(reason)
        case .starting:
            state = .ending(Ending(reason: .retired, wasReady: false, thenRetire: reason))
            return .kill(.retired)
        case .ready, .draining:
            state = .ending(Ending(reason: .retired, wasReady: true, thenRetire: reason))
            return .kill(.retired)
        case .ending(var ending):
            ending.thenRetire = ending.thenRetire ?? reason
            state = .ending(ending)
            return .none
        case .retired:
            return .none
        }
    }

    // MARK: Questions

    /// Where in its life the slot is.
    package var phase: Phase {
        switch state {
        case .neverStarted: return .neverStarted
        case .starting: return .starting
        case .ready: return .ready
        case .draining: return .draining
        case .ending: return .ending
        case .backingOff: return .backingOff
        case .retired: return .retired
        }
    }

    /// Why the slot is retired, or will be as soon as its process is gone; `nil` while it is of use.
    package var retireReason: RetireReason? {
        switch state {
        case .retired(let reason): return reason
        case .ending(let ending): return ending.thenRetire
        case .draining: return .shutdown
        case .neverStarted, .starting, .ready, .backingOff: return nil
        }
    }

    // MARK: Rules

    private mutating func ended(
        _ exit: WorkerExit, wasReady: Bool, at now: MonotonicInstant, jitter: Double
    ) -> ExitAction {
        if exit == .exited(status: WorkerExitStatus.cannotWork) { return retireNow(.cannotWork) }
        if !wasReady { return startEnded(.exited(exit), at: now, jitter: jitter) }
        return restart(at: now, jitter: jitter, isFromOutside: exit.isFromOutside)
    }

    private mutating func startEnded(
        _ failure: StartFailure, at now: MonotonicInstant, jitter: Double
    ) -> ExitAction {
        if case .exited(let exit) = failure, exit.isFromOutside {
            return restart(at: now, jitter: jitter, isFromOutside: true)
        }
        if history.wasEverReady, case .spawn = failure { return restart(at: now, jitter: jitter, isFromOutside: false) }
        history.failedStarts += 1
        if history.failedStarts >= (history.wasEverReady ? policy.laterStartAttempts : policy.startAttempts) {
            return retireNow(.neverReady(last: failure))
        }
        return restart(at: now, jitter: jitter, isFromOutside: false)
    }

    /// - Parameter isFromOutside: Somebody ended the worker, which says nothing about the next: the wait does not grow.
    private mutating func restart(at now: MonotonicInstant, jitter: Double, isFromOutside: Bool) -> ExitAction {
        let delay: Duration
        if history.hasGoodLease {
            // One good lease pays for one exit.
            history.hasGoodLease = false
            history.failures = 0
            delay = .zero
        } else if isFromOutside {
            delay = policy.delay(afterFailures: 0, jitter: jitter)
        } else {
            delay = policy.delay(afterFailures: history.failures, jitter: jitter)
            history.failures += 1
        }
        state = .backingOff(until: now.advanced(by: delay))
        return .restart(after: delay)
    }

    private mutating func retireNow(_ reason: RetireReason) -> ExitAction {
        state = .retired(reason)
        return .retire(reason)
    }
}

extension WorkerSlot {
    private enum State: Sendable {
        case neverStarted
        case starting(Silence)
        case ready(Watch)
        case draining(Watch)
        case ending(Ending)
        case backingOff(until: MonotonicInstant)
        case retired(RetireReason)
    }

    /// What one generation leaves to the next.
    private struct History: Sendable {
        var wasEverReady = false
        var hasGoodLease = false
        var failures = 0
        var failedStarts = 0
    }

    /// A process that was sent a signal and whose exit is still to come.
    private struct Ending: Sendable {
        var reason: KillReason
        var wasReady: Bool
        var thenRetire: RetireReason?
        /// The signal was SIGTERM, so SIGKILL is still in hand.
        var isAsked: Bool

        init(reason: KillReason, wasReady: Bool, thenRetire: RetireReason? = nil) {
            self.reason = reason
            self.wasReady = wasReady
            self.thenRetire = thenRetire
            self.isAsked = reason == .shutdown
        }
    }
}
