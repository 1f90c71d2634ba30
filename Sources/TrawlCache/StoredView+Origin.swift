package import TrawlHTTP

extension StoredView {
    /// Whether the response is one of that origin.
    package func isOf(_ origin: Origin) -> Bool {
        var start = origin.scheme + "://" + origin.host
        if let port = origin.explicitPort { start += ":\(port)" }
        start += "/"
        return start.withUTF8 { start in
            key.count >= start.count && key.prefix(start.count).elementsEqual(start)
        }
    }
}
