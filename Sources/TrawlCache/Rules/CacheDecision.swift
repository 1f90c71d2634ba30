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
