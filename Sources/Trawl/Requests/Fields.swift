public import HTTPTypes
package import TrawlHTTP

/// The field lines of a request or response: ordered, names without regard to case, lines of one name kept apart.
///
/// A line with CR, LF or NUL in its value, or with a name that is not a token, is never sent: it is remembered, and
/// the fetch fails with ``FetchError/Code/badRequest`` that names it.
///
/// - Source: RFC 9110 §5.
public struct Fields: Sendable, Hashable {
    /// The lines in packed form.
    package var lines: FieldLines
    /// The first name whose line was refused, as it may be shown; such fields cannot be sent.
    package private(set) var refused: String?

    /// The lines of a packed list.
    package init(_ lines: FieldLines) {
        self.lines = lines
    }

    /// No lines.
    public init() {
        lines = FieldLines()
    }

    /// The lines of a list from swift-http-types, in its order.
    public init(_ fields: HTTPFields) {
        lines = FieldLines()
        for field in fields { add(field.name.rawName, field.value) }
    }

    /// How many lines there are.
    public var count: Int { lines.count }

    /// Whether there is no line.
    public var isEmpty: Bool { lines.isEmpty }

    /// The value of the first line of that name.
    ///
    /// Setting a value replaces all lines of the name by one in the place of the first; setting nil removes them.
    public subscript(name: String) -> String? {
        get { lines.first(name) }
        set {
            if let newValue { set(name, newValue) } else { lines.removeAll(name) }
        }
    }

    /// The values of all lines of that name, in order. `Set-Cookie` lines are never joined.
    public func values(_ name: String) -> [String] {
        lines.values(name)
    }

    /// Adds a line at the end, beside others of the same name.
    public mutating func add(_ name: String, _ value: String) {
        do throws(FieldLines.Refusal) {
            try lines.append(name, value)
        } catch {
            refuse(name)
        }
    }

    /// Calls `body` with the bytes of the first line of that name, or nil. They live for the call only.
    package func withFirst<Value>(_ name: String, _ body: (UnsafeRawBufferPointer?) -> Value) -> Value {
        lines.withFirst(name, body)
    }

    /// About how much memory the lines take.
    package var byteCount: Int { lines.packed.count }

    /// Adds lines at the end.
    package mutating func add(_ lines: FieldLines) {
        self.lines.append(contentsOf: lines)
    }

    /// Replaces all lines of that name by one.
    public mutating func set(_ name: String, _ value: String) {
        do throws(FieldLines.Refusal) {
            try lines.set(name, value)
        } catch {
            refuse(name)
        }
    }

    /// All lines as name and value. Values that are not UTF-8 have one character for each byte.
    public var all: [(name: String, value: String)] {
        var result: [(name: String, value: String)] = []
        result.reserveCapacity(count)
        lines.forEach { name, value in result.append((FieldLines.text(name), FieldLines.text(value))) }
        return result
    }

    /// All lines with one character for each byte of a value (U+0000 to U+00FF).
    public var allLatin1: [(name: String, value: String)] {
        var result: [(name: String, value: String)] = []
        result.reserveCapacity(count)
        lines.forEach { name, value in result.append((FieldLines.latin1(name), FieldLines.latin1(value))) }
        return result
    }

    /// The lines as a list of swift-http-types. Lines it cannot express are left out.
    public var httpFields: HTTPFields {
        var fields = HTTPFields()
        lines.forEach { name, value in
            guard let name = HTTPField.Name(FieldLines.latin1(name)) else { return }
            fields.append(HTTPField(name: name, lenientValue: Array(value)))
        }
        return fields
    }

    private mutating func refuse(_ name: String) {
        if refused == nil { refused = FieldSyntax.shown(refused: name.utf8) }
    }
}

extension Fields: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names; never a value, which may be a password or a cookie. ``all`` has them.
    public var description: String { "[\(all.map { $0.name.terminalSafe }.joined(separator: ", "))]" }
    /// The names; never a value.
    public var debugDescription: String { description }
    /// A mirror that shows nothing else.
    public var customMirror: Mirror { Mirror(self, children: ["names": description]) }
}

extension Fields: ExpressibleByDictionaryLiteral {
    /// Lines in the order of the literal; a name may occur more than once.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init()
        for (name, value) in elements { add(name, value) }
    }
}

extension Fields: Codable {
    /// Reads an array of two-element arrays.
    public init(from decoder: any Decoder) throws {
        self.init()
        for pair in try [[String]](from: decoder) {
            guard pair.count == 2 else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "a field line is a name and a value"))
            }
            add(pair[0], pair[1])
        }
    }

    /// Writes an array of two-element arrays.
    ///
    /// - Throws: `EncodingError.invalidValue` when a line was refused, too: read again, they would be sent without it.
    public func encode(to encoder: any Encoder) throws {
        if let refused {
            throw EncodingError.invalidValue(
                refused, .init(codingPath: encoder.codingPath, debugDescription: "a field line that cannot be sent"))
        }
        try all.map { [$0.name, $0.value] }.encode(to: encoder)
    }
}
