extension Endpoint {
    /// Content codings, right and wrong. They are applied whatever the request accepts.
    static let codings: [String: Endpoint] = [
        "plain": coded(nil, CodedText.plain),
        "gzip": coded("gzip", gzip),
        "deflate": coded("deflate", Deflate.zlib(CodedText.rawDeflate, adler: Adler32.of(CodedText.plain))),
        "raw-deflate": coded("deflate", CodedText.rawDeflate),
        "brotli": coded("br", CodedText.brotli),
        "gzip-multi": coded("gzip", CodedText.gzipFirst + CodedText.gzipSecond),
        "gzip-truncated": coded("gzip", Array(gzip.dropLast(20))),
        "gzip-badcrc": coded("gzip", badCRC),
        "gzip-garbage-after": coded("gzip", gzip + ByteStream(seed: 1).bytes(0..<64)),
        "gzip-bomb": Endpoint(handler: bomb),
        "coding": Endpoint { (exchange, _) throws(ConnectionEnd) in
            let names = (exchange.query.text("names") ?? "gzip").split(separator: ",").joined(separator: ", ")
            return try exchange.reply(body: CodedText.plain, fields: [("Content-Encoding", names)])
        },
    ]

    private static let gzip = Deflate.gzip(
        CodedText.rawDeflate, crc: CRC32.of(CodedText.plain), size: CodedText.plain.count)

    private static let badCRC: [UInt8] = {
        var bytes = gzip
        bytes[bytes.count - 8] ^= 0xFF
        return bytes
    }()

    private static func coded(_ name: String?, _ body: [UInt8]) -> Endpoint {
        let fields = name.map { [("Content-Encoding", $0)] } ?? []
        return Endpoint { (exchange, _) throws(ConnectionEnd) in
            let isUntilClose = exchange.query.flag("nolength")
            guard isUntilClose || exchange.query.flag("chunked") && exchange.request.minorVersion == 1,
                !exchange.request.isHead
            else { return try exchange.reply(body: body, fields: fields) }
            var head = exchange.head(closes: isUntilClose)
            for (name, value) in fields { head.field(name, value) }
            head.field("Content-Type", "text/plain")
            if !isUntilClose { head.field("Transfer-Encoding", "chunked") }
            head.end()
            var writer = BodyWriter(head, framing: isUntilClose ? .untilClose : .chunked, on: exchange.connection)
            for start in stride(from: 0, to: body.count, by: 100) {
                try writer.write(Array(body[start..<min(start + 100, body.count)]))
            }
            try writer.end()
            return isUntilClose ? .close : exchange.after
        }
    }

    /// `size` zeros at about a thousand to one.
    @Sendable private static func bomb(_ exchange: Exchange, _: RequestBody) throws(ConnectionEnd) -> After {
        let size = try exchange.query.int("size", 1 << 30)
        let isZlib = exchange.query.text("coding") == "deflate"
        let blocks = size >> 20
        let last = Deflate.lastZeros(size & 0xFFFFF)
        let start = isZlib ? Deflate.zlibHead : Deflate.gzipHead
        let end: [UInt8] =
            isZlib
            ? Deflate.little(Adler32.ofZeros(size)).reversed()
            : Deflate.little(CRC32.ofZeros(size)) + Deflate.little(UInt32(truncatingIfNeeded: size))
        var head = exchange.head()
        head.field("Content-Type", "application/octet-stream")
        head.field("Content-Encoding", isZlib ? "deflate" : "gzip")
        let block = CodedText.zeroBlock
        let count = start.count + blocks * block.count + last.count + end.count
        head.field("Content-Length", count)
        head.end()
        if exchange.request.isHead {
            try exchange.connection.write(head.bytes)
            return exchange.after
        }
        var writer = BodyWriter(head, framing: .length(count), on: exchange.connection)
        try writer.write(start)
        let many = [[UInt8]](repeating: block, count: min(blocks, 64)).flatMap { $0 }
        for index in stride(from: 0, to: blocks, by: 64) {
            try writer.write(Array(many.prefix(min(64, blocks - index) * block.count)))
        }
        try writer.write(last + end)
        try writer.end()
        return exchange.after
    }
}
