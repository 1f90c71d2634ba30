import Testing

/// One exchange by Digest and what it must be.
struct DigestVector: Sendable, CustomTestStringConvertible {
    let algorithm: String
    /// Empty for the form without.
    let qop: String
    let user: String
    let realm: String
    let password: String
    let method: String
    let target: String
    let body: [UInt8]
    let userHash: String
    let response: String
    /// What the server answers with, when the body of its response is the same.
    let serverResponse: String

    var testDescription: String { "\(algorithm) \(qop) \(user) \(method)" }
}
