/// A site of about a thousand linked pages and files under `/site/`, made from code alone.
///
/// The content depends on nothing but the path and, where links are absolute, the request's `Host`.
enum SampleSite {
    static let sectionCount = 20
    static let articleCount = 42
    static let tagCount = 20
    static let imageCount = 60
    static let reportCount = 20
    static let redirectCount = 10
    static let privateCount = 4

    /// One address of the site.
    enum Resource: Sendable {
        case index
        case section(Int)
        case article(section: Int, number: Int)
        case tag(Int, page: Int)
        case image(Int)
        case style(isPrint: Bool)
        case script(Int)
        case report(Int)
        case large
        case redirect(Int)
        case restricted(Int)
        case robots
        case sitemap
        case feed
    }

    /// How a page is sent.
    enum Delivery: Sendable {
        case length
        case chunked
        /// gzip for those who accept it.
        case negotiated
    }

    /// All addresses, with those that only a query tells apart, in the order of `/site/urls.txt`.
    static let entries: [(path: String, resource: Resource)] = {
        var entries: [(path: String, resource: Resource)] = [
            ("/site/", .index), ("/robots.txt", .robots), ("/site/sitemap.xml", .sitemap), ("/site/feed.xml", .feed),
            ("/site/style.css", .style(isPrint: false)), ("/site/print.css", .style(isPrint: true)),
            ("/site/app.js", .script(0)), ("/site/extra.js", .script(1)), ("/site/files/large.bin", .large),
        ]
        for section in 0..<sectionCount {
            entries.append((path(section: section), .section(section)))
            for number in 0..<articleCount {
                entries.append((path(section, number), .article(section: section, number: number)))
            }
        }
        for tag in 0..<tagCount {
            for page in 1...2 { entries.append(("/site/tag?t=\(tag)&page=\(page)", .tag(tag, page: page))) }
        }
        entries += (0..<imageCount).map { ("/site/img/\($0).png", .image($0)) }
        entries += (0..<reportCount).map { ("/site/files/report-\($0).txt", .report($0)) }
        entries += (0..<redirectCount).map { ("/site/old/\($0)", .redirect($0)) }
        entries += (0..<privateCount).map { ("/site/private/\($0).html", .restricted($0)) }
        return entries
    }()

    /// Two addresses that pages link to and that do not exist.
    static let missing = ["/site/missing.html", "/site/s/05/gone.html"]

    private static let byPath = Dictionary(entries.map { ($0.path, $0.resource) }) { first, _ in first }

    static func path(section: Int) -> String { "/site/s/\(two(section))/" }

    static func path(_ section: Int, _ number: Int) -> String { "\(path(section: section))a\(two(number)).html" }

    static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    // MARK: - Answers

    static let endpoints: [String: Endpoint] = [
        "site": Endpoint { (exchange, _) throws(ConnectionEnd) in try answer(exchange) },
        "robots.txt": Endpoint { (exchange, _) throws(ConnectionEnd) in try answer(exchange) },
    ]

    private static func answer(_ exchange: Exchange) throws(ConnectionEnd) -> After {
        let path = exchange.request.path
        let host = exchange.request.host
        switch path {
        case "/site", "/site/index.html":
            return try exchange.reply(status: 301, text: "moved\n", fields: [("Location", "/site/")])
        case "/site/urls.txt":
            let paths = entries.map(\.path) + (exchange.query.flag("all") ? missing : [])
            return try exchange.reply(text: paths.map { "http://\(host)\($0)\n" }.joined())
        case "/site/manifest.ndjson":
            return try exchange.reply(type: "application/x-ndjson", body: manifest(host: host))
        default: break
        }
        var key = path
        if path == "/site/tag" {
            let page = exchange.query.text("page") ?? "1"
            key = "/site/tag?t=\(exchange.query.text("t") ?? "0")&page=\(page)"
        }
        guard let resource = byPath[key] else {
            return try exchange.reply(status: 404, type: "text/html", text: "<!doctype html><p>Not here.</p>\n")
        }
        if let (status, location) = redirect(resource, host: host) {
            return try exchange.reply(status: status, text: "moved\n", fields: [("Location", location)])
        }
        return try send(resource, to: exchange)
    }

    private static func send(_ resource: Resource, to exchange: Exchange) throws(ConnectionEnd) -> After {
        let request = exchange.request
        var (type, body) = content(resource, host: request.host)
        let delivery = delivery(resource)
        var fields: [(String, String)] = []
        var suffix = ""
        if delivery == .negotiated {
            fields.append(("Vary", "Accept-Encoding"))
            if request.value("accept-encoding")?.contains("gzip") ?? false {
                fields.append(("Content-Encoding", "gzip"))
                suffix = "-gz"
            }
        }
        let etag = "\"\(Hex.text(hash(of: resource, body)))\(suffix)\""
        fields += [("ETag", etag), ("Last-Modified", HTTPDate.text(Endpoint.modified))]
        if exchange.isNotModified(etag: etag, modified: Endpoint.modified) {
            return try exchange.reply(status: 304, body: [], fields: fields.filter { $0.0 != "Content-Encoding" })
        }
        if !suffix.isEmpty { body = Deflate.gzip(Deflate.stored(body), crc: CRC32.of(body), size: body.count) }
        guard delivery == .chunked, request.minorVersion == 1, !request.isHead else {
            return try exchange.reply(type: type, body: body, fields: fields)
        }
        var head = exchange.head()
        for (name, value) in fields { head.field(name, value) }
        head.field("Content-Type", type)
        head.field("Transfer-Encoding", "chunked")
        head.end()
        var writer = BodyWriter(head, framing: .chunked, on: exchange.connection)
        for start in stride(from: 0, to: body.count, by: 700) {
            try writer.write(Array(body[start..<min(start + 700, body.count)]))
        }
        try writer.end()
        return exchange.after
    }

    private static func delivery(_ resource: Resource) -> Delivery {
        switch resource {
        case .article(_, let number): number % 5 == 1 ? .chunked : number % 5 == 2 ? .negotiated : .length
        case .index, .style, .sitemap: .negotiated
        case .tag: .chunked
        default: .length
        }
    }

    static func redirect(_ resource: Resource, host: String) -> (Int, String)? {
        guard case .redirect(let number) = resource else { return nil }
        let target = path(number * 2, number * 4)
        return (
            [301, 302, 303, 307, 308][number % 5],
            number % 2 == 0 ? "http://\(host)\(target)" : "..\(target.dropFirst(5))"
        )
    }

    private static func hash(of resource: Resource, _ body: [UInt8]) -> UInt64 {
        guard case .large = resource else { return FNV1a.hash(body) }
        return largeHash
    }

    private static let largeHash = FNV1a.hash(large)

    /// One line for each address: status, type, length and hash of the decoded body, and what robots.txt says.
    private static func manifest(host: String) -> [UInt8] {
        var json = JSONText()
        for (path, resource) in entries {
            json.raw("{\"url\":\"http://\(host)\(path)\",")
            if let (status, location) = redirect(resource, host: host) {
                json.raw("\"status\":\(status),\"location\":\"\(location)\",")
            } else {
                let (type, body) = content(resource, host: host)
                json.raw("\"status\":200,\"type\":\"\(type)\",\"length\":\(body.count),")
                json.raw("\"fnv1a64\":\"\(Hex.text(hash(of: resource, body)))\",")
            }
            json.raw("\"allowed\":\(!path.hasPrefix("/site/private/"))}\n")
        }
        return json.bytes
    }
}
