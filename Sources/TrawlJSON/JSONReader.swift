// TrawlJSON reads and writes JSON where there is one text per line and very many lines: request lists, results, `pipe`.
// It is strict (RFC 8259), builds no trees and allocates only what it hands over. It must never guess.

/// Reads one JSON text from front to back, value by value.
///
/// The caller says what it expects; a method that throws leaves the reader unfit for anything but throwing it away.
/// Duplicate member names are handed over as they stand: the caller refuses them. The bytes must outlive the reader,
/// which copies none of them until asked.
///
/// - Source: RFC 8259.
package struct JSONReader {
    /// Objects and arrays inside one another that are still read.
    package static let depthLimit = 64

    let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0
    private var depth = 0
    /// A bit for each open object or array, the innermost lowest: whether nothing has been read in it.
    private var isFresh: UInt64 = 0
    /// A bit for each open object or array, the innermost lowest: whether it is an object.
    private var isObject: UInt64 = 0

    /// A reader at the start of a text.
    /// - Throws: `notUTF8`, with the place of the first wrong byte (RFC 8259 §8.1).
    package init(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
        self.bytes = bytes
        if let wrong = UTF8Bytes.firstFault(in: bytes) { throw JSONError(.notUTF8, at: wrong) }
    }

    // MARK: Values

    /// The kind of the next value, judged by its first byte.
    package mutating func peek() throws(JSONError) -> JSONKind {
        skipSpace()
        guard offset < bytes.count else { throw JSONError(.truncated, at: offset) }
        switch bytes[offset] {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        default: throw JSONError(.unexpectedByte, at: offset)
        }
    }

    /// Enters an object; its members follow by `nextMember`.
    package mutating func beginObject() throws(JSONError) {
        try expect(.object)
        try open(object: true)
    }

    /// The name of the object's next member, whose value comes next; nil when the object has ended.
    package mutating func nextMember() throws(JSONError) -> JSONString? {
        precondition(depth > 0 && isObject & 1 == 1, "members are read inside an object")
        guard try advance(closing: UInt8(ascii: "}")) else { return nil }
        skipSpace()
        guard offset < bytes.count else { throw JSONError(.truncated, at: offset) }
        guard bytes[offset] == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: offset) }
        let name = try scanString()
        skipSpace()
        guard offset < bytes.count else { throw JSONError(.truncated, at: offset) }
        guard bytes[offset] == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: offset) }
        offset += 1
        return name
    }

    /// Enters an array; its elements follow as long as `nextElement` says so.
    package mutating func beginArray() throws(JSONError) {
        try expect(.array)
        try open(object: false)
    }

    /// Whether another element of the array comes next; when not, the array has ended.
    package mutating func nextElement() throws(JSONError) -> Bool {
        precondition(depth > 0 && isObject & 1 == 0, "elements are read inside an array")
        return try advance(closing: UInt8(ascii: "]"))
    }

    /// Reads a string; what it stands for comes from the methods of `JSONReader` that take it.
    package mutating func readString() throws(JSONError) -> JSONString {
        try expect(.string)
        return try scanString()
    }

    /// Reads a number, as the text it is written in.
    package mutating func readNumber() throws(JSONError) -> JSONNumber {
        try expect(.number)
        return try scanNumber()
    }

    /// Reads `true` or `false`.
    package mutating func readBool() throws(JSONError) -> Bool {
        try expect(.bool)
        let isTrue = bytes[offset] == UInt8(ascii: "t")
        try scanLiteral(isTrue ? "true" : "false")
        return isTrue
    }

    /// Reads `null`.
    package mutating func readNull() throws(JSONError) {
        try expect(.null)
        try scanLiteral("null")
    }

    /// Passes over any value, which is checked nevertheless.
    /// - Returns: Its text, as written.
    package mutating func skipValue() throws(JSONError) -> UnsafeRawBufferPointer {
        skipSpace()
        let start = offset
        let outer = depth
        repeat {
            if depth > outer {
                let goesOn = isObject & 1 == 1 ? try nextMember() != nil : try nextElement()
                guard goesOn else { continue }
            }
            switch try peek() {
            case .object: try beginObject()
            case .array: try beginArray()
            case .string: _ = try scanString()
            case .number: _ = try scanNumber()
            case .bool: _ = try readBool()
            case .null: try readNull()
            }
        } while depth > outer
        return UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
    }

    /// Says that the text is to end here; only whitespace may follow.
    package mutating func finish() throws(JSONError) {
        precondition(depth == 0, "the value is read whole")
        skipSpace()
        if offset < bytes.count { throw JSONError(.trailingBytes, at: offset) }
    }

    // MARK: Structure

    private mutating func expect(_ kind: JSONKind) throws(JSONError) {
        guard try peek() == kind else { throw JSONError(.expected(kind), at: offset) }
    }

    private mutating func open(object: Bool) throws(JSONError) {
        guard depth < Self.depthLimit else { throw JSONError(.tooDeep, at: offset) }
        offset += 1
        depth += 1
        isFresh = isFresh << 1 | 1
        isObject = isObject << 1 | (object ? 1 : 0)
    }

    /// Takes the comma before the next member or element, or the closing byte.
    private mutating func advance(closing: UInt8) throws(JSONError) -> Bool {
        skipSpace()
        guard offset < bytes.count else { throw JSONError(.truncated, at: offset) }
        if bytes[offset] == closing {
            offset += 1
            depth -= 1
            isFresh >>= 1
            isObject >>= 1
            return false
        }
        if isFresh & 1 == 1 {
            isFresh &= ~1
            return true
        }
        guard bytes[offset] == UInt8(ascii: ",") else { throw JSONError(.unexpectedByte, at: offset) }
        offset += 1
        // RFC 8259 §4, §5: no comma before the end.
        skipSpace()
        guard offset < bytes.count else { throw JSONError(.truncated, at: offset) }
        if bytes[offset] == closing { throw JSONError(.unexpectedByte, at: offset) }
        return true
    }

    private mutating func skipSpace() {
        // RFC 8259 §2.
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0A, 0x0D: offset += 1
            default: return
            }
        }
    }

    // MARK: Scalars

    /// Reads a string from its quotation mark on. Its escapes are checked, surrogates excepted: those only where the
    /// text is wanted.
    private mutating func scanString() throws(JSONError) -> JSONString {
        let start = offset + 1
        var index = start
        var hasEscapes = false
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                offset = index + 1
                return JSONString(start: start, end: index, hasEscapes: hasEscapes)
            }
            // RFC 8259 §7.
            if byte < 0x20 { throw JSONError(.controlCharacter, at: index) }
            if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                index += try escapeLength(at: index)
            } else {
                index += 1
            }
        }
        throw JSONError(.truncated, at: bytes.count)
    }

    private func escapeLength(at index: Int) throws(JSONError) -> Int {
        guard index + 1 < bytes.count else { throw JSONError(.truncated, at: bytes.count) }
        switch bytes[index + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return 2
        case UInt8(ascii: "u"):
            for position in index + 2..<index + 6 {
                guard position < bytes.count else { throw JSONError(.truncated, at: bytes.count) }
                guard Self.hexValue(bytes[position]) != nil else { throw JSONError(.badEscape, at: index) }
            }
            return 6
        default:
            throw JSONError(.badEscape, at: index)
        }
    }

    static func hexValue(_ byte: UInt8) -> UInt16? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// RFC 8259 §6: `-`, digits without a leading zero, a fraction, an exponent.
    private mutating func scanNumber() throws(JSONError) -> JSONNumber {
        let start = offset
        if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "0") {
            offset += 1
        } else {
            try scanDigits()
        }
        var isInteger = true
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
            isInteger = false
            offset += 1
            try scanDigits()
        }
        if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            offset += 1
            if offset < bytes.count, bytes[offset] == UInt8(ascii: "+") || bytes[offset] == UInt8(ascii: "-") {
                offset += 1
            }
            try scanDigits()
        }
        // `01`, `1a` and the like: what follows a value is a comma, an end or a space.
        if offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x20, 0x09, 0x0A, 0x0D: break
            default: throw JSONError(.unexpectedByte, at: offset)
            }
        }
        return JSONNumber(text: UnsafeRawBufferPointer(rebasing: bytes[start..<offset]), isInteger: isInteger)
    }

    private mutating func scanDigits() throws(JSONError) {
        let start = offset
        while offset < bytes.count, bytes[offset] &- 0x30 < 10 { offset += 1 }
        guard offset == start else { return }
        throw JSONError(offset < bytes.count ? .unexpectedByte : .truncated, at: offset)
    }

    private mutating func scanLiteral(_ word: StaticString) throws(JSONError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard offset < bytes.count else { throw JSONError(.truncated, at: offset) }
            guard bytes[offset] == word.utf8Start[index] else { throw JSONError(.unexpectedByte, at: offset) }
            offset += 1
        }
    }
}
