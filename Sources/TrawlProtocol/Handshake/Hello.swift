/// What the coordinator says first: who it is and where the worker may write.
package struct Hello: Sendable, Hashable {
    /// The sender's `WireProtocol.version`.
    package var version: UInt16
    /// `BuildIdentity.text`; both sides must have the same.
    package var build: String
    /// The layout version of the shared segment.
    package var segmentLayout: UInt32
    /// The worker's place in the pool.
    package var slot: UInt32
    /// Which child is in that place now.
    package var generation: UInt32
    /// The most leases the worker will hold at a time.
    package var leases: UInt32
    /// Directories beneath which the worker may create files.
    package var roots: [WorkerRoot]
    /// Whether the coordinator wants to know when idle connections close.
    package var followsConnections: Bool
    /// Whether it counts connections to origins, and wants to know when fewer are open than it was told last.
    package var countsConnections: Bool

    /// A greeting of its parts, in this protocol's version unless told otherwise.
    package init(
        version: UInt16 = WireProtocol.version, build: String, segmentLayout: UInt32, slot: UInt32, generation: UInt32,
        leases: UInt32, roots: [WorkerRoot], followsConnections: Bool = false, countsConnections: Bool = true
    ) {
        self.version = version
        self.build = build
        self.segmentLayout = segmentLayout
        self.slot = slot
        self.generation = generation
        self.leases = leases
        self.roots = roots
        self.followsConnections = followsConnections
        self.countsConnections = countsConnections
    }
}
