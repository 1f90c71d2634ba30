import CTrawlCurl

/// What limits of bandwidth have to do with a connection.
///
/// What it carries is taken from what the system has counted, unread bytes, heads of segments, handshakes and bytes
/// that were sent again included.
extension Connection {
    /// Bytes on the wire by direction.
    struct Traffic {
        var down = 0
        var up = 0

        static func - (left: Self, right: Self) -> Self {
            Self(down: left.down - right.down, up: left.up - right.up)
        }

        static func + (left: Self, right: Self) -> Self {
            Self(down: left.down + right.down, up: left.up + right.up)
        }
    }

    struct Metered {
        /// What has been charged, or came and went without a limit.
        var known = Traffic()
        /// What has been charged and has not come or gone yet.
        var prepaid = Traffic()
        /// What the system had counted last, and what of it nobody has taken.
        fileprivate var traffic = Traffic()
        fileprivate var counted = ccurl_traffic()
        fileprivate var lost = 0
        /// Bytes that came, without heads of segments, and how many of them nobody has read.
        fileprivate(set) var received = 0
        fileprivate(set) var unread = 0
        /// Whether the system's numbers are the last.
        fileprivate var isFinal = false
    }

    /// The heads of link, IP and TCP with time stamps, as they mostly are.
    static let segmentHead = 66
    /// The largest buffer that is asked for.
    private static let widest: Int32 = 4 << 20

    /// The length of segments that goes with a buffer: so short that ten fit, and four of the shortest.
    ///
    /// On loopback they have up to 64 KiB; then the buffer is emptied and filled in few large steps, and what does not
    /// fit with its book-keeping is dropped and sent again.
    static func segment(for buffer: Int32) -> Int32 { min(max(buffer / 10, min(1460, max(536, buffer / 4))), 16 << 10) }

    /// Bounds what the system takes before it is read. There is no way back to the system's own choice, and none to a
    /// smaller buffer: what was offered to the peer cannot be taken back.
    func setBuffer(_ bytes: Int32) {
        guard bytes > 0, ccurl_socket_limit(socket, bytes, Self.segment(for: bytes)) == 0 else { return }
        buffer = bytes
        widenedBuffer = bytes
    }

    /// The connection stands, and its first request is about to be sent: the buffer is what it was again.
    func fixBuffer() {
        if buffer > 0 { _ = ccurl_socket_fix(socket, buffer) }
    }

    /// Takes more unread, where a limit of so many bytes a second is not used up because the peer is far away: up to
    /// four times what comes in a round trip, since not all of the buffer is for bytes.
    func widen(for rate: UInt64) {
        let (wanted, overflow) = rate.multipliedReportingOverflow(by: UInt64(max(0, ccurl_socket_round_trip(socket))))
        guard buffer > 0, widenedBuffer < Self.widest, overflow || wanted / 250_000 > widenedBuffer,
            ccurl_socket_widen(socket, 2 * widenedBuffer) == 0
        else { return }
        widenedBuffer *= 2
    }

    /// What came and went since the last call.
    func newTraffic() -> Traffic {
        count()
        let new = metered.traffic - metered.known
        metered.known = metered.traffic
        return new
    }

    /// The system's numbers go with the socket.
    func closes() {
        if buffer > 0 || metered.known.down > 0 { count() }
        metered.isFinal = true
    }

    /// The socket is gone, and the system's numbers with it.
    func loseSocket() { metered.isFinal = true }

    private func count() {
        var new = ccurl_traffic()
        guard !metered.isFinal, ccurl_socket_traffic(socket, &new) == 0 else { return }
        let old = metered.counted
        metered.counted = new
        metered.received = Int(new.received)
        metered.unread = Int(new.unread)
        // Of a stream that waits for long the peer tries whether there is room again: by segments without bytes, which
        // are dropped, and by some with bytes, which are dropped too and come again.
        let drops = Int(new.drops &- old.drops)
        let empty = Int(new.segments_in &- old.segments_in) - Int(new.data_segments_in &- old.data_segments_in)
        metered.lost += max(0, drops - max(0, empty)) * Int(new.segment_length)
        metered.traffic = Traffic(
            down: Int(new.received) + metered.lost + Int(new.segments_in) * Self.segmentHead,
            up: Int(new.sent) + Int(new.segments_out) * Self.segmentHead)
    }
}
