package import TrawlHTTP
package import TrawlProtocol

/// What remembers what servers say about their user, as transfers see it.
///
/// Bound to the transfer thread. Nothing here waits: the numbers of commits come back through
/// `ResponseKeeper.takeCommitted`, and the end of a lease waits for those of all its heads.
package protocol StateKeeper: AnyObject {
    /// The final head of a response has come from the server, `Set-Cookie` among its fields. Heads of stored responses
    /// do not come here.
    ///
    /// - Parameter leases: How many are under way.
    /// - Returns: The number of the commit to wait for; nil when nothing is written.
    func received(
        _ head: ResponseHead, of lease: Lease, _ terms: StateTerms, at now: WallTime, leases: Int
    ) -> UInt64?
}
