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

    /// Leaves out digests of content, where the content is another one from now on.
    mutating func removeContentDigests() {
        removeAll { KnownField($0)?.isContentDigest == true }
    }

    /// Calls `body` with the entity tag, or nil. An empty line is no tag (RFC 9110 §8.8.3), and hides none.
    func withTag<Result>(_ body: (UnsafeRawBufferPointer?) -> Result) -> Result {
        var result: Result?
        forEach { name, value in
            guard result == nil, name.isToken("etag"), !FieldSyntax.trimmed(value).isEmpty else { return }
            result = body(value)
        }
        return result ?? body(nil)
    }

    /// What the only line of a name says; nil when there is none, or no sense in it, or several where one is allowed.
    func only<Value>(_ field: KnownField, _ read: (UnsafeRawBufferPointer) -> Value?) -> Value? {
        var found: Value?
        var lines = 0
        forEach { name, value in
            guard KnownField(name) == field else { return }
            lines += 1
            found = lines == 1 ? read(value) : nil
        }
        return found
    }
}
