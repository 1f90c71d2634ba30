import TrawlHTTP

/// Reads netrc files, in the way curl does.
///
/// Words stand apart by spaces and ends of lines. `machine NAME`, `default`, `login NAME`, `password WORD`, `account
/// WORD`, in whatever case; `macdef NAME` and all up to an empty line is skipped. A word may be quoted, with `\n`,
/// `\r`, `\t` and a backslash before any other character; it ends on its line. A word that begins with `#` ends its
/// line. Other words mean nothing and are passed over.
package struct NetrcParser {
    private enum Value {
        case host
        case login
        case password
        case account
    }

    private let limits: Netrc.Limits
    private var entries: [Netrc.Entry] = []
    /// What the next word is.
    private var expected: Value?
    private var isInMacro = false
    private var line = 0

    /// The entries of a file.
    package static func parse(
        _ bytes: UnsafeRawBufferPointer, limits: Netrc.Limits = Netrc.Limits()
    ) throws(NetrcFault) -> Netrc {
        guard bytes.count <= limits.bytes else { throw NetrcFault(reason: .tooLarge, line: 0) }
        var parser = NetrcParser(limits: limits)
        try parser.read(bytes)
        return Netrc(entries: parser.entries)
    }

    private init(limits: Netrc.Limits) {
        self.limits = limits
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer) throws(NetrcFault) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var start = bytes.starts(with: mark) ? 3 : 0
        while start < bytes.count {
            line += 1
            var end = start
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
            try read(line: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            start = end + 1
        }
        if expected != nil { throw fault(.missingValue) }
    }

    private mutating func read(line bytes: UnsafeRawBufferPointer) throws(NetrcFault) {
        if isInMacro {
            // An empty line ends it, with or without CR.
            if bytes.isEmpty || bytes.count == 1 && bytes[0] == UInt8(ascii: "\r") { isInMacro = false }
            return
        }
        var index = 0
        while true {
            while index < bytes.count, Self.isSpace(bytes[index]) { index += 1 }
            guard index < bytes.count, bytes[index] != UInt8(ascii: "#") else { return }
            let word = bytes[index] == .quote ? try quoted(bytes, &index) : plain(bytes, &index)
            guard word.count <= limits.wordBytes else { throw fault(.tooLarge) }
            guard !word.contains(0), let text = word.withUnsafeBytes(FieldLines.utf8Text) else { throw fault(.notText) }
            try take(text)
            // The macro's name, and the lines that follow.
            if isInMacro { return }
        }
    }

    private func plain(_ bytes: UnsafeRawBufferPointer, _ index: inout Int) -> [UInt8] {
        let start = index
        while index < bytes.count, !Self.isSpace(bytes[index]) { index += 1 }
        return Array(bytes[start..<index])
    }

    private func quoted(_ bytes: UnsafeRawBufferPointer, _ index: inout Int) throws(NetrcFault) -> [UInt8] {
        var word: [UInt8] = []
        index += 1
        while index < bytes.count {
            var byte = bytes[index]
            index += 1
            if byte == .quote { return word }
            if byte == .backslash {
                guard index < bytes.count else { break }
                switch bytes[index] {
                case UInt8(ascii: "n"): byte = 0x0A
                case UInt8(ascii: "r"): byte = 0x0D
                case UInt8(ascii: "t"): byte = 0x09
                default: byte = bytes[index]
                }
                index += 1
            }
            word.append(byte)
        }
        throw fault(.unendedQuote)
    }

    private mutating func take(_ word: String) throws(NetrcFault) {
        if let value = expected {
            expected = nil
            set(value, word)
            return
        }
        switch word.lowercased() {
        case "machine":
            try begin(host: "")
            expected = .host
        case "default": try begin(host: nil)
        case "macdef": isInMacro = true
        case "login" where !entries.isEmpty: expected = .login
        case "password" where !entries.isEmpty: expected = .password
        case "account" where !entries.isEmpty: expected = .account
        default: break
        }
    }

    private mutating func begin(host: String?) throws(NetrcFault) {
        guard entries.count < limits.entries else { throw fault(.tooLarge) }
        entries.append(Netrc.Entry(host: host, line: line))
    }

    private mutating func set(_ value: Value, _ word: String) {
        guard let last = entries.indices.last else { return }
        switch value {
        case .host: entries[last].host = word.lowercased()
        case .login: entries[last].login = word
        case .password: entries[last].password = Secret(word)
        // What some servers of old wanted besides; HTTP has no use for it.
        case .account: break
        }
    }

    private func fault(_ reason: NetrcFault.Reason) -> NetrcFault {
        NetrcFault(reason: reason, line: line)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte >= 0x09 && byte <= 0x0D
    }
}
