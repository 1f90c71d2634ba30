import TrawlHTTP

/// A place in a field value, and the pieces of RFC 9110's syntax that can be read from there.
struct ParameterScanner {
    private let bytes: UnsafeRawBufferPointer
    private var index = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The byte here, or nil at the end.
    var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Whether a comma or the end is here.
    var isAtElementEnd: Bool { next == nil || next == .comma }

    mutating func skip() {
        index += 1
    }

    /// Spaces and tabs (RFC 9110 §5.6.3); how many.
    @discardableResult
    mutating func skipSpaces() -> Int {
        let start = index
        while let byte = next, byte == .space || byte == .tab { index += 1 }
        return index - start
    }

    /// Moves to the next element that is not empty; false at the end.
    mutating func skipToElement() -> Bool {
        while let byte = next, byte == .space || byte == .tab || byte == .comma { index += 1 }
        return next != nil
    }

    /// Moves to the comma that ends this element, past quoted ones.
    mutating func skipElement() {
        while let byte = next, byte != .comma {
            if byte == .quote {
                if quoted() == nil { return }
            } else {
                index += 1
            }
        }
    }

    /// A token; empty when there is none (RFC 9110 §5.6.2).
    mutating func token() -> UnsafeRawBufferPointer {
        let start = index
        while let byte = next, FieldSyntax.isTokenByte(byte) { index += 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<index])
    }

    /// The token68 that is the rest of this element, or nil, and nothing is read (RFC 9110 §11.2).
    mutating func token68() -> UnsafeRawBufferPointer? {
        let start = index
        while let byte = next, Self.isToken68Byte(byte) { index += 1 }
        let hasLetters = index > start
        while next == .equals { index += 1 }
        let end = index
        skipSpaces()
        guard hasLetters, isAtElementEnd else {
            index = start
            return nil
        }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    /// A parameter's value: quoted, or what stands there up to a space or comma. Nil when a quote is never closed.
    mutating func value() -> [UInt8]? {
        if next == .quote { return quoted() }
        let start = index
        while let byte = next, byte != .comma, byte != .space, byte != .tab { index += 1 }
        return Array(bytes[start..<index])
    }

    /// A quoted string without its quotes and escapes (RFC 9110 §5.6.4), or nil, and all is read, when it has no end.
    private mutating func quoted() -> [UInt8]? {
        index += 1
        var text: [UInt8] = []
        while let byte = next {
            index += 1
            if byte == .quote { return text }
            if byte == .backslash {
                guard let escaped = next else { return nil }
                text.append(escaped)
                index += 1
            } else {
                text.append(byte)
            }
        }
        return nil
    }

    /// RFC 9110 §11.2: ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/".
    static func isToken68Byte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}

extension UInt8 {
    fileprivate static let space = UInt8(ascii: " ")
    fileprivate static let tab = UInt8(ascii: "\t")
}
