extension Endpoint {
    /// Answers a well-behaved origin could give.
    static let ordinary: [String: Endpoint] = [
        "": Endpoint { (exchange, _) throws(ConnectionEnd) in
            try exchange.reply(text: "LoopbackOrigin: see README.md for the endpoints\n")
        },
        "bytes": Endpoint(handler: bytes),
        "status": Endpoint(handler: status),
        "headers": Endpoint(handler: anything),
        "anything": Endpoint(handler: anything),
        "delay": Endpoint { (exchange, _) throws(ConnectionEnd) in
            let delay = try exchange.number(at: 1, standard: 0, in: 0...3_600_000)
            try exchange.connection.pause(milliseconds: delay)
            return try exchange.reply(text: "waited \(delay) ms\n")
        },
        "echo": Endpoint(handler: echo, keeps: 64 << 20),
        "response-headers": Endpoint(handler: responseHeaders),
        "raw": Endpoint(handler: raw, keeps: 1 << 20),
        "drip": Endpoint(handler: drip),
        "interim": Endpoint(handler: interim),
        "trailers": Endpoint(handler: trailers),
    ]

    /// 1 January 2020: the `Last-Modified` of everything that has one.
    static let modified = 1_577_836_800

    @Sendable private static func bytes(_ exchange: Exchange, _: RequestBody) throws(ConnectionEnd) -> After {
        let (request, query) = (exchange.request, exchange.query)
        let count = try exchange.number(at: 1, standard: 1024, in: 0...(1 << 40))
        let stream = try query.seed()
        let rate = try query.int("rate", 0)
        let etag = "\"b-\(count)-\(stream.seed)\""
        let isTagged = query.flag("etag")
        if isTagged, exchange.isNotModified(etag: etag, modified: modified) {
            return try exchange.reply(
                status: 304, body: [], fields: [("ETag", etag), ("Last-Modified", HTTPDate.text(modified))])
        }
        var range = 0..<count
        var status = 200
        if let text = request.value("range"), !query.flag("norange"), request.method == "GET" || request.isHead,
            request.value("if-range").map({ isTagged && $0 == etag }) ?? true, let asked = single(text, of: count)
        {
            guard !asked.isEmpty else {
                return try exchange.reply(status: 416, body: [], fields: [("Content-Range", "bytes */\(count)")])
            }
            (range, status) = (asked, 206)
        }
        var framing = BodyWriter.Framing.length(range.count)
        if query.flag("chunked"), request.minorVersion == 1 { framing = .chunked }
        if query.flag("nolength") || (query.flag("chunked") && request.minorVersion == 0) { framing = .untilClose }
        let closes = framing == .untilClose
        var head = exchange.head(status, closes: closes)
        head.field("Content-Type", query.text("type") ?? "application/octet-stream")
        if !query.flag("norange") { head.field("Accept-Ranges", "bytes") }
        if isTagged {
            head.field("ETag", etag)
            head.field("Last-Modified", HTTPDate.text(modified))
        }
        if status == 206 {
            head.field("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)")
        }
        switch framing {
        case .length: head.field("Content-Length", range.count)
        case .chunked: head.field("Transfer-Encoding", "chunked")
        case .untilClose: break
        }
        head.end()
        if request.isHead {
            try exchange.connection.write(head.bytes)
        } else {
            var writer = BodyWriter(head, framing: framing, rate: rate, on: exchange.connection)
            try writer.write(stream, range)
            try writer.end()
        }
        return closes ? .close : exchange.after
    }

    /// RFC 9110 §14.1.2. Nil when the field is to be ignored, empty when no byte of it exists.
    private static func single(_ text: String, of count: Int) -> Range<Int>? {
        guard text.hasPrefix("bytes="), !text.contains(",") else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        let numbers = ends.map { RequestParser.decimal(Array($0.utf8)[...]) }
        switch (numbers[0], numbers[1]) {
        case (let first?, let last?):
            guard first <= last else { return nil }
            return first < count ? first..<min(last + 1, count) : 0..<0
        case (let first?, nil): return !ends[1].isEmpty ? nil : first < count ? first..<count : 0..<0
        case (nil, let suffix?): return ends[0].isEmpty ? max(0, count - suffix)..<count : nil
        case (nil, nil): return nil
        }
    }

    @Sendable private static func status(_ exchange: Exchange, _: RequestBody) throws(ConnectionEnd) -> After {
        let status = try exchange.number(at: 1, standard: 200, in: 200...999)
        // RFC 9110 §15.3.6: a 205 has no content.
        let body = status == 205 ? [] : exchange.query.bytes("body") ?? Array("status \(status)\n".utf8)
        return try exchange.reply(status: status, reason: exchange.query.text("reason"), body: body)
    }

    @Sendable static func anything(_ exchange: Exchange, _ body: RequestBody) throws(ConnectionEnd) -> After {
        let request = exchange.request
        var json = JSONText()
        json.raw("{\"method\":")
        json.string(request.method)
        json.raw(",\"target\":")
        json.string(request.target)
        json.raw(",\"version\":\"HTTP/1.\(request.minorVersion)\",\"fields\":[")
        for (index, field) in request.fields.enumerated() {
            json.raw(index == 0 ? "[" : ",[")
            json.string(bytes: Array(request.head[field.name]))
            json.raw(",")
            json.string(bytes: Array(request.head[field.value]))
            json.raw("]")
        }
        json.raw("],\"bodyLength\":\(body.length),\"bodyFNV1a64\":\"\(Hex.text(body.hash.value))\",\"body\":")
        json.raw(body.length <= 65_536 ? "\"\(Base64.encode(body.kept))\"" : "null")
        json.raw("}\n")
        return try exchange.reply(type: "application/json", body: json.bytes)
    }

    @Sendable private static func echo(_ exchange: Exchange, _ body: RequestBody) throws(ConnectionEnd) -> After {
        guard body.length <= 64 << 20 else { return try exchange.reply(status: 413, text: "more than 64 MiB\n") }
        return try exchange.reply(
            type: exchange.request.value("content-type") ?? "application/octet-stream", body: body.kept)
    }

    @Sendable private static func responseHeaders(
        _ exchange: Exchange, _: RequestBody
    ) throws(ConnectionEnd) -> After {
        var head = exchange.head()
        for pair in exchange.query.pairs where pair.name != "field" {
            head.line(Array(pair.name.utf8) + [0x3A, 0x20] + pair.value)
        }
        let body = Array("fields as asked\n".utf8)
        if !exchange.query.pairs.contains(where: { $0.name.lowercased() == "content-length" }) {
            head.field("Content-Length", body.count)
        }
        head.end()
        if !exchange.request.isHead { head.append(body) }
        try exchange.connection.write(head.bytes)
        return exchange.after
    }

    @Sendable private static func raw(_ exchange: Exchange, _ body: RequestBody) throws(ConnectionEnd) -> After {
        var bytes = body.kept
        if let text = exchange.query.bytes("b64") {
            guard let decoded = Base64.decode(text) else { throw .refused(400, "b64 is not base64") }
            bytes = decoded
        }
        let step = try exchange.query.int("step", max(1, bytes.count), in: 1...(1 << 30))
        let interval = try exchange.query.int("interval", 0, in: 0...60_000)
        var rest = bytes[...]
        while !rest.isEmpty {
            try exchange.connection.write(rest.prefix(step))
            rest = rest.dropFirst(step)
            if !rest.isEmpty { try exchange.connection.pause(milliseconds: interval) }
        }
        return exchange.query.flag("keep") ? .keep : .close
    }

    @Sendable private static func drip(_ exchange: Exchange, _: RequestBody) throws(ConnectionEnd) -> After {
        let query = exchange.query
        let count = try query.int("bytes", 10)
        let interval = try query.int("interval", 100, in: 0...3_600_000)
        let step = try query.int("step", 1, in: 1...(1 << 20))
        let stream = try query.seed()
        let isChunked = query.flag("chunked")
        var head = exchange.head()
        head.field("Content-Type", "application/octet-stream")
        if isChunked { head.field("Transfer-Encoding", "chunked") } else { head.field("Content-Length", count) }
        head.end()
        var writer = BodyWriter(head, framing: isChunked ? .chunked : .length(count), on: exchange.connection)
        if exchange.request.isHead {
            try exchange.connection.write(head.bytes)
            return exchange.after
        }
        try writer.write([])
        var offset = 0
        while offset < count {
            try exchange.connection.pause(milliseconds: interval)
            try writer.write(stream.bytes(offset..<min(offset + step, count)))
            offset += step
        }
        try writer.end()
        return exchange.after
    }

    // RFC 9110 §15.2: any number of interim responses before the final one.
    @Sendable private static func interim(_ exchange: Exchange, _: RequestBody) throws(ConnectionEnd) -> After {
        let list = (exchange.query.text("list") ?? "103").split(separator: ",").compactMap { Int($0) }
        let pause = try exchange.query.int("ms", 0, in: 0...60_000)
        for status in list where 100...199 ~= status {
            var head = ResponseHead(status: status)
            head.field("X-Interim", status)
            if status == 103 { head.field("Link", "</site/style.css>; rel=preload; as=style") }
            head.end()
            try exchange.connection.write(head.bytes)
            try exchange.connection.pause(milliseconds: pause)
        }
        return try exchange.reply(text: "final\n")
    }

    // RFC 9110 §6.5, RFC 9112 §7.1.2.
    @Sendable private static func trailers(_ exchange: Exchange, _: RequestBody) throws(ConnectionEnd) -> After {
        let body = Array("a body with trailers\n".utf8)
        var head = exchange.head()
        head.field("Content-Type", "text/plain")
        head.field("Trailer", "X-Checksum, X-Late")
        head.field("Transfer-Encoding", "chunked")
        head.end()
        if exchange.request.isHead {
            try exchange.connection.write(head.bytes)
            return exchange.after
        }
        var writer = BodyWriter(head, framing: .chunked, on: exchange.connection)
        try writer.write(body)
        try writer.end(trailers: [("X-Checksum", Hex.text(FNV1a.hash(body))), ("X-Late", "yes")])
        return exchange.after
    }
}

extension BodyWriter {
    /// Sends a range of the stream in blocks of 64 KiB.
    mutating func write(_ stream: ByteStream, _ range: Range<Int>) throws(ConnectionEnd) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let next = min(offset + 65_536, range.upperBound)
            try write(stream.bytes(offset..<next))
            offset = next
        }
    }
}

extension Exchange {
    /// The number in a path segment.
    func number(at index: Int, standard: Int, in range: ClosedRange<Int>) throws(ConnectionEnd) -> Int {
        guard segments.count > index else { return standard }
        guard let number = Int(segments[index]), range.contains(number) else {
            throw .refused(400, "the path needs a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
