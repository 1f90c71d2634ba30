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

    /// Whether the lines of a name say the same here and there, byte for byte and in the same order.
    func haveSameValues(_ name: String, as other: FieldLines) -> Bool { bytes(of: name) == other.bytes(of: name) }

    private func bytes(of name: String) -> [[UInt8]] {
        var found: [[UInt8]] = []
        forEach { lineName, value in
            if FieldSyntax.equalIgnoringCase(lineName, name) { found.append(Array(value)) }
        }
        return found
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
