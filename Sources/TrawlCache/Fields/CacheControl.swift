import TrawlHTTP

/// The directives of `Cache-Control` in a request or a response.
///
/// Lines are read one after the other, without allocation. Of a directive that comes twice the first counts
/// (RFC 9111 §4.2.1). Directives nobody knows are passed over (§5.2.3).
struct CacheControl: Sendable, Hashable {
    struct Flags: OptionSet, Sendable, Hashable {
        let rawValue: UInt16
        static let noCache = Flags(rawValue: 1)
        /// `no-cache` with field names.
        static let noCacheFields = Flags(rawValue: 2)
        static let noStore = Flags(rawValue: 4)
        static let mustRevalidate = Flags(rawValue: 8)
        static let mustUnderstand = Flags(rawValue: 16)
        static let isPublic = Flags(rawValue: 32)
        static let isPrivate = Flags(rawValue: 64)
        static let immutable = Flags(rawValue: 128)
        static let onlyIfCached = Flags(rawValue: 256)
        /// Read for who may share a response, never for its lifetime: this cache is private (RFC 9111 §5.2.2.10).
        static let sMaxage = Flags(rawValue: 512)
        /// `max-stale` without a number: any staleness.
        static let maxStaleAny = Flags(rawValue: 1024)
    }

    /// The value of a directive that has seconds.
    enum Seconds: Sendable, Hashable {
        case absent
        /// There, but not a number of seconds.
        case invalid
        case value(Int64)

        var number: Int64? {
            if case .value(let number) = self { number } else { nil }
        }
    }

    var flags: Flags = []
    var maxAge = Seconds.absent
    var maxStale = Seconds.absent
    var minFresh = Seconds.absent
    var staleWhileRevalidate = Seconds.absent
    var staleIfError = Seconds.absent

    /// Whether a response says that it may answer requests with other credentials.
    ///
    /// - Source: RFC 9111 §3.5; `private` forbids it (§5.2.2.7).
    var isForAll: Bool {
        !flags.isDisjoint(with: [.isPublic, .sMaxage]) && !flags.contains(.isPrivate)
    }

    /// Reads one field line.
    mutating func read(_ line: UnsafeRawBufferPointer) {
        Self.forEachDirective(line) { name, value in
            // Told apart by length first: most names are met on every response.
            switch name.count {
            case 6 where name.isToken("public"): flags.insert(.isPublic)
            case 7 where name.isToken("max-age"): Self.take(value, into: &maxAge)
            case 7 where name.isToken("private"):
                // With field names it restricts shared caches alone (RFC 9111 §5.2.2.7).
                if value == nil { flags.insert(.isPrivate) }
            case 8 where name.isToken("no-cache"):
                // With an empty list nothing is named, and the strict reading is safe (RFC 9111 §5.2.2.4); so it is
                // where a field is named that cannot be left out.
                flags.insert(value.map(Self.namesOnlyDispensable) ?? false ? .noCacheFields : .noCache)
            case 8 where name.isToken("no-store"): flags.insert(.noStore)
            case 8 where name.isToken("s-maxage"): flags.insert(.sMaxage)
            case 9 where name.isToken("immutable"): flags.insert(.immutable)
            case 9 where name.isToken("max-stale"):
                if value == nil { flags.insert(.maxStaleAny) } else { Self.take(value, into: &maxStale) }
            case 9 where name.isToken("min-fresh"): Self.take(value, into: &minFresh)
            case 14 where name.isToken("only-if-cached"): flags.insert(.onlyIfCached)
            case 14 where name.isToken("stale-if-error"): Self.take(value, into: &staleIfError)
            case 15 where name.isToken("must-revalidate"): flags.insert(.mustRevalidate)
            case 15 where name.isToken("must-understand"): flags.insert(.mustUnderstand)
            case 22 where name.isToken("stale-while-revalidate"): Self.take(value, into: &staleWhileRevalidate)
            default: break
            }
        }
    }

    /// Whether a `Pragma` line has `no-cache` (RFC 9111 §5.4).
    static func holdsNoCache(_ line: UnsafeRawBufferPointer) -> Bool {
        var found = false
        forEachDirective(line) { name, value in
            if value == nil, name.isToken("no-cache") { found = true }
        }
        return found
    }

    /// Calls `body` with each field name that a qualified `no-cache` lists in this line (RFC 9111 §5.2.2.4).
    static func forEachNoCacheField(_ line: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        forEachDirective(line) { name, value in
            guard name.isToken("no-cache"), let value else { return }
            forEachFieldName(value, body)
        }
    }

    private static func forEachFieldName(
        _ list: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
    ) {
        for part in list.split(separator: UInt8(ascii: ",")) {
            let field = FieldSyntax.trimmed(UnsafeRawBufferPointer(rebasing: part))
            if FieldSyntax.isToken(field) { body(field) }
        }
    }

    private static func namesOnlyDispensable(_ list: UnsafeRawBufferPointer) -> Bool {
        var isDispensable = !list.isEmpty
        forEachFieldName(list) { name in
            if KnownField(name)?.saysWhatTheBytesAre == true { isDispensable = false }
        }
        return isDispensable
    }

    private static func take(_ value: UnsafeRawBufferPointer?, into seconds: inout Seconds) {
        guard seconds == .absent else { return }
        seconds = value.flatMap(deltaSeconds).map(Seconds.value) ?? .invalid
    }

    /// Seconds in decimal digits; more than 2^31 of them count as 2^31 (RFC 9111 §1.2.2).
    static func deltaSeconds(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        guard !bytes.isEmpty else { return nil }
        var number: Int64 = 0
        for byte in bytes {
            let digit = byte &- 0x30
            guard digit < 10 else { return nil }
            number = min(number * 10 + Int64(digit), 1 << 31)
        }
        return number
    }

    /// Calls `body` with each directive of a line: its name and, when an equals sign follows at once, its argument, a
    /// token or the inside of a quoted string (RFC 9111 §5.2).
    ///
    /// An argument that is neither, as after a space, is empty. The next directive begins after the next comma
    /// outside of quotes.
    private static func forEachDirective(
        _ line: UnsafeRawBufferPointer,
        _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) -> Void
    ) {
        var index = 0
        while index < line.count {
            let byte = line[index]
            guard FieldSyntax.isTokenByte(byte) else {
                index = byte == UInt8(ascii: "\"") ? line.endOfQuoted(index) : index + 1
                // What is in quotes or after other nonsense is no directive.
                if byte != .comma, byte != .space, byte != .tab { index = line.nextComma(index) }
                continue
            }
            let start = index
            while index < line.count, FieldSyntax.isTokenByte(line[index]) { index += 1 }
            let name = line.part(start, index)
            var value: UnsafeRawBufferPointer?
            if index < line.count, line[index] == .equals {
                index += 1
                let valueStart = index
                if index < line.count, line[index] == .quote {
                    index = line.endOfQuoted(index)
                    let isClosed = index - 1 > valueStart && line[index - 1] == .quote
                    value = line.part(valueStart + 1, isClosed ? index - 1 : index)
                } else {
                    while index < line.count, line[index] != .comma { index += 1 }
                    let text = line.part(valueStart, index)
                    // A space right after the equals sign makes it no argument; before the comma it is allowed.
                    value = text.first == .space || text.first == .tab ? text.part(0, 0) : FieldSyntax.trimmed(text)
                }
            }
            body(name, value)
            index = line.nextComma(index)
        }
    }
}

extension UInt8 {
    static let comma = UInt8(ascii: ",")
    static let space = UInt8(ascii: " ")
    static let tab = UInt8(ascii: "\t")
    static let quote = UInt8(ascii: "\"")
    static let equals = UInt8(ascii: "=")
    static let semicolon = UInt8(ascii: ";")
}

extension UnsafeRawBufferPointer {
    /// The bytes between two places, cut to what there is.
    @inline(__always)
    func part(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
        let start = Swift.min(Swift.max(start, 0), count)
        return UnsafeRawBufferPointer(rebasing: self[start..<Swift.min(Swift.max(end, start), count)])
    }

    /// Whether these bytes are a text in lower case but for the case of letters.
    @inline(__always)
    func isToken(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount, let base = baseAddress else { return false }
        let wanted = UnsafeRawPointer(text.utf8Start)
        // As many at a time as there are; the last ones may be looked at twice.
        if count >= 8 {
            var index = 0
            while index < count {
                let place = Swift.min(index, count &- 8)
                if !Self.isSame(base, wanted, at: place, UInt64.self, 0x2020_2020_2020_2020) { return false }
                index &+= 8
            }
            return true
        }
        if count >= 4 {
            return Self.isSame(base, wanted, at: 0, UInt32.self, 0x2020_2020)
                && Self.isSame(base, wanted, at: count &- 4, UInt32.self, 0x2020_2020)
        }
        for index in 0..<count where !Self.isSame(base, wanted, at: index, UInt8.self, 0x20) { return false }
        return true
    }

    /// Whether some bytes are those of a text in lower case but for the case of letters.
    ///
    /// - Parameter bits: The bit of each byte that tells cases apart. The one above it is set in letters only, of all
    ///   bytes such texts have.
    @inline(__always)
    private static func isSame<Word: FixedWidthInteger>(
        _ bytes: UnsafeRawPointer, _ text: UnsafeRawPointer, at place: Int, _: Word.Type, _ bits: Word
    ) -> Bool {
        let wanted = text.loadUnaligned(fromByteOffset: place, as: Word.self)
        return bytes.loadUnaligned(fromByteOffset: place, as: Word.self) | (wanted >> 1 & bits) == wanted
    }

    /// The place after the quoted string that starts at `start`; the end when it is not closed (RFC 9110 §5.6.4).
    func endOfQuoted(_ start: Int) -> Int {
        var index = start + 1
        while index < count {
            if self[index] == UInt8(ascii: "\\") { index += 1 } else if self[index] == .quote { return index + 1 }
            index += 1
        }
        return count
    }

    /// The place of the next comma outside of quotes, or the end.
    func nextComma(_ start: Int) -> Int {
        var index = start
        while index < count, self[index] != .comma {
            index = self[index] == .quote ? endOfQuoted(index) : index + 1
        }
        return index
    }

    /// Calls `body` with each member of a list, without spaces around it; empty ones are left out (RFC 9110 §5.6.1).
    func forEachMember(_ body: (UnsafeRawBufferPointer) -> Void) {
        var start = 0
        while start < count {
            let end = nextComma(start)
            let member = FieldSyntax.trimmed(part(start, end))
            if !member.isEmpty { body(member) }
            start = end + 1
        }
    }

    /// Whether both hold the same bytes.
    @inline(__always)
    func equals(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        for index in 0..<count where self[index] != other[index] { return false }
        return true
    }
}
