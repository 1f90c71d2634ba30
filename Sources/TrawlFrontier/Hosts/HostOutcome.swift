/// What the end of a hop says about its host.
package enum HostOutcome: Sendable, Hashable {
    /// The host answered.
    case answered
    /// The host did not answer, or could not: no connection, a limit of time, a connection lost, a status of overload.
    case failed
    /// Nothing: the hop was cancelled, its worker died, it failed on our side.
    case unknown

    /// What a final status says.
    ///
    /// - Parameters:
    ///   - status: Of a response that came from the host, not from a store.
    ///   - countsServerErrors: Whether each status of 500 and more is a failure.
    /// - Returns: `failed` for 429 (RFC 6585 §4), 502, 503 and 504 (RFC 9110 §15.6.3 to §15.6.5): the host, or the one
    ///   behind it, is not up to requests at the moment. A 500 is about one resource.
    package init(status: UInt16, countsServerErrors: Bool = false) {
        let isFailure = status == 429 || (502...504).contains(status) || countsServerErrors && status >= 500
        self = isFailure ? .failed : .answered
    }
}
