extension Endpoint {
    /// Complete answers with bytes beyond their end, in the shape of a response that nobody asked for.
    static let poison: [String: Endpoint] = [
        "poison": Endpoint { (exchange, _) throws(ConnectionEnd) in
            let kind = exchange.segments.count > 1 ? exchange.segments[1] : ""
            guard let handler = poisons[kind] else { return try exchange.reply(status: 404, text: "unknown poison\n") }
            return try handler(exchange)
        }
    ]

    /// What a client that reads on would take for the next response.
    static let poisonBytes = Array(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Poison: 1\r\nContent-Length: 6\r\n\r\nPOISON".utf8)

    private static let poisons: [String: @Sendable (Exchange) throws(ConnectionEnd) -> After] = [
        "late": { (exchange) throws(ConnectionEnd) in
            let delay = try exchange.query.int("ms", 100, in: 0...3_600_000)
            let after = try exchange.reply(text: "clean\n")
            exchange.connection.late = (Clock.milliseconds() + delay, poisonBytes)
            return after
        },
        "with-body": { (exchange) throws(ConnectionEnd) in
            let count = try exchange.query.int("bytes", 16, in: 0...(64 << 20))
            let body = try exchange.query.seed().bytes(0..<count)
            var head = exchange.head()
            head.field("Content-Type", "application/octet-stream")
            head.field("Content-Length", count)
            head.end()
            head.append(body)
            head.append(poisonBytes)
            try exchange.connection.write(head.bytes)
            return exchange.after
        },
        "short-length": { (exchange) throws(ConnectionEnd) in
            let count = try exchange.query.int("declared", 5, in: 0...(1 << 20))
            return try exchange.poisoned {
                $0.field("Content-Length", count)
            } body: {
                String(repeating: "s", count: count)
            }
        },
        "zero-length": { (exchange) throws(ConnectionEnd) in
            try exchange.poisoned { $0.field("Content-Length", 0) }
        },
        "chunked": { (exchange) throws(ConnectionEnd) in
            try exchange.poisoned {
                $0.field("Transfer-Encoding", "chunked")
            } body: {
                "6\r\nclean\n\r\n0\r\n\r\n"
            }
        },
        "chunked-gzip": { (exchange) throws(ConnectionEnd) in
            let size = try exchange.query.int("size", 1_000_000, in: 0...(64 << 20))
            let body = Deflate.gzip(Deflate.lastZeros(size), crc: CRC32.ofZeros(size), size: size)
            var head = exchange.head()
            head.field("Content-Encoding", "gzip")
            head.field("Transfer-Encoding", "chunked")
            head.end()
            head.append(Array("\(String(body.count, radix: 16))\r\n".utf8))
            head.append(body)
            head.append(Array("\r\n0\r\n\r\n".utf8))
            head.append(poisonBytes)
            try exchange.connection.write(head.bytes)
            return exchange.after
        },
        "304": { (exchange) throws(ConnectionEnd) in
            try exchange.poisoned(304) { $0.field("ETag", "\"poison\"") }
        },
        "204": { (exchange) throws(ConnectionEnd) in
            try exchange.poisoned(204) { _ in }
        },
        "head": { (exchange) throws(ConnectionEnd) in
            guard exchange.request.isHead else { return try exchange.reply(text: "clean\n") }
            return try exchange.poisoned { $0.field("Content-Length", 6) }
        },
    ]
}

extension Exchange {
    /// An answer, then the poison: in the same write, or `ms` later.
    fileprivate func poisoned(
        _ status: Int = 200, _ add: (inout ResponseHead) -> Void, body: () -> String = { "" }
    ) throws(ConnectionEnd) -> After {
        let delay = try query.int("ms", 0, in: 0...3_600_000)
        var head = head(status)
        add(&head)
        head.end()
        head.append(Array(body().utf8))
        if delay == 0 { head.append(Endpoint.poisonBytes) }
        try connection.write(head.bytes)
        if delay > 0 { connection.late = (Clock.milliseconds() + delay, Endpoint.poisonBytes) }
        return after
    }
}
