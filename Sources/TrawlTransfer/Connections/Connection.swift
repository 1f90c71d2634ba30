import CTrawlCurl
import TrawlProtocol

/// One connection as the guard knows it.
final class Connection {
    /// Counted from 1 over the life of the loop.
    let number: UInt32
    let socket: Int32
    /// What tells the socket from others that have had its number.
    private let inode: UInt64
    /// The addresses and ports of its ends; empty until it is connected.
    private(set) var localAddress = ""
    private(set) var localPort: Int32 = 0
    private(set) var remoteAddress = ""
    private(set) var remotePort: Int32 = 0
    /// How many requests went out on it.
    var uses = 0
    /// Bytes received on it that belong to responses, as far as known.
    var accountedBytes: Int64 = 0
    var isHTTP2 = false
    /// The local interface or address it was bound to; empty is none, and before its first request.
    var interface = ""
    /// How its TLS was set up; nil in clear and before its first request.
    var tls: TLSTerms?
    /// The last response had no body, or one without bytes, so libcurl would not have shown bytes beyond it.
    var mayHideExcess = false
    /// What limits of bandwidth know of it; see `Connection+Throttled`.
    var metered = Metered()
    /// The system's buffer for what is not read yet that it was opened with, in bytes; 0 is of the system's own choice.
    var buffer: Int32 = 0
    /// What has become of it.
    var widenedBuffer: Int32 = 0
    /// Seen to be unfit for another request.
    var isSpoiled = false
    /// Whether nothing has been sent on it and the transfer it was opened for goes on.
    var isOpening = true
    /// Whether it was opened when nobody counted.
    var countsForNobody = true
    /// Transfers that it carries.
    var users = 0
    /// When it was left by the last of them, in nanoseconds of the monotonic clock.
    var idleSince: UInt64 = 0
    /// Until when it may stay so, by `LoopClock.sinceBoot`.
    var idleUntil: UInt64 = 0
    /// Whom the proxy on its other end takes us for; 0 is nobody, or there is no proxy.
    var identity: UInt64 = 0

    init(number: UInt32, socket: Int32) {
        self.number = number
        self.socket = socket
        inode = ccurl_socket_inode(socket)
    }

    /// Whether the socket was closed without a word, and its number may be that of another file by now.
    ///
    /// libcurl 7.88 calls CURLOPT_CLOSESOCKETFUNCTION for a socket that has become a transfer's connection, and not for one
    /// whose connecting took too long, was given up, or was overtaken by that to another address.
    var isGone: Bool { uses == 0 && ccurl_socket_inode(socket) != inode }

    /// Asks the system for its ends, as soon as it is connected.
    func findEnds() {
        var ends = ccurl_ends()
        guard ccurl_socket_ends(socket, &ends) == 0 else { return }
        localAddress = withUnsafeBytes(of: &ends.local, Self.text)
        localPort = ends.local_port
        remoteAddress = withUnsafeBytes(of: &ends.remote, Self.text)
        remotePort = ends.remote_port
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Whether it is open for later requests and carries none.
    var isIdle: Bool { !isOpening && users == 0 }
}
