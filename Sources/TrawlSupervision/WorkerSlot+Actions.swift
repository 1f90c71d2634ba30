extension WorkerSlot {
    /// Where in its life a slot is.
    package enum Phase: Sendable, Hashable, CaseIterable {
        /// No worker was started yet.
        case neverStarted
        /// A process runs and has not said that it is ready.
        case starting
        /// The worker takes leases.
        case ready
        /// The worker finishes what it holds and will exit.
        case draining
        /// The process was sent a signal by us and is about to end.
        case ending
        /// No process; one will be started later.
        case backingOff
        /// Given up.
        case retired
    }

    /// What to do with a process that was just spawned.
    package enum StartAction: Sendable, Hashable {
        /// Shake hands with it under this generation number.
        case run(generation: UInt32)
        /// Kill it: the slot has no place for it. Its exit is not for this slot.
        case kill(KillReason)
    }

    /// What to do after an exit or a failed start.
    package enum ExitAction: Sendable, Hashable {
        /// Start again after the delay; at once when it is zero.
        case restart(after: Duration)
        /// Do not start here again.
        case retire(RetireReason)
        /// Nothing: the exit is old news.
        case none
    }

    /// What to do with a worker that said it is ready.
    package enum ReadyAction: Sendable, Hashable {
        /// Give it leases.
        case lease
        /// Nothing: it is late, or said it before.
        case none
    }

    /// What to do when a wait for a restart is over.
    package enum BackoffAction: Sendable, Hashable {
        /// Spawn a process.
        case start
        /// The timer was early: wait on.
        case wait(Duration)
        /// Nothing.
        case none
    }

    /// What to do after a look at the worker.
    package enum TickAction: Sendable, Hashable {
        /// Kill the process with SIGKILL.
        case kill(KillReason)
        /// Nothing.
        case none
    }

    /// What to do for a drain.
    package enum DrainAction: Sendable, Hashable {
        /// Tell the worker to finish and exit.
        case askWorker
        /// Send the process SIGTERM: it holds nothing yet.
        case terminate
        /// The slot is retired already: there is no process.
        case retire(RetireReason)
        /// Nothing: its end is on the way.
        case none
    }

    /// What to do to end a process.
    package enum KillAction: Sendable, Hashable {
        /// Send SIGTERM.
        case terminate
        /// Send SIGKILL.
        case kill(KillReason)
        /// Nothing: there is no process, or it has had its signal.
        case none
    }

    /// What to do to give a slot up.
    package enum RetireAction: Sendable, Hashable {
        /// Kill the process with SIGKILL; the slot is retired at its exit.
        case kill(KillReason)
        /// The slot is retired already: there is no process.
        case retire(RetireReason)
        /// Nothing: its end is on the way.
        case none
    }
}
