import TrawlHTTP

extension FieldLines {
    /// Those that say what the caller has.
    private static let ofTheCaller = [
        "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since",
    ]

    /// The fields of a request that asks about what is stored, with nobody waiting, in place of one with these.
    ///
    /// - Parameter keepsRange: Whether it is about a stored part, and no more is wanted.
    func ofValidation(keepsRange: Bool) -> FieldLines {
        var fields = self
        for name in Self.ofTheCaller { fields.removeAll(name) }
        if !keepsRange { fields.removeAll("Range") }
        // Whose caller does not want the network waits for none of it (RFC 9111 §5.2.1.7).
        if fields.values("Cache-Control").contains(where: { $0.lowercased().contains("only-if-cached") }) {
            fields.removeAll("Cache-Control")
        }
        return fields
    }
}
