import TrawlHTTP

extension FieldLines {
    /// Those that say what the caller has, or wants a part of.
    private static let ofTheCaller = [
        "Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since",
    ]

    /// The fields of a request that asks about all that is stored, with nobody waiting, in place of one with these.
    var ofValidation: FieldLines {
        var fields = self
        for name in Self.ofTheCaller { fields.removeAll(name) }
        // Whose caller does not want the network waits for none of it (RFC 9111 §5.2.1.7).
        if fields.values("Cache-Control").contains(where: { $0.lowercased().contains("only-if-cached") }) {
            fields.removeAll("Cache-Control")
        }
        return fields
    }
}
