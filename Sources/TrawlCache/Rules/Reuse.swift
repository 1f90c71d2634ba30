package import TrawlHTTP

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
    /// The current age in seconds; of what has just been validated that of the 304, nil when it has none (RFC 9111 §4,
    /// §5.1).
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
