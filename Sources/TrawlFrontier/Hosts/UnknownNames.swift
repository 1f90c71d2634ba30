package import TrawlHTTP

/// Names of hosts that had no address a moment ago, so that a thousand requests to a dead one ask a few times.
///
/// What a resolver says of a name that is not there may be that it is not there, or that it could not be found out; the
/// two look the same here, so it is remembered for seconds. Memory is bounded: the oldest name goes first.
package struct UnknownNames: Sendable {
    /// A name as it was asked for.
    package struct Name: Sendable, Hashable {
        /// In lower case.
        package let host: String
        /// The address family that was asked for; a name may have addresses of another.
        package let family: UInt8

        /// A name and a family, any number that stands for one.
        package init(host: String, family: UInt8) {
            self.host = host
            self.family = family
        }
    }

    /// The least time between two questions of those who try again.
    private static let questionDistance = Duration.seconds(1)

    private let lifetime: Duration
    private let capacity: Int
    private var notedAt: [Name: MonotonicInstant] = [:]
    /// The names in the order in which they were noted; one that was noted again is in it twice.
    private var order: [(name: Name, at: MonotonicInstant)] = []
    private var first = 0

    /// No names yet.
    ///
    /// - Parameters:
    ///   - lifetime: How long one is remembered; zero or less is not at all.
    ///   - capacity: How many are, at least 1.
    package init(lifetime: Duration, capacity: Int = 1024) {
        self.lifetime = lifetime
        self.capacity = max(1, capacity)
    }

    /// Whether nothing is remembered.
    package var isEmpty: Bool { notedAt.isEmpty }
    /// How many are remembered.
    package var count: Int { notedAt.count }

    /// A name turned out to have no address.
    package mutating func note(_ name: Name, at now: MonotonicInstant) {
        guard lifetime > .zero else { return }
        notedAt[name] = now
        order.append((name, now))
        forget { $0.notedAt.count > $0.capacity || $0.order[$0.first].at.duration(to: now) >= $0.lifetime }
    }

    /// Whether a name need not be asked for.
    ///
    /// - Parameter triesAgain: Whether it is for a further attempt. One of these is let through each second, and what
    ///   it is told counts for the others.
    package mutating func contains(_ name: Name, at now: MonotonicInstant, triesAgain: Bool) -> Bool {
        guard let noted = notedAt[name] else { return false }
        let age = noted.duration(to: now)
        if age >= lifetime {
            forget { $0.order[$0.first].at.duration(to: now) >= $0.lifetime }
            return false
        }
        guard triesAgain, age >= Self.questionDistance else { return true }
        note(name, at: now)
        return false
    }

    /// A name has an address after all.
    package mutating func remove(_ name: Name) { notedAt[name] = nil }

    /// Forgets everything: the network is another one.
    package mutating func removeAll() {
        notedAt = [:]
        order = []
        first = 0
    }

    /// Forgets the oldest names while a condition holds.
    private mutating func forget(while condition: (UnknownNames) -> Bool) {
        while first < order.count, condition(self) {
            let entry = order[first]
            if notedAt[entry.name] == entry.at { notedAt[entry.name] = nil }
            first += 1
        }
        if first > capacity {
            order.removeFirst(first)
            first = 0
        }
    }
}
