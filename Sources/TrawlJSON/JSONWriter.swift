/// Appends JSON to a byte array, without a String or a tree in between.
///
/// Commas and quotation marks come by themselves; the caller keeps scopes, names and values in an order that makes
/// sense. One text after the other is written by `endLine`, which makes lines of them. What is written is ASCII and
/// well-formed UTF-8, and cannot drive a terminal: DEL and the C1 controls are escaped with the others.
///
/// - Source: RFC 8259.
package struct JSONWriter {
    /// Filled up to `used`. Room is made in large steps, so that a write costs a copy and two comparisons: an array's
    /// own `append` takes several times as long for pieces as small as these.
    private var storage: [UInt8] = []
    private var used = 0

    /// Nothing is written.
    package init() {}

    /// What is written so far.
    package var bytes: ArraySlice<UInt8> { storage[..<used] }

    /// Whether nothing is written.
    package var isEmpty: Bool { used == 0 }

    /// How many bytes are written.
    package var count: Int { used }

    /// Lends what is written so far.
    package func withUnsafeBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try storage.span.withUnsafeBytes { (bytes) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[..<used]))
        }
    }

    /// Forgets what is written, and keeps the memory unless it is much.
    package mutating func removeAll() {
        used = 0
        if storage.count > Self.mostKept { storage = [] }
    }

    private static let mostKept = 1 << 20

    // MARK: Structure

    /// `{`
    package mutating func beginObject() {
        separate()
        append(UInt8(ascii: "{"))
    }

    /// `}`
    package mutating func endObject() { append(UInt8(ascii: "}")) }

    /// `[`
    package mutating func beginArray() {
        separate()
        append(UInt8(ascii: "["))
    }

    /// `]`
    package mutating func endArray() { append(UInt8(ascii: "]")) }

    /// A member's name, of ASCII without anything to escape; its value comes next.
    @inline(__always)
    package mutating func key(_ name: StaticString) {
        // `,"name":` in one piece.
        let comma = used > 0 && storage[used - 1] != UInt8(ascii: "{") ? 1 : 0
        let length = name.utf8CodeUnitCount
        let source = name.utf8Start
        withRoom(length + 3 + comma) { space in
            space[0] = UInt8(ascii: ",")
            space[comma] = UInt8(ascii: "\"")
            (space + comma + 1).update(from: source, count: length)
            space[comma + 1 + length] = UInt8(ascii: "\"")
            space[comma + 2 + length] = UInt8(ascii: ":")
        }
    }

    /// Ends a text and its line.
    package mutating func endLine() { append(0x0A) }

    /// Part of a text as it is written, with its commas: names and values that are always the same, in one piece.
    package mutating func verbatim(_ text: StaticString) {
        let (source, length) = (text.utf8Start, text.utf8CodeUnitCount)
        withRoom(length) { $0.update(from: source, count: length) }
    }

    // MARK: Values

    /// A string of this text.
    package mutating func string(_ text: String) {
        // Lent as it is: `withUTF8` wants a variable, and that a reference of its own.
        let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable { utf8(UnsafeRawBufferPointer($0)) }
        if isWritten == nil { Array(text.utf8).withUnsafeBytes { utf8($0) } }
    }

    /// A string of these bytes as UTF-8; each sequence that is none becomes U+FFFD.
    package mutating func string(lossyUTF8 text: UnsafeRawBufferPointer) {
        if Self.plainEnd(of: text, from: 0) == text.count || UTF8Bytes.areValid(text) {
            utf8(text)
        } else {
            string(String(decoding: text, as: UTF8.self))
        }
    }

    /// A string of one character for each byte, U+0000 to U+00FF.
    package mutating func latin1(_ text: UnsafeRawBufferPointer) {
        separate()
        append(UInt8(ascii: "\""))
        var start = 0
        for index in 0..<text.count where !Self.isPlain(text[index]) {
            append(text, start, index)
            start = index + 1
            let byte = text[index]
            if byte < 0xA0 {
                escape(byte)
            } else {
                // RFC 3629 §3.
                append(0xC0 | byte >> 6)
                append(0x80 | byte & 0x3F)
            }
        }
        append(text, start, text.count)
        append(UInt8(ascii: "\""))
    }

    /// A string of the Base64 of these bytes (RFC 4648 §4).
    package mutating func base64(_ data: UnsafeRawBufferPointer) {
        separate()
        let length = Base64.encodedLength(data.count)
        withRoom(length + 2) { space in
            space[0] = UInt8(ascii: "\"")
            Base64.encode(data, into: UnsafeMutableBufferPointer(start: space + 1, count: length))
            space[length + 1] = UInt8(ascii: "\"")
        }
    }

    /// A whole number.
    package mutating func integer(_ value: Int) {
        separate()
        if value < 0 { append(UInt8(ascii: "-")) }
        digits(UInt64(value.magnitude), atLeast: 1)
    }

    /// A whole number, not negative.
    package mutating func integer(_ value: UInt64) {
        separate()
        digits(value, atLeast: 1)
    }

    /// A number of seconds, to the microsecond, rounded down.
    package mutating func seconds(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let micros = attoseconds.magnitude / 1_000_000_000_000
        let isNegative = seconds < 0 || (attoseconds < 0 && micros > 0)
        self.seconds(seconds.magnitude, microseconds: micros, isNegative: isNegative)
    }

    /// A number of seconds given in microseconds.
    package mutating func seconds(microseconds: UInt64) {
        seconds(microseconds / 1_000_000, microseconds: microseconds % 1_000_000, isNegative: false)
    }

    private mutating func seconds(_ seconds: UInt64, microseconds: UInt64, isNegative: Bool) {
        separate()
        if isNegative { append(UInt8(ascii: "-")) }
        digits(seconds, atLeast: 1)
        guard microseconds > 0 else { return }
        var micros = microseconds
        var count = 6
        while micros % 10 == 0 {
            micros /= 10
            count -= 1
        }
        append(UInt8(ascii: "."))
        digits(micros, atLeast: count)
    }

    /// `true` or `false`
    package mutating func bool(_ value: Bool) {
        separate()
        verbatim(value ? "true" : "false")
    }

    /// `null`
    package mutating func null() {
        separate()
        verbatim("null")
    }

    /// A value that is JSON already, such as an id to be echoed.
    package mutating func raw(_ json: UnsafeRawBufferPointer) {
        separate()
        append(json, 0, json.count)
    }

    // MARK: Pieces

    /// A comma, unless this is the first of an object, an array or a line, or the value of a member.
    @inline(__always)
    private mutating func separate() {
        if used == 0 { return }
        switch storage[used - 1] {
        // Values end with a quotation mark, a bracket, a digit or a letter, so these can be nothing else.
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"), 0x0A: break
        default: append(UInt8(ascii: ","))
        }
    }

    private mutating func utf8(_ text: UnsafeRawBufferPointer) {
        separate()
        append(UInt8(ascii: "\""))
        var start = 0
        var index = Self.plainEnd(of: text, from: 0)
        while index < text.count {
            switch text[index] {
            case 0xC2:
                // U+0080 to U+009F are C2 80 to C2 9F.
                if index + 1 < text.count, text[index + 1] < 0xA0 {
                    append(text, start, index)
                    escape(text[index + 1])
                    start = index + 2
                }
                index += 2
            case 0x80...:
                index += 1
            case let byte:
                append(text, start, index)
                escape(byte)
                index += 1
                start = index
            }
            index = Self.plainEnd(of: text, from: index)
        }
        append(text, start, text.count)
        append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        append(UInt8(ascii: "\\"))
        // RFC 8259 §7.
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0D: append(UInt8(ascii: "r"))
        case 0x09: append(UInt8(ascii: "t"))
        default:
            verbatim("u00")
            append(Self.hexDigit(byte >> 4))
            append(Self.hexDigit(byte & 15))
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private mutating func append(_ text: UnsafeRawBufferPointer, _ start: Int, _ end: Int) {
        guard start < end, let source = text.baseAddress else { return }
        withRoom(end - start) { UnsafeMutableRawPointer($0).copyMemory(from: source + start, byteCount: end - start) }
    }

    @inline(__always)
    private mutating func append(_ byte: UInt8) {
        if used == storage.count { grow(1) }
        storage[used] = byte
        used += 1
    }

    private mutating func digits(_ value: UInt64, atLeast count: Int) {
        var length = 1
        var rest = value
        while rest >= 10 {
            rest /= 10
            length += 1
        }
        length = max(length, count)
        withRoom(length) { space in
            var rest = value
            var index = length
            while index > 0 {
                index &-= 1
                let tenth = rest / 10
                space[index] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest &- tenth &* 10)
                rest = tenth
            }
        }
    }

    /// Lets `body` write `count` bytes at the end.
    @inline(__always)
    private mutating func withRoom(_ count: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Void) {
        if storage.count - used < count { grow(count) }
        let end = used
        storage.withUnsafeMutableBufferPointer { buffer in
            if let base = buffer.baseAddress { body(base + end) }
        }
        used += count
    }

    @inline(never)
    private mutating func grow(_ count: Int) {
        storage += [UInt8](repeating: 0, count: max(count, storage.count, 4096))
    }

    /// Where the first byte is, from a place on, that is not ASCII or does not stand for itself; the end when there is
    /// none.
    private static func plainEnd(of text: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index + 8 <= text.count, arePlain(text.loadUnaligned(fromByteOffset: index, as: UInt64.self)) {
            index += 8
        }
        while index < text.count, isPlain(text[index]) { index += 1 }
        return index
    }

    /// Whether eight bytes are ASCII and stand for themselves.
    @inline(__always)
    private static func arePlain(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        // A byte below a bound, or equal to another, borrows into its high bit.
        let controls = word &- ones &* 0x20
        let quotes = (word ^ ones &* 0x22) &- ones
        let slashes = (word ^ ones &* 0x5C) &- ones
        let deletes = (word ^ ones &* 0x7F) &- ones
        return (word | controls | quotes | slashes | deletes) & (ones &* 0x80) == 0
    }

    /// Whether a byte of ASCII stands for itself.
    @inline(__always)
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte &- 0x20 < 0x5F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}
