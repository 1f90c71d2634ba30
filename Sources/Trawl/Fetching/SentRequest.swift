package import TrawlHTTP

/// The head of a request as a worker was told to send it. `Host` and what follows from the body are added there, and so
/// are conditions of the cache.
package struct SentRequest: Sendable {
    /// The method.
    package let method: Method
    /// The target, without user information.
    package let target: TargetURI
    /// The field lines.
    package let fields: FieldLines
    /// The length of the body that goes along, or nil.
    package let bodyLength: Int?
    /// Whether what is stored answers, so that nothing is sent.
    package let isForStore: Bool
}
