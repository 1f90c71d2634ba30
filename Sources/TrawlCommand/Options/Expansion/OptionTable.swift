/// Which options take a value.
///
/// The parser knows it too, but only while it parses; `-K` needs it before. One spelling means the same in every
/// subcommand, so one table is enough; a test compares it with the help texts. Those of `cache`, `cookies`, `auth`,
/// `status` and `top` are not meant: they know no `-K`.
enum OptionTable {
    private static let letters = "ADEHKTUXbcdeijmoruwx"
    private static let names: Set<Substring> = [
        "cacert", "cache-policy", "cache-size", "cache-ttl", "capath", "cert", "cert-type", "ciphers", "config",
        "connect-timeout", "connect-to", "cookie", "cookie-jar", "credential-helper", "data", "data-ascii",
        "data-binary", "data-raw", "data-urlencode", "debug", "dump-header",
        "first-byte-timeout", "header", "hsts", "input-file",
        "interface", "jar", "json", "key", "key-type", "limit-rate", "limit-rate-metered", "max-filesize", "max-memory",
        "max-redirs", "max-time", "metrics-file", "metrics-interval", "netrc-file", "noproxy", "oauth2-bearer",
        "out", "output", "output-dir", "pac", "parallel", "pass", "per-host", "pinnedpubkey", "progress", "proto",
        "proxy", "proxy-cacert", "proxy-header", "proxy-user", "range", "read-timeout", "referer", "request",
        "resolve", "results", "retry", "retry-after-max", "retry-delay", "retry-max-time", "socks4", "socks4a",
        "socks5", "socks5-hostname", "status-socket", "store", "tls-max", "tls13-ciphers", "upload-file", "url",
        "use-askpass", "user", "user-agent", "vault", "vault-passphrase-file", "wait", "wait-for-network", "warc",
        "workers", "write-out",
    ]

    static func takesValue(short letter: Character) -> Bool { letters.contains(letter) }

    /// - Parameter name: Without its dashes.
    static func takesValue(long name: Substring) -> Bool { names.contains(name) }
}
