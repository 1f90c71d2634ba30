import ArgumentParser
import Trawl
import TrawlHTTP

/// What is sent.
struct RequestArguments: ParsableArguments {
    @Option(
        name: [.customShort("H", allowingJoined: true), .customLong("header")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Send this field line; 'Name;' has no value, 'Name:' drops a generated one, '@FILE' reads lines. Repeatable.",
            valueName: "name:value"))
    var headers: [FieldArgument] = []

    @Option(
        name: [.customShort("A", allowingJoined: true), .customLong("user-agent")], parsing: .unconditional,
        help: ArgumentHelp(
            "Send this User-Agent in place of trawl/VERSION; an empty one sends none.", valueName: "name"))
    var userAgent: String?

    @Option(
        name: [.customShort("e", allowingJoined: true), .customLong("referer")], parsing: .unconditional,
        help: ArgumentHelp("Send this Referer.", valueName: "url"))
    var referer: String?

    @Option(
        name: [.customShort("X", allowingJoined: true), .customLong("request")], parsing: .unconditional,
        help: ArgumentHelp("Use this method.", valueName: "method"))
    var method: String?

    @Option(
        name: [.customShort("d", allowingJoined: true), .customLong("data"), .customLong("data-ascii")],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "POST this form data; '@FILE' reads a file without its line ends, '@-' standard input where that is not the list. "
                + "Repeatable.",
            valueName: "data"),
        transform: { RequestBody.Piece(.form, $0) })
    var data: [RequestBody.Piece] = []

    @Option(
        name: .customLong("data-raw"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("As --data, but '@' means itself.", valueName: "data"),
        transform: { RequestBody.Piece(.raw, $0) })
    var dataRaw: [RequestBody.Piece] = []

    @Option(
        name: .customLong("data-binary"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("As --data, but a file is sent byte for byte.", valueName: "data"),
        transform: { RequestBody.Piece(.binary, $0) })
    var dataBinary: [RequestBody.Piece] = []

    @Option(
        name: .customLong("data-urlencode"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "As --data, percent-encoded: 'TEXT', 'NAME=TEXT', '@FILE' or 'NAME@FILE', the name as it is.",
            valueName: "data"),
        transform: { RequestBody.Piece(.encoded, $0) })
    var dataEncoded: [RequestBody.Piece] = []

    @Option(
        name: .customLong("json"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("POST this as JSON and ask for JSON; '@FILE' reads a file. Repeatable.", valueName: "data"),
        transform: { RequestBody.Piece(.binary, $0) })
    var json: [RequestBody.Piece] = []

    @Flag(name: [.customShort("I"), .customLong("head")], help: "Ask for the head alone; get prints it.")
    var head = false

    @Flag(
        name: [.customShort("G"), .customLong("get")],
        help: "In get alone: put what --data and its like say into the query of the URLs given as arguments.")
    var dataInQuery = false

    @Option(
        name: [.customShort("r", allowingJoined: true), .customLong("range")], parsing: .unconditional,
        help: ArgumentHelp("Ask for these bytes alone: 0-499, 500- or -500, never without a dash.", valueName: "range"))
    var range: String?

    // What they turn off or on in curl is so here anyway.
    @Flag(name: [.customShort("g"), .customLong("globoff")], help: .hidden)
    var doesNotGlob = false
    @Flag(name: .customShort("Z"), help: .hidden)
    var isParallel = false
    @Flag(name: [.customShort("N"), .customLong("no-buffer")], help: .hidden)
    var doesNotGather = false

    @Flag(
        name: .customLong("compressed"),
        help: "Ask for compressed responses and decompress them; a coding that is not known here stays.")
    var compressed = false

    // ArgumentExpansion has put its options in its place; here it is for the help text.
    @Option(
        name: [.customShort("K", allowingJoined: true), .customLong("config")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Read options from this file, as in curl; '-' is standard input. Repeatable.", valueName: "file"),
        completion: .file())
    var config: [String] = []

    func validate() throws {
        try FieldArgument.check(headers, "-H")
        let forms = !pieces.isEmpty
        if forms, !json.isEmpty { throw ValidationError("--json and --data exclude each other") }
        if head, forms && !dataInQuery || !json.isEmpty {
            throw ValidationError("--head and --data exclude each other")
        }
        if dataInQuery, !json.isEmpty { throw ValidationError("-G and --json exclude each other") }
        if let range, !Self.isRange(range) { throw ValidationError("-r wants bytes such as 0-499, not '\(range)'") }
    }

    /// Whether these options make a body.
    var hasBody: Bool { !json.isEmpty || !pieces.isEmpty && !dataInQuery }

    private var pieces: [RequestBody.Piece] { data + dataRaw + dataBinary + dataEncoded }

    /// One or more ranges (RFC 9110 §14.1.2).
    private static func isRange(_ text: String) -> Bool {
        text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { range in
            let ends = range.split(separator: "-", omittingEmptySubsequences: false)
            return ends.count == 2 && !(ends[0].isEmpty && ends[1].isEmpty)
                && ends.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        }
    }

    /// What `-G` adds to the query of URLs; nil without it.
    func query(_ read: (String) throws(CommandError) -> [UInt8]) throws(CommandError) -> String? {
        guard dataInQuery, !pieces.isEmpty else { return nil }
        let bytes = try RequestBody.bytes(of: pieces, separator: "&", read: read)
        return URLText.query(ofBytes: bytes)
    }

    /// Fills in what these options say.
    func apply(to request: inout Request, read: (String) throws(CommandError) -> [UInt8]) throws(CommandError) {
        if head { request.method = .head }
        if let method { request.method = Request.Method(method) }
        request.options.setUserAgent(userAgent)
        if let referer, referer.hasSuffix(";auto") {
            throw CommandError("-e: the URL before each redirect (';auto') is not sent; name one")
        }
        if let referer, !FieldSyntax.isFieldValue(referer) { throw CommandError("-e: the URL holds CR, LF or NUL") }
        try FieldArgument.apply(headers, to: &request, read: read)
        if let range { request.addUnlessByHand("Range", "bytes=\(range)") }
        if let referer, !referer.isEmpty { request.addUnlessByHand("Referer", referer) }
        request.options.acceptsCompressedResponses = compressed
        request.options.contentDecoding = compressed ? .streaming : .off
        try applyBody(to: &request, read: read)
    }

    private func applyBody(
        to request: inout Request, read: (String) throws(CommandError) -> [UInt8]
    ) throws(CommandError) {
        let pieces = json.isEmpty ? dataInQuery ? [] : pieces : json
        if pieces.isEmpty { return }
        request.addUnlessByHand("Content-Type", json.isEmpty ? "application/x-www-form-urlencoded" : "application/json")
        if !json.isEmpty { request.addUnlessByHand("Accept", "application/json") }
        request.body = .bytes(try RequestBody.bytes(of: pieces, separator: json.isEmpty ? "&" : "", read: read))
        if request.method == nil { request.method = .post }
        // The user's word counts, as in curl.
        request.options.allowsBodyOnGET = true
    }
}
