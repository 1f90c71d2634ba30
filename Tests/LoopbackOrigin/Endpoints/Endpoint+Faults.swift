extension Endpoint {
    /// Silence, resets, early ends and answers without end.
    static let faults: [String: Endpoint] = [
        "stall": Endpoint { (exchange, _) throws(ConnectionEnd) in
            try exchange.sendPart()
            try exchange.connection.stall()
        },
        "reset": Endpoint { (exchange, _) throws(ConnectionEnd) in
            try exchange.sendPart()
            return .reset
        },
        "close": Endpoint { (exchange, _) throws(ConnectionEnd) in
            try exchange.sendPart()
            return .close
        },
        "truncate": Endpoint(handler: truncate),
        "garbage": Endpoint { (exchange, _) throws(ConnectionEnd) in
            let count = try exchange.query.int("bytes", 1024, in: 0...(64 << 20))
            try exchange.connection.write(try exchange.query.seed().bytes(0..<count))
            return .close
        },
        "endless": Endpoint(handler: endless),
        "endless-head": Endpoint { (exchange, _) throws(ConnectionEnd) in
            try exchange.connection.write(exchange.head(closes: true).bytes)
            var line = 0
            while true {
                var block: [UInt8] = []
                for _ in 0..<256 {
                    line += 1
                    block += "X-Line-\(line): another line, and the head goes on\r\n".utf8
                }
                try exchange.connection.write(block)
            }
        },
        "early-response": Endpoint(handler: earlyResponse, readsBody: false),
        "upload-reset": Endpoint(
            handler: { (exchange, _) throws(ConnectionEnd) in
                try exchange.readPart()
                return .reset
            }, readsBody: false),
        "no-continue": Endpoint(
            handler: { (exchange, _) throws(ConnectionEnd) in
                let body = try exchange.readBody(keeping: 65_536, continues: false)
                return try anything(exchange, body)
            }, readsBody: false),
    ]

    @Sendable private static func truncate(_ exchange: Exchange, _: RequestBody) throws(ConnectionEnd) -> After {
        let declared = try exchange.query.int("declared", 1000)
        let sent = try exchange.query.int("sent", 500)
        let stream = try exchange.query.seed()
        let isChunked = exchange.query.flag("chunked")
        var head = exchange.head()
        head.field("Content-Type", "application/octet-stream")
        if isChunked { head.field("Transfer-Encoding", "chunked") } else { head.field("Content-Length", declared) }
        head.end()
        if isChunked { head.append(Array("\(String(declared, radix: 16))\r\n".utf8)) }
        var writer = BodyWriter(head, framing: .length(declared), on: exchange.connection)
        try writer.write(stream, 0..<min(sent, declared))
        if isChunked, sent >= declared { try writer.write([0x0D, 0x0A]) }
        try writer.end()
        return .close
    }

    @Sendable private static func endless(_ exchange: Exchange, _: RequestBody) throws(ConnectionEnd) -> After {
        let isChunked = exchange.query.flag("chunked")
        var head = exchange.head(closes: !isChunked)
        head.field("Content-Type", "application/octet-stream")
        if isChunked { head.field("Transfer-Encoding", "chunked") }
        head.end()
        var writer = BodyWriter(head, framing: isChunked ? .chunked : .untilClose, on: exchange.connection)
        let block = try exchange.query.seed().bytes(0..<65_536)
        while true { try writer.write(block) }
    }

    @Sendable private static func earlyResponse(_ exchange: Exchange, _: RequestBody) throws(ConnectionEnd) -> After {
        let status = try exchange.query.int("status", 413, in: 200...599)
        try exchange.readPart()
        return try exchange.reply(status: status, text: "answered before the end of the body\n", closes: true)
    }
}

extension Exchange {
    /// Sends as much of an answer as `head` and `after` say.
    ///
    /// Nothing by default. With `head=1`, or `after` alone: a head that declares `declared` bytes, then `after` bytes
    /// of the body. With `head=0&after=N`: the first N bytes of the head.
    fileprivate func sendPart() throws(ConnectionEnd) {
        let after = try query.int("after", 0)
        let sendsHead = query.has("head") ? query.flag("head") : query.has("after")
        guard sendsHead || after > 0 else { return }
        var head = head()
        head.field("Content-Type", "application/octet-stream")
        let declared = try query.int("declared", after + 1_000_000)
        head.field("Content-Length", declared)
        head.end()
        guard sendsHead else { return try connection.write(head.bytes.prefix(after)) }
        var writer = BodyWriter(head, framing: .length(declared), on: connection)
        try writer.write([])
        try writer.write(try query.seed(), 0..<after)
    }

    /// Reads `after` bytes of the request's body, or less when it is shorter.
    fileprivate func readPart() throws(ConnectionEnd) {
        var left = try query.int("after", 0)
        guard left > 0 else { return }
        if request.expectsContinue { try connection.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        var reader = BodyReader(request.framing, on: connection)
        while left > 0 {
            let bytes = try reader.next(left)
            if bytes.isEmpty { return }
            left -= bytes.count
        }
    }
}
