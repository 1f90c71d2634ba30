package import TrawlHTTP

/// One `Set-Cookie` field value taken apart: what it says, whoever said it.
///
/// The buffers are parts of the line and live as long as it does. Lines are never joined with commas, and attributes of
/// older standards (`Version`, `Comment`, `Port`, `Discard`) and `Partitioned` are not looked at.
///
/// - Source: RFC 6265bis §5.6.
package struct SetCookie {
    /// Bytes that name and value may have together.
    package static let nameAndValueLimit = 4096
    /// Bytes that an attribute's value may have.
    package static let attributeLimit = 1024
    /// The longest life of a cookie, in seconds: 400 days (RFC 6265bis §5.5).
    package static let lifetimeLimit: Int64 = 400 * 86_400

    /// The name, which may be empty.
    package let name: UnsafeRawBufferPointer
    /// The value, which may be empty when the name is not.
    package let value: UnsafeRawBufferPointer
    /// When it ends, by `Max-Age` else `Expires` whichever stands first; nil for a session cookie.
    package private(set) var expiry: WallTime?
    /// The last `Domain` without its leading dot, in the case it came in; nil when there is none or it is empty.
    package private(set) var domain: UnsafeRawBufferPointer?
    /// The last `Path`; nil when there is none or it does not start with a slash, which means the default path.
    package private(set) var path: UnsafeRawBufferPointer?
    /// Whether there is a `Path`, of whatever value.
    package private(set) var hasPath = false
    /// `Secure`.
    package private(set) var isSecure = false
    /// `HttpOnly`.
    package private(set) var isHTTPOnly = false
    /// `SameSite`.
    package private(set) var sameSite = SameSite.unset

    /// What a line says.
    ///
    /// - Parameter now: What `Max-Age` counts from, and the longest life.
    package init(_ line: UnsafeRawBufferPointer, now: WallTime) throws(CookieRefusal) {
        // §5.6 step 1.
        guard line.isFreeOfControls() else { throw .forbiddenByte }
        let pairEnd = Self.find(Self.semicolon, in: line, from: 0)
        var nameEnd = Self.find(Self.equals, in: line, from: 0)
        // Steps 3 and 4: a pair without an equals sign is a value without a name.
        if nameEnd < pairEnd {
            name = FieldSyntax.trimmed(line.from(0, upTo: nameEnd))
            nameEnd += 1
        } else {
            name = UnsafeRawBufferPointer(start: nil, count: 0)
            nameEnd = 0
        }
        value = FieldSyntax.trimmed(line.from(nameEnd, upTo: pairEnd))
        // Step 5, and §5.7 step 2.
        guard name.count + value.count <= Self.nameAndValueLimit else { throw .tooLong }
        guard !name.isEmpty || !value.isEmpty else { throw .empty }

        var maxAge: Int64?
        var expires: WallTime?
        var start = pairEnd + 1
        while start < line.count {
            let end = Self.find(Self.semicolon, in: line, from: start)
            take(line.from(start, upTo: end), &maxAge, &expires)
            start = end + 1
        }
        let latest = now.advanced(byMilliseconds: Self.lifetimeLimit * 1000)
        if let maxAge {
            // §5.6.2: not above zero means the earliest moment there is.
            expiry =
                maxAge <= 0
                ? WallTime(milliseconds: .min)
                : now.advanced(byMilliseconds: min(maxAge, Self.lifetimeLimit).multipliedClamping(by: 1000))
        } else if let expires {
            expiry = min(expires, latest)
        }
    }

    /// What a line of a head says, `Set-Cookie: a=1`, in whatever case; nil when it is none of that name.
    package static func value(ofLine line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        line.startsIgnoringCase("set-cookie:") ? line.from(11, upTo: line.count) : nil
    }

    /// One attribute (the second half of §5.6).
    private mutating func take(
        _ attribute: UnsafeRawBufferPointer, _ maxAge: inout Int64?, _ expires: inout WallTime?
    ) {
        let nameEnd = Self.find(Self.equals, in: attribute, from: 0)
        let name = FieldSyntax.trimmed(attribute.from(0, upTo: nameEnd))
        let value = FieldSyntax.trimmed(attribute.from(min(nameEnd + 1, attribute.count), upTo: attribute.count))
        guard value.count <= Self.attributeLimit else { return }
        switch name.count {
        case 4 where name.isIgnoringCase("path"):
            hasPath = true
            path = value.first == UInt8(ascii: "/") ? value : nil
        case 6 where name.isIgnoringCase("secure"):
            isSecure = true
        case 6 where name.isIgnoringCase("domain"):
            let start = value.first == UInt8(ascii: ".") ? 1 : 0
            domain = value.count > start ? value.from(start, upTo: value.count) : nil
        case 7 where name.isIgnoringCase("expires"):
            if let date = CookieDate.parse(value) { expires = date }
        case 7 where name.isIgnoringCase("max-age"):
            if let seconds = Self.seconds(value) { maxAge = seconds }
        case 8 where name.isIgnoringCase("httponly"):
            isHTTPOnly = true
        case 8 where name.isIgnoringCase("samesite"):
            sameSite = SameSite(value)
        default:
            return
        }
    }

    /// A number of seconds with or without a minus sign, cut to what 64 bits hold; nil when it is none (§5.6.2).
    private static func seconds(_ value: UnsafeRawBufferPointer) -> Int64? {
        let isNegative = value.first == UInt8(ascii: "-")
        guard value.count > (isNegative ? 1 : 0) else { return nil }
        var number: Int64 = 0
        for index in (isNegative ? 1 : 0)..<value.count {
            let digit = value[index] &- 0x30
            guard digit < 10 else { return nil }
            number = number.multipliedClamping(by: 10).addingClamping(Int64(digit))
        }
        return isNegative ? -number : number
    }

    private static let semicolon = UInt8(ascii: ";")
    private static let equals = UInt8(ascii: "=")

    /// The place of a byte, or the end.
    @inline(__always)
    private static func find(_ byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index < bytes.count, bytes[index] != byte { index += 1 }
        return index
    }
}
