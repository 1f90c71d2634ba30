/// curl's `--proto`: `=http,https` sets, `+https` adds, `-http` takes away, `all` is both. Other schemes that curl knows
/// may be named, and are never spoken.
struct ProtocolList: Equatable {
    var allowsHTTP = true
    var allowsHTTPS = true

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        for item in argument.split(separator: ",", omittingEmptySubsequences: false) {
            var name = item
            let sign = name.first.flatMap { "=+-".contains($0) ? $0 : nil }
            if sign != nil { name.removeFirst() }
            if sign == "=" {
                allowsHTTP = false
                allowsHTTPS = false
            }
            let allows = sign != "-"
            switch name.lowercased() {
            case "http": allowsHTTP = allows
            case "https": allowsHTTPS = allows
            case "all":
                allowsHTTP = allows
                allowsHTTPS = allows
            case let other where Self.others.contains(other): break
            default: return nil
            }
        }
    }

    /// What curl 7.88 speaks besides: its `--proto`.
    private static let others: Set<String> = [
        "dict", "file", "ftp", "ftps", "gopher", "gophers", "imap", "imaps", "ldap", "ldaps", "mqtt", "pop3", "pop3s",
        "rtmp", "rtmpe", "rtmps", "rtmpt", "rtmpte", "rtmpts", "rtsp", "scp", "sftp", "smb", "smbs", "smtp", "smtps",
        "telnet", "tftp",
    ]
}
