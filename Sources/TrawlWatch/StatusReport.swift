// TrawlWatch: what is seen of a coordinator from outside, as values: a report of the moment, counters of its whole
// life, and the forms both are written in. It counts nothing by itself, opens nothing and reads no clock.

/// What a coordinator is doing at one moment.
///
/// It names origins and kinds of errors, and never a path, a query, a field or a credential: whoever may see it learns
/// which servers are asked and no more.
///
/// - Source: docs/watching.md has its form as JSON.
package struct StatusReport: Sendable, Hashable {
    /// The version of the JSON form.
    package static let version = 1

    /// How far the coordinator's own life has come.
    package enum Stage: String, Sendable, Hashable, CaseIterable {
        /// It takes fetches.
        case running
        /// It takes none; those in flight may go on.
        case draining
        /// Its workers are being ended.
        case ending
        /// No worker can be run.
        case down
    }

    /// What runs the coordinator: a subcommand's name, or that of the program.
    package var program: String
    /// Its process.
    package var process: Int32
    /// How long the coordinator has lived.
    package var uptime: Duration
    /// How far its life has come.
    package var stage: Stage
    /// One for each slot, in their order.
    package var workers: [Worker]
    /// How many fetches are where.
    package var fetches: Fetches
    /// Bytes, as they are on the wire.
    package var traffic: Traffic
    /// What the cache did.
    package var cache: Cache
    /// How often fetches failed for which reason, the most frequent first.
    package var failures: [Failure]
    /// The busiest hosts first; not all of them when they are many.
    package var hosts: [Host]
    /// Hosts where something runs or waits, or that are held back, those not in ``hosts`` among them.
    package var hostCount: Int

    /// A report of these parts.
    package init(
        program: String, process: Int32, uptime: Duration = .zero, stage: Stage = .running, workers: [Worker] = [],
        fetches: Fetches = Fetches(), traffic: Traffic = Traffic(), cache: Cache = Cache(), failures: [Failure] = [],
        hosts: [Host] = [], hostCount: Int = 0
    ) {
        self.program = program
        self.process = process
        self.uptime = uptime
        self.stage = stage
        self.workers = workers
        self.fetches = fetches
        self.traffic = traffic
        self.cache = cache
        self.failures = failures
        self.hosts = hosts
        self.hostCount = hostCount
    }

    /// How many fetches are where, and what became of the others.
    package struct Fetches: Sendable, Hashable {
        /// Taken and not in flight: for a host, for a time, for a worker.
        package var waiting = 0
        /// Those of them that wait for the network.
        package var waitingForNetwork = 0
        /// With a worker.
        package var inFlight = 0
        /// Answered by a response, whatever its status.
        package var done: UInt64 = 0
        /// Answered by an error.
        package var failed: UInt64 = 0
        /// Attempts that were followed by another one.
        package var retries: UInt64 = 0

        /// None.
        package init() {}
    }

    /// Bytes, as they are on the wire, and what limits them.
    package struct Traffic: Sendable, Hashable {
        /// Received since the start.
        package var received: UInt64 = 0
        /// Sent since the start.
        package var sent: UInt64 = 0
        /// Received a second, over the last five.
        package var receivedRate: UInt64 = 0
        /// Sent a second, over the last five.
        package var sentRate: UInt64 = 0
        /// The limit of what is received, in bytes a second; nil is none.
        package var receivedLimit: UInt64?
        /// The limit of what is sent; nil is none, or that of what is received when ``isJoint``.
        package var sentLimit: UInt64?
        /// Whether one limit is for both directions together.
        package var isJoint = false
        /// Whether fetches wait for bandwidth that all have together; limits of hosts and groups are not looked at.
        package var isThrottled = false

        /// Nothing, without a limit.
        package init() {}
    }

    /// What the cache did for fetches that were answered by a response.
    package struct Cache: Sendable, Hashable {
        /// Answered without asking anybody.
        package var hits: UInt64 = 0
        /// Answered by what is stored, which the server said is still right.
        package var validated: UInt64 = 0
        /// Answered by what is stored although it is stale.
        package var stale: UInt64 = 0
        /// Answered by the server.
        package var misses: UInt64 = 0

        /// Nothing.
        package init() {}

        /// The part of all responses whose body came from the cache, 0 to 1; nil when there was no response.
        package var share: Double? {
            let served = Double(hits) + Double(validated) + Double(stale)
            let all = served + Double(misses)
            return all > 0 ? served / all : nil
        }
    }

    /// A kind of failure.
    package struct Failure: Sendable, Hashable {
        /// The error's code, as in results.
        package var code: String
        /// How many fetches it ended.
        package var count: UInt64

        /// So many of that kind.
        package init(code: String, count: UInt64) {
            self.code = code
            self.count = count
        }
    }
}
