/// The file name in a Content-Disposition field.
///
/// What servers send is read as browsers read it: the type may be missing, and a value without quotes goes up to the next
/// semicolon, blanks included.
///
/// - Source: RFC 6266 §4; RFC 8187 §3.2 for the form with a star.
package enum ContentDisposition {
    /// The name as it was sent, without the directories it may claim; nil when the value has none.
    package static func fileName(_ value: String) -> String? {
        var plain: String?
        var extended: String?
        for (name, text) in parameters(value) {
            switch name {
            case "filename": plain = plain ?? text
            case "filename*": extended = extended ?? decoded(text).flatMap { $0.isEmpty ? nil : $0 }
            default: break
            }
        }
        // RFC 6266 §4.3: the one with a star counts when both are there.
        guard let name = extended ?? plain else { return nil }
        // Only the last part: what looks like a path is not followed.
        let last = name.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? []
        return String(String.UnicodeScalarView(last))
    }

    private static func parameters(_ value: String) -> [(name: String, value: String)] {
        var result: [(name: String, value: String)] = []
        // The disposition type is a parameter without a value, and says nothing about names.
        var rest: ArraySlice<Unicode.Scalar> = [";"]
        rest.append(contentsOf: value.unicodeScalars)
        while rest.first == ";" {
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(name.count)
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            var text = String.UnicodeScalarView()
            if rest.first == "\"" {
                rest = rest.dropFirst()
                while let scalar = rest.popFirst(), scalar != "\"" {
                    // RFC 9110 §5.6.4: a backslash stands for the next character.
                    if scalar == "\\", let escaped = rest.popFirst() {
                        text.append(escaped)
                    } else {
                        text.append(scalar)
                    }
                }
            } else {
                var token = rest.prefix { $0 != ";" }
                rest = rest.dropFirst(token.count)
                while let last = token.last, last == " " || last == "\t" { token.removeLast() }
                text.append(contentsOf: token)
            }
            rest = rest.drop { $0 != ";" }
            let key = String(String.UnicodeScalarView(name.filter { $0 != " " && $0 != "\t" })).lowercased()
            result.append((key, String(text)))
        }
        return result
    }

    /// `charset'language'percent-encoded`; UTF-8 and ISO-8859-1 are known.
    private static func decoded(_ text: String) -> String? {
        let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = PercentEncoding.strictlyDecoded(parts[2].utf8) else { return nil }
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }
}
