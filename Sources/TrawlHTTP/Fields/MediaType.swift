/// A media type with its parameters, from `Content-Type`.
///
/// - Source: RFC 9110 §8.3.1, §5.6.6; parameters may stand in any order, quoted or not.
package struct MediaType: Sendable, Hashable {
    /// `type/subtype` in lower case.
    package var essence: String
    /// Parameter names in lower case, values unquoted, in order; a name's first value counts.
    package var parameters: [(name: String, value: String)]

    /// The type in a field value, or nil when there is none.
    ///
    /// Parameters that are not `name=value` are left out; spaces around the equals sign and a missing closing quote
    /// are forgiven, since servers send both.
    package init?(_ value: String) {
        var reader = Reader(bytes: Array(value.utf8))
        let essence = reader.take(upTo: [.semicolon])
        let halves = essence.split(separator: .slash, omittingEmptySubsequences: false)
        guard halves.count == 2, halves.allSatisfy({ !$0.isEmpty && $0.allSatisfy(FieldSyntax.isTokenByte) })
        else { return nil }
        self.essence = Self.lowercased(essence)
        parameters = []
        while reader.skip(.semicolon) {
            let name = reader.take(upTo: [.equals, .semicolon])
            guard reader.skip(.equals) else { continue }
            let value = reader.parameterValue()
            if !name.isEmpty, name.allSatisfy(FieldSyntax.isTokenByte) {
                parameters.append((Self.lowercased(name), String(decoding: value, as: UTF8.self)))
            }
        }
    }

    /// The value of the first parameter of that name, given in lower case.
    package func parameter(_ name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }

    package static func == (left: MediaType, right: MediaType) -> Bool {
        left.essence == right.essence && left.parameters.elementsEqual(right.parameters, by: ==)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(essence)
        for (name, value) in parameters {
            hasher.combine(name)
            hasher.combine(value)
        }
    }

    private static func lowercased(_ token: ArraySlice<UInt8>) -> String {
        String(decoding: token.map(FieldSyntax.lowercased), as: UTF8.self)
    }

    /// Goes through the bytes of a field value once.
    private struct Reader {
        let bytes: [UInt8]
        var index = 0

        /// Passes over `byte`; false when something else or nothing is next.
        mutating func skip(_ byte: UInt8) -> Bool {
            guard index < bytes.count, bytes[index] == byte else { return false }
            index += 1
            return true
        }

        /// What stands before the next of `ends`, without spaces around it.
        mutating func take(upTo ends: [UInt8]) -> ArraySlice<UInt8> {
            let start = index
            while index < bytes.count, !ends.contains(bytes[index]) { index += 1 }
            var taken = bytes[start..<index]
            while let first = taken.first, first == .space || first == .tab { taken.removeFirst() }
            while let last = taken.last, last == .space || last == .tab { taken.removeLast() }
            return taken
        }

        /// A token or a quoted string, and whatever follows it up to the next parameter.
        mutating func parameterValue() -> ArraySlice<UInt8> {
            while skip(.space) || skip(.tab) {}
            guard skip(.quote) else { return take(upTo: [.semicolon]) }
            var value: [UInt8] = []
            while index < bytes.count, bytes[index] != .quote {
                // RFC 9110 §5.6.4: a backslash stands for the byte after it.
                if bytes[index] == .backslash, index + 1 < bytes.count { index += 1 }
                value.append(bytes[index])
                index += 1
            }
            _ = take(upTo: [.semicolon])
            return value[...]
        }
    }
}

extension UInt8 {
    fileprivate static let tab = UInt8(ascii: "\t")
    fileprivate static let space = UInt8(ascii: " ")
    fileprivate static let quote = UInt8(ascii: "\"")
    fileprivate static let slash = UInt8(ascii: "/")
    fileprivate static let semicolon = UInt8(ascii: ";")
    fileprivate static let equals = UInt8(ascii: "=")
    fileprivate static let backslash = UInt8(ascii: "\\")
}
