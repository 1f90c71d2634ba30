/// Whether a response may be stored.
package enum StoreDecision: Sendable, Hashable {
    /// Store it once the body is there: `finished` makes the record.
    case store(Storing)
    /// Do not.
    case no(NoStoreReason)
}

/// Why a response is not stored. Whatever it is, nothing is: it tells which rule has spoken.
package enum NoStoreReason: UInt8, Sendable, Hashable {
    /// The policy, or a method, scheme or body that is not stored.
    case notEligible
    /// An interim response, or a status that says nothing worth keeping.
    case status
    /// `no-store` of the request.
    case requestNoStore
    /// `no-store` of the response, or `must-understand` with a status that is not understood.
    case responseNoStore
    /// No lifetime, and not a status that may be stored without.
    case noFreshness
    /// `Vary: *`.
    case variesOnEverything
    /// A part that is not one range of bytes, whose range is not understood, or whose fields need not be all.
    case range
}
