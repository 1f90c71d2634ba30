/// Sends a response body in pieces: by length, in chunks or until the close, at full speed or paced.
struct BodyWriter {
    /// How the end of the body is told, RFC 9112 §6.3.
    enum Framing: Equatable {
        /// By the number of bytes that the head declares.
        case length(Int)
        case chunked
        case untilClose
    }

    private let connection: Connection
    private let framing: Framing
    /// Bytes per second; 0 is no limit.
    private let rate: Int
    private let start = Clock.milliseconds()
    private var spent = 0
    /// Bytes of the body handed over.
    private var sent = 0
    private var pending: [UInt8]

    /// - Parameter head: Goes out together with the first piece.
    init(_ head: ResponseHead, framing: Framing, rate: Int = 0, on connection: Connection) {
        self.connection = connection
        self.framing = framing
        self.rate = rate
        pending = head.bytes
    }

    /// Sends a piece; with chunked framing each is a chunk of its own. An empty one sends what waits.
    mutating func write(_ piece: [UInt8]) throws(ConnectionEnd) {
        guard rate > 0 else { return try put(piece[...]) }
        var rest = piece[...]
        let step = max(1, rate / 50)
        while !rest.isEmpty {
            let due = start + spent * 1000 / rate
            try connection.pause(milliseconds: due - Clock.milliseconds())
            let slice = rest.prefix(step)
            try put(slice)
            spent += slice.count
            rest = rest.dropFirst(step)
        }
    }

    /// Ends the body, with trailer field lines if there are any.
    mutating func end(trailers: [(String, String)] = []) throws(ConnectionEnd) {
        if case .chunked = framing {
            pending += "0\r\n".utf8
            for (name, value) in trailers { pending += "\(name): \(value)\r\n".utf8 }
            pending += "\r\n".utf8
        }
        connection.answerEnds()
        try flush()
    }

    private mutating func put(_ piece: ArraySlice<UInt8>) throws(ConnectionEnd) {
        sent += piece.count
        if case .length(let declared) = framing, sent >= declared { connection.answerEnds() }
        if case .chunked = framing {
            if piece.isEmpty { return try flush() }
            pending += "\(String(piece.count, radix: 16))\r\n".utf8
            pending += piece
            pending += "\r\n".utf8
        } else if pending.isEmpty {
            return try connection.write(piece)
        } else {
            pending += piece
        }
        try flush()
    }

    private mutating func flush() throws(ConnectionEnd) {
        guard !pending.isEmpty else { return }
        try connection.write(pending)
        pending.removeAll(keepingCapacity: true)
    }
}
