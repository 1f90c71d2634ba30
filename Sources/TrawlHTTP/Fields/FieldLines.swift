// TrawlHTTP: what HTTP is made of, as values: fields, heads, methods, origins, dates, ranges, redirects, media types
// and charsets, in which the other targets speak. It reads no clock, opens nothing, and traps on no bytes from
// elsewhere.

/// An ordered list of field lines: header or trailer section of a message.
///
/// Names compare without regard to case and keep the spelling they came with; lines of one name are never joined.
/// Values are bytes. Lists are equal when their lines are equal byte for byte, the case of names included. The whole
/// list is one packed byte array, which is also its form in worker frames, so that it crosses a process boundary with
/// one copy and one check.
///
/// - Source: RFC 9110 §5.
package struct FieldLines: Sendable, Hashable {
    /// Why a field line was refused.
    package enum Refusal: Error, Sendable, Hashable {
        /// The name is empty, longer than 65,535 bytes, or has a byte that is not part of a token.
        case name
        /// The value holds CR, LF or NUL, or is longer than 2^32 - 1 bytes.
        case value
    }

    /// Bytes of a packed line before its name: name length (16 bits) and value length (32 bits), little endian.
    static let lineHeader = 6

    /// The packed form: for each line its two lengths, its name, its value.
    package private(set) var packed: [UInt8]
    /// How many lines there are.
    package private(set) var count: Int

    /// An empty list.
    package init() {
        packed = []
        count = 0
    }

    /// An empty list with room for so many bytes of names, values and their lengths.
    package init(room: Int) {
        self.init()
        packed.reserveCapacity(room)
    }

    /// The list with this packed form, or nil when the bytes are not one or a line is not allowed.
    package init?(packed bytes: UnsafeRawBufferPointer) {
        var offset = 0
        var lines = 0
        while offset < bytes.count {
            guard bytes.count - offset >= Self.lineHeader else { return nil }
            let (nameLength, valueLength) = Self.lengths(bytes, at: offset)
            offset += Self.lineHeader
            guard bytes.count - offset >= nameLength + valueLength else { return nil }
            let name = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + nameLength])
            offset += nameLength
            let value = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + valueLength])
            offset += valueLength
            guard FieldSyntax.isToken(name), FieldSyntax.isFieldValue(value) else { return nil }
            lines += 1
        }
        count = lines
        packed = []
        // The array's own initialisers look up their types at each call.
        packed.reserveCapacity(bytes.count)
        packed.append(contentsOf: bytes)
    }

    /// Whether there is no line.
    package var isEmpty: Bool { count == 0 }

    /// Adds a line at the end.
    package mutating func append(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
    ) throws(Refusal) {
        guard FieldSyntax.isToken(name), name.count <= Int(UInt16.max) else { throw .name }
        guard FieldSyntax.isFieldValue(value), value.count <= Int(UInt32.max) else { throw .value }
        appendUnchecked(name: name, value: value)
    }

    /// Adds a line at the end; the value is sent as UTF-8.
    package mutating func append(_ name: String, _ value: String) throws(Refusal) {
        var name = name
        var value = value
        let refusal: Refusal? = name.withUTF8 { name in
            value.withUTF8 { value in
                do throws(Refusal) {
                    try append(name: UnsafeRawBufferPointer(name), value: UnsafeRawBufferPointer(value))
                    return nil
                } catch {
                    return error
                }
            }
        }
        if let refusal { throw refusal }
    }

    /// Adds all lines of `other` at the end.
    package mutating func append(contentsOf other: FieldLines) {
        packed.append(contentsOf: other.packed)
        count += other.count
    }

    /// Puts one line in the place of the first of that name and removes the others; adds it when there is none.
    package mutating func set(_ name: String, _ value: String) throws(Refusal) {
        var line = FieldLines()
        try line.append(name, value)
        var result = FieldLines()
        result.packed.reserveCapacity(packed.count + line.packed.count)
        var placed = false
        forEach { lineName, lineValue in
            if FieldSyntax.equalIgnoringCase(lineName, name) {
                if !placed { result.append(contentsOf: line) }
                placed = true
            } else {
                result.appendUnchecked(name: lineName, value: lineValue)
            }
        }
        if !placed { result.append(contentsOf: line) }
        self = result
    }

    /// Removes every line of that name.
    package mutating func removeAll(_ name: String) {
        guard contains(name) else { return }
        removeAll { FieldSyntax.equalIgnoringCase($0, name) }
    }

    /// Removes every line whose name satisfies `condition`, which is asked about each line once, in order.
    package mutating func removeAll(where condition: (_ name: UnsafeRawBufferPointer) -> Bool) {
        var kept: [UInt8]?
        var lines = 0
        packed.withUnsafeBytes { bytes in
            var offset = 0
            // Where the lines begin that are kept and not copied yet.
            var start = 0
            while offset < bytes.count {
                let (nameLength, valueLength) = Self.lengths(bytes, at: offset)
                let nameStart = offset + Self.lineHeader
                let end = nameStart + nameLength + valueLength
                if condition(UnsafeRawBufferPointer(rebasing: bytes[nameStart..<nameStart + nameLength])) {
                    Self.copy(bytes, start..<offset, to: &kept)
                    start = end
                } else {
                    lines += 1
                }
                offset = end
            }
            if kept != nil { Self.copy(bytes, start..<offset, to: &kept) }
        }
        // Nothing is copied when nothing goes.
        guard let kept else { return }
        packed = kept
        count = lines
    }

    private static func copy(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, to kept: inout [UInt8]?) {
        if kept == nil {
            var room: [UInt8] = []
            room.reserveCapacity(bytes.count)
            kept = room
        }
        kept?.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }

    /// Whether a line of that name exists.
    package func contains(_ name: String) -> Bool {
        firstValue(name) != nil
    }

    /// The value of the first line of that name, or nil.
    package func first(_ name: String) -> String? {
        withFirst(name) { $0.map(Self.text) }
    }

    /// The values of all lines of that name, in order.
    package func values(_ name: String) -> [String] {
        var found: [String] = []
        forEach { lineName, value in
            if FieldSyntax.equalIgnoringCase(lineName, name) { found.append(Self.text(value)) }
        }
        return found
    }

    /// All lines of that name joined by a comma and a space, or nil when there is none (RFC 9110 §5.3).
    ///
    /// Not for `Set-Cookie`, whose lines cannot be joined.
    package func combined(_ name: String) -> String? {
        let all = values(name)
        return all.isEmpty ? nil : all.joined(separator: ", ")
    }

    /// Calls `body` with the bytes of the first line of that name, or nil.
    package func withFirst<Result>(_ name: String, _ body: (UnsafeRawBufferPointer?) -> Result) -> Result {
        let place = firstValue(name)
        return packed.withUnsafeBytes { bytes in
            body(place.map { UnsafeRawBufferPointer(rebasing: bytes[$0]) })
        }
    }

    /// Where in `packed` the value of the first line of that name is, or nil.
    private func firstValue(_ name: String) -> Range<Int>? {
        var name = name
        return name.withUTF8 { name in
            packed.withUnsafeBytes { bytes in
                let name = UnsafeRawBufferPointer(name)
                var offset = 0
                while offset < bytes.count {
                    let (nameLength, valueLength) = Self.lengths(bytes, at: offset)
                    let nameStart = offset + Self.lineHeader
                    let valueStart = nameStart + nameLength
                    offset = valueStart + valueLength
                    guard nameLength == name.count else { continue }
                    let lineName = UnsafeRawBufferPointer(rebasing: bytes[nameStart..<valueStart])
                    if FieldSyntax.equalIgnoringCase(lineName, name) { return valueStart..<offset }
                }
                return nil
            }
        }
    }

    /// Calls `body` with each line's name and value, in order. The buffers live for the call only.
    package func forEach(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
        packed.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let (nameLength, valueLength) = Self.lengths(bytes, at: offset)
                let nameStart = offset + Self.lineHeader
                let valueStart = nameStart + nameLength
                offset = valueStart + valueLength
                body(
                    UnsafeRawBufferPointer(rebasing: bytes[nameStart..<valueStart]),
                    UnsafeRawBufferPointer(rebasing: bytes[valueStart..<offset]))
            }
        }
    }

    /// Bytes as text: UTF-8 when they are valid UTF-8, else one character for each byte (ISO-8859-1).
    package static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        utf8Text(bytes) ?? latin1(bytes)
    }

    /// Bytes as text, or nil when they are not valid UTF-8.
    package static func utf8Text(_ bytes: UnsafeRawBufferPointer) -> String? {
        // Twice as fast for short texts as `String(validating:as:)`, which is generic.
        bytes.withMemoryRebound(to: UInt8.self) { bytes in
            guard let span = try? UTF8Span(validating: bytes.span) else { return nil }
            return String(copying: span)
        }
    }

    /// Bytes as text of one character for each byte.
    package static func latin1(_ bytes: UnsafeRawBufferPointer) -> String {
        var text = ""
        text.reserveCapacity(bytes.count)
        for byte in bytes { text.unicodeScalars.append(Unicode.Scalar(byte)) }
        return text
    }

    private mutating func appendUnchecked(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        // Room for a usual section at once.
        if packed.capacity == 0 { packed.reserveCapacity(256) }
        let (nameLength, valueLength) = (UInt16(name.count).littleEndian, UInt32(value.count).littleEndian)
        // One step of growth: an `append` for each part takes several times as long.
        let length = Self.lineHeader + name.count + value.count
        packed.append(addingCapacity: length) { span in
            span.withUnsafeMutableBufferPointer { buffer, initialized in
                let line = UnsafeMutableRawBufferPointer(buffer)
                line.storeBytes(of: nameLength, as: UInt16.self)
                line.storeBytes(of: valueLength, toByteOffset: 2, as: UInt32.self)
                let text = UnsafeMutableRawBufferPointer(rebasing: line[Self.lineHeader...])
                text.copyMemory(from: name)
                UnsafeMutableRawBufferPointer(rebasing: text[name.count...]).copyMemory(from: value)
                initialized = length
            }
        }
        count += 1
    }

    private static func lengths(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> (name: Int, value: Int) {
        let name = UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
        let value = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 2, as: UInt32.self))
        return (Int(name), Int(value))
    }
}
