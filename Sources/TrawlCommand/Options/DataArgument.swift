import ArgumentParser
import Synchronization
import Trawl

/// A piece of a request's body with its place among the pieces of other options.
///
/// `-d a --data-binary @b -d c` is one body in that order. The parser keeps the values of each option apart, but makes
/// them in the order they stand in; so each takes a number as it is made.
protocol DataArgument: ExpressibleByArgument {
    var text: String { get }
    var order: Int { get }
    init(text: String, order: Int)
}

extension DataArgument {
    init?(argument: String) {
        let order = argumentOrder.withLock { order in
            order += 1
            return order
        }
        self.init(text: argument, order: order)
    }
}

private let argumentOrder = Mutex(0)

/// `-d`: text or `@FILE`, from which CR, LF and NUL are taken.
struct FormData: DataArgument {
    let text: String
    let order: Int
}

/// `--data-raw`: text, `@` included.
struct RawData: DataArgument {
    let text: String
    let order: Int
}

/// `--data-binary` and `--json`: text or `@FILE`, byte for byte.
struct BinaryData: DataArgument {
    let text: String
    let order: Int
}

/// The body of a request, put together from its pieces.
enum RequestBody {
    struct Piece {
        enum Kind { case form, raw, binary }
        let kind: Kind
        let text: String
        let order: Int
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
