import TrawlHTTP

/// A response that may be stored, as far as its head tells; the body is still to come.
package struct Storing: Sendable, Hashable {
    /// The stored response to be, with an empty body.
    var response: StoredResponse
    /// What a 206 says of its body.
    var contentRange: ContentRange?
    /// The announced length of the body.
    var announced: UInt64?
    /// Whether the message says where its content ends, and leaves that to no close of the connection.
    var isDelimited: Bool

    /// What it will be found by.
    package var key: CacheKey { response.key }
}
