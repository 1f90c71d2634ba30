extension Endpoint {
    /// Heads and framings that are wrong, unusual or too big.
    static let malformed: [String: Endpoint] = [
        "garbage-head": Endpoint(handler: garbageHead),
        "big-head": Endpoint { (exchange, _) throws(ConnectionEnd) in
            let count = try exchange.query.int("bytes", 400_000, in: 0...(256 << 20))
            return try exchange.replyWithFields { head in
                let line = exchange.query.flag("one") ? max(1, count - 12) : 1000
                while head.bytes.count < count {
                    head.field("X-Big", String(repeating: "x", count: max(1, min(line, count - head.bytes.count - 9))))
                }
            }
        },
        "many-fields": Endpoint { (exchange, _) throws(ConnectionEnd) in
            let count = try exchange.query.int("count", 1000, in: 0...10_000_000)
            return try exchange.replyWithFields { head in
                for index in 0..<count { head.field("X-\(index)", "v") }
            }
        },
        "bad-chunk": Endpoint(handler: badChunk),
        "obs-fold": Endpoint { (exchange, _) throws(ConnectionEnd) in
            try exchange.replyWithFields { head in
                head.field("X-Folded", "first\r\n second\r\n\tthird")
                head.field("X-After", "unfolded")
            }
        },
        "both-lengths": Endpoint { (exchange, _) throws(ConnectionEnd) in
            let length = try exchange.query.int("cl", 3)
            return try exchange.raw { head in
                head.field("Content-Length", length)
                head.field("Transfer-Encoding", "chunked")
            } body: {
                "5\r\nhello\r\n0\r\n\r\n"
            }
        },
        "two-lengths": Endpoint { (exchange, _) throws(ConnectionEnd) in
            let a = try exchange.query.int("a", 5, in: 0...(1 << 20))
            let b = try exchange.query.int("b", 10, in: 0...(1 << 20))
            return try exchange.raw { head in
                if exchange.query.flag("comma") {
                    head.field("Content-Length", "\(a), \(b)")
                } else {
                    head.field("Content-Length", a)
                    head.field("Content-Length", b)
                }
            } body: {
                String(repeating: "x", count: a)
            }
        },
        "http10": Endpoint(handler: http10),
        "no-reason": Endpoint { (exchange, _) throws(ConnectionEnd) in
            // RFC 9112 §4: the space stays even without a phrase; `bare=1` leaves it out as some servers do.
            var head = ResponseHead(statusLine: exchange.query.flag("bare") ? "HTTP/1.1 200" : "HTTP/1.1 200 ")
            head.field("Content-Length", 3)
            head.end()
            if !exchange.request.isHead { head.append(Array("ok\n".utf8)) }
            try exchange.connection.write(head.bytes)
            return exchange.after
        },
        "lowercase": Endpoint { (exchange, _) throws(ConnectionEnd) in
            var head = ResponseHead(status: 200)
            head.field("content-type", "text/plain")
            head.field("x-connection", exchange.connection.number)
            head.field("x-request-on-connection", exchange.connection.requests)
            head.field("content-length", 3)
            head.end()
            if !exchange.request.isHead { head.append(Array("ok\n".utf8)) }
            try exchange.connection.write(head.bytes)
            return exchange.after
        },
    ]

    @Sendable private static func garbageHead(_ exchange: Exchange, _: RequestBody) throws(ConnectionEnd) -> After {
        let end = "\r\nContent-Length: 3\r\n\r\nok\n"
        let text: String
        switch exchange.query.text("kind") ?? "binary" {
        case "binary":
            let noise = try exchange.query.seed().bytes(0..<512).filter { $0 != 0x0A && $0 != 0x0D }
            try exchange.connection.write(Array("HTTP/1.1 200 OK\r\n".utf8) + noise + Array(end.utf8))
            return .close
        case "nul": text = "HTTP/1.1 200 OK\r\nX-Nul: a\0b" + end
        case "no-colon": text = "HTTP/1.1 200 OK\r\nno colon in this line" + end
        case "space-colon": text = "HTTP/1.1 200 OK\r\nX-Space : value" + end
        case "empty-name": text = "HTTP/1.1 200 OK\r\n: value" + end
        case "first-fold": text = "HTTP/1.1 200 OK\r\n folded onto nothing" + end
        case "first-indented": text = "HTTP/1.1 200 OK\r\n X-Indented: value" + end
        case "bare-cr": text = "HTTP/1.1 200 OK\r\nX-Bare: a\rX-Other: b" + end
        case "cr-line": text = "HTTP/1.1 200 OK\r\n\rX-A: b" + end
        case "cr-cr-lf": text = "HTTP/1.1 200 OK\r\r\nContent-Length: 3\r\r\n\r\r\nok\n"
        case "name-cr": text = "HTTP/1.1 200 OK\r\nX-A\rX-B: b" + end
        case "bare-lf": text = ("HTTP/1.1 200 OK" + end).withoutCR
        case "bad-status": text = "HTTP/1.1 2x0 OK" + end
        case "big-status": text = "HTTP/1.1 20000 OK" + end
        case "no-status": text = "HTTP/1.1" + end
        case "bad-version": text = "HTTP/9.9 200 OK" + end
        case "no-version": text = "HTTP 200 OK" + end
        case "negative-length": text = "HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nok\n"
        case "huge-length": text = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok\n"
        case "text-length": text = "HTTP/1.1 200 OK\r\nContent-Length: three\r\n\r\nok\n"
        default: throw .refused(400, "unknown kind")
        }
        try exchange.connection.write(Array(text.utf8))
        return .close
    }

    // RFC 9112 §7.1; every kind but `good` and `good-ext` breaks it, or is far beyond any sensible limit.
    @Sendable private static func badChunk(_ exchange: Exchange, _: RequestBody) throws(ConnectionEnd) -> After {
        let good = "5\r\nhello\r\n"
        let end = "0\r\n\r\n"
        let count = try exchange.query.int("bytes", 1 << 20, in: 0...(256 << 20))
        let kind = exchange.query.text("kind") ?? "size"
        let text: String
        switch kind {
        case "good": text = good + end
        case "good-ext": text = "5;name=value;quoted=\"a;b\"\r\nhello\r\n" + end
        case "size": text = good + "xyz\r\nhello\r\n" + end
        case "empty": text = good + "\r\nhello\r\n" + end
        case "prefix": text = good + "0x5\r\nhello\r\n" + end
        case "space": text = good + " 5\r\nhello\r\n" + end
        case "crlf": text = good + "5\r\nhelloworld\r\n" + end
        case "negative": text = good + "-5\r\nhello\r\n" + end
        case "overflow": text = good + "FFFFFFFFFFFFFFFFF\r\nhello\r\n" + end
        case "huge": text = good + "7FFFFFFFFFFFFFFF\r\nhello"
        case "lf": text = "5\nhello\n0\n\n"
        case "ext": text = good + "5;" + String(repeating: "e", count: count) + "\r\nhello\r\n" + end
        case "no-last": text = good
        case "long-trailer": text = good + "0\r\nX-T: " + String(repeating: "t", count: count) + "\r\n\r\n"
        case "trailer-flood":
            text = good + "0\r\n" + String(repeating: "X-Flood: trailer\r\n", count: count / 18) + "\r\n"
        default: throw .refused(400, "unknown kind")
        }
        let persists = kind.hasPrefix("good")
        var head = exchange.head(closes: !persists)
        head.field("Content-Type", "text/plain")
        head.field("Transfer-Encoding", "chunked")
        head.end()
        if !exchange.request.isHead { head.append(Array(text.utf8)) }
        try exchange.connection.write(head.bytes)
        return persists ? exchange.after : .close
    }

    @Sendable private static func http10(_ exchange: Exchange, _: RequestBody) throws(ConnectionEnd) -> After {
        let keeps = exchange.query.flag("keep")
        var head = ResponseHead(statusLine: "HTTP/1.0 200 OK")
        head.field("X-Connection", exchange.connection.number)
        head.field("X-Request-On-Connection", exchange.connection.requests)
        if keeps {
            head.field("Connection", "keep-alive")
            head.field("Content-Length", 8)
        }
        head.end()
        if !exchange.request.isHead { head.append(Array("old way\n".utf8)) }
        try exchange.connection.write(head.bytes)
        return keeps ? exchange.after : .close
    }
}

extension Exchange {
    /// A small ordinary answer with more fields.
    fileprivate func replyWithFields(_ add: (inout ResponseHead) -> Void) throws(ConnectionEnd) -> After {
        var head = head()
        head.field("Content-Type", "text/plain")
        head.field("Content-Length", 3)
        add(&head)
        head.end()
        if !request.isHead { head.append(Array("ok\n".utf8)) }
        try connection.write(head.bytes)
        return after
    }

    /// An answer whose framing fields and body are the caller's; the connection is closed after it.
    fileprivate func raw(_ add: (inout ResponseHead) -> Void, body: () -> String) throws(ConnectionEnd) -> After {
        var head = head()
        head.field("Content-Type", "text/plain")
        add(&head)
        head.end()
        if !request.isHead { head.append(Array(body().utf8)) }
        try connection.write(head.bytes)
        return .close
    }
}

extension String {
    fileprivate var withoutCR: String {
        String(decoding: utf8.filter { $0 != 0x0D }, as: UTF8.self)
    }
}
