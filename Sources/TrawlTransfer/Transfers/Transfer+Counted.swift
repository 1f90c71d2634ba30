import CTrawlCurl
import TrawlHTTP
import TrawlProtocol

/// The connection of a transfer as one of those that count for its origin.
extension Transfer {
    /// What a connection that is opened for the transfer counts for.
    ///
    /// A proxy that is asked for no tunnel has connections of its own to the origin, and ours to it serve many origins.
    var counted: CountedOrigin? {
        if let proxy = lease.proxy, !lease.isSecure, !proxy.tunnels, proxy.kind.speaksHTTP {
            return nil
        }
        return lease.counted
    }

    /// libcurl wants a socket for the transfer.
    func openSocket(_ address: UnsafePointer<curl_sockaddr>) -> Int32 {
        let socket = connections.openSocket(address, for: counted)
        if socket >= 0 { opened.append(connections.lastNumber) }
        return socket
    }

    /// The connection carries the transfer from now on.
    func enter(_ connection: Connection) {
        connection.isOpening = false
        connection.users += 1
        isUser = true
        if connection.countsForNobody, let counted { connections.count(connection, for: counted) }
    }

    /// The connection does not carry the transfer any more. What was opened for it, to one address or several, is nobody's,
    /// or gone.
    func leave(_ connection: Connection?) {
        if !opened.isEmpty {
            connections.settle(opened)
            opened.removeAll(keepingCapacity: true)
        }
        guard isUser, let connection else { return }
        isUser = false
        connection.users -= 1
        connection.idleSince = clock.now
        connection.idleUntil = clock.sinceBoot &+ idleSeconds * 1_000_000_000
    }

    /// For how long the connection may be idle: as the server says in `Keep-Alive`, else as the request does, of which only
    /// whole seconds that have passed count (ASI-CONN-02).
    ///
    /// A server may ask for an hour at most.
    private var idleSeconds: UInt64 {
        if let keepAliveTimeout { return min(keepAliveTimeout, 3600) }
        return UInt64(profile.profile.idleLifetime) + 1
    }
}
