import Glibc
import TrawlHTTP

/// Takes secrets out of what others on this machine see of the process's arguments.
///
/// They are there from the start of the process until this runs. A file for `-K`, a netrc file and a prompt never show
/// them.
enum ArgumentSecrets {
    /// What an argument says.
    enum Kind {
        /// A secret, all of it.
        case secret
        /// Cookies, or else a file of some.
        case cookies
        /// A URL, which needs no scheme.
        case place
        /// A field line.
        case field
        /// Anything else; a URL shows by its scheme.
        case other
        /// An operand: a URL mostly.
        case operand
    }

    private static func kind(ofLetter letter: Character) -> Kind {
        switch letter {
        // As curl: of a certificate's file too, for the passphrase behind its colon.
        case "u", "U", "E": .secret
        case "b": .cookies
        case "x": .place
        case "H": .field
        default: .other
        }
    }

    private static func kind(ofName name: Substring) -> Kind {
        switch name {
        case "user", "proxy-user", "oauth2-bearer", "cert", "pass": .secret
        case "cookie": .cookies
        case "proxy", "socks4", "socks4a", "socks5", "socks5-hostname", "pac", "url": .place
        case "header", "proxy-header": .field
        default: .other
        }
    }

    /// Overwrites secrets in the memory that the kernel shows. The copies of `CommandLine.arguments` stay.
    static func hide() {
        let count = Int(CommandLine.argc)
        var kind: Kind?
        var operands = CookieOperands()
        for index in 1..<max(1, count) {
            guard let argument = CommandLine.unsafeArgv[index] else { return }
            let text = String(cString: argument)
            if kind == nil, operands.isCookie(text) { kind = .cookies }
            let found = find(in: text, as: kind)
            kind = found.next
            guard let place = found.place, place.upperBound <= strlen(argument) else { continue }
            memset(argument + place.lowerBound, Int32(UInt8(ascii: "x")), place.count)
        }
    }

    /// Finds the cookie of `trawl cookies set URL LINE`, which is an operand like any other.
    struct CookieOperands {
        private var words: [String] = []

        /// Whether an argument that is no option's value is the cookie.
        mutating func isCookie(_ argument: String) -> Bool {
            guard words.count < 4, !argument.hasPrefix("-") || argument == "-" else { return false }
            words.append(argument)
            return words.count == 4 && words[0] == "cookies" && words[1] == "set"
        }
    }

    /// Where the secret of an argument is, in bytes, nil when there is none; and what the next argument is when it is
    /// the value of this one.
    ///
    /// - Parameter kind: What it is as a value of the one before; nil when it is none.
    static func find(in argument: String, as kind: Kind?) -> (place: Range<Int>?, next: Kind?) {
        if let kind { return (value(argument[...], of: argument, kind), nil) }
        if argument.hasPrefix("--") {
            let body = argument.dropFirst(2)
            guard let sign = body.firstIndex(of: "=") else {
                return (nil, OptionTable.takesValue(long: body) ? self.kind(ofName: body) : nil)
            }
            return (value(body[body.index(after: sign)...], of: argument, self.kind(ofName: body[..<sign])), nil)
        }
        if argument.hasPrefix("-") {
            guard
                let letter = argument.indices.dropFirst().first(where: { OptionTable.takesValue(short: argument[$0]) })
            else { return (nil, nil) }
            let rest = argument[argument.index(after: letter)...]
            let kind = self.kind(ofLetter: argument[letter])
            return rest.isEmpty ? (nil, kind) : (value(rest, of: argument, kind), nil)
        }
        return (value(argument[...], of: argument, .operand), nil)
    }

    /// The secret of a value at the end of an argument, by its place in that.
    private static func value(_ value: Substring, of argument: String, _ kind: Kind) -> Range<Int>? {
        let start = argument.utf8.count - value.utf8.count
        let bytes = Array(value.utf8)
        let place: Range<Int>? =
            switch kind {
            case .secret: 0..<bytes.count
            case .cookies: bytes.contains(UInt8(ascii: "=")) ? 0..<bytes.count : nil
            case .place: userInformation(bytes, needsScheme: false)
            case .field: fieldValue(value) ?? userInformation(bytes, needsScheme: true)
            case .other: userInformation(bytes, needsScheme: true)
            case .operand: fieldValue(value) ?? userInformation(bytes, needsScheme: false)
            }
        guard let place, !place.isEmpty else { return nil }
        return place.lowerBound + start..<place.upperBound + start
    }

    /// The value of a field line that holds credentials. What else than a colon may be behind the name, no name goes on
    /// there (RFC 9110 §5.1): a forgotten colon hides nothing less.
    private static func fieldValue(_ line: Substring) -> Range<Int>? {
        let end = line.utf8.firstIndex { !FieldSyntax.isTokenByte($0) } ?? line.endIndex
        guard end < line.endIndex, SecretFields.contains(line[..<end]) else { return nil }
        return line.utf8.distance(from: line.startIndex, to: end) + 1..<line.utf8.count
    }

    /// The user information of a URL; what needs no scheme is one as a whole.
    private static func userInformation(_ bytes: [UInt8], needsScheme: Bool) -> Range<Int>? {
        var start = 0
        if needsScheme {
            while start + 3 <= bytes.count, !bytes[start...].starts(with: "://".utf8) { start += 1 }
            guard start + 3 <= bytes.count else { return nil }
            // The colon is no part of an authority, and the slashes begin one.
            start += 1
        }
        let place = bytes[start...].withUnsafeBufferPointer { UserInformation.place(in: $0) }
        return place.map { $0.lowerBound + start..<$0.upperBound + start }
    }
}
