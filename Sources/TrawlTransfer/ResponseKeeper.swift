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

/// An answer, or its beginning, made of a stored response.
package struct StoredAnswer {
    /// The head of the answer.
    package var head: ResponseHead
    /// Its body, or the beginning of it.
    package var body: any StoredBytes
    /// What the end of the lease says.
    package var report: CacheReport
    /// What is written when the answer has ended well.
    package var keeper: (any BodyKeeper)?

    /// An answer of its parts.
    package init(head: ResponseHead, body: any StoredBytes, report: CacheReport, keeper: (any BodyKeeper)? = nil) {
        self.head = head
        self.body = body
        self.report = report
        self.keeper = keeper
    }
}

/// Takes a body while it is delivered, content codings still on.
package protocol BodyKeeper: AnyObject {
    /// Whether it can be left to a program whether the response is stored.
    var mayBeDecided: Bool { get }
    /// Whether it looks at the bytes at all: the response will be stored, as far as is known by now.
    var takesBytes: Bool { get }
    /// Whether others who wait for the response could use it once it is stored, as far as its head tells.
    var isForOthers: Bool { get }
    /// What the program decided, before any byte of the body; nil is not to store it.
    func decide(_ order: StoringOrder?)
    /// The next bytes. What cannot be kept is let go without a word.
    func write(_ bytes: UnsafeRawBufferPointer)
    /// The response is whole.
    /// - Returns: The number of the commit to wait for; nil when nothing is written.
    func finish() -> UInt64?
    /// The response broke off; what came may be kept as a part.
    /// - Returns: The number of the commit to wait for; nil when there is none.
    func interrupt() -> UInt64?
    /// The response is not wanted; nothing is left of it.
    func abandon()
}

/// The bytes of a stored body, in order, verified before they are given out.
package protocol StoredBytes: AnyObject {
    /// How many there are.
    var length: UInt64 { get }
    /// Reads and checks a piece of what follows, without giving it out: for who could not take back what is given out.
    ///
    /// - Returns: How many bytes were looked at; 0 when all were, and when there are more than are worth to be read
    ///   twice.
    /// - Throws: `storedResponse` when what is stored turns out damaged.
    func inspect() throws(HopFailure) -> Int
    /// The next bytes; nil at the end.
    ///
    /// - Parameter file: A file that the bytes go to as they are, where it stands; it may come to share the stored
    ///   body's blocks.
    /// - Throws: `storedResponse` when what is stored turns out damaged.
    func next(into file: Int32?) throws(HopFailure) -> StoredPiece?
}

/// A piece of a stored body.
package enum StoredPiece {
    /// Valid until the next piece, of this or of another body, is asked for.
    case bytes(UnsafeRawBufferPointer)
    /// So many bytes are in the file already.
    case shared(Int)
}
