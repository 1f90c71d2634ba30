import TrawlHTTP

/// The ways a script names, in the order in which they are tried; nil in it is no proxy.
package struct ProxyList: Sendable, Hashable {
    /// At least one.
    package let ways: [Proxy?]

    /// More than anybody needs; each costs a connection attempt.
    private static let mostWays = 16

    /// No proxy.
    package static let direct = ProxyList(ways: [nil])

    private init(ways: [Proxy?]) { self.ways = ways }

    /// Reads what `FindProxyForURL` returned: `PROXY host:port`, `HTTP`, `HTTPS`, `SOCKS`, `SOCKS4`, `SOCKS4A`,
    /// `SOCKS5`, each with host and port, and `DIRECT`, parted by semicolons.
    ///
    /// `SOCKS`, `SOCKS4` and `SOCKS5` leave names to the proxy: a script that wanted them resolved here would do it
    /// itself. A port that is missing is 80 for HTTP, 443 for HTTPS and 1080 for SOCKS. What cannot be read is passed
    /// over. User information is not read: a script knows no passwords. Nothing at all is no proxy, as in browsers.
    ///
    /// - Returns: Nil when there is something, and nothing of it can be read.
    package init?(_ text: some StringProtocol) {
        var ways: [Proxy?] = []
        var isEmpty = true
        for part in text.utf8.split(separator: UInt8(ascii: ";")) {
            guard ways.count < Self.mostWays else { break }
            let words = part.split { $0 == 0x20 || (0x09...0x0D).contains($0) }
            guard let first = words.first else { continue }
            isEmpty = false
            let word = String(decoding: first, as: UTF8.self).uppercased()
            if word == "DIRECT", words.count == 1 {
                if !ways.contains(nil) { ways.append(nil) }
                continue
            }
            guard words.count == 2, let (kind, port) = Self.kind(word),
                let place = try? Proxy.hostAndPort(Array(words[1])[...])
            else { continue }
            let proxy = Proxy(kind, host: place.host, port: place.port ?? port)
            if !ways.contains(proxy) { ways.append(proxy) }
        }
        if ways.isEmpty, !isEmpty { return nil }
        self.ways = ways.isEmpty ? [nil] : ways
    }

    private static func kind(_ word: String) -> (ProxyKind, port: UInt16)? {
        switch word {
        case "PROXY", "HTTP": (.http, 80)
        case "HTTPS": (.https, 443)
        case "SOCKS", "SOCKS4", "SOCKS4A": (.socks4a, 1080)
        case "SOCKS5", "SOCKS5H": (.socks5h, 1080)
        default: nil
        }
    }
}
