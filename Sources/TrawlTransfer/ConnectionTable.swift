import CCurl
import Glibc
import TrawlProtocol

/// One connection as the guard knows it.
final class Connection {
    /// Counted from 1 over the life of the loop.
    let number: UInt32
    let socket: Int32
    fileprivate var localAddress = ""
    fileprivate(set) var remoteAddress = ""
    /// How many requests went out on it.
    var uses = 0
    /// Bytes received on it that belong to responses, as far as known.
    var accountedBytes: Int64 = 0
    /// Nanoseconds of the monotonic clock after which the server closes it, or nil (`Keep-Alive: timeout`).
    var deadline: UInt64?
    var isHTTP2 = false
    /// How its TLS was set up; nil in clear and before its first request.
    var tls: TLSTerms?
    /// The last response had no body, so libcurl would not have shown bytes beyond it.
    var mayHideExcess = false
    /// Segments that limits of bandwidth know of.
    var chargedSegments = Segments()
    /// The system's buffer for what is not read yet, in bytes; 0 is of the system's own choice.
    fileprivate(set) var buffer: Int32 = 0
    /// Seen to be unfit for another request.
    var isSpoiled = false
    /// Whom the proxy on its other end takes us for; 0 is nobody, or there is no proxy.
    var identity: UInt64 = 0

    fileprivate init(number: UInt32, socket: Int32) {
        self.number = number
        self.socket = socket
    }

    /// The segments that went and came since the last call; their heads are on the wire too.
    func newSegments() -> Segments {
        var (came, went): (UInt32, UInt32) = (0, 0)
        guard ccurl_socket_segments(socket, &came, &went) == 0 else { return Segments() }
        defer { chargedSegments = Segments(down: came, up: went) }
        return Segments(down: came &- chargedSegments.down, up: went &- chargedSegments.up)
    }

    /// Numbers of segments by direction.
    struct Segments {
        var down: UInt32 = 0
        var up: UInt32 = 0
        /// The heads of link, IP and TCP with time stamps, as they mostly are.
        static let headLength = 66
    }

    /// Bounds what the system takes before it is read. There is no way back to the system's own choice.
    ///
    /// Segments are so short that ten fit. On loopback they have up to 64 KiB; then the buffer is emptied and filled in few
    /// large steps, and what does not fit with its book-keeping is dropped and sent again.
    func setBuffer(_ bytes: Int32) {
        guard bytes != buffer, bytes > 0, ccurl_socket_limit(socket, bytes, min(max(bytes / 10, 1460), 16 << 10)) == 0
        else { return }
        buffer = bytes
    }
}

/// Every socket libcurl has open, found by the addresses of its ends.
///
/// libcurl 7.88 tells in `CURLOPT_PREREQFUNCTION` only addresses and ports of the connection it is about to use, and
/// CURLINFO_ACTIVESOCKET still names the socket of the handle's last transfer then.
final class ConnectionTable {
    private var open: [Connection] = []
    /// The local port of each of `open`, 0 until asked for; beside them, since every request looks through all.
    private var ports: [Int32] = []
    private var lastNumber: UInt32 = 0
    /// The buffer of connections to come; 0 leaves it to the system.
    var buffer: Int32 = 0
    /// `errno` of the last socket, when it could not be opened: libcurl tells nothing but that there is no connection.
    private(set) var openFailure: Int32 = 0

    /// Opens a socket for libcurl.
    func openSocket(_ address: UnsafePointer<curl_sockaddr>) -> Int32 {
        let socket = ccurl_socket_open(address)
        guard socket >= 0 else {
            openFailure = -socket
            return -1
        }
        openFailure = 0
        lastNumber &+= 1
        let connection = Connection(number: lastNumber, socket: socket)
        // Before it connects: what was offered to the peer once cannot be taken back.
        connection.setBuffer(buffer)
        open.append(connection)
        ports.append(0)
        return socket
    }

    /// Closes a socket of libcurl's.
    func closeSocket(_ socket: Int32) -> Int32 {
        if let index = open.firstIndex(where: { $0.socket == socket }) {
            open.swapAt(index, open.count - 1)
            ports.swapAt(index, open.count - 1)
            open.removeLast()
            ports.removeLast()
        }
        return ccurl_socket_close(socket) == 0 ? 0 : 1
    }

    /// How many sockets are open.
    var count: Int { open.count }

    /// The connection with these ends, or nil.
    func find(
        remote: UnsafePointer<CChar>, local: UnsafePointer<CChar>, localPort: Int32
    ) -> Connection? {
        guard localPort > 0 else { return nil }
        var unnamed: Connection?
        for index in ports.indices {
            if ports[index] == 0 { ports[index] = max(0, ccurl_socket_local_port(open[index].socket)) }
            guard ports[index] == localPort else { continue }
            let connection = open[index]
            // The system may give one local port to connections with different peers.
            if connection.localAddress.isEmpty {
                unnamed = connection
            } else if Self.equal(connection.remoteAddress, remote), Self.equal(connection.localAddress, local) {
                return connection
            }
        }
        unnamed?.localAddress = String(cString: local)
        unnamed?.remoteAddress = String(cString: remote)
        return unnamed
    }

    private static func equal(_ text: String, _ other: UnsafePointer<CChar>) -> Bool {
        text.withCString { strcmp($0, other) == 0 }
    }
}
