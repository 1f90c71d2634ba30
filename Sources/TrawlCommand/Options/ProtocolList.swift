/// curl's `--proto`: `=http,https` sets, `+https` adds, `-http` takes away, `all` is both.
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
            default: return nil
            }
        }
    }
}
