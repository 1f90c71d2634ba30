package import TrawlHTTP

/// What to do with a request.
package enum CacheDecision: Sendable, Hashable {
    /// Answer from the store.
    case serve(Reuse)
    /// Send a request.
    case send(Sending)
    /// There is nothing to answer with and nothing may be sent: 504 (RFC 9111 §5.2.1.7), or no response, as the
    /// caller's surface has it.
    case unsatisfiable
}

/// How a stored response is presented.
package struct Reuse: Sendable, Hashable {
    /// The form of the answer.
    package enum Form: Sendable, Hashable {
        /// The stored status and the whole body.
        case whole
        /// The stored status without the body, in answer to HEAD.
        case headOnly
        /// 206 with these bytes of the representation, all of which are stored.
        case part(Range<UInt64>)
        /// 304 without a body: the caller has the representation already.
        case notModified
    }

    /// The form of the answer.
    package var form: Form
    /// The current age in seconds; nil when the origin has just validated it (RFC 9111 §4, §5.1).
    package var age: Int64?
    /// What the caller is told about where it came from.
    package var source: ResultSource
    /// Whether to validate it in the background once it has been served (RFC 5861 §3).
    package var revalidates: Bool

    /// A presentation of its parts.
    package init(form: Form, age: Int64?, source: ResultSource, revalidates: Bool = false) {
        self.form = form
        self.age = age
        self.source = source
        self.revalidates = revalidates
    }

    /// Which bytes of the stored body go to the caller, counted from the first byte stored; nil for none.
    package func bodyRange(of body: BodyExtent) -> Range<UInt64>? {
        switch form {
        case .whole: return 0..<body.length
        case .headOnly, .notModified: return nil
        case .part(let range):
            guard range.lowerBound >= body.first else { return nil }
            let start = range.lowerBound - body.first
            let end = range.upperBound - body.first
            return end <= body.length ? start..<end : nil
        }
    }
}

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
    /// A part that is not one range of bytes, or whose range is not understood.
    case range
}

/// What the answer to a request of ours means.
package enum Conclusion: Sendable, Hashable {
    /// The stored response is still right: store it anew, its head updated, if the request `mayWrite`, and present it.
    case freshened(StoredResponse, Reuse)
    /// The missing bytes came: `Combination` says how the new body is made; present the result.
    case completed(Combination, Reuse)
    /// The origin failed and the stored response may be used for it (RFC 5861 §4).
    case fallBack(Reuse)
    /// The answer is to the caller's own condition: hand it on, nothing changes.
    case handOn
    /// The answer fits nothing stored: send the request again without our fields (RFC 9111 §4.3.4), and remove the
    /// stored response.
    case repeatPlain
    /// A response of its own: decide with `storing`, hand it on. A stored one that it replaces is obsolete.
    case replace
}
