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
        let (month, day) = (number(4..<6), number(6..<8))
        guard (1...12).contains(month), (1...31).contains(day), number(8..<10) < 24, number(10..<12) < 60,
            number(12..<14) <= 60
        else { return nil }
        let days = self.days(number(0..<4), month, day)
        return WallTime(seconds: days * 86400 + number(8..<10) * 3600 + number(10..<12) * 60 + number(12..<14))
    }

    private static func date(_ time: WallTime) -> String {
        // Beyond this the form has no room for the year.
        guard time.seconds < 253_402_300_800, time.seconds >= 0 else { return "unlimited" }
        let (days, rest) = time.seconds.quotientAndRemainder(dividingBy: 86400)
        var year: Int64 = 1970 + days / 366
        while self.days(year + 1, 1, 1) <= days { year += 1 }
        var month: Int64 = 12
        while self.days(year, month, 1) > days { month -= 1 }
        let day = days - self.days(year, month, 1) + 1
        func padded(_ number: Int64, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        return padded(year, 4) + padded(month, 2) + padded(day, 2) + " "
            + [rest / 3600, rest / 60 % 60, rest % 60].map { padded($0, 2) }.joined(separator: ":")
    }

    /// Days from 1970 to a date of the Gregorian calendar.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // Years begin in March here, so that a leap day ends one.
        let year = month > 2 ? year : year - 1
        let month = month > 2 ? month - 3 : month + 9
        return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469
    }
}
