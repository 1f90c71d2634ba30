package import TrawlHTTP

/// A record read where it lies, without copying.
///
/// Lives as long as the bytes do. Every byte is taken as hostile: whatever they hold, nothing here traps.
package struct StoredView {
    /// The format this code writes and reads.
    static let version: UInt8 = 1
    /// Bytes before the texts.
    static let fixedLength = 144

    /// What a hit needs to know.
    package let facts: StoredFacts
    /// The lifetime the request that stored it gave.
    let secondsToCache: Int64?
    /// The bytes of the head; what follows them is not looked at.
    package let headLength: Int
    let key: UnsafeRawBufferPointer
    let selecting: UnsafeRawBufferPointer
    let reason: UnsafeRawBufferPointer
    let fields: UnsafeRawBufferPointer
    /// Bytes of the program's own.
    package let metadata: UnsafeRawBufferPointer

    /// The record at the start of `bytes`, which may go on behind it.
    package init(_ bytes: UnsafeRawBufferPointer) throws(RecordError) {
        guard bytes.count >= 1 else { throw .truncated }
        guard bytes[0] == Self.version else { throw .version }
        guard bytes.count >= Self.fixedLength else { throw .truncated }
        facts = try StoredFacts(record: bytes)
        let override = bytes.integer(at: 112, as: Int64.self)
        secondsToCache = facts.flags.contains(.overridden) ? override : nil
        var offset = Self.fixedLength
        key = try Self.text(0, bytes, &offset)
        selecting = try Self.text(1, bytes, &offset)
        reason = try Self.text(2, bytes, &offset)
        fields = try Self.text(3, bytes, &offset)
        metadata = try Self.text(4, bytes, &offset)
        headLength = offset
    }

    /// The text of that number, which starts at `offset`.
    private static func text(
        _ index: Int, _ bytes: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(RecordError) -> UnsafeRawBufferPointer {
        let length = Int(bytes.integer(at: 120 + 4 * index, as: UInt32.self))
        guard length <= bytes.count - offset else { throw .truncated }
        defer { offset += length }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
    }

    /// Whether fields of a request select the response.
    var varies: Bool { !selecting.isEmpty }

    /// Whether the record was stored under that key.
    package func hasKey(_ key: CacheKey) -> Bool {
        var text = key.text
        return text.withUTF8 { UnsafeRawBufferPointer($0).equals(self.key) }
    }

    /// Whether a request has the selecting field values and the credentials of the request it came for.
    ///
    /// A response belongs to the credentials of its request, those in `Authorization` and in `Cookie`: it answers a
    /// request with others only when it says `public` or `s-maxage`, and not `private`. One that came without any may
    /// answer requests with cookies, as in browsers, but none with `Authorization`. The standard asks for less of a
    /// private cache (RFC 9111 §3.5 binds shared ones, and to `Authorization` alone); but one store serves many
    /// sessions and accounts.
    package func isSelected(
        by request: CacheRequest, tag: (UnsafeRawBufferPointer) -> SecretTag
    ) -> Bool {
        if request.isPartitioned || !facts.flags.contains(.openToAll) {
            guard request.credentials == facts.ownCredentials || facts.ownCredentials == nil && !request.isAuthorized
            else { return false }
        }
        return selecting.isEmpty || SelectingFields.matches(selecting, request.fields, tag: tag)
    }

    /// Whether a new response takes the place of this one: no request that selects this one would do without it.
    package func isReplaced(by new: StoredResponse) -> Bool {
        guard facts.ownCredentials == new.facts.ownCredentials || new.facts.flags.contains(.openToAll) else {
            return false
        }
        return hasKey(new.key) && new.selecting.isContained(in: selecting)
    }

    /// The stored fields; nil when the record is damaged.
    package func storedFields() -> FieldLines? {
        FieldLines(packed: fields)
    }
}
