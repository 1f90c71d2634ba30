import CTrawlCurl
import Glibc
import TrawlProtocol

/// Every socket libcurl has open, found by the addresses of its ends.
///
/// libcurl 7.88 tells in `CURLOPT_PREREQFUNCTION` only addresses and ports of the connection it is about to use, and
/// CURLINFO_ACTIVESOCKET still names the socket of the handle's last transfer then.
///
/// Bound to the transfer thread. Every request looks through all of it: without checks of exclusive access.
final class ConnectionTable {
    @exclusivity(unchecked)
    private(set) var open: [Connection] = []
    /// The local port of each of `open`, 0 until it is known; beside them, since every request looks through all.
    @exclusivity(unchecked)
    private var ports: [Int32] = []
    /// The number of the origin that each of `open` counts for; `CountedOrigin.nobody` for none.
    @exclusivity(unchecked)
    private(set) var origins: [UInt32] = []
    /// Origins of which connections were closed, and the coordinator was not told yet.
    var changed: [UInt32] = []
    private(set) var lastNumber: UInt32 = 0
    /// The buffer of connections to come; 0 leaves it to the system.
    var buffer: Int32 = 0
    /// `errno` of the last socket, when it could not be opened: libcurl tells nothing but that there is no connection.
    private(set) var openFailure: Int32 = 0
    /// Is told of a connection that is about to close; nil where nobody wants to know.
    var closes: ((Connection) -> Void)?

    /// Opens a socket for libcurl.
    ///
    /// - Parameter origin: What it counts for, if anything.
    func openSocket(_ address: UnsafePointer<curl_sockaddr>, for origin: CountedOrigin?) -> Int32 {
        if let origin, count(of: origin.number) >= Int(origin.most) { closeIdle(of: origin.number) }
        let socket = ccurl_socket_open(address)
        guard socket >= 0 else {
            openFailure = -socket
            return -1
        }
        openFailure = 0
        // One number is one socket's.
        if let index = open.firstIndex(where: { $0.socket == socket }) { forget(index) }
        lastNumber &+= 1
        let connection = Connection(number: lastNumber, socket: socket)
        // Before it connects: what was offered to the peer once cannot be taken back.
        connection.setBuffer(buffer)
        open.append(connection)
        ports.append(0)
        origins.append(origin?.number ?? CountedOrigin.nobody)
        connection.countsForNobody = origin == nil
        return socket
    }

    /// Closes a socket of libcurl's.
    func closeSocket(_ socket: Int32) -> Int32 {
        if let index = open.firstIndex(where: { $0.socket == socket }) {
            open[index].closes()
            closes?(open[index])
            // The end of the transfer it was opened for will tell.
            if open[index].isOpening { origins[index] = CountedOrigin.nobody } else { countNoMore(index) }
            remove(index)
        }
        return ccurl_socket_close(socket) == 0 ? 0 : 1
    }

    /// The socket is gone; nothing was ever sent on it.
    func forget(_ index: Int) {
        open[index].loseSocket()
        countNoMore(index)
        remove(index)
    }

    private func remove(_ index: Int) {
        open.swapAt(index, open.count - 1)
        ports.swapAt(index, open.count - 1)
        origins.swapAt(index, open.count - 1)
        open.removeLast()
        ports.removeLast()
        origins.removeLast()
    }

    /// Forgets those among some, by their numbers, whose sockets libcurl has closed without a word.
    func forgetGone(among numbers: [UInt32]) {
        for index in open.indices.reversed() where numbers.contains(open[index].number) && open[index].isGone {
            forget(index)
        }
    }

    /// How many sockets are open.
    var count: Int { open.count }

    /// The connection counts for that origin, although it was opened when nobody counted.
    func count(_ connection: Connection, for origin: CountedOrigin) {
        if count(of: origin.number) >= Int(origin.most) { closeIdle(of: origin.number) }
        connection.countsForNobody = false
        if let index = open.firstIndex(where: { $0 === connection }) { origins[index] = origin.number }
    }

    /// The connection is closed, or is about to be.
    func countNoMore(_ index: Int) {
        let origin = origins[index]
        guard origin != CountedOrigin.nobody else { return }
        origins[index] = CountedOrigin.nobody
        if !changed.contains(origin) { changed.append(origin) }
    }

    /// The connection with these ends, or nil. The system may give one local port to connections with different peers.
    func find(
        remote: UnsafePointer<CChar>, remotePort: Int32, local: UnsafePointer<CChar>, localPort: Int32
    ) -> Connection? {
        guard localPort > 0 else { return nil }
        func fits(_ connection: Connection) -> Bool {
            connection.remotePort == remotePort && Self.equal(connection.remoteAddress, remote)
                && Self.equal(connection.localAddress, local) && !connection.isGone
        }
        for index in ports.indices where ports[index] == localPort && fits(open[index]) { return open[index] }
        // To ask for the ends of one costs two system calls, and many may be on their way to hosts that do not answer.
        for index in ports.indices.reversed() where ports[index] == 0 && !open[index].isGone {
            open[index].findEnds()
            ports[index] = open[index].localPort
            if ports[index] == localPort, fits(open[index]) { return open[index] }
        }
        return nil
    }

    private static func equal(_ text: String, _ other: UnsafePointer<CChar>) -> Bool {
        text.withCString { strcmp($0, other) == 0 }
    }
}
