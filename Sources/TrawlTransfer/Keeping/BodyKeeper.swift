package import TrawlProtocol

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
