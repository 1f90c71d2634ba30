import TrawlFrontier

/// The distance between the requests to one host.
public struct HostDelay: Sendable, Hashable, Codable {
    /// What it is measured from.
    public enum Basis: String, Sendable, Hashable, Codable {
        /// From the end of one request to the start of the next: one runs at a time, and the server never sees two of
        /// them closer together.
        case end
        /// From start to start: several may run at a time. The way to the server may shorten the distance there, and so
        /// may a limit of bandwidth, or of connections, that requests wait for after their turn has come.
        case start
    }

    /// The least distance. Default none.
    public var least: Duration
    /// What chance may add to it: between nothing and this. Default nothing.
    public var random: Duration
    /// What it is measured from. Default ``Basis/end``.
    public var basis: Basis

    /// A distance of at least `least` and at most `least + random`.
    public init(_ least: Duration, random: Duration = .zero, from basis: Basis = .end) {
        self.least = least
        self.random = random
        self.basis = basis
    }

    /// Reads what was written down; the rest is as by default.
    public init(from decoder: any Decoder) throws {
        self = .none
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        try stored.read(.least, into: &least)
        try stored.read(.random, into: &random)
        try stored.read(.basis, into: &basis)
    }

    /// No distance.
    public static let none = HostDelay(.zero)

    /// The rule of the queues.
    var rule: StartDelay { StartDelay(least, spread: random, from: basis == .end ? .end : .start) }

    /// What is wrong with it, or nil.
    var problem: String? {
        least < .zero || random < .zero ? "the delay between requests to a host must not be negative" : nil
    }
}

/// Rules of one host's own, in the place of those for all.
public struct HostRules: Sendable, Hashable, Codable {
    /// Connections to it over all workers, busy or idle; 0 is no limit, nil what holds for all. Those that were opened
    /// while there was no limit count from their next request on.
    public var connections: Int?
    /// The distance between its requests; nil is what holds for all.
    public var delay: HostDelay?

    /// Rules; what is nil is what holds for all hosts.
    public init(connections: Int? = nil, delay: HostDelay? = nil) {
        self.connections = connections
        self.delay = delay
    }

    /// Reads what was written down; the rest is as by default.
    public init(from decoder: any Decoder) throws {
        self.init()
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        try stored.read(.connections, into: &connections)
        try stored.read(.delay, into: &delay)
    }

    /// What is wrong with them, or nil.
    var problem: String? {
        if let connections, connections < 0 { return "connections to a host must be 0 or more, not \(connections)" }
        return delay?.problem
    }
}
