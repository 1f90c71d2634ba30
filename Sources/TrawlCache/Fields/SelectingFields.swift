import TrawlHTTP

/// The request fields that `Vary` names, as they were in the request a stored response came for.
///
/// Kept packed, as records have them. Each value is there as it came, so that the same client is recognised by
/// comparing bytes, and in its normal form, for all others. Of fields that may hold a secret there is a tag of the
/// normal form.
///
/// - Source: RFC 9111 §4.1.
package struct SelectingFields: Sendable, Hashable {
    /// How a packed entry keeps the value.
    private enum Kind: UInt8 {
        case absent = 0
        /// As it came, which is its normal form too.
        case normal = 1
        /// As it came, then its normal form.
        case both = 2
        case tag = 3
    }

    /// For each field: length of the name (16 bits), kind (8), length of the value (32) and of its normal form (32),
    /// then the three. Names are in lower case and sorted.
    package private(set) var packed: [UInt8] = []

    /// No fields: every request selects the response.
    package init() {}

    /// The packed form as it was stored; `matches` treats nonsense as a mismatch.
    init(packed: UnsafeRawBufferPointer) {
        self.packed = Array(packed)
    }

    /// More names than any response has that can be found again.
    private static let mostNames = 64

    /// The fields of `request` that a response's `Vary` names; nil when it names everything by `*`, or so many that
    /// nobody could mean them.
    init?(vary fields: FieldLines, request: FieldLines, tag: (UnsafeRawBufferPointer) -> SecretTag) {
        guard fields.contains("Vary") else { return }
        var names: [[UInt8]] = []
        var isAnything = false
        fields.forEach { name, value in
            guard KnownField(name) == .vary else { return }
            value.forEachMember { member in
                // One asterisk among names is enough (RFC 9111 §4.1, RFC 9110 §12.5.5).
                let isAsterisk = member.count == 1 && member[0] == UInt8(ascii: "*")
                if isAsterisk || names.count == Self.mostNames { isAnything = true }
                if !isAnything { names.append(member.map(FieldSyntax.lowercased)) }
            }
        }
        if isAnything { return nil }
        names.sort { $0.lexicographicallyPrecedes($1) }
        var last: [UInt8]?
        for name in names where name != last && name.count <= Int(UInt16.max) {
            last = name
            append(name, of: request, tag)
        }
    }

    private mutating func append(
        _ name: [UInt8], of request: FieldLines, _ tag: (UnsafeRawBufferPointer) -> SecretTag
    ) {
        name.withUnsafeBytes { name in
            let value = Self.value(name, of: request)
            guard let value else { return append(name, .absent, [], []) }
            let normal = value.withUnsafeBytes { FieldNormalisation.normalised([$0], name: name) }
            if Self.mayHoldSecret(name) {
                let tag = normal.withUnsafeBytes(tag)
                var bytes: [UInt8] = []
                bytes.append(tag.high)
                bytes.append(tag.low)
                return append(name, .tag, bytes, [])
            }
            append(name, normal == value ? .normal : .both, value, normal == value ? [] : normal)
        }
    }

    /// Whether a field may say something that must not be written into a record.
    ///
    /// Services take their keys in fields of any name (`X-Api-Key`, `X-Auth-Token`), so all may but those that say what
    /// a client is and what it takes.
    private static func mayHoldSecret(_ name: UnsafeRawBufferPointer) -> Bool {
        switch name.count {
        case 2 where name.isToken("te"), 3 where name.isToken("dnt") || name.isToken("dpr"),
            4 where name.isToken("host"), 5 where name.isToken("width"),
            6 where name.isToken("accept") || name.isToken("origin"), 9 where name.isToken("save-data"),
            10 where name.isToken("user-agent"), 12 where name.isToken("content-type"),
            14 where name.isToken("viewport-width"), 16 where name.isToken("x-requested-with"):
            false
        default:
            // Accept-Encoding and its like; client hints and what browsers say of a request.
            !name.part(0, 7).isToken("accept-") && !name.part(0, 7).isToken("sec-ch-")
                && !name.part(0, 10).isToken("sec-fetch-")
        }
    }

    private mutating func append(_ name: UnsafeRawBufferPointer, _ kind: Kind, _ value: [UInt8], _ normal: [UInt8]) {
        packed.append(UInt16(truncatingIfNeeded: name.count))
        packed.append(kind.rawValue)
        packed.append(UInt32(truncatingIfNeeded: value.count))
        packed.append(UInt32(truncatingIfNeeded: normal.count))
        packed.append(contentsOf: name)
        packed.append(contentsOf: value)
        packed.append(contentsOf: normal)
    }

    /// The values of all lines of that name joined by commas, without spaces at the ends, or nil when there is none.
    private static func value(_ name: UnsafeRawBufferPointer, of request: FieldLines) -> [UInt8]? {
        var result: [UInt8]?
        request.forEach { lineName, value in
            guard FieldSyntax.equalIgnoringCase(lineName, name) else { return }
            let value = FieldSyntax.trimmed(value)
            if result == nil {
                result = Array(value)
            } else {
                result?.append(.comma); result?.append(contentsOf: value)
            }
        }
        return result
    }

    /// One packed entry.
    private struct Entry {
        let name: UnsafeRawBufferPointer
        let kind: Kind
        let value: UnsafeRawBufferPointer
        let normal: UnsafeRawBufferPointer
    }

    private static let entryHeader = 11

    /// The entry at `offset`, which moves behind it; nil when the bytes are not one.
    private static func entry(_ packed: UnsafeRawBufferPointer, at offset: inout Int) -> Entry? {
        guard packed.count - offset >= entryHeader else { return nil }
        let nameLength = Int(UInt16(littleEndian: packed.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
        guard let kind = Kind(rawValue: packed[offset + 2]) else { return nil }
        let valueLength = Int(UInt32(littleEndian: packed.loadUnaligned(fromByteOffset: offset + 3, as: UInt32.self)))
        let normalLength = Int(UInt32(littleEndian: packed.loadUnaligned(fromByteOffset: offset + 7, as: UInt32.self)))
        let start = offset + entryHeader
        guard packed.count - start >= nameLength + valueLength + normalLength else { return nil }
        offset = start + nameLength + valueLength + normalLength
        let valueStart = start + nameLength
        return Entry(
            name: packed.part(start, valueStart), kind: kind,
            value: packed.part(valueStart, valueStart + valueLength),
            normal: packed.part(valueStart + valueLength, offset))
    }

    /// Whether a request has the values kept in `packed`; does not allocate when they are the same bytes.
    static func matches(
        _ packed: UnsafeRawBufferPointer, _ request: FieldLines, tag: (UnsafeRawBufferPointer) -> SecretTag
    ) -> Bool {
        var offset = 0
        while offset < packed.count {
            guard let entry = entry(packed, at: &offset), matches(entry, request, tag) else { return false }
        }
        return true
    }

    private static func matches(
        _ entry: Entry, _ request: FieldLines, _ tag: (UnsafeRawBufferPointer) -> SecretTag
    ) -> Bool {
        var lines = 0
        var isSame = false
        request.forEach { name, value in
            guard name.count == entry.name.count, FieldSyntax.equalIgnoringCase(name, entry.name) else { return }
            lines += 1
            if entry.kind != .tag { isSame = lines == 1 && FieldSyntax.trimmed(value).equals(entry.value) }
        }
        // A field that was not there must not be there (RFC 9111 §4.1).
        if entry.kind == .absent || lines == 0 { return entry.kind == .absent && lines == 0 }
        if isSame { return true }
        guard let value = value(entry.name, of: request) else { return false }
        let normal = value.withUnsafeBytes { FieldNormalisation.normalised([$0], name: entry.name) }
        if entry.kind == .tag {
            guard entry.value.count == 16 else { return false }
            let tag = normal.withUnsafeBytes(tag)
            return UInt64(littleEndian: entry.value.loadUnaligned(as: UInt64.self)) == tag.high
                && UInt64(littleEndian: entry.value.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) == tag.low
        }
        return normal.withUnsafeBytes { $0.equals(entry.kind == .both ? entry.normal : entry.value) }
    }

    /// Whether every field kept here is kept in `other` with a value that means the same.
    func isContained(in other: UnsafeRawBufferPointer) -> Bool {
        packed.withUnsafeBytes { packed in
            var offset = 0
            while offset < packed.count {
                guard let entry = Self.entry(packed, at: &offset) else { return false }
                var otherOffset = 0
                var isFound = false
                while !isFound, otherOffset < other.count {
                    guard let candidate = Self.entry(other, at: &otherOffset) else { return false }
                    isFound = candidate.name.equals(entry.name) && Self.meansSame(candidate, entry)
                }
                if !isFound { return false }
            }
            return true
        }
    }

    private static func meansSame(_ left: Entry, _ right: Entry) -> Bool {
        let leftNormal = left.kind == .both ? left.normal : left.value
        let rightNormal = right.kind == .both ? right.normal : right.value
        let areAlike =
            left.kind == right.kind || left.kind == .both && right.kind == .normal
            || left.kind == .normal && right.kind == .both
        return areAlike && leftNormal.equals(rightNormal)
    }
}

extension [UInt8] {
    /// Appends an integer in little endian.
    mutating func append(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}
