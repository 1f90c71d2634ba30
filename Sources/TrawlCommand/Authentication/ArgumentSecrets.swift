import Glibc
import TrawlHTTP

/// Takes secrets out of what others on this machine see of the process's arguments.
///
/// They are there from the start of the process until this runs. A file for `-K`, a netrc file and a prompt never show
/// them.
enum ArgumentSecrets {
    /// Options whose values are secret.
    private static let letters = "uU"
    private static let names: Set<Substring> = ["user", "proxy-user", "oauth2-bearer"]
    /// Fields whose values are.
    private static let fields = ["authorization:", "proxy-authorization:", "cookie:"]

    /// Overwrites secrets in the memory that the kernel shows. The copies of `CommandLine.arguments` stay.
    static func hide() {
        let count = Int(CommandLine.argc)
        var isValue = false
        for index in 1..<max(1, count) {
            guard let argument = CommandLine.unsafeArgv[index] else { return }
            let text = String(cString: argument)
            let place = isValue ? 0..<text.utf8.count : secret(in: text)
            isValue = false
            guard let place else { continue }
            if place.isEmpty {
                isValue = true
            } else if place.upperBound <= strlen(argument) {
                memset(argument + place.lowerBound, Int32(UInt8(ascii: "x")), place.count)
            }
        }
    }

    /// Where the secret of an argument is, in bytes; empty when it is the next argument; nil when there is none.
    static func secret(in argument: String) -> Range<Int>? {
        let bytes = Array(argument.utf8)
        let end = bytes.count
        if argument.hasPrefix("--") {
            let body = argument.dropFirst(2)
            guard let sign = body.firstIndex(of: "=") else {
                return names.contains(body) ? end..<end : userInformation(bytes)
            }
            if names.contains(body[..<sign]) { return argument[...sign].utf8.count..<end }
        } else if argument.hasPrefix("-") {
            for place in argument.indices.dropFirst() {
                if letters.contains(argument[place]) { return argument[...place].utf8.count..<end }
                if OptionTable.takesValue(short: argument[place]) { break }
            }
        }
        return fieldValue(argument) ?? userInformation(bytes)
    }

    /// The value of a field line that holds credentials, joined to its option or not.
    private static func fieldValue(_ argument: String) -> Range<Int>? {
        var line = argument[...]
        if line.hasPrefix("-H") { line = line.dropFirst(2) }
        if line.hasPrefix("--header=") { line = line.dropFirst(9) }
        let text = line.lowercased()
        guard let name = fields.first(where: text.hasPrefix) else { return nil }
        let start = argument.utf8.count - line.utf8.count + name.utf8.count
        return start < argument.utf8.count ? start..<argument.utf8.count : nil
    }

    /// The user information of a URL (RFC 3986 §3.2.1).
    private static func userInformation(_ bytes: [UInt8]) -> Range<Int>? {
        var start = 0
        while start + 3 <= bytes.count, !bytes[start...].starts(with: "://".utf8) { start += 1 }
        start += 3
        guard start < bytes.count else { return nil }
        let ends: [UInt8] = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        let authority = bytes[start...].prefix { !ends.contains($0) }
        guard let sign = authority.lastIndex(of: UInt8(ascii: "@")), sign > start else { return nil }
        return start..<sign
    }
}
