package import TrawlHTTP

extension Origin {
    /// What the cache keys of the origin's targets begin with.
    package var keyStart: String { text + "/" }
}

extension StoredView {
    /// Whether the response is one of that origin.
    package func isOf(_ origin: Origin) -> Bool {
        var start = origin.keyStart
        return start.withUTF8 { start in
            key.count >= start.count && key.prefix(start.count).elementsEqual(start)
        }
    }
}
