package import TrawlHTTP

/// What a driver wants after a turn.
package struct DriverTurn {
    /// Fetches to start, in their order.
    package var start: [PreparedFetch]
    /// A descriptor whose input starts a turn; nil to wait for none. Not one of a regular file.
    package var input: Int32?
    /// When there is to be a turn whatever happens; nil for never.
    package var wakeAt: MonotonicInstant?
    /// Whether there is to be a turn as soon as there is room (``DriverLoad/hasRoom``).
    package var wantsRoom = false
    /// Whether the driver is done: it is not called again. No fetch of its is in flight then.
    package var isFinished: Bool

    /// What to do next.
    package init(
        start: [PreparedFetch] = [], input: Int32? = nil, wakeAt: MonotonicInstant? = nil, isFinished: Bool = false
    ) {
        self.start = start
        self.input = input
        self.wakeAt = wakeAt
        self.isFinished = isFinished
    }
}
