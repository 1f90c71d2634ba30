import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlWatch

/// What is told step by step. Where nobody listens each step costs a comparison.
extension Supervisor {
    /// Tells a step.
    ///
    /// - Parameter text: Made only where somebody listens. Nothing of it may be secret.
    func tell(_ category: DebugLog.Categories, _ text: @autoclosure () -> String) {
        guard toldSteps.contains(category) else { return }
        configuration.debugLog?.handler(text().terminalSafe)
    }

    /// Tells a step of a fetch.
    func tell(_ category: DebugLog.Categories, _ fetch: RunningFetch, _ text: @autoclosure () -> String) {
        tell(category, "fetch \(fetch.engine.key.debugNumber): \(text())")
    }

    /// A fetch came.
    func tellStart(_ fetch: RunningFetch) {
        tell(.status, fetch, "\(fetch.engine.method.name) \(Self.plain(fetch.engine.target))")
    }

    /// A fetch is answered.
    func tellEnd(_ fetch: RunningFetch, _ result: Result<Response, FetchError>) {
        guard toldSteps.contains(.status) else { return }
        switch result {
        case .success(let response):
            tell(
                .status, fetch, "ended: status \(response.status), \(response.receivedLength) bytes, \(response.source)"
            )
        case .failure(let error): tell(.status, fetch, "ended: \(error.code.rawValue)")
        }
    }

    /// A redirect is followed.
    func tellRedirect(_ fetch: RunningFetch, _ status: UInt16, _ target: TargetURI) {
        tell(.status, fetch, "redirected by \(status) to \(Self.plain(target))")
    }

    /// Request and response of a hop have passed, or what there was of them.
    func tellPassed(_ fetch: RunningFetch, _ end: LeaseEnd) {
        guard toldSteps.contains(.status) else { return }
        tell(.status, fetch, "passed: sent \(end.metrics.bytesSent) bytes, received \(end.metrics.bytesReceived)")
    }

    /// A hop ended.
    func tellConnection(_ fetch: RunningFetch, _ end: LeaseEnd, _ slot: Int) {
        guard toldSteps.contains(.connections) else { return }
        guard end.metrics.connection != 0 else { return tell(.connections, fetch, "no connection") }
        let kind = end.metrics.reusedConnection ? "used again" : "new"
        let peer = "\(end.metrics.remoteAddress) port \(end.metrics.remotePort)"
        let again = end.metrics.repeatedRequest ? ", for a request that an earlier one ended under" : ""
        tell(.connections, fetch, "connection \(slot):\(end.metrics.connection) to \(peer), \(kind)\(again)")
    }

    /// Looks at what passed since the last look.
    mutating func tellThrottle() {
        guard toldSteps.contains(.throttle) else { return }
        let use = meter.use
        let limits = traffic
        let isLimited = limits.receivedLimit != nil || limits.sentLimit != nil
        let (received, sent) = (use.received &- debugged.received, use.sent &- debugged.sent)
        let span = debugged.at.duration(to: now)
        let wasThrottled = debugged.isThrottled
        debugged = DebuggedThrottle(received: use.received, sent: use.sent, at: now, isThrottled: limits.isThrottled)
        guard isLimited else { return }
        if received > 0 || sent > 0 {
            let milliseconds = span.clampedMilliseconds
            tell(.throttle, "throttle: received \(received), sent \(sent) bytes in \(milliseconds) ms")
        }
        if limits.isThrottled != wasThrottled {
            tell(.throttle, limits.isThrottled ? "throttle: transfers rest" : "throttle: transfers go on")
        }
    }

    /// A target without its query, which may hold what is secret.
    private static func plain(_ target: TargetURI) -> String {
        guard let query = target.text.firstIndex(of: "?") else { return target.text }
        return target.text[..<query] + "?..."
    }
}

/// What was told of bandwidth last.
struct DebuggedThrottle {
    var received: UInt64 = 0
    var sent: UInt64 = 0
    var at: MonotonicInstant
    var isThrottled = false
}

extension FetchKey {
    /// A number for people: no two fetches of a run have the same soon after one another.
    fileprivate var debugNumber: String { "\(place).\(rawValue >> 32)" }
}
