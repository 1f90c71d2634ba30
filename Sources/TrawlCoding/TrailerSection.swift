package import TrawlHTTP

/// Reads a trailer section byte by byte; they are few. That of HTTP/2 comes in the same form from libcurl.
///
/// - Source: RFC 9112 §7.1.2, §5 (field lines); RFC 9110 §6.5 (trailer fields).
package struct TrailerSection: Sendable {
    private enum State {
        case lineStart, line, lineEnd, sectionEnd
    }

    private let maxBytes: Int
    private let maxFields: Int
    private var state: State = .lineStart
    /// The line being read; one that ended is kept until it is known that the next line does not continue it.
    private var line: [UInt8] = []
    private var bytes = 0
    private var lines = 0

    /// The fields so far, without those that must not come as trailers.
    package private(set) var fields = FieldLines()

    /// An empty section.
    package init(maxBytes: Int, maxFields: Int) {
        self.maxBytes = maxBytes
        self.maxFields = maxFields
    }

    /// Takes one byte.
    ///
    /// - Returns: Whether it was the last one of the section.
    package mutating func take(_ byte: UInt8) throws(ChunkError) -> Bool {
        switch state {
        case .lineStart:
            switch byte {
            case 0x0D:
                try endField()
                state = .sectionEnd
            case 0x0A:
                throw .bareLF
            case 0x20, 0x09:
                // RFC 9112 §5.2: obsolete folding; in a response it stands for a space.
                guard !line.isEmpty else { throw .invalidTrailer }
                try append(0x20)
                state = .line
            default:
                try endField()
                lines += 1
                guard lines <= maxFields else { throw .trailerTooLarge }
                try append(byte)
                state = .line
            }
        case .line:
            switch byte {
            case 0x0D: state = .lineEnd
            case 0x0A: throw .bareLF
            default: try append(byte)
            }
        case .lineEnd:
            guard byte == 0x0A else { throw .bareCR }
            state = .lineStart
        case .sectionEnd:
            guard byte == 0x0A else { throw .bareCR }
            return true
        }
        return false
    }

    private mutating func append(_ byte: UInt8) throws(ChunkError) {
        bytes += 1
        guard bytes <= maxBytes else { throw .trailerTooLarge }
        line.append(byte)
    }

    private mutating func endField() throws(ChunkError) {
        guard !line.isEmpty else { return }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .invalidTrailer }
        // White space before the colon is no part of the name, as in heads (RFC 9112 §5.1). Framing is not told here.
        var end = colon
        while end > 0, line[end - 1] == 0x20 || line[end - 1] == 0x09 { end -= 1 }
        let isForbidden = Self.isForbidden(line[..<end])
        var candidate = FieldLines()
        let isValid = line.withUnsafeBytes { bytes in
            let value = FieldSyntax.trimmed(UnsafeRawBufferPointer(rebasing: bytes[(colon + 1)...]))
            let name = UnsafeRawBufferPointer(rebasing: bytes[..<end])
            return (try? candidate.append(name: name, value: value)) != nil
        }
        guard isValid else { throw .invalidTrailer }
        if !isForbidden { fields.append(contentsOf: candidate) }
        line.removeAll(keepingCapacity: true)
    }

    /// Whether a field of that name has no business after the content.
    private static func isForbidden(_ name: ArraySlice<UInt8>) -> Bool {
        let name = String(decoding: name.map(FieldSyntax.lowercased), as: UTF8.self)
        return forbidden.contains(name) || name.hasPrefix("if-")
    }

    /// RFC 9110 §6.5.1: framing, routing, request modifiers, authentication, response control, and how the content is
    /// to be processed. `if-…` is handled above.
    private static let forbidden: Set<String> = [
        // Framing and connection.
        "transfer-encoding", "content-length", "trailer", "te", "connection", "keep-alive", "proxy-connection",
        "upgrade",
        // Routing and request modifiers.
        "host", "forwarded", "via", "cache-control", "expect", "max-forwards", "pragma", "range",
        // Authentication and state (RFC 6265 knows Set-Cookie as a header field only).
        "authorization", "authentication-control", "proxy-authorization", "proxy-authenticate", "www-authenticate",
        "cookie", "cookie2", "set-cookie", "set-cookie2",
        // Response control.
        "age", "alt-svc", "clear-site-data", "date", "expires", "location", "refresh", "retry-after",
        "strict-transport-security", "vary", "warning",
        // Processing of the content.
        "content-disposition", "content-encoding", "content-location", "content-range", "content-type",
    ]
}
