import Trawl
import TrawlHTTP

/// A file of options, one a line, as curl reads it: `name value`, `name = value`, `name: value`, `-x value`,
/// `--name value`.
///
/// A value with blanks stands in double quotes, where `\"`, `\\`, `\t`, `\n`, `\r` and `\v` are known. Lines that begin
/// with `#`, `/` or `*` are comments, and so is what follows `#` after a value, or after an option that has none. Where
/// curl warns and goes on, this is an error: half a value is worse than none.
struct ConfigFile {
    /// More than anybody writes.
    private static let longest = 1 << 20

    /// For messages.
    private let name: String
    private var line = 0

    /// The options of a file as arguments, no `-K` among them. Values may be joined to their letters.
    static func arguments(
        of file: String, read: (String) throws(CommandError) -> [UInt8]
    ) throws(CommandError) -> [String] {
        if file.isEmpty { throw CommandError("-K wants a file name") }
        var config = ConfigFile(name: file == "-" ? "standard input" : file.terminalSafe)
        var bytes = try read(file)[...]
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        if bytes.count > longest { throw CommandError("\(config.name): longer than \(longest) bytes") }
        var result: [String] = []
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            config.line += 1
            result += try config.arguments(of: line)
        }
        return result
    }

    private init(name: String) {
        self.name = name
    }

    private func arguments(of bytes: ArraySlice<UInt8>) throws(CommandError) -> [String] {
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw wrong("not text in UTF-8")
        }
        var rest = text.unicodeScalars[...].drop(while: Self.isBlank)
        guard let first = rest.first, !["#", "/", "*"].contains(first) else { return [] }
        // In curl's words: after a dash only blanks end the name, otherwise '=' and ':' do so as well.
        let isDashed = first == "-"
        func ends(_ scalar: Unicode.Scalar) -> Bool {
            Self.isBlank(scalar) || !isDashed && (scalar == "=" || scalar == ":")
        }
        let option = String(rest.prefix { !ends($0) })
        rest = rest.drop { !ends($0) }.drop(while: ends)
        let isComment = rest.first == "#" && !Self.wantsValue(option)
        return try arguments(option: option, value: isComment ? nil : try value(rest))
    }

    /// Whether an option, as a line names it, has a value of its own behind it.
    private static func wantsValue(_ option: String) -> Bool {
        if option.hasPrefix("--") { return OptionTable.takesValue(long: option.dropFirst(2)) }
        if !option.hasPrefix("-") { return OptionTable.takesValue(long: option[...]) }
        let letter = option.dropFirst().firstIndex(where: OptionTable.takesValue(short:))
        return letter.map { option.index(after: $0) == option.endIndex } ?? false
    }

    /// The value after an option's name; nil when there is none.
    private func value(_ text: Substring.UnicodeScalarView) throws(CommandError) -> String? {
        guard let first = text.first else { return nil }
        var rest = text
        var value = String.UnicodeScalarView()
        if first == "\"" {
            rest.removeFirst()
            var isClosed = false
            while !isClosed {
                guard let scalar = rest.popFirst() else { throw wrong("a quote is not closed") }
                if scalar == "\\", let next = rest.popFirst() {
                    value.append(Self.escapes[next] ?? next)
                } else if scalar == "\"" {
                    isClosed = true
                } else {
                    value.append(scalar)
                }
            }
        } else {
            value.append(contentsOf: rest.prefix { !Self.isBlank($0) })
            rest = rest.drop { !Self.isBlank($0) }
        }
        let after = rest.drop(while: Self.isBlank)
        guard after.isEmpty || after.first == "#" else {
            throw wrong(first == "\"" ? "something follows the closing quote" : "a value with blanks needs quotes")
        }
        return String(value)
    }

    private func arguments(option: String, value: String?) throws(CommandError) -> [String] {
        if option.hasPrefix("-"), !option.hasPrefix("--") {
            // `-x value`, or letters and a joined value, which `ArgumentExpansion` parts as on the command line.
            guard let letter = option.dropFirst().firstIndex(where: OptionTable.takesValue(short:)) else {
                if value != nil { throw wrong("\(Self.shown(option)) takes no value") }
                if option == "-" { throw wrong("no option is named") }
                return [option]
            }
            if option[letter] == "K" { throw nested }
            let isJoined = option.index(after: letter) < option.endIndex
            if isJoined, value != nil { throw wrong("\(Self.shown(option[...letter])) has two values") }
            if isJoined { return [option] }
            guard let value else { throw wrong("\(Self.shown(option)) wants a value") }
            return [option, value]
        }
        let name = option.hasPrefix("--") ? option.dropFirst(2) : option[...]
        switch name {
        case "":
            throw wrong("no option is named")
        case "config":
            throw nested
        case "url":
            guard let value, !value.isEmpty else { throw wrong("url wants a value") }
            if value.hasPrefix("-") { throw wrong("a URL cannot begin with a dash") }
            return [value]
        case _ where name.hasPrefix("config="):
            throw nested
        default:
            if OptionTable.takesValue(long: name) {
                guard let value else { throw wrong("--\(name) wants a value") }
                return ["--\(name)", value]
            }
            if value != nil { throw wrong("--\(Self.shown(name)) takes no value, or is not known") }
            return ["--\(name)"]
        }
    }

    private var nested: CommandError { wrong("a file of options cannot name another") }

    private func wrong(_ reason: String) -> CommandError { CommandError("\(name):\(line): \(reason)") }

    /// An option without the value that may be joined to it, and may be a secret: `--oauth2-bearer=token more`.
    private static func shown(_ option: some StringProtocol) -> String { FieldSyntax.shown(refused: option.utf8) }

    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = ["t": "\t", "n": "\n", "r": "\r", "v": "\u{B}"]

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || ("\t"..."\r").contains(scalar)
    }
}
