/// One request and the means to answer it.
struct Exchange {
    let request: Request
    let connection: Connection
    let endpoint: Endpoint
    /// The path's segments, percent-decoded.
    let segments: [String]

    init(request: Request, connection: Connection) {
        self.request = request
        self.connection = connection
        segments = request.path.split(separator: "/", omittingEmptySubsequences: true).map { segment in
            guard segment.utf8.contains(0x25) else { return String(segment) }
            return String(decoding: Query.decode(segment.utf8), as: UTF8.self)
        }
        endpoint = Endpoint.named(segments.first ?? "")
    }

    var query: Query { request.query }
    var ledger: Ledger { connection.server.ledger }

    /// Where an ordinary answer leaves the connection.
    var after: After { request.persists ? .keep : .close }

    /// Reads the body, unless the endpoint does so itself, and answers.
    func answer() throws(ConnectionEnd) -> After {
        guard endpoint.readsBody else { return try endpoint.handler(self, RequestBody()) }
        let body = try readBody(keeping: endpoint.keeps)
        do throws(ConnectionEnd) {
            return try endpoint.handler(self, body)
        } catch .refused(let status, let reason) {
            return try reply(status: status, text: reason + "\n")
        }
    }

    /// Reads the whole body. RFC 9110 §10.1.1: a waiting client is told to go on, unless it is already sending.
    func readBody(keeping limit: Int, continues: Bool = true) throws(ConnectionEnd) -> RequestBody {
        var body = RequestBody()
        guard request.framing != .none else { return body }
        if request.expectsContinue, continues { try connection.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        var reader = BodyReader(request.framing, on: connection)
        while true {
            let bytes = try reader.next(65_536)
            if bytes.isEmpty { return body }
            body.add(bytes, keeping: limit)
        }
    }

    /// The beginning of an ordinary head: status, `Date`, the two counters, `Connection` when it says something, and
    /// the fields the query asks for by `field=Name:value`.
    func head(_ status: Int = 200, reason: String? = nil, closes: Bool = false) -> ResponseHead {
        var head = ResponseHead(status: status, reason: reason)
        if !query.pairs.contains(where: { $0.name == "Date" }) { head.field("Date", connection.date()) }
        head.field("X-Connection", connection.number)
        head.field("X-Request-On-Connection", connection.requests)
        if closes || !request.persists {
            head.field("Connection", "close")
        } else if request.minorVersion == 0 {
            head.field("Connection", "keep-alive")
        }
        for pair in query.pairs where pair.name == "field" { head.line(pair.value) }
        return head
    }

    /// A whole ordinary answer. The body is left out where HTTP allows none.
    func reply(
        status: Int = 200, reason: String? = nil, type: String = "text/plain", body: [UInt8],
        fields: [(String, String)] = [], closes: Bool = false
    ) throws(ConnectionEnd) -> After {
        var head = head(status, reason: reason, closes: closes)
        for (name, value) in fields { head.field(name, value) }
        // RFC 9110 §8.6: no Content-Length in 1xx and 204; a 304 has no body to describe here.
        let isBodiless = status < 200 || status == 204 || status == 304
        if !isBodiless {
            head.field("Content-Type", type)
            head.field("Content-Length", body.count)
        }
        head.end()
        if !isBodiless, !request.isHead { head.append(body) }
        connection.answerEnds()
        try connection.write(head.bytes)
        return closes ? .close : after
    }

    func reply(
        status: Int = 200, type: String = "text/plain", text: String, fields: [(String, String)] = [],
        closes: Bool = false
    ) throws(ConnectionEnd) -> After {
        try reply(status: status, type: type, body: Array(text.utf8), fields: fields, closes: closes)
    }

    /// Whether a GET or HEAD may be answered 304, RFC 9110 §13.2.2.
    func isNotModified(etag: String, modified: Int) -> Bool {
        guard request.method == "GET" || request.isHead else { return false }
        if let tags = request.value("if-none-match") {
            return tags == "*"
                || tags.split(separator: ",").contains { tag in
                    let tag = tag.drop { $0 == " " }
                    return (tag.hasPrefix("W/") ? tag.dropFirst(2) : tag).prefix { $0 != " " } == etag
                }
        }
        guard let since = request.value("if-modified-since"), let date = HTTPDate.parse(since) else { return false }
        return modified <= date
    }
}

/// A response head under construction; the body may follow in the same bytes.
struct ResponseHead {
    private(set) var bytes: [UInt8]

    init(status: Int, reason: String? = nil) {
        bytes = []
        bytes.reserveCapacity(512)
        bytes += "HTTP/1.1 ".utf8
        bytes += String(status).utf8
        bytes.append(0x20)
        bytes += (reason ?? Reason.phrase(status)).utf8
        crlf()
    }

    /// Begins with this status line instead.
    init(statusLine: String) {
        bytes = Array(statusLine.utf8)
        crlf()
    }

    mutating func field(_ name: String, _ value: String) {
        bytes += name.utf8
        bytes += [0x3A, 0x20]
        bytes += value.utf8
        crlf()
    }

    mutating func field(_ name: String, _ value: Int) { field(name, String(value)) }

    /// A line as it is.
    mutating func line(_ line: [UInt8]) {
        bytes += line
        crlf()
    }

    mutating func end() { crlf() }

    mutating func append(_ body: [UInt8]) { bytes += body }

    private mutating func crlf() { bytes += [0x0D, 0x0A] }
}

/// Reason phrases, RFC 9110 §15.
enum Reason {
    static func phrase(_ status: Int) -> String { phrases[status] ?? "Status" }

    private static let phrases = [
        100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints", 200: "OK", 201: "Created",
        202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content", 205: "Reset Content",
        206: "Partial Content", 300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other",
        304: "Not Modified", 305: "Use Proxy", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout",
        409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
        414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
        421: "Misdirected Request", 422: "Unprocessable Content", 425: "Too Early", 426: "Upgrade Required",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
        505: "HTTP Version Not Supported",
    ]
}
