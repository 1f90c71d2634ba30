extension Endpoint {
    /// Questions about the origin itself.
    static let control: [String: Endpoint] = [
        "count": Endpoint { (exchange, _) throws(ConnectionEnd) in
            try exchange.reply(text: "\(exchange.ledger.count(exchange.query.text("key") ?? ""))\n")
        },
        "counts": Endpoint(
            handler: { (exchange, _) throws(ConnectionEnd) in
                try exchange.reply(type: "application/json", body: exchange.ledger.countsJSON)
            }, isControl: true),
        "concurrency": Endpoint(
            handler: { (exchange, _) throws(ConnectionEnd) in
                try exchange.reply(type: "application/json", body: exchange.ledger.concurrencyJSON)
            }, isControl: true),
        "connections": Endpoint(
            handler: { (exchange, _) throws(ConnectionEnd) in
                try exchange.reply(type: "application/json", body: exchange.ledger.connectionsJSON)
            }, isControl: true),
        "quiet": Endpoint(
            handler: { (exchange, _) throws(ConnectionEnd) in
                let number = try exchange.number(at: 1, standard: 0, in: 0...Int.max)
                return try exchange.reply(text: exchange.ledger.isQuiet(number) ? "1\n" : "0\n")
            }, isControl: true),
        "reset-counts": Endpoint(
            handler: { (exchange, _) throws(ConnectionEnd) in
                exchange.ledger.reset()
                return try exchange.reply(text: "ok\n")
            }, isControl: true),
        "log": Endpoint(
            handler: { (exchange, _) throws(ConnectionEnd) in
                let lines = exchange.ledger.logLines(targetPrefix: exchange.query.text("prefix") ?? "")
                return try exchange.reply(type: "application/x-ndjson", body: lines)
            }, isControl: true),
    ]
}
