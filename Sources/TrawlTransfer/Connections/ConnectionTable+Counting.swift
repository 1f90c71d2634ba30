import CTrawlCurl
import Glibc
import TrawlProtocol

/// Connections that count for an origin, of which all workers together may have only so many.
///
/// libcurl keeps idle connections to itself and looks at them when it opens or seeks one. So an idle one is ended by
/// its socket: the server sees the end at once, and libcurl finds out when it comes by.
extension ConnectionTable {
    /// How many are open, idle or not.
    func count(of origin: UInt32) -> Int {
        var count = 0
        for other in origins where other == origin { count += 1 }
        return count
    }

    /// Ends the connection to the origin that has been idle longest.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    func closeIdle(of origin: UInt32) -> Bool {
        var oldest: Int?
        for index in origins.indices where origins[index] == origin && open[index].isIdle {
            if let known = oldest, open[known].idleSince <= open[index].idleSince { continue }
            oldest = index
        }
        guard let oldest else { return false }
        end(oldest)
        return true
    }

    /// Ends those whose time is over, and, of those that count for an origin, those that the server has closed.
    ///
    /// - Parameter now: Nanoseconds by `LoopClock.sinceBoot`.
    func closeStale(at now: UInt64) {
        for index in open.indices.reversed() where open[index].isIdle {
            let connection = open[index]
            if connection.isGone {
                forget(index)
                continue
            }
            let isCounted = origins[index] != CountedOrigin.nobody
            // What waits there that is not the end is for the guard. What the server has closed matters where it counts.
            if connection.idleUntil <= now || isCounted && isClosed(connection.socket) { end(index) }
        }
    }

    private func isClosed(_ socket: Int32) -> Bool {
        let bytes = ccurl_socket_peek(socket)
        return bytes <= 0 && bytes != -EAGAIN && bytes != -EINTR
    }

    private func end(_ index: Int) {
        if open[index].isGone { return forget(index) }
        open[index].isSpoiled = true
        // Once is enough; libcurl may take its time to find out.
        open[index].idleUntil = .max
        _ = ccurl_socket_shutdown(open[index].socket)
        countNoMore(index)
    }

    /// How many are open, to be told: nobody need be told again until another is closed.
    func report(_ origin: UInt32) -> UInt16 {
        if !changed.isEmpty { changed.removeAll { $0 == origin } }
        return UInt16(clamping: count(of: origin))
    }

    /// Nothing was ever sent on what was opened for a transfer that has left it.
    func settle(_ numbers: [UInt32]) {
        forgetGone(among: numbers)
        for connection in open where numbers.contains(connection.number) { connection.isOpening = false }
    }
}

extension CountedOrigin {
    /// No origin has this number.
    static let nobody = UInt32.max
}
