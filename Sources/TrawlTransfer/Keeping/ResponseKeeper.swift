package import TrawlHTTP
package import TrawlProtocol

/// What keeps responses for later, as transfers see it: the worker's side of the cache.
///
/// Bound to the transfer thread. Nothing here waits: what has to be written is committed elsewhere, and
/// `takeCommitted` tells when that is done.
package protocol ResponseKeeper: AnyObject {
    /// A lease that has to do with the cache begins.
    func begin(_ lease: Lease, _ profile: TransferProfile, _ terms: CacheTerms, at now: WallTime) -> KeeperStart

    /// The numbers of what has been committed since the last call, and whether it is in the store now.
    func takeCommitted() -> [(commit: UInt64, isStored: Bool)]

    /// The loop ends: its wait is not to be ended any more, whatever is committed from now on.
    func stopWaking()
}

/// How a lease that has to do with the cache goes on.
package enum KeeperStart {
    /// The answer is stored.
    case answer(StoredAnswer)
    /// A request goes out, with these fields. Those that were added are told apart; each took the place of others of
    /// its name.
    case request(FieldLines, added: FieldLines, (any KeptExchange)?)
    /// Neither is possible.
    case refuse(HopFailure)
}
