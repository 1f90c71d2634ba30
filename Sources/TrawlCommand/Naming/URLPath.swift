import TrawlHTTP

/// The file a URL's body goes to beneath an output directory: `host/path`, spelled as in the URL.
///
/// - `https://example.org/a/b.html` is `example.org/a/b.html`; a path that ends with a slash gets `index.html`; a query
///   follows its name, `index.html?x=1`. Another port than the scheme's is part of the folder: `example.org_8080`.
/// - Escapes of the URL stay as they are. What a file name cannot hold, or holds badly (a slash in a query, a colon,
///   quotes, a dot in front or at the end), becomes an escape with lower-case digits, and where the URL has those
///   very characters already, its percent sign becomes `%25`. So two URLs share a path only when they differ in the
///   scheme alone, or when one is the `index.html` of the other.
/// - A part longer than 200 bytes is cut and ends with a digest of the whole, and so does a path longer than 4000.
///
/// What comes out is relative, never leads out and has no hidden part. It is meant for normalised URLs; of any other
/// text it makes a safe path all the same.
enum URLPath {
    /// Parts that are longer are cut; it leaves room for a number behind them.
    static let longestPart = 200
    /// Paths that are longer are cut.
    static let longest = 4000
    static let index: StaticString = "index.html"

    /// The path of a URL.
    static func path(of target: TargetURI) -> String {
        if let plain = plainPath(target) { return plain }
        var part: [UInt8] = []
        var result: [UInt8] = []
        appendHost(target.origin, to: &part)
        finish(&part, to: &result)
        appendPath(target, to: &result)
        return String(decoding: limited(result), as: UTF8.self)
    }

    /// The folder of an origin, one part: `{host}` in a template.
    static func host(of origin: Origin) -> String {
        var part: [UInt8] = []
        var result: [UInt8] = []
        appendHost(origin, to: &part)
        finish(&part, to: &result)
        return String(decoding: result, as: UTF8.self)
    }

    /// Path and query, without the host: `{path}` in a template.
    static func rest(of target: TargetURI) -> String {
        var result: [UInt8] = []
        appendPath(target, to: &result)
        return String(decoding: limited(result), as: UTF8.self)
    }

    /// The last part of the path, without the query: `{name}` in a template.
    static func name(of target: TargetURI) -> String {
        var result: [UInt8] = []
        let last = target.path.utf8.split(separator: 0x2F, omittingEmptySubsequences: false).last
        appendPath(last.map(Array.init) ?? [], query: nil, to: &result)
        return String(decoding: result, as: UTF8.self)
    }

    /// Any text as a part of a name, or a piece of one: `{id}` in a template. Different texts stay different.
    static func piece(_ text: String) -> String {
        var part: [UInt8] = []
        for byte in text.utf8 {
            if byte == UInt8(ascii: "%") || classes[Int(byte)] != kept {
                appendEscape(byte, to: &part)
            } else {
                part.append(byte)
            }
        }
        guard !part.isEmpty else { return "" }
        var result: [UInt8] = []
        finish(&part, to: &result)
        return String(decoding: result, as: UTF8.self)
    }

    /// A path of parts put together elsewhere, each and all of them cut to what a file system takes.
    static func limited(_ path: String) -> String {
        var result: [UInt8] = []
        for part in path.utf8.split(separator: 0x2F, omittingEmptySubsequences: false) {
            if !result.isEmpty { result.append(0x2F) }
            appendCut(Array(part), to: &result)
        }
        return String(decoding: limited(result), as: UTF8.self)
    }

    // MARK: Parts

    private static func appendHost(_ origin: Origin, to part: inout [UInt8]) {
        let host = Array(origin.host.utf8)
        let isLiteral = host.first == UInt8(ascii: "[") && host.last == UInt8(ascii: "]")
        // `host_80` is port 80 of `host`, so a name that ends like this is spelled otherwise.
        var portMark = host.count
        while portMark > 0, host[portMark - 1] &- 0x30 < 10 { portMark -= 1 }
        for (position, byte) in host.enumerated() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), dot: part.append(byte)
            case UInt8(ascii: "["), UInt8(ascii: "]"):
                if isLiteral, position == 0 || position == host.count - 1 {
                    part.append(byte)
                } else {
                    appendEscape(byte, to: &part)
                }
            // `[2001:db8::1]` is `[2001-db8--1]`: a colon means another machine, or another disk, to many programs.
            case UInt8(ascii: ":") where isLiteral: part.append(UInt8(ascii: "-"))
            case UInt8(ascii: "-") where !isLiteral: part.append(byte)
            case UInt8(ascii: "_") where position + 1 != portMark || portMark == host.count: part.append(byte)
            default: appendEscape(byte, to: &part)
            }
        }
        if let port = origin.explicitPort { part.append(contentsOf: "_\(port)".utf8) }
    }

    private static func appendPath(_ target: TargetURI, to result: inout [UInt8]) {
        var path = Array(target.path.utf8)
        if path.first == 0x2F { path.removeFirst() }
        appendPath(path, query: target.query, to: &result)
    }

    private static func appendPath(_ path: [UInt8], query: String?, to result: inout [UInt8]) {
        let parts = path.split(separator: 0x2F, omittingEmptySubsequences: false)
        var part: [UInt8] = []
        for (position, bytes) in parts.enumerated() {
            let isLast = position == parts.count - 1
            if !bytes.isEmpty {
                appendEscaped(bytes, to: &part)
            } else if isLast {
                part.append(contentsOf: UnsafeBufferPointer(start: index.utf8Start, count: index.utf8CodeUnitCount))
            } else {
                // Nothing between two slashes: `//`.
                appendEscape(0x2F, to: &part)
            }
            if isLast, let query {
                part.append(UInt8(ascii: "?"))
                appendEscaped(Array(query.utf8)[...], to: &part)
            }
            finish(&part, to: &result)
        }
    }

    private static func appendEscaped(_ bytes: ArraySlice<UInt8>, to part: inout [UInt8]) {
        for position in bytes.indices {
            let byte = bytes[position]
            if byte == UInt8(ascii: "%") {
                // Would this read as an escape of ours?
                let isOurs =
                    bytes.endIndex - position > 2
                    && ours(bytes[position + 1], bytes[position + 2])
                if isOurs { appendEscape(byte, to: &part) } else { part.append(byte) }
            } else if classes[Int(byte)] == kept {
                part.append(byte)
            } else {
                appendEscape(byte, to: &part)
            }
        }
    }

    /// Whether `%` and these two are an escape that `appendEscape` makes of a byte of a normalised URL.
    private static func ours(_ high: UInt8, _ low: UInt8) -> Bool {
        guard let high = lowerHex(high), let low = lowerHex(low) else { return false }
        let byte = high << 4 | low
        return byte == dot || byte == UInt8(ascii: "%") || classes[Int(byte)] == escaped
    }

    private static func lowerHex(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func appendEscape(_ byte: UInt8, to part: inout [UInt8]) {
        let digits: StaticString = "0123456789abcdef"
        part.append(UInt8(ascii: "%"))
        part.append(digits.utf8Start[Int(byte >> 4)])
        part.append(digits.utf8Start[Int(byte & 15)])
    }

    /// Adds a part to a path and empties it.
    private static func finish(_ part: inout [UInt8], to result: inout [UInt8]) {
        if !result.isEmpty { result.append(0x2F) }
        if part.isEmpty { part.append(UInt8(ascii: "_")) }
        // Hidden files, and what some systems drop.
        if part.last == dot {
            part.removeLast()
            appendEscape(dot, to: &part)
        }
        if part.first == dot {
            var rest: [UInt8] = []
            swap(&rest, &part)
            appendEscape(dot, to: &part)
            part.append(contentsOf: rest[1...])
        }
        appendCut(part, to: &result)
        part.removeAll(keepingCapacity: true)
    }

    private static func appendCut(_ part: [UInt8], to result: inout [UInt8]) {
        guard part.count > longestPart else {
            result.append(contentsOf: part)
            return
        }
        let digest = Array("~\(RequestKey(bytes: part).hexadecimal)".utf8)
        var length = longestPart - digest.count
        // Neither within an escape nor within a character.
        if part[length - 1] == UInt8(ascii: "%") { length -= 1 }
        if part[length - 2] == UInt8(ascii: "%") { length -= 2 }
        while length > 0, part[length] & 0xC0 == 0x80 { length -= 1 }
        result.append(contentsOf: part[..<length])
        result.append(contentsOf: digest)
    }

    /// The path, or its first parts and a digest of the whole.
    private static func limited(_ path: [UInt8]) -> [UInt8] {
        guard path.count > longest else { return path }
        let digest = Array("~\(RequestKey(bytes: path).hexadecimal)".utf8)
        let end = path[..<(longest - digest.count)].lastIndex(of: 0x2F).map { $0 + 1 } ?? 0
        return path[..<end] + digest
    }

    // MARK: Classes of bytes

    static let dot = UInt8(ascii: ".")
    private static let other: UInt8 = 0
    static let kept: UInt8 = 1
    private static let escaped: UInt8 = 2

    /// Bytes that stay; that a normalised URL may hold and a file name had better not; all others.
    static let classes: [UInt8] = {
        var classes = [UInt8](repeating: other, count: 256)
        for byte in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~!$&'()+,;=@%-?".utf8 {
            classes[Int(byte)] = kept
        }
        for byte in "\"*/:<>[\\]^`{|}".utf8 { classes[Int(byte)] = escaped }
        return classes
    }()
}
