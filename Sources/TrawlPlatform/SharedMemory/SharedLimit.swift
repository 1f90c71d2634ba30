package import TrawlHTTP

/// Which way bytes go.
package enum TransferDirection: Sendable, Hashable {
    /// From the server.
    case down
    /// To the server.
    case up
}

/// A limit of bandwidth: a bucket for each direction, or one for both.
package struct SharedLimit: Sendable {
    /// What is received; what is sent too when the limit is joint.
    package let down: SharedBucket
    /// What is sent.
    package let up: SharedBucket

    init(down: SharedBucket, up: SharedBucket) {
        self.down = down
        self.up = up
    }

    /// The bucket that pays for a direction.
    package func bucket(_ direction: TransferDirection) -> SharedBucket {
        direction == .down || up.isJoint ? down : up
    }

    /// Does something with the bucket that pays for a direction, without a copy of it, which retains the segment: for
    /// what is done several times in each transfer.
    @inline(__always)
    package func with<Result>(_ direction: TransferDirection, _ body: (borrowing SharedBucket) -> Result) -> Result {
        direction == .down || up.isJoint ? body(down) : body(up)
    }

    /// Whether there is a limit in a direction at present.
    package func isSet(_ direction: TransferDirection) -> Bool {
        with(direction) { $0.nanosecondsPerMiB != 0 }
    }

    /// Transfers of all processes that may make use of it at a time; nil without a limit of what is received. Each may
    /// have bytes under way that nobody has read.
    package var transfers: Int? {
        down.bytesPerSecond.map { Int(clamping: max(1, $0 / (4 << 10))) }
    }

    /// Sets the limit for both directions; it holds for all processes at once.
    ///
    /// - Parameters:
    ///   - down: Bytes a second; zero is unlimited.
    ///   - up: Bytes a second; zero is unlimited; nil has what is sent paid for by `down`.
    ///   - burst: The credit of idle time.
    package func set(down: UInt64, up: UInt64?, burst: Duration, at now: MonotonicInstant) {
        self.down.setLimit(bytesPerSecond: down, burst: burst, at: now)
        self.up.setLimit(bytesPerSecond: up ?? 0, burst: burst, at: now)
        self.up.setJoint(up == nil)
    }
}
