import TrawlHTTP

/// The file of curl's `--hsts`: a host a line, with a dot ahead when those below are meant, and when it ends.
///
///     .example.org "20271121 10:20:30"
package enum SecureHostsFile {
    /// The hosts of a file. Lines that make no sense are passed over, as curl does.
    package static func read(_ text: String) -> [KnownSecureHost] {
        text.split(whereSeparator: \.isNewline).compactMap { line in
            guard !line.hasPrefix("#"), let blank = line.firstIndex(where: { $0 == " " || $0 == "\t" }) else {
                return nil
            }
            let includes = line.hasPrefix(".")
            let date = line[blank...].filter { $0 != "\"" }
            guard let name = TransportSecurity.name(of: String(line[..<blank].drop { $0 == "." })),
                let expires = time(date.drop { $0 == " " || $0 == "\t" })
            else { return nil }
            return KnownSecureHost(name: name, expires: expires, includesSubdomains: includes)
        }
    }

    /// The file of hosts.
    package static func text(of hosts: [KnownSecureHost]) -> String {
        "# Hosts that take secure transport only (RFC 6797), in the form of curl's --hsts\n"
            + hosts.map { "\($0.includesSubdomains ? "." : "")\($0.name) \"\(date($0.expires))\"\n" }.joined()
    }

    /// `YYYYMMDD hh:mm:ss` in UTC, or `unlimited`.
    private static func time(_ text: some StringProtocol) -> WallTime? {
        let trimmed = String(text).filter { $0 != "\r" }
        if trimmed == "unlimited" { return WallTime(milliseconds: .max) }
        let digits = trimmed.utf8.filter { $0 >= 0x30 && $0 <= 0x39 }.map { Int64($0 - 0x30) }
        guard digits.count == 14, trimmed.utf8.count == 17 else { return nil }
        func number(_ range: Range<Int>) -> Int64 { digits[range].reduce(0) { $0 * 10 + $1 } }
        let (hour, minute, second) = (number(8..<10), number(10..<12), number(12..<14))
        let month = number(4..<6)
        guard (1...12).contains(month), hour < 24, minute < 60, second <= 60 else { return nil }
        return HTTPDate.moment(number(0..<4), month, number(6..<8), hour * 3600 + minute * 60 + second)
    }

    private static func date(_ time: WallTime) -> String {
        // Beyond this the form has no room for the year.
        guard time.seconds < 253_402_300_800, time.seconds >= 0 else { return "unlimited" }
        let (days, rest) = time.seconds.quotientAndRemainder(dividingBy: 86400)
        let date = HTTPDate.civil(fromDays: days)
        func padded(_ number: Int64, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        return padded(date.year, 4) + padded(date.month, 2) + padded(date.day, 2) + " "
            + [rest / 3600, rest / 60 % 60, rest % 60].map { padded($0, 2) }.joined(separator: ":")
    }
}
