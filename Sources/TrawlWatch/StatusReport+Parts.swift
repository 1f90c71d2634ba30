extension StatusReport {
    /// One worker slot.
    package struct Worker: Sendable, Hashable {
        /// What is in the slot.
        package enum State: String, Sendable, Hashable, CaseIterable {
            /// A worker that has not said yet that it is ready.
            case starting
            /// One that takes hops.
            case ready
            /// One that finishes what it has.
            case draining
            /// One that was told to end.
            case ending
            /// None; one is to be started.
            case waiting
            /// None, and there will be none.
            case retired
        }

        /// The slot's number.
        package var slot: Int
        /// The worker's process; nil without one, and where it is a thread.
        package var process: Int32?
        /// What is in the slot.
        package var state: State
        /// Hops it has.
        package var transfers: Int
        /// How often another worker was put into the slot.
        package var restarts: Int

        /// A slot.
        package init(slot: Int, process: Int32?, state: State, transfers: Int, restarts: Int) {
            self.slot = slot
            self.process = process
            self.state = state
            self.transfers = transfers
            self.restarts = restarts
        }
    }

    /// One host: an origin.
    package struct Host: Sendable, Hashable {
        /// What the host is doing, as in docs/politeness.md.
        package enum State: String, Sendable, Hashable, CaseIterable {
            /// A hop waits and may start.
            case ready
            /// Hops run, and no other may start.
            case inProcess = "in_process"
            /// None may start for a time.
            case snoozed
            /// It was given up.
            case retired
            /// Nothing waits and nothing runs.
            case exhausted
        }

        /// How its circuit stands.
        package enum Circuit: String, Sendable, Hashable, CaseIterable {
            /// As that of any host.
            case closed
            /// Nothing runs.
            case open
            /// The next hop finds out whether it answers again.
            case halfOpen = "half_open"
            /// That hop runs.
            case probing
        }

        /// Scheme, host and port.
        package var origin: String
        /// Hops that run.
        package var inFlight: Int
        /// Hops that wait.
        package var waiting: Int
        /// What it is doing.
        package var state: State
        /// For how long none may start yet; nil when it is not snoozed.
        package var snoozedFor: Duration?
        /// How its circuit stands.
        package var circuit: Circuit

        /// A host.
        package init(
            origin: String, inFlight: Int, waiting: Int, state: State, snoozedFor: Duration? = nil,
            circuit: Circuit = .closed
        ) {
            self.origin = origin
            self.inFlight = inFlight
            self.waiting = waiting
            self.state = state
            self.snoozedFor = snoozedFor
            self.circuit = circuit
        }
    }
}
