import TrawlHTTP

/// Writes a list of parameters as bytes.
struct FieldWriter {
    private(set) var bytes: [UInt8]
    private let start: Int

    init(_ prefix: String) {
        bytes = Array(prefix.utf8)
        start = bytes.count
    }

    /// A parameter as it is.
    mutating func append(_ parameter: [UInt8]) {
        if bytes.count > start { bytes.append(contentsOf: ", ".utf8) }
        bytes.append(contentsOf: parameter)
    }

    /// A name and a value that needs no quotes.
    mutating func append(_ name: String, _ value: [UInt8]) {
        append(Array(name.utf8) + [.equals] + value)
    }

    /// A name and a quoted value (RFC 9110 §5.6.4): only the quote and the backslash are escaped.
    mutating func append(quoted name: String, _ value: [UInt8]) {
        append(Array(name.utf8) + [.equals, .quote])
        for byte in value {
            if byte == .quote || byte == .backslash { bytes.append(.backslash) }
            bytes.append(byte)
        }
        bytes.append(.quote)
    }
}

/// The encoding of a parameter's value beyond ASCII.
enum ExtendedValue {
    /// The bytes with all but `attr-char` as percent signs and digits (RFC 8187 §3.2.1).
    static func percentEncoded(_ bytes: [UInt8]) -> [UInt8] {
        PercentEncoding.bytes(of: bytes) { !isPlain($0) }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$&+-.^_`|~".utf8.contains(byte)
        }
    }
}
