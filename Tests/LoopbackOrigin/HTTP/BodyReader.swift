/// Takes a request's body off the connection, RFC 9112 §6 and §7.1.
struct BodyReader {
    private enum State {
        case counted(Int)
        case chunkHead
        case chunk(Int)
        case ended
    }

    private let connection: Connection
    private var state: State

    init(_ framing: Request.Framing, on connection: Connection) {
        self.connection = connection
        switch framing {
        case .none, .length(0): state = .ended
        case .length(let length): state = .counted(length)
        case .chunked: state = .chunkHead
        }
    }

    /// The next bytes, at most `count`; empty at the end.
    mutating func next(_ count: Int) throws(ConnectionEnd) -> [UInt8] {
        while true {
            switch state {
            case .ended: return []
            case .counted(let left):
                let bytes = try take(min(left, count))
                state = left == bytes.count ? .ended : .counted(left - bytes.count)
                return bytes
            case .chunk(let left):
                let bytes = try take(min(left, count))
                if left == bytes.count {
                    guard try line().isEmpty else { throw .refused(400, "a chunk without its CRLF") }
                    state = .chunkHead
                } else {
                    state = .chunk(left - bytes.count)
                }
                return bytes
            case .chunkHead:
                let size = try chunkSize()
                state = .chunk(size)
                if size == 0 {
                    while !(try line().isEmpty) {}
                    state = .ended
                }
            }
        }
    }

    private func chunkSize() throws(ConnectionEnd) -> Int {
        let text = try line()
        let digits = text.prefix { $0 != 0x3B && $0 != 0x20 && $0 != 0x09 }
        guard !digits.isEmpty, digits.count <= 15 else { throw .refused(400, "bad chunk size") }
        var size = 0
        for digit in digits {
            guard let value = Hex.value(digit) else { throw .refused(400, "bad chunk size") }
            size = size << 4 | Int(value)
        }
        return size
    }

    private func line() throws(ConnectionEnd) -> [UInt8] {
        var line: [UInt8] = []
        while line.count < 16_384 {
            let byte = try take(1)[0]
            if byte == 0x0A {
                guard line.popLast() == 0x0D else { throw .refused(400, "a bare LF") }
                return line
            }
            line.append(byte)
        }
        throw .refused(400, "a line too long")
    }

    private func take(_ count: Int) throws(ConnectionEnd) -> [UInt8] {
        let bytes = try connection.read(count)
        guard !bytes.isEmpty else { throw .gone }
        return bytes
    }
}

/// A request's body after it was read.
struct RequestBody {
    var length = 0
    var hash = FNV1a()
    /// The first bytes, as many as were to be kept.
    var kept: [UInt8] = []

    mutating func add(_ bytes: [UInt8], keeping limit: Int) {
        length += bytes.count
        hash.add(bytes)
        if kept.count < limit { kept += bytes.prefix(limit - kept.count) }
    }
}
