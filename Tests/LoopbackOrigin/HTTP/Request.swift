/// A request head that passed the parser.
struct Request: Sendable {
    /// One field line, as ranges into `head`.
    struct FieldLine: Sendable {
        var name: Range<Int>
        var value: Range<Int>
    }

    /// How the body is framed, RFC 9112 §6.3.
    enum Framing: Equatable, Sendable {
        case none
        case length(Int)
        case chunked
    }

    /// The bytes from the method to the empty line.
    var head: [UInt8]
    var method: String
    /// The request target as it came.
    var target: String
    /// The target's path, still percent-encoded; of an absolute-form target too.
    var path: String
    var query: Query
    var minorVersion: Int
    var fields: [FieldLine]
    var host: String
    var framing: Framing
    var expectsContinue: Bool
    /// Whether the client keeps the connection, RFC 9112 §9.3.
    var persists: Bool

    var isHead: Bool { method == "HEAD" }

    /// The first value of a field; the name in lower case.
    func value(_ name: StaticString) -> String? {
        for field in fields where Request.equals(head, field.name, name) {
            return String(decoding: head[field.value], as: UTF8.self)
        }
        return nil
    }

    /// Whether the bytes are the lower-case literal, whatever their case.
    static func equals(_ bytes: [UInt8], _ range: Range<Int>, _ literal: StaticString) -> Bool {
        guard range.count == literal.utf8CodeUnitCount else { return false }
        return literal.withUTF8Buffer { expected in
            var index = range.lowerBound
            for byte in expected {
                let own = bytes[index]
                guard own == byte || (own | 0x20 == byte && 0x61...0x7A ~= byte) else { return false }
                index += 1
            }
            return true
        }
    }
}

/// The parameters of a target's query, percent-decoded, in order. "+" stays "+".
struct Query: Sendable {
    private(set) var pairs: [(name: String, value: [UInt8])] = []

    init() {}

    init(_ text: Substring) {
        for part in text.split(separator: "&") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = sides.count > 1 ? Query.decode(sides[1].utf8) : []
            pairs.append((String(decoding: Query.decode(sides[0].utf8), as: UTF8.self), value))
        }
    }

    func bytes(_ name: String) -> [UInt8]? { pairs.first { $0.name == name }?.value }

    func text(_ name: String) -> String? { bytes(name).map { String(decoding: $0, as: UTF8.self) } }

    func has(_ name: String) -> Bool { pairs.contains { $0.name == name } }

    /// Present, and not "0".
    func flag(_ name: String) -> Bool { bytes(name).map { $0 != [0x30] } ?? false }

    /// A number; anything that is none, or out of range, is refused with 400.
    func int(_ name: String, _ standard: Int, in range: ClosedRange<Int> = 0...(1 << 40)) throws(ConnectionEnd) -> Int {
        guard let text = text(name) else { return standard }
        guard let number = Int(text), range.contains(number) else {
            throw .refused(400, "\(name) must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Any 64-bit seed; 1 when absent.
    func seed() throws(ConnectionEnd) -> ByteStream {
        guard let text = text("seed") else { return ByteStream(seed: 1) }
        guard let seed = UInt64(text) else { throw .refused(400, "seed must be an unsigned 64-bit number") }
        return ByteStream(seed: seed)
    }

    /// Percent-decoding, RFC 3986 §2.1; a "%" without two digits stays.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == 0x25, let high = rest.first.flatMap(Hex.value),
                let low = rest.dropFirst().first.flatMap(Hex.value)
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
