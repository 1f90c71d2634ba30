package import TrawlHTTP

/// How long a record may stay.
package enum StorageClass: Hashable, Sendable {
    /// Until it is evicted or removed.
    case permanent
    /// Until the coordinator that stored it ends its session, or another sees that it is dead.
    case session(SessionID)
}
