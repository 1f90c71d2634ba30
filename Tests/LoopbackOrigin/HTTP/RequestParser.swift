/// Reads a request head, strictly: what a careful client never sends is refused, so that a careless one is noticed.
enum RequestParser {
    /// - Parameter head: Lines that all end in CRLF, the last one empty.
    static func parse(_ head: [UInt8]) throws(ConnectionEnd) -> Request {
        var cursor = 0
        let method = try token(head, &cursor, until: 0x20)
        guard !method.isEmpty else { throw .refused(400, "no method") }
        let targetStart = cursor
        while head[cursor] > 0x20, head[cursor] < 0x7F { cursor += 1 }
        let targetRange = targetStart..<cursor
        guard !targetRange.isEmpty, head[cursor] == 0x20 else { throw .refused(400, "bad request target") }
        cursor += 1
        let minorVersion = try version(head, &cursor)
        let target = String(decoding: head[targetRange], as: UTF8.self)
        let (path, query) = try split(target, method: String(decoding: head[method], as: UTF8.self))

        var request = Request(
            head: [], method: String(decoding: head[method], as: UTF8.self), target: target, path: path, query: query,
            minorVersion: minorVersion, fields: [], host: "", framing: .none, expectsContinue: false,
            persists: minorVersion == 1)
        request.fields.reserveCapacity(8)
        while head[cursor] != 0x0D {
            request.fields.append(try fieldLine(head, &cursor))
        }
        guard cursor + 2 == head.count else { throw .refused(400, "a bare CR") }
        try interpret(head, &request)
        request.head = head
        return request
    }

    // RFC 9112 §2.3; HTTP/1.2 and later minors are answered as 1.1.
    private static func version(_ head: [UInt8], _ cursor: inout Int) throws(ConnectionEnd) -> Int {
        let prefix = Array("HTTP/".utf8)
        guard head.count >= cursor + 10, head[cursor..<cursor + 5].elementsEqual(prefix), head[cursor + 6] == 0x2E,
            0x30...0x39 ~= head[cursor + 5], 0x30...0x39 ~= head[cursor + 7], head[cursor + 8] == 0x0D,
            head[cursor + 9] == 0x0A
        else { throw .refused(400, "bad version") }
        guard head[cursor + 5] == 0x31 else { throw .refused(505, "only HTTP/1 is spoken here") }
        let minor = head[cursor + 7] == 0x30 ? 0 : 1
        cursor += 10
        return minor
    }

    // RFC 9112 §3.2: origin-form, absolute-form (as to a proxy), asterisk-form; authority-form has no path.
    private static func split(_ target: String, method: String) throws(ConnectionEnd) -> (String, Query) {
        var rest = target[...]
        if !rest.hasPrefix("/") {
            if target == "*" || method == "CONNECT" { return (target, Query()) }
            guard let colon = target.utf8.firstIndex(of: 0x3A), target[colon...].hasPrefix("://") else {
                throw .refused(400, "bad request target")
            }
            let authority = target[colon...].dropFirst(3)
            let end = authority.utf8.firstIndex { $0 == 0x2F || $0 == 0x3F } ?? authority.endIndex
            rest = authority[end...]
            if !rest.hasPrefix("/") { rest = "/" + rest }
        }
        guard !rest.utf8.contains(0x23) else { throw .refused(400, "a fragment was sent") }
        guard let mark = rest.utf8.firstIndex(of: 0x3F) else { return (String(rest), Query()) }
        return (String(rest[..<mark]), Query(rest[rest.utf8.index(after: mark)...]))
    }

    // RFC 9112 §5: no space before the colon, no line folding, no control character.
    private static func fieldLine(_ head: [UInt8], _ cursor: inout Int) throws(ConnectionEnd) -> Request.FieldLine {
        let name = try token(head, &cursor, until: 0x3A)
        guard !name.isEmpty else { throw .refused(400, "a field line without a name") }
        while head[cursor] == 0x20 || head[cursor] == 0x09 { cursor += 1 }
        let start = cursor
        while head[cursor] != 0x0D {
            guard head[cursor] >= 0x20 && head[cursor] != 0x7F || head[cursor] == 0x09 else {
                throw .refused(400, "a control character in a field value")
            }
            cursor += 1
        }
        guard head[cursor + 1] == 0x0A else { throw .refused(400, "a bare CR in a field value") }
        var end = cursor
        while end > start, head[end - 1] == 0x20 || head[end - 1] == 0x09 { end -= 1 }
        cursor += 2
        return Request.FieldLine(name: name, value: start..<end)
    }

    private static func interpret(_ head: [UInt8], _ request: inout Request) throws(ConnectionEnd) {
        var hosts = 0
        var length: Int?
        var isChunked = false
        for field in request.fields {
            switch field.name.count {
            case 4 where Request.equals(head, field.name, "host"):
                hosts += 1
                request.host = String(decoding: head[field.value], as: UTF8.self)
            case 6 where Request.equals(head, field.name, "expect"):
                guard Request.equals(head, field.value, "100-continue") else {
                    throw .refused(417, "an unknown expectation")
                }
                request.expectsContinue = request.minorVersion == 1
            case 10 where Request.equals(head, field.name, "connection"):
                for option in head[field.value].split(separator: 0x2C) {
                    let text = trimmed(option)
                    if Request.equals(head, text, "close") { request.persists = false }
                    if request.minorVersion == 0, Request.equals(head, text, "keep-alive") { request.persists = true }
                }
            case 14 where Request.equals(head, field.name, "content-length"):
                guard length == nil, let number = decimal(head[field.value]) else {
                    throw .refused(400, "bad Content-Length")
                }
                length = number
            case 17 where Request.equals(head, field.name, "transfer-encoding"):
                guard !isChunked, request.minorVersion == 1 else { throw .refused(400, "bad Transfer-Encoding") }
                guard Request.equals(head, field.value, "chunked") else { throw .refused(501, "only chunked is known") }
                isChunked = true
            default: break
            }
        }
        // RFC 9112 §3.2: exactly one Host in HTTP/1.1.
        guard hosts == 1 || (hosts == 0 && request.minorVersion == 0) else { throw .refused(400, "not one Host field") }
        // RFC 9112 §6.3: both framings at once are how requests are smuggled.
        guard !isChunked || length == nil else { throw .refused(400, "both framings at once") }
        if isChunked { request.framing = .chunked }
        if let length { request.framing = .length(length) }
    }

    /// Digits alone, RFC 9110 §8.6.
    static func decimal(_ digits: ArraySlice<UInt8>) -> Int? {
        guard !digits.isEmpty, digits.count <= 18, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> Range<Int> {
        var range = text.startIndex..<text.endIndex
        while !range.isEmpty, text[range.lowerBound] == 0x20 { range = range.lowerBound + 1..<range.upperBound }
        while !range.isEmpty, text[range.upperBound - 1] == 0x20 { range = range.lowerBound..<range.upperBound - 1 }
        return range
    }

    /// A token, RFC 9110 §5.6.2, and the byte after it.
    private static func token(_ head: [UInt8], _ cursor: inout Int, until end: UInt8) throws(ConnectionEnd) -> Range<
        Int
    > {
        let start = cursor
        while isToken(head[cursor]) { cursor += 1 }
        guard head[cursor] == end else { throw .refused(400, "not a token") }
        cursor += 1
        return start..<cursor - 1
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
