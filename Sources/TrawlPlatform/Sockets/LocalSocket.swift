import CTrawlPlatform
import Glibc

/// Stream sockets between processes of one machine.
package enum LocalSocket {
    /// Who made the other end of a connection.
    package struct Peer: Sendable, Hashable {
        /// The effective user.
        package let user: UInt32
        /// The process; it may be gone.
        package let process: Int32
    }

    /// Takes a connection that waits; nil when none does.
    ///
    /// A connection that broke before it was taken is passed over.
    package static func accept(_ listener: Int32) throws(SystemError) -> Descriptor? {
        while true {
            let result = cplatform_accept(listener)
            switch result {
            case -EINTR, -ECONNABORTED: continue
            case -EAGAIN: return nil
            default: return try Descriptor.adopt(result, "accept4")
            }
        }
    }

    /// Who is at the other end, as the kernel says.
    package static func peer(of connection: Int32) throws(SystemError) -> Peer {
        var user: UInt32 = 0
        var process: Int32 = 0
        _ = try check(cplatform_peer(connection, &user, &process), "getsockopt")
        return Peer(user: user, process: process)
    }

    /// Connects, without waiting: who listens takes the connection later, if ever.
    ///
    /// - Throws: `ECONNREFUSED` when nobody listens any more, `EAGAIN` when too many wait already.
    static func connect(path: String) throws(SystemError) -> Descriptor {
        let socket = try Descriptor.adopt(cplatform_local_socket(), "socket")
        _ = try check(cplatform_local_connect(socket.rawValue, path), "connect")
        return socket
    }
}
