/// Which codings of a body can be undone, and which stay on it.
///
/// Undoing begins with the coding applied last and stops at the first one that is unknown: below it the bytes mean
/// nothing to us. So `gzip, br` is undone wholly, `compress, br` down to the bytes of `compress`, and `gzip, compress`
/// not at all. `identity` counts for nothing.
///
/// - Source: RFC 9110 §8.4 (codings are listed in the order in which they were applied).
package struct CodingChain: Sendable, Hashable {
    /// What is undone, in the order of undoing (the reverse of the field).
    package let undone: [ContentCoding]
    /// What stays on the decoded bytes, in the order of the field; empty when the body is decoded wholly.
    package let remaining: [ContentCoding]

    /// The chain of a list of codings in the order in which they were applied.
    package init(_ codings: [ContentCoding]) {
        var rest = codings[...]
        var undone: [ContentCoding] = []
        undoing: while let coding = rest.last {
            switch coding {
            case .unknown: break undoing
            case .identity: break
            case .gzip, .deflate, .brotli: undone.append(coding)
            }
            rest.removeLast()
        }
        self.undone = undone
        self.remaining = rest.isEmpty ? [] : rest.filter { $0 != .identity }
    }
}
