package import TrawlHTTP

/// What a host asks for with `Strict-Transport-Security`: only secure transport from now on.
///
/// - Source: RFC 6797 §6.1.
package struct TransportSecurityPolicy: Sendable, Hashable {
    /// Seconds for which it holds after it was received; 0 ends it.
    package var maxAge: Int64
    /// Whether it holds for the hosts below too.
    package var includesSubdomains: Bool

    /// A policy of its parts.
    package init(maxAge: Int64, includesSubdomains: Bool = false) {
        self.maxAge = maxAge
        self.includesSubdomains = includesSubdomains
    }

    /// The policy of a response, or nil when it states none that can be read.
    ///
    /// Of several field lines the first counts (RFC 6797 §8.1).
    package init?(_ fields: FieldLines) {
        var policy: TransportSecurityPolicy??
        fields.forEach { name, value in
            if policy == nil, FieldSyntax.equalIgnoringCase(name, "Strict-Transport-Security") {
                policy = .some(TransportSecurityPolicy(value))
            }
        }
        guard let found = policy ?? nil else { return nil }
        self = found
    }

    /// The policy of a field value; nil when its syntax is broken or `max-age` is missing: then the field says nothing.
    package init?(_ value: UnsafeRawBufferPointer) {
        var scanner = DirectiveScanner(value)
        var names: [String] = []
        var maxAge: Int64?
        var includesSubdomains = false
        while true {
            scanner.skipBlanks()
            if scanner.isAtEnd { break }
            // Empty directives are part of the syntax: `[ directive ] *( ";" [ directive ] )`.
            if scanner.take(UInt8(ascii: ";")) { continue }
            guard let name = scanner.token()?.lowercased(), let text = scanner.optionalValue() else { return nil }
            // "All directives MUST appear only once", known or not.
            guard !names.contains(name), names.count < Self.mostDirectives else { return nil }
            names.append(name)
            switch name {
            case "max-age":
                guard let seconds = Self.seconds(text) else { return nil }
                maxAge = seconds
            case "includesubdomains":
                guard text.isEmpty else { return nil }
                includesSubdomains = true
            default: break
            }
            scanner.skipBlanks()
            guard scanner.isAtEnd || scanner.take(UInt8(ascii: ";")) else { return nil }
        }
        guard let maxAge else { return nil }
        self.init(maxAge: maxAge, includesSubdomains: includesSubdomains)
    }

    private static let mostDirectives = 64

    /// Digits alone; more than 64 bits hold is as much as they hold.
    private static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return text.utf8.reduce(0) { $0.multipliedClamping(by: 10).addingClamping(Int64($1 - 0x30)) }
    }
}

/// Takes a list of directives apart.
private struct DirectiveScanner {
    private let bytes: UnsafeRawBufferPointer
    private var place = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }

    mutating func skipBlanks() {
        while place < bytes.count, bytes[place] == 0x20 || bytes[place] == 0x09 { place += 1 }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard place < bytes.count, bytes[place] == byte else { return false }
        place += 1
        return true
    }

    mutating func token() -> String? {
        let start = place
        while place < bytes.count, FieldSyntax.isTokenByte(bytes[place]) { place += 1 }
        return place > start ? String(decoding: bytes[start..<place], as: UTF8.self) : nil
    }

    /// What follows an equals sign, a token or a quoted string; empty when there is no sign, nil when it is broken.
    mutating func optionalValue() -> String? {
        skipBlanks()
        guard take(UInt8(ascii: "=")) else { return "" }
        skipBlanks()
        guard take(UInt8(ascii: "\"")) else { return token() }
        var text: [UInt8] = []
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                guard place < bytes.count else { return nil }
                text.append(bytes[place])
                place += 1
            } else {
                text.append(byte)
            }
        }
        return nil
    }
}
