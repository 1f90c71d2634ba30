import Glibc
package import TrawlHTTP

/// Why bytes are not a text.
package enum TextError: Error, Sendable, Hashable {
    /// Nothing here converts from that charset.
    case unknownCharset
    /// There are bytes that stand for no character of the charset, or the last character is cut off.
    case undecodable
}

/// Turns bytes of a charset into text.
///
/// What is not built in is converted by the system's `iconv`, whose tables are files of the C library.
package enum TextDecoder {
    /// Whether the charset can be converted.
    package static func isKnown(_ charset: Charset) -> Bool {
        switch charset {
        case .utf8, .usASCII, .latin1, .utf16BigEndian, .utf16LittleEndian: true
        case .named(let name): Converter(from: name) != nil
        }
    }

    /// The text that the bytes are, whole and exactly.
    package static func decode(_ bytes: UnsafeRawBufferPointer, as charset: Charset) throws(TextError) -> String {
        switch charset {
        case .utf8:
            guard let text = String(validating: bytes.bytes, as: UTF8.self) else { throw .undecodable }
            return text
        case .usASCII:
            guard bytes.allSatisfy({ $0 < 0x80 }) else { throw .undecodable }
            return String(decoding: bytes.bytes, as: UTF8.self)
        case .latin1: return latin1(bytes)
        case .utf16BigEndian, .utf16LittleEndian:
            let units = units(bytes, isBigEndian: charset == .utf16BigEndian)
            guard bytes.count % 2 == 0, let text = String(validating: units, as: UTF16.self) else { throw .undecodable }
            return text
        case .named(let name):
            guard let converter = Converter(from: name) else { throw .unknownCharset }
            return try converter.convert(bytes, replaces: false)
        }
    }

    /// The text that the bytes are, with U+FFFD for what stands for no character.
    /// - Throws: Only ``TextError/unknownCharset``.
    package static func decodeLossily(_ bytes: UnsafeRawBufferPointer, as charset: Charset) throws(TextError) -> String
    {
        switch charset {
        case .utf8: return String(decoding: bytes.bytes, as: UTF8.self)
        case .usASCII:
            if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes.bytes, as: UTF8.self) }
            return String(decoding: bytes.lazy.map { $0 < 0x80 ? UInt16($0) : 0xFFFD }, as: UTF16.self)
        case .latin1: return latin1(bytes)
        case .utf16BigEndian, .utf16LittleEndian:
            var units = units(bytes, isBigEndian: charset == .utf16BigEndian)
            if bytes.count % 2 == 1 { units.append(0xFFFD) }
            return String(decoding: units, as: UTF16.self)
        case .named(let name):
            guard let converter = Converter(from: name) else { throw .unknownCharset }
            return try converter.convert(bytes, replaces: true)
        }
    }

    private static func latin1(_ bytes: UnsafeRawBufferPointer) -> String {
        let high = bytes.reduce(into: 0) { $0 += Int($1 >> 7) }
        if high == 0 { return String(decoding: bytes.bytes, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: bytes.count + high) { text in
            var end = 0
            for byte in bytes {
                if byte < 0x80 {
                    text[end] = byte
                    end += 1
                } else {
                    text[end] = 0xC0 | byte >> 6
                    text[end + 1] = 0x80 | byte & 0x3F
                    end += 2
                }
            }
            return end
        }
    }

    /// The whole units of UTF-16; an odd last byte is left out.
    private static func units(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) -> [UInt16] {
        let count = bytes.count / 2
        return [UInt16](unsafeUninitializedCapacity: count) { units, made in
            for index in 0..<count {
                let unit = bytes.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self)
                let value = isBigEndian ? UInt16(bigEndian: unit) : UInt16(littleEndian: unit)
                units.initializeElement(at: index, to: value)
            }
            made = count
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Bytes are bytes whatever they were before.
    fileprivate var bytes: UnsafeBufferPointer<UInt8> { assumingMemoryBound(to: UInt8.self) }
}

/// One use of `iconv`, into UTF-8. It knows no locale and changes none.
private struct Converter: ~Copyable {
    private let handle: iconv_t

    /// Bytes of text converted at a time.
    private static let room = 16 << 10

    init?(from name: String) {
        guard let handle = iconv_open("UTF-8", name), handle != UnsafeMutableRawPointer(bitPattern: -1) else {
            return nil
        }
        self.handle = handle
    }

    deinit { iconv_close(handle) }

    func convert(_ bytes: UnsafeRawBufferPointer, replaces: Bool) throws(TextError) -> String {
        // It takes a mutable pointer and does not write there.
        var input = UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
        var left = bytes.count
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + bytes.count / 2)
        var isFlushing = false
        while true {
            let before = (left, text.count)
            var failure: Int32 = 0
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: Self.room) { buffer in
                var output = buffer.baseAddress
                var room = Self.room
                let result =
                    isFlushing
                    ? iconv(handle, nil, nil, &output, &room) : iconv(handle, &input, &left, &output, &room)
                if result == -1 { failure = errno }
                text.append(contentsOf: UnsafeRawBufferPointer(buffer).prefix(Self.room - room))
            }
            switch failure {
            case 0:
                // What a stateful charset keeps back comes at last.
                if isFlushing { return String(decoding: text, as: UTF8.self) }
                isFlushing = true
            case E2BIG:
                // Never without progress: a converter that stands still would stand still for ever.
                guard before != (left, text.count) else { throw .undecodable }
            case EILSEQ where replaces && left > 0:
                text += [0xEF, 0xBF, 0xBD]
                input = input.map { $0 + 1 }
                left -= 1
            case EINVAL where replaces && left > 0:
                text += [0xEF, 0xBF, 0xBD]
                left = 0
                isFlushing = true
            default:
                throw .undecodable
            }
        }
    }
}
