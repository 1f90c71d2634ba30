package import TrawlHTTP

/// What of a request goes into a response of Digest.
package struct DigestRequest: Sendable, Hashable {
    /// The method.
    package let method: Method
    /// The request target as it stands in the request line: path and query, for a proxy the absolute URI or, for
    /// CONNECT, host and port.
    package let target: [UInt8]
    /// The hash of the body by the challenge's algorithm, or nil when it is not known. Without a body it is the hash of
    /// nothing.
    package let bodyHash: [UInt8]?

    /// A request of its parts.
    package init(method: Method, target: [UInt8], bodyHash: [UInt8]? = nil) {
        self.method = method
        self.target = target
        self.bodyHash = bodyHash
    }
}
