import Glibc
import TrawlProtocol

/// The generated `User-Agent`: `program (Linux release; machine; language) trawl/version`, without the program's version,
/// which nothing on Linux knows; `trawl/version (Linux release; machine; language)` where the program is `trawl` itself.
enum UserAgent {
    static func generated(locale: String) -> String {
        var names = utsname()
        uname(&names)
        let release = text(of: names.release)
        let machine = text(of: names.machine)
        let program = WorkerExecutable.ownPath().map {
            String($0[($0.lastIndex(of: "/").map { $0 }.map($0.index(after:)) ?? $0.startIndex)...])
        }
        let product = token(program ?? "")
        let details = ["Linux \(release)", machine, locale].filter { !$0.isEmpty }.map(comment).joined(separator: "; ")
        let library = "trawl/\(BuildIdentity.version)"
        return product.isEmpty || product == "trawl" ? "\(library) (\(details))" : "\(product) (\(details)) \(library)"
    }

    private static func text<Tuple>(of tuple: Tuple) -> String {
        withUnsafeBytes(of: tuple) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Bytes of a token only (RFC 9110 §5.6.2); others are left out.
    private static func token(_ text: String) -> String {
        String(
            text.unicodeScalars.filter {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_.".unicodeScalars.contains($0))
            }.map(Character.init))
    }

    /// Bytes a comment may hold (RFC 9110 §5.6.5).
    private static func comment(_ text: String) -> String {
        String(
            text.unicodeScalars.filter { $0.value >= 0x20 && $0.value < 0x7F && !"()\\".unicodeScalars.contains($0) }
                .map(Character.init))
    }
}
