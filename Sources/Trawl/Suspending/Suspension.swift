import TrawlHTTP
import TrawlSupervision

/// Whether a fetch may go on, and what becomes meanwhile of the hop that a worker has.
///
/// Suspended, no hop of the fetch begins. One that a worker has rests with its connection for a time, and is then given
/// up; the fetch goes on with another when it is resumed.
struct Suspension: Equatable, Sendable {
    private enum State: Equatable {
        /// Not suspended.
        case running
        /// No worker has a hop.
        /// - Parameter owesHop: Whether a hop would have begun.
        case held(owesHop: Bool)
        /// A worker keeps the connection of the hop.
        case resting(LeaseID)
        /// That worker is to give it up.
        case givingUp(LeaseID)
        /// The same, and the fetch was resumed meanwhile.
        case awaited(LeaseID)
    }

    /// What to do when a fetch is suspended.
    enum SuspendAction: Equatable {
        /// Take its hop out of where it waits for a worker, and say so by ``Suspension/withdrawn()``.
        case withdraw
        /// Tell the worker that the transfer is to rest; look again when the connection has been kept long enough.
        case rest(LeaseID)
        case none
    }

    /// What to do when a fetch is resumed.
    enum ResumeAction: Equatable {
        /// Begin the hop that was held.
        case begin
        /// Tell the worker that the transfer goes on.
        case goOn(LeaseID)
        case none
    }

    private var state = State.running

    /// Whether nothing of it may begin.
    var isSuspended: Bool {
        switch state {
        case .running, .awaited: false
        case .held, .resting, .givingUp: true
        }
    }

    /// The caller suspends the fetch.
    ///
    /// - Parameter lease: That of the hop in flight.
    mutating func suspended(lease: LeaseID?) -> SuspendAction {
        switch state {
        case .running:
            guard let lease else {
                state = .held(owesHop: false)
                return .withdraw
            }
            state = .resting(lease)
            return .rest(lease)
        case .awaited(let lease):
            state = .givingUp(lease)
            return .none
        case .held, .resting, .givingUp: return .none
        }
    }

    /// A hop that waited for a worker does so no longer.
    mutating func withdrawn() {
        switch state {
        case .held: state = .held(owesHop: true)
        case .running, .resting, .givingUp, .awaited: break
        }
    }

    /// A hop is about to begin.
    ///
    /// - Returns: Whether it may; else it begins when the fetch is resumed.
    mutating func mayBegin() -> Bool {
        switch state {
        case .running, .awaited: return true
        case .held, .resting, .givingUp:
            withdrawn()
            return false
        }
    }

    /// The caller resumes the fetch.
    mutating func resumed() -> ResumeAction {
        switch state {
        case .running, .awaited: return .none
        case .held(let owesHop):
            state = .running
            return owesHop ? .begin : .none
        case .resting(let lease):
            state = .running
            return .goOn(lease)
        case .givingUp(let lease):
            state = .awaited(lease)
            return .none
        }
    }

    /// A connection has been kept long enough.
    ///
    /// - Returns: The lease that is to be given up; nil when there is none.
    mutating func timeUp() -> LeaseID? {
        switch state {
        case .resting(let lease):
            state = .givingUp(lease)
            return lease
        case .running, .held, .givingUp, .awaited: return nil
        }
    }

    /// The lease is over, in whatever way: its worker gave it up, had ended it before, or died.
    mutating func leaseEnded(_ lease: LeaseID) {
        switch state {
        case .resting(let held) where held == lease, .givingUp(let held) where held == lease:
            state = .held(owesHop: false)
        case .awaited(let held) where held == lease: state = .running
        case .running, .held, .resting, .givingUp, .awaited: break
        }
    }
}

/// What is kept of a fetch that is, or was, suspended.
///
/// Bound to the supervisor thread.
final class SuspendedFetch {
    var machine = Suspension()
    /// Until when its connection is kept.
    var connectionEnds: MonotonicInstant?
    /// Whether its worker was told to rest, and has not given the lease up: only then it may.
    var mayBeGivenUp = false
}

extension RunningFetch.EngineState {
    /// Whether its caller has suspended it.
    var isSuspended: Bool { suspended?.machine.isSuspended == true }
}
