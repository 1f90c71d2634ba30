/// What the answer to a request of ours means.
package enum Conclusion: Sendable, Hashable {
    /// The stored response is still right: store it anew, its head updated, if the request `mayWrite`, and present it.
    case freshened(StoredResponse, Reuse)
    /// The stored response is still right for this caller, whose answer says nothing of it to others: present it with its
    /// head updated, and leave the record as it is.
    case confirmed(StoredResponse, Reuse)
    /// The missing bytes came: `Combination` says how the new body is made; present the result.
    case completed(Combination, Reuse)
    /// The origin failed and the stored response may be used for it (RFC 5861 §4).
    case fallBack(Reuse)
    /// The answer is to the caller's own condition: hand it on, nothing changes.
    case handOn
    /// The answer fits nothing stored: send the request again without our fields (RFC 9111 §4.3.4), and remove the
    /// stored response.
    case repeatPlain
    /// A response of its own: decide with `storing`, or with `updatedByHead`, and hand it on. A stored one that it
    /// replaces is obsolete.
    case replace
}
