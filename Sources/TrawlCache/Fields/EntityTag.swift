import TrawlHTTP

/// Comparisons of entity tags, as bytes.
///
/// Tags that are not in the standard's form (no quotes, a mark of weakness spelled otherwise) are compared as they are:
/// a server that sends them expects the same bytes back. None of them counts as strong.
///
/// - Source: RFC 9110 §8.8.3.
enum EntityTag {
    /// Whether a tag is not in the form of a strong one.
    static func isWeak(_ tag: UnsafeRawBufferPointer) -> Bool {
        tag.first != .quote
    }

    /// RFC 9110 §8.8.3.2: the same but for the mark.
    static func areWeaklyEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        opaque(left).equals(opaque(right))
    }

    /// RFC 9110 §8.8.3.2: the same, and neither weak.
    static func areStronglyEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        !isWeak(left) && !isWeak(right) && left.equals(right)
    }

    private static func opaque(_ tag: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        tag.count > 2 && tag[0] == UInt8(ascii: "W") && tag[1] == UInt8(ascii: "/") ? tag.part(2, tag.count) : tag
    }

    /// Whether `If-None-Match` lists a tag, by the weak comparison (RFC 9110 §13.1.2).
    static func isListed(_ tag: UnsafeRawBufferPointer?, in fields: FieldLines) -> Bool {
        guard let tag else { return false }
        return anyMember(of: fields) { areWeaklyEqual($0, tag) }
    }

    /// Whether `If-None-Match` is about any representation there is.
    static func isAny(in fields: FieldLines) -> Bool {
        anyMember(of: fields) { $0.count == 1 && $0[0] == UInt8(ascii: "*") }
    }

    /// How many tags `If-None-Match` lists.
    static func count(in fields: FieldLines) -> Int {
        var count = 0
        _ = anyMember(of: fields) { _ in
            count += 1
            return false
        }
        return count
    }

    private static func anyMember(of fields: FieldLines, _ isIt: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        var found = false
        fields.forEach { name, value in
            guard !found, KnownField(name) == .ifNoneMatch else { return }
            forEachTag(value) { tag in
                if !found, isIt(tag) { found = true }
            }
        }
        return found
    }

    /// Calls `body` with each tag of a list, without spaces around it. A backslash escapes nothing in them.
    private static func forEachTag(_ list: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        var start = 0
        var isQuoted = false
        for index in 0...list.count {
            if index < list.count {
                if list[index] == .quote { isQuoted.toggle() }
                if isQuoted || list[index] != .comma { continue }
            }
            let tag = FieldSyntax.trimmed(list.part(start, index))
            if !tag.isEmpty { body(tag) }
            start = index + 1
        }
    }
}
