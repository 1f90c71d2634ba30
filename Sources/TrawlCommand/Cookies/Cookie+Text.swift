import Trawl
import TrawlHTTP
import TrawlJSON
import TrawlSession

extension TrawlSession.Cookie {
    /// The head of the columns of `line(at:)`.
    static let heading = "LASTS    FLAGS  COOKIE"

    /// One line in columns, safe on a terminal; what may be long is at the end.
    func line(at now: WallTime) -> String {
        let lasts =
            expiry.map { ShortTime.text(UInt64(max(0, $0.milliseconds(since: now)) / 1000)) } ?? "session"
        let flags = (isSecure ? "S" : "-") + (isHTTPOnly ? "H" : "-")
        let place = (isHostOnly ? "" : ".") + domain + path
        let content = nameText.isEmpty ? valueText : "\(nameText)=\(valueText)"
        return lasts.padded(to: 9) + flags.padded(to: 7) + place.terminalSafe + "  " + content.terminalSafe
    }

    /// Writes the members that docs/cookies.md names.
    func write(to writer: inout JSONWriter) {
        func write(_ bytes: [UInt8], _ text: StaticString, _ coded: StaticString) {
            let isText = bytes.withUnsafeBytes { FieldLines.utf8Text($0) != nil }
            writer.key(isText ? text : coded)
            bytes.withUnsafeBytes { bytes in
                if isText { writer.string(lossyUTF8: bytes) } else { writer.base64(bytes) }
            }
        }
        writer.key("domain")
        writer.string(domain)
        writer.key("host_only")
        writer.bool(isHostOnly)
        writer.key("path")
        writer.string(path)
        write(name, "name", "name_base64")
        write(value, "value", "value_base64")
        writer.key("secure")
        writer.bool(isSecure)
        writer.key("http_only")
        writer.bool(isHTTPOnly)
        if let word = sameSite.word {
            writer.key("same_site")
            writer.string(word)
        }
        writer.key("expires")
        if let expiry { writer.seconds(.milliseconds(expiry.milliseconds)) } else { writer.null() }
        writer.key("created")
        writer.seconds(.milliseconds(creation.milliseconds))
    }
}
