import TrawlHTTP

/// What the fields of one response say about its body and its connection, noted while they are parsed.
struct HeadFacts: Equatable {
    /// The announced length.
    private(set) var contentLength: UInt64?
    /// Whether there is a `Transfer-Encoding` that is not `identity`.
    private(set) var isChunked = false
    private(set) var hasTransferEncoding = false
    private(set) var hasContentEncoding = false
    private(set) var hasLocation = false
    private(set) var hasSetCookie = false
    private(set) var hasTransportSecurity = false
    /// `Connection: close`. libcurl 7.88 overlooks it in a folded line, and behind a name with white space at its end.
    private(set) var closesConnection = false
    /// `Keep-Alive: timeout=N`, in seconds.
    private(set) var keepAliveTimeout: UInt64?
    /// `Keep-Alive: max=N`.
    private(set) var keepAliveRequests: UInt64?

    /// How the end of a body is found.
    enum Framing: Equatable {
        case none
        case length(UInt64)
        case chunked
        case untilClose
    }

    /// Takes a field line.
    ///
    /// - Returns: Whether the field is one of framing.
    mutating func note(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(HeadError) -> Bool {
        // The length tells almost all names apart from these.
        switch name.count {
        case 14 where Self.equal(name, "content-length"):
            try noteLength(value)
            return true
        case 17 where Self.equal(name, "transfer-encoding"):
            try noteTransferCoding(value)
            return true
        case 16 where Self.equal(name, "content-encoding"):
            if !value.isEmpty { hasContentEncoding = true }
        case 8 where Self.equal(name, "location"):
            if !value.isEmpty { hasLocation = true }
        case 10 where Self.equal(name, "set-cookie"):
            hasSetCookie = true
        case 25 where Self.equal(name, "strict-transport-security"):
            hasTransportSecurity = true
        case 10 where Self.equal(name, "connection"):
            if Self.lists("close", in: value) { closesConnection = true }
        case 10 where Self.equal(name, "keep-alive"):
            if let seconds = Self.parameter("timeout", in: value) { keepAliveTimeout = seconds }
            if let requests = Self.parameter("max", in: value) { keepAliveRequests = requests }
        default:
            break
        }
        return false
    }

    /// How the body ends, and whether the connection is fit for another request afterwards.
    ///
    /// - Source: RFC 9112 §6.3.
    func framing(status: UInt16, version: HTTPVersion, isHead: Bool) -> (framing: Framing, keepsConnection: Bool) {
        // Items 1 and 2: no body, whatever the fields say.
        if isHead || status == 204 || status == 304 { return (.none, true) }
        if isChunked {
            // Item 3: both fields mean an attempt at smuggling or a broken server; the connection is closed after it.
            // §6.1: so is one on which HTTP/1.0 spoke of a transfer coding.
            return (.chunked, contentLength == nil && version != .http1_0)
        }
        if let contentLength { return (.length(contentLength), !hasTransferEncoding) }
        return (.untilClose, version == .http2)
    }

    /// Whether a name is one of those that say where a body ends.
    static func isFraming(_ name: UnsafeRawBufferPointer) -> Bool {
        equal(name, "content-length") || equal(name, "transfer-encoding")
    }

    /// RFC 9110 §8.6: digits only; a repeated equal value counts once, a different one is an error that cannot be
    /// recovered from (RFC 9112 §6.3 item 5).
    private mutating func noteLength(_ value: UnsafeRawBufferPointer) throws(HeadError) {
        var index = 0
        repeat {
            var digits = 0
            var length: UInt64 = 0
            while index < value.count, value[index] == 0x20 || value[index] == 0x09 { index += 1 }
            while index < value.count, value[index] &- 0x30 < 10 {
                let (product, overflow) = length.multipliedReportingOverflow(by: 10)
                let (sum, overflow2) = product.addingReportingOverflow(UInt64(value[index] &- 0x30))
                guard !overflow, !overflow2, sum <= UInt64(Int64.max) else {
                    throw .malformed("a Content-Length beyond all bounds")
                }
                length = sum
                digits += 1
                index += 1
            }
            while index < value.count, value[index] == 0x20 || value[index] == 0x09 { index += 1 }
            guard digits > 0, index == value.count || value[index] == 0x2C else {
                throw .malformed("a Content-Length that is not a number")
            }
            if let contentLength, contentLength != length { throw .malformed("different Content-Lengths") }
            contentLength = length
            // The list goes on after a comma.
            index += 1
        } while index <= value.count
    }

    /// RFC 9112 §6.1: `chunked` is the only coding asked for (there is no TE field), so any other is an error.
    private mutating func noteTransferCoding(_ value: UnsafeRawBufferPointer) throws(HeadError) {
        // Also one that names nothing: libcurl counts no bytes beside any line of that name.
        hasTransferEncoding = true
        for member in value.split(separator: 0x2C) {
            let coding = FieldSyntax.trimmed(UnsafeRawBufferPointer(rebasing: member))
            if coding.isEmpty { continue }
            // An old name for no coding at all (RFC 9112 §7, removed since RFC 7230).
            if Self.equal(coding, "identity") { continue }
            guard Self.equal(coding, "chunked") else { throw .malformed("an unknown transfer coding") }
            guard !isChunked else { throw .malformed("chunked applied twice") }
            isChunked = true
        }
    }

    /// Whether a word is in a list.
    private static func lists(_ wanted: StaticString, in value: UnsafeRawBufferPointer) -> Bool {
        var rest = value[...]
        while let comma = rest.firstIndex(of: 0x2C) {
            if equal(FieldSyntax.trimmed(UnsafeRawBufferPointer(rebasing: rest[..<comma])), wanted) { return true }
            rest = rest[(comma + 1)...]
        }
        return equal(FieldSyntax.trimmed(UnsafeRawBufferPointer(rebasing: rest)), wanted)
    }

    /// A number in a list of `name=value`.
    private static func parameter(_ wanted: StaticString, in value: UnsafeRawBufferPointer) -> UInt64? {
        for member in value.split(separator: 0x2C) {
            guard let sign = member.firstIndex(of: 0x3D) else { continue }
            let name = FieldSyntax.trimmed(UnsafeRawBufferPointer(rebasing: member[..<sign]))
            guard equal(name, wanted) else { continue }
            var number: UInt64 = 0
            let digits = FieldSyntax.trimmed(UnsafeRawBufferPointer(rebasing: member[(sign + 1)...]))
            guard !digits.isEmpty, digits.count < 10 else { return nil }
            for digit in digits {
                guard digit &- 0x30 < 10 else { return nil }
                number = number * 10 + UInt64(digit &- 0x30)
            }
            return number
        }
        return nil
    }

    /// Whether the bytes equal a text in lower case, but for the case of ASCII letters.
    @inline(__always)
    private static func equal(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
        guard bytes.count == text.utf8CodeUnitCount else { return false }
        for index in 0..<bytes.count where FieldSyntax.lowercased(bytes[index]) != text.utf8Start[index] {
            return false
        }
        return true
    }
}
