import TrawlHTTP

/// Whether, and when, an attempt that failed is made again: the rules of `--retry` and its companions.
///
/// An attempt is a whole one as the caller sees it, redirects and challenges included. What the engine does again on
/// its own (a dead connection, a lost worker) is not counted here.
package struct RetryPolicy: Sendable, Hashable {
    /// How many attempts may follow the first (`--retry`).
    package var retries: Int
    /// No attempt starts later than this after the first did (`--retry-max-time`); nil is no bound.
    package var longestTime: Duration?
    /// The same wait each time (`--retry-delay`); nil is the backoff.
    package var fixedDelay: Duration?
    /// The waits that double.
    package var backoff: Backoff
    /// The most that `Retry-After` is taken for.
    package var longestRetryAfter: Duration
    /// Whether failures that will hardly pass are tried again as well (`--retry-all-errors`).
    package var retriesAllErrors: Bool
    /// Whether a refused connection may pass (`--retry-connrefused`).
    package var retriesRefusedConnections: Bool
    /// Whether a status of 400 or more is a failure (`--fail`), for `retriesAllErrors`.
    package var failsOnErrorStatus: Bool
    /// Whether methods that are not idempotent are repeated too: the caller knows that it does no harm.
    package var repeatsAnyMethod: Bool

    /// A policy; by default nothing is tried again. Waits are 1 s, 2 s and so on to ten minutes, as in curl.
    package init(
        retries: Int = 0, longestTime: Duration? = nil, fixedDelay: Duration? = nil,
        backoff: Backoff = Backoff(first: .seconds(1), longest: .seconds(600)),
        longestRetryAfter: Duration = .seconds(600), retriesAllErrors: Bool = false,
        retriesRefusedConnections: Bool = false, failsOnErrorStatus: Bool = false, repeatsAnyMethod: Bool = false
    ) {
        self.retries = max(0, retries)
        self.longestTime = longestTime
        self.fixedDelay = fixedDelay
        self.backoff = backoff
        self.longestRetryAfter = longestRetryAfter
        self.retriesAllErrors = retriesAllErrors
        self.retriesRefusedConnections = retriesRefusedConnections
        self.failsOnErrorStatus = failsOnErrorStatus
        self.repeatsAnyMethod = repeatsAnyMethod
    }

    /// How an attempt ended.
    package enum Ending: Sendable, Hashable {
        /// By a response of this status, with what its `Retry-After` asks for.
        case response(status: UInt16, retryAfter: Duration?)
        /// By a failure, before which the request was or was not sent.
        case failure(Failure, requestWasSent: Bool)
    }

    /// Kinds of failures, as far as they differ here.
    package enum Failure: Sendable, Hashable {
        /// A limit of time passed: on the connection, on silence.
        case timedOut
        /// The host's port takes no connections.
        case connectionRefused
        /// Name or address cannot be reached, or the connection ended too early.
        case unreachable
        /// The limit of time for the whole, which further attempts share.
        case outOfTime
        /// What the other side did wrong and will hardly do right: TLS, protocol, coding.
        case lasting
        /// On our side: cancelled, a file, a bad request, no engine.
        case own
    }

    /// What the caller does now.
    package enum Verdict: Sendable, Hashable {
        /// Another attempt after a wait.
        case retry(after: Duration)
        /// This was the last one.
        case stop(Reason)
    }

    /// Why there is no further attempt.
    package enum Reason: Sendable, Hashable {
        /// It came to what was asked for, or to what will not change.
        case final
        /// The request may have been carried out, and must not be a second time (RFC 9110 §9.2.2).
        case notRepeatable
        /// All attempts are used up.
        case noneLeft
        /// The next attempt would start too late.
        case outOfTime
    }

    /// What to do after an attempt.
    ///
    /// - Parameters:
    ///   - ending: How it ended.
    ///   - attempts: How many were made, this one included.
    ///   - elapsed: The time since the first of them started.
    ///   - isIdempotent: Whether doing the request twice means the same as once (RFC 9110 §9.2.2).
    ///   - holdOff: For how long nothing may begin where the next attempt goes, whatever its own wait is.
    ///   - random: From 0 to 1, for the wait.
    package func verdict(
        after ending: Ending, attempts: Int, elapsed: Duration, isIdempotent: Bool, holdOff: Duration = .zero,
        random: Double
    ) -> Verdict {
        var wait: Duration?
        var wasSent = true
        switch ending {
        case .response(let status, let retryAfter):
            guard mayPass(status) else { return .stop(.final) }
            wait = retryAfter.map { min(max(.zero, $0), longestRetryAfter) }
        case .failure(let failure, let requestWasSent):
            guard mayPass(failure) else { return .stop(.final) }
            wasSent = requestWasSent
        }
        guard isIdempotent || repeatsAnyMethod || !wasSent else { return .stop(.notRepeatable) }
        guard attempts <= retries else { return .stop(.noneLeft) }
        let delay = wait ?? fixedDelay ?? backoff.delay(afterFailures: attempts, random: random)
        if let longestTime, elapsed >= longestTime || max(delay, holdOff) > longestTime - elapsed {
            return .stop(.outOfTime)
        }
        return .retry(after: delay)
    }

    /// Whether another attempt may come to another status.
    package func mayPass(_ status: UInt16) -> Bool {
        ResponseHead.mayPass(status) || retriesAllErrors && failsOnErrorStatus && status >= 400
    }

    private func mayPass(_ failure: Failure) -> Bool {
        switch failure {
        case .timedOut, .unreachable: true
        case .connectionRefused: retriesRefusedConnections || retriesAllErrors
        case .lasting: retriesAllErrors
        case .outOfTime, .own: false
        }
    }
}
