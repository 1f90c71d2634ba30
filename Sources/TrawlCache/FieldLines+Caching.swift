package import TrawlHTTP

extension FieldLines {
    /// Whether a request with these fields wants what is stored or nothing (RFC 9111 §5.2.1.7).
    package var wantStoredOnly: Bool {
        guard contains("Cache-Control") else { return false }
        var control = CacheControl()
        forEach { name, value in
            if KnownField(name) == .cacheControl { control.read(value) }
        }
        return control.flags.contains(.onlyIfCached)
    }
}
