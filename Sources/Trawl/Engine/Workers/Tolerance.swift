package import TrawlSupervision

/// What is borne from workers before they are ended, and from servers before identical fetches part.
package struct Tolerance: Sendable, Hashable {
    /// How long a new worker may take to say that it is ready.
    package var startDeadline = Duration.seconds(10)
    /// How long a heartbeat may stand still while the supervisor runs on time.
    package var heartbeatDeadline = Duration.seconds(30)
    /// How long a worker may take to end a lease it was told to cancel, beside the time for which it waits for a file.
    package var cancelGrace = Duration.seconds(30)
    /// Frames about leases the worker does not hold; each proper end of a lease makes up for one.
    ///
    /// A lease is held until its worker ends it, so a good worker sends none, however things cross on the way. What one
    /// sends by mistake, a second end for each lease, say, is ignored and does no harm; one that sends them without end
    /// would keep the supervisor reading. Default 256.
    package var strayFrames = 256
    /// How long identical fetches wait for a response to begin whose request was sent, before each sends its own.
    package var sharedHeadWait = Duration.seconds(5)

    /// The defaults.
    package init() {}

    /// How worker slots live by it.
    package var restartPolicy: RestartPolicy {
        var policy = RestartPolicy()
        policy.startDeadline = startDeadline
        policy.heartbeatDeadline = heartbeatDeadline
        return policy
    }
}
