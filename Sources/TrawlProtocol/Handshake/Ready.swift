/// What a worker says first, when it can work.
package struct Ready: Sendable, Hashable {
    /// The sender's `WireProtocol.version`.
    package var version: UInt16
    /// `BuildIdentity.text`; both sides must have the same.
    package var build: String
    /// The layout version of the shared segment.
    package var segmentLayout: UInt32
    /// The worker's process number, for logs; the coordinator trusts the one it started.
    package var processID: UInt32

    /// A greeting of its parts, in this protocol's version unless told otherwise.
    package init(
        version: UInt16 = WireProtocol.version, build: String, segmentLayout: UInt32, processID: UInt32
    ) {
        self.version = version
        self.build = build
        self.segmentLayout = segmentLayout
        self.processID = processID
    }
}
