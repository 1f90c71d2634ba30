import Trawl
import TrawlPlatform

private let argumentOrder = Guarded(0)

/// The body of a request, put together from its pieces.
enum RequestBody {
    /// A piece with its place among those of other options.
    ///
    /// `-d a --data-binary @b -d c` is one body in that order. The parser keeps the values of each option apart, but
    /// makes them in the order they stand in; so each takes a number as it is made.
    struct Piece {
        enum Kind {
            /// `-d`: text or `@FILE`, from which CR, LF and NUL are taken.
            case form
            /// `--data-raw`: text, `@` included.
            case raw
            /// `--data-binary` and `--json`: text or `@FILE`, byte for byte.
            case binary
            /// `--data-urlencode`: text or a file's content, percent-encoded, a name before it or not.
            case encoded
        }
        let kind: Kind
        let text: String
        let order: Int

        init(_ kind: Kind, _ text: String) {
            self.kind = kind
            self.text = text
            order = argumentOrder.withLock { order in
                order += 1
                return order
            }
        }
    }

    /// The bytes; pieces are joined by `separator`.
    ///
    /// - Parameter read: Reads a file, `-` for standard input.
    static func bytes(
        of pieces: [Piece], separator: String, read: (String) throws(CommandError) -> [UInt8]
    ) throws(CommandError) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, piece) in pieces.sorted(by: { $0.order < $1.order }).enumerated() {
            if index > 0 { bytes += separator.utf8 }
            if piece.kind == .encoded {
                bytes += try encoded(piece.text, read: read)
                continue
            }
            guard piece.kind != .raw, piece.text.hasPrefix("@") else {
                bytes += piece.text.utf8
                continue
            }
            let content = try read(String(piece.text.dropFirst()))
            if piece.kind == .form {
                bytes += content.filter { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
            } else {
                bytes += content
            }
        }
        return bytes
    }

    /// `TEXT`, `=TEXT`, `NAME=TEXT`, `@FILE` or `NAME@FILE`; the first `=` decides, and `@` only where there is none, as
    /// in curl.
    private static func encoded(
        _ text: String, read: (String) throws(CommandError) -> [UInt8]
    ) throws(CommandError) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "=")) ?? bytes.firstIndex(of: UInt8(ascii: "@")) else {
            return percentEncoded(bytes)
        }
        let name = bytes[..<mark]
        var content = Array(bytes[(mark + 1)...])
        if bytes[mark] == UInt8(ascii: "@") { content = try read(String(decoding: content, as: UTF8.self)) }
        return name + (name.isEmpty ? [] : [UInt8(ascii: "=")]) + percentEncoded(content)
    }

    /// RFC 3986 §2.1: all but unreserved characters are encoded.
    ///
    /// - Parameter space: What stands for a space; in forms it is `+` (HTML, application/x-www-form-urlencoded).
    static func percentEncoded(_ bytes: [UInt8], space: String = "+") -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in bytes {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.append(byte)
            case 0x20: result += space.utf8
            default: result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return result
    }
}
