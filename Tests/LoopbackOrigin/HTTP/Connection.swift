import Glibc

/// Why an exchange cannot go on.
enum ConnectionEnd: Error {
    /// The peer closed, reset, or did nothing for too long.
    case gone
    /// The request deserves this status.
    case refused(Int, String)
}

/// What becomes of the connection after an exchange.
enum After {
    /// It waits for the next request.
    case keep
    /// It ends with FIN; what the peer still sends is read for a short time, so that the FIN does not become a RST.
    case close
    /// It ends with RST.
    case reset
}

/// One accepted connection. It lives on its own thread and blocks there.
final class Connection {
    static let maxHead = 1 << 20

    let descriptor: Int32
    /// Counts from 1 over the life of the process.
    let number: Int
    let peerPort: UInt16
    let server: Server
    /// Requests read so far.
    private(set) var requests = 0
    /// Closed when this long passes without a request; nil for the server's own limit.
    var idleLimit: Int?
    /// Closed without a word after so many more requests.
    var requestsLeft: Int?
    /// The request being handled, while it counts as one.
    private var handled: Request?
    /// Bytes nobody asked for, written at a later time while no request is being answered.
    var late: (at: Int, bytes: [UInt8])?

    private var input = [UInt8](repeating: 0, count: 16_384)
    private var start = 0
    private var end = 0
    private var dateSecond = 0
    private var dateText = ""

    init(descriptor: Int32, number: Int, peerPort: UInt16, server: Server) {
        self.descriptor = descriptor
        self.number = number
        self.peerPort = peerPort
        self.server = server
    }

    /// Answers requests until the connection ends, and is to be closed.
    func serve() {
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        var limit = timeval(tv_sec: server.options.idleSeconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var after = After.keep
        while case .keep = after {
            do throws(ConnectionEnd) {
                after = try answerNext()
            } catch {
                after = .close
                if case .refused(let status, let reason) = error { refuse(status, reason) }
            }
        }
        switch after {
        case .keep, .close: linger()
        case .reset:
            var now = LingerOption(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<LingerOption>.size))
        }
    }

    private func answerNext() throws(ConnectionEnd) -> After {
        guard let head = try readHead() else { return .close }
        requests += 1
        let request = try RequestParser.parse(head)
        if let left = requestsLeft {
            guard left > 0 else { return .close }
            requestsLeft = left - 1
        }
        let exchange = Exchange(request: request, connection: self)
        server.ledger.began(request, on: self, isControl: exchange.endpoint.isControl)
        if !exchange.endpoint.isControl { handled = request }
        defer { answerEnds() }
        return try exchange.answer()
    }

    /// Says that what is written next completes the answer: a peer that has it may send its next request, on whatever
    /// connection, before the write returns here, and the two were never handled at once.
    func answerEnds() {
        guard let request = handled else { return }
        handled = nil
        server.ledger.ended(request)
    }

    private func refuse(_ status: Int, _ reason: String) {
        let text = "HTTP/1.1 \(status) Refused\r\nContent-Type: text/plain\r\nContent-Length: \(reason.utf8.count + 1)"
        _ = Array("\(text)\r\nConnection: close\r\n\r\n\(reason)\n".utf8).withUnsafeBytes { transmit($0) }
    }

    // MARK: - Input

    /// The next head up to its empty line; nil when the connection is to be closed without one.
    private func readHead() throws(ConnectionEnd) -> [UInt8]? {
        var scanned = start
        var lineStart = start
        while true {
            while scanned < end {
                guard input[scanned] == 0x0A else {
                    scanned += 1
                    continue
                }
                guard scanned > lineStart, input[scanned - 1] == 0x0D else { throw .refused(400, "a bare LF") }
                scanned += 1
                if scanned - lineStart > 2 {
                    lineStart = scanned
                } else if lineStart == start {
                    // RFC 9112 §2.2: empty lines before the request line are ignored.
                    (start, lineStart) = (scanned, scanned)
                } else {
                    defer { start = scanned }
                    return Array(input[start..<scanned])
                }
            }
            guard end - start < Connection.maxHead else { throw .refused(431, "the head is too long") }
            if start == end, !(try waitForRequest()) { return nil }
            let shift = makeRoom()
            scanned -= shift
            lineStart -= shift
            guard try fill() else { return nil }
        }
    }

    /// Up to `count` bytes of what the peer sent; empty at its end.
    func read(_ count: Int) throws(ConnectionEnd) -> [UInt8] {
        if start == end {
            _ = makeRoom()
            guard try fill() else { return [] }
        }
        let taken = min(count, end - start)
        defer { start += taken }
        return Array(input[start..<start + taken])
    }

    /// Moves unread bytes to the front and grows a full buffer.
    /// - Returns: How far the bytes moved.
    private func makeRoom() -> Int {
        let shift = start
        if shift > 0 {
            input.withUnsafeMutableBytes { bytes in
                bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[shift..<end]))
            }
            (start, end) = (0, end - shift)
        }
        if end == input.count { input += [UInt8](repeating: 0, count: input.count) }
        return shift
    }

    /// - Returns: False at the end of what the peer sends.
    private func fill() throws(ConnectionEnd) -> Bool {
        while true {
            let room = end
            let count = input.withUnsafeMutableBytes { bytes in
                recv(
                    descriptor, UnsafeMutableRawBufferPointer(rebasing: bytes[room...]).baseAddress, bytes.count - room,
                    0)
            }
            if count > 0 {
                end += count
                return true
            }
            if count == 0 { return false }
            guard errno == EINTR else { throw .gone }
        }
    }

    /// Waits for bytes, writing those that are due meanwhile.
    /// - Returns: False when the idle limit passed first.
    private func waitForRequest() throws(ConnectionEnd) -> Bool {
        let idleEnd = idleLimit.map { Clock.milliseconds() + $0 }
        while late != nil || idleEnd != nil {
            let now = Clock.milliseconds()
            if let due = late, due.at <= now {
                late = nil
                try write(due.bytes)
                server.ledger.disturbed(number)
                continue
            }
            if let idleEnd, idleEnd <= now { return false }
            let next = min(late?.at ?? Int.max, idleEnd ?? Int.max)
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&entry, 1, Int32(clamping: next - now)) > 0 { break }
        }
        return true
    }

    // MARK: - Output

    func write(_ bytes: [UInt8]) throws(ConnectionEnd) {
        guard bytes.withUnsafeBytes({ transmit($0) }) else { throw .gone }
    }

    func write(_ bytes: ArraySlice<UInt8>) throws(ConnectionEnd) {
        guard bytes.withUnsafeBytes({ transmit($0) }) else { throw .gone }
    }

    private func transmit(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let slice = UnsafeRawBufferPointer(rebasing: rest)
            let count = send(descriptor, slice.baseAddress, slice.count, Int32(MSG_NOSIGNAL))
            if count < 0 {
                guard errno == EINTR else { return false }
            } else {
                rest = rest.dropFirst(count)
            }
        }
        return true
    }

    // MARK: - Time

    /// Sleeps, but no longer than the peer stays.
    func pause(milliseconds: Int) throws(ConnectionEnd) {
        let end = Clock.milliseconds() + milliseconds
        var left = milliseconds
        while left > 0 {
            // POLLRDHUP of Linux, which the module shows only to GNU sources: the peer ended its side.
            var entry = pollfd(fd: descriptor, events: 0x2000, revents: 0)
            if poll(&entry, 1, Int32(clamping: left)) > 0 { throw .gone }
            left = end - Clock.milliseconds()
        }
    }

    /// Says nothing more until the peer ends its side.
    func stall() throws(ConnectionEnd) -> Never {
        while true { try pause(milliseconds: Int(Int32.max)) }
    }

    /// The value of a `Date` field now.
    func date() -> String {
        let now = time(nil)
        if now != dateSecond { (dateSecond, dateText) = (now, HTTPDate.text(now)) }
        return dateText
    }

    /// Ends our side and waits up to two seconds for the peer to end its own. RFC 9112 §9.6.
    private func linger() {
        guard shutdown(descriptor, Int32(SHUT_WR)) == 0 else { return }
        server.ledger.disturbed(number)
        let end = Clock.milliseconds() + 2000
        while true {
            let left = end - Clock.milliseconds()
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard left > 0, poll(&entry, 1, Int32(left)) > 0 else { return }
            let count = input.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return }
        }
    }
}

private typealias LingerOption = Glibc.linger
