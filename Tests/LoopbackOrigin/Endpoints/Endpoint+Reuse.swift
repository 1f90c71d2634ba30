extension Endpoint {
    /// Connections that end between requests, politely or not.
    static let reuse: [String: Endpoint] = [
        // The limits are kept: idle for `timeout` seconds, or after `max` more requests, the connection is closed.
        "keepalive": Endpoint { (exchange, _) throws(ConnectionEnd) in
            let timeout = try exchange.query.int("timeout", 5, in: 0...86_400)
            let max = try exchange.query.int("max", 100, in: 0...1_000_000)
            exchange.connection.idleLimit = timeout * 1000
            exchange.connection.requestsLeft = max
            return try exchange.reply(
                body: Array("ok\n".utf8), fields: [("Keep-Alive", "timeout=\(timeout), max=\(max)")])
        },
        "close-idle": Endpoint { (exchange, _) throws(ConnectionEnd) in
            exchange.connection.idleLimit = try exchange.query.int("ms", 100, in: 0...3_600_000)
            return try exchange.reply(text: "ok\n")
        },
        "close-after-request": Endpoint { (exchange, _) throws(ConnectionEnd) in
            guard exchange.connection.requests > 1 else { return try exchange.reply(text: "ok\n") }
            return exchange.query.flag("reset") ? .reset : .close
        },
    ]
}
