import Synchronization
import Trawl

private let argumentOrder = Mutex(0)

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
}
