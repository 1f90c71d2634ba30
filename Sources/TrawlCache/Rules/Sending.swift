package import TrawlHTTP

/// A request to be sent.
package struct Sending: Sendable, Hashable {
    /// What the cache wants of it.
    package enum Purpose: Sendable, Hashable {
        /// The request as the caller made it.
        case forward(ForwardReason)
        /// Ask whether the stored response is still right; the answer goes to `conclude`.
        case validate
        /// Ask for the bytes missing from the stored part, counted from this place; the answer goes to `conclude`.
        case complete(from: UInt64)
    }

    /// What the cache wants of it.
    package var purpose: Purpose
    /// Fields to set on the request, each in place of any of the same name.
    package var fields: FieldLines
    /// Whether the stored response may be served if this fails, judged now; `mayServeStale` judges at the time.
    package var mayFallBack: Bool

    init(_ purpose: Purpose, fields: FieldLines = FieldLines(), mayFallBack: Bool = false) {
        self.purpose = purpose
        self.fields = fields
        self.mayFallBack = mayFallBack
    }
}

/// Why a request is sent on as it is. Whatever it is, the request is sent: it tells which rule has spoken.
package enum ForwardReason: UInt8, Sendable, Hashable {
    /// A method, body, scheme or precondition the store cannot answer.
    case notEligible
    /// The policy does not read the store.
    case policy
    /// Nothing stored is selected by the request.
    case nothingStored
    /// Stale, and without a validator to ask with.
    case stale
    /// The caller's own condition is about a response that is not stored.
    case callerCondition
    /// The stored bytes do not cover the range, or the range is of a kind the store does not serve.
    case range
    /// The record is damaged.
    case damaged
}
