import TrawlSupervision

/// Where a fetch is in its life, as the supervisor sees it.
///
/// A fetch ends once. Its lease may outlive it: a worker that was told to cancel still ends the lease, and what it
/// says then changes nothing for the caller.
struct FetchLife: Equatable {
    private enum State: Equatable {
        /// In a host's queue, or about to be.
        case waiting
        /// A worker has it.
        case leased(LeaseID)
        /// The worker that has it is to stop; the caller is answered when it has.
        case ending(LeaseID)
        /// The caller has its answer; the worker is still to end this lease.
        case concluded(LeaseID)
        case ended
    }

    /// What to do when the caller has to be answered now.
    enum ConcludeAction: Equatable {
        /// Answer; take the hop out of its queue.
        case answerAndWithdraw
        /// Answer; tell the worker that holds this lease to stop.
        case answerAndCancel(LeaseID)
        /// Tell the worker that holds this lease to stop, and answer when it has.
        case cancel(LeaseID)
        /// It was answered before.
        case none
    }

    /// What to do when a lease is over.
    enum LeaseEndAction: Equatable {
        /// The result counts.
        case accept
        /// The caller is answered now: by the result if it is a response, else by the reason why it was to end.
        case finish
        /// Nobody waits for it any more; the fetch can be forgotten.
        case forget
        /// It is no lease of this fetch.
        case none
    }

    private var state = State.waiting

    /// Whether the caller has been answered.
    var isAnswered: Bool {
        switch state {
        case .waiting, .leased, .ending: false
        case .concluded, .ended: true
        }
    }

    /// The lease of the hop in flight, while its result counts.
    var activeLease: LeaseID? {
        switch state {
        case .leased(let lease), .ending(let lease): lease
        case .waiting, .concluded, .ended: nil
        }
    }

    /// Whether the hop waits for a worker.
    var isWaiting: Bool { state == .waiting }

    /// A worker got the hop.
    mutating func leased(_ lease: LeaseID) {
        switch state {
        case .waiting: state = .leased(lease)
        case .leased, .ending, .concluded, .ended: preconditionFailure("a hop was leased twice")
        }
    }

    /// The fetch must end now: cancelled, out of time, or the engine goes down.
    ///
    /// - Parameter waitsForWorker: Whether the caller is answered only when the worker has stopped.
    mutating func concluded(waitsForWorker: Bool) -> ConcludeAction {
        switch state {
        case .waiting:
            state = .ended
            return .answerAndWithdraw
        case .leased(let lease) where waitsForWorker:
            state = .ending(lease)
            return .cancel(lease)
        case .ending where waitsForWorker:
            return .none
        case .leased(let lease), .ending(let lease):
            state = .concluded(lease)
            return .answerAndCancel(lease)
        case .concluded, .ended:
            return .none
        }
    }

    /// The lease is over: the worker ended it, or died. An accepted end is followed by `answered` or another lease, one
    /// that finishes by `answered`.
    mutating func leaseEnded(_ lease: LeaseID) -> LeaseEndAction {
        switch state {
        case .leased(let held) where held == lease:
            state = .waiting
            return .accept
        case .ending(let held) where held == lease:
            state = .waiting
            return .finish
        case .concluded(let held) where held == lease:
            state = .ended
            return .forget
        case .waiting, .leased, .ending, .concluded, .ended:
            return .none
        }
    }

    /// The result of the last hop is the answer.
    mutating func answered() {
        state = .ended
    }
}
