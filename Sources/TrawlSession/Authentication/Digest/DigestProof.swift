/// What was sent to prove one request, kept to check what the server proves in return.
package struct DigestProof: Sendable, Hashable {
    /// The value of `Authorization` or `Proxy-Authorization`.
    package let fieldValue: [UInt8]
    /// The nonce that was used.
    package let nonce: [UInt8]
    let count: UInt32
    let protection: DigestChallenge.Protection
    let target: [UInt8]
}

extension DigestProof: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What it is, nothing of what it holds.
    package var description: String { "digest proof" }
    /// What it is, nothing of what it holds.
    package var debugDescription: String { description }
    /// A mirror that shows nothing.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
