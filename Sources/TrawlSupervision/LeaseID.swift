/// Names one lease, and no other lease of the coordinator's life.
///
/// The bits say where its record is (worker slot, index) and which use of that record it is (serial), so a look-up is
/// one array access and an id from an earlier use is known as old.
package struct LeaseID: Sendable, Hashable, RawRepresentable {
    /// 42 bits of serial, 10 bits of worker, 12 bits of index. Never zero.
    package var rawValue: UInt64

    /// The id as it travels in frames. Any number is allowed; one that names no lease is refused by the table.
    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The most worker slots a table may have.
    package static let maximumWorkers = 1 << 10
    /// The most leases one worker may hold.
    package static let maximumLeasesPerWorker = 1 << 12
    static let maximumSerial: UInt64 = (1 << 42) - 1

    init(serial: UInt64, worker: Int, index: Int) {
        rawValue = serial << 22 | UInt64(truncatingIfNeeded: worker) << 12 | UInt64(truncatingIfNeeded: index)
    }

    var serial: UInt64 { rawValue >> 22 }
    var worker: Int { Int(truncatingIfNeeded: rawValue >> 12) & 0x3FF }
    /// Which of its worker's progress words are the lease's: 0 to 4,095.
    package var index: Int { Int(truncatingIfNeeded: rawValue) & 0xFFF }
}

/// The coordinator's number for one hop; unique in its life.
package typealias HopID = UInt64

/// A small number that stands for an origin while hops to it are waiting or running.
package typealias OriginKey = UInt32

/// A lease as the table gave it out: the right of one worker generation to do one hop.
package struct LeaseGrant: Sendable, Hashable {
    /// What frames about this hop carry.
    package var id: LeaseID
    /// Which progress words of the worker's part of the shared segment are the transfer's: below leases per worker.
    package var progressIndex: UInt16
}

/// A hop whose worker is gone.
package struct LostHop: Sendable, Hashable {
    /// The coordinator's hop.
    package var hop: HopID
    /// The lease it had, which is void now.
    package var lease: LeaseID
    /// What becomes of the hop.
    package var verdict: Verdict

    /// What becomes of a hop whose worker is gone.
    package enum Verdict: Sendable, Hashable {
        /// Queue it again, and pass `asSuspect` on with its next grant.
        case requeue(asSuspect: Bool)
        /// Its fetch fails as `workerLost`.
        case fail(FailReason)
        /// Its cancellation was under way: end it as cancelled.
        case cancelled
    }

    /// Why a lost hop may not run again.
    package enum FailReason: Sendable, Hashable {
        /// Bytes were sent, and sending them twice is not safe (RFC 9110 §9.2.2).
        case notRepeatable
        /// It was at one crash before, and alone at this one.
        case secondCrash
    }
}
