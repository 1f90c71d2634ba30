extension Endpoint {
    /// Chains, circles and redirects to anywhere.
    static let redirects: [String: Endpoint] = [
        "redirect": Endpoint { (exchange, _) throws(ConnectionEnd) in
            let left = try exchange.number(at: 1, standard: 1, in: 0...10_000)
            let status = try exchange.query.int("status", 302, in: 300...399)
            let mark = exchange.request.target.utf8.firstIndex(of: 0x3F)
            let query = mark.map { exchange.request.target[$0...] } ?? ""
            let path = left > 1 ? "/redirect/\(left - 1)\(query)" : "/anything"
            let prefix = exchange.query.flag("absolute") ? "http://\(exchange.request.host)" : ""
            return try exchange.redirect(status, to: Array((prefix + path).utf8))
        },
        "redirect-to": Endpoint { (exchange, _) throws(ConnectionEnd) in
            let status = try exchange.query.int("status", 302, in: 300...399)
            guard let url = exchange.query.bytes("url") else { throw .refused(400, "url is missing") }
            return try exchange.redirect(status, to: url)
        },
        "redirect-loop": Endpoint { (exchange, _) throws(ConnectionEnd) in
            try exchange.redirect(302, to: Array("/redirect-loop".utf8))
        },
        "redirect-circle": Endpoint { (exchange, _) throws(ConnectionEnd) in
            let isFirst = exchange.segments.count < 2 || exchange.segments[1] == "a"
            return try exchange.redirect(302, to: Array("/redirect-circle/\(isFirst ? "b" : "a")".utf8))
        },
    ]
}

extension Exchange {
    /// A redirect with a small body, or the one the query gives.
    fileprivate func redirect(_ status: Int, to location: [UInt8]) throws(ConnectionEnd) -> After {
        let body = query.bytes("body") ?? Array("moved\n".utf8)
        var head = head(status)
        head.line(Array("Location: ".utf8) + location)
        head.field("Content-Type", "text/plain")
        head.field("Content-Length", body.count)
        head.end()
        if !request.isHead { head.append(body) }
        try connection.write(head.bytes)
        return after
    }
}
