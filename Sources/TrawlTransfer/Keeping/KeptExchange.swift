package import TrawlHTTP
package import TrawlProtocol

/// One exchange that the cache takes part in.
package protocol KeptExchange: AnyObject {
    /// The final head has come.
    ///
    /// - Parameters:
    ///   - sentAt: When the request was sent.
    ///   - now: When the head came.
    func received(_ head: ResponseHead, sentAt: WallTime, now: WallTime) -> KeptResponse

    /// What answers in place of an exchange that failed before its head was complete; nil when nothing may.
    func answer(insteadOf failure: HopFailure, at now: WallTime) -> StoredAnswer?
}

/// What becomes of a response whose head has come.
package enum KeptResponse {
    /// It is the answer.
    case passOn
    /// It is the answer, and something is written when it has ended well.
    case keep(any BodyKeeper)
    /// A stored response is the answer: the server said that it is still right, or failed.
    case replace(StoredAnswer)
    /// The answer begins with bytes that are stored; those that come follow, and make it so long in all.
    case complete(StoredAnswer, length: UInt64)
    /// It does not go with what is stored, and says nothing without it.
    case refuse(HopFailure)
}
