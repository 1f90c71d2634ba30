import TrawlHTTP

/// Brings selecting field values into one form, so that requests that mean the same select the same variant.
///
/// - Source: RFC 9111 §4.1: white space may change where the syntax allows it, lines of one name may be joined, and
///   values may be brought into the order and form their field's semantics make equal.
enum FieldNormalisation {
    /// One form of all values of a field, in order.
    static func normalised(_ lines: [UnsafeRawBufferPointer], name: UnsafeRawBufferPointer) -> [UInt8] {
        let field = KnownField(name)
        if field == .accept || field?.isPreferenceList == true {
            return preferences(lines, hasMediaTypes: field == .accept)
        }
        var result: [UInt8] = []
        for line in lines {
            line.forEachMember { member in
                if !result.isEmpty { result.append(.comma) }
                result.append(contentsOf: member)
            }
        }
        return result
    }

    /// Members in lower case, without white space, with weights in their shortest form, sorted: their order says
    /// nothing (RFC 9110 §12.4.2; for languages also §12.5.4).
    private static func preferences(_ lines: [UnsafeRawBufferPointer], hasMediaTypes: Bool) -> [UInt8] {
        var members: [[UInt8]] = []
        for line in lines {
            line.forEachMember { members.append(preference($0, keepsCase: hasMediaTypes)) }
        }
        members.sort { $0.lexicographicallyPrecedes($1) }
        return Array(members.joined(separator: [.comma]))
    }

    private static func preference(_ member: UnsafeRawBufferPointer, keepsCase: Bool) -> [UInt8] {
        var result: [UInt8] = []
        var start = 0
        while start <= member.count {
            var end = start
            while end < member.count, member[end] != .semicolon {
                end = member[end] == .quote ? member.endOfQuoted(end) : end + 1
            }
            let part = FieldSyntax.trimmed(member.part(start, end))
            if start == 0 {
                // A type, coding or language: case does not count.
                for byte in part where byte != .space && byte != .tab { result.append(FieldSyntax.lowercased(byte)) }
            } else if let weight = weight(part) {
                // A weight of 1 is the default (RFC 9110 §12.4.2).
                if weight != 1000 { result.append(contentsOf: ";q=\(weight)".utf8) }
            } else if !part.isEmpty {
                result.append(.semicolon)
                // Parameter values of media types may depend on case.
                result.append(contentsOf: part.lazy.map { keepsCase ? $0 : FieldSyntax.lowercased($0) })
            }
            start = end + 1
        }
        return result
    }

    /// Thousandths of `q=0.5`, or nil when it is not a weight.
    static func weight(_ part: UnsafeRawBufferPointer) -> Int? {
        guard part.count > 1, FieldSyntax.lowercased(part[0]) == UInt8(ascii: "q") else { return nil }
        var rest = FieldSyntax.trimmed(part.part(1, part.count))
        guard rest.first == .equals else { return nil }
        rest = FieldSyntax.trimmed(rest.part(1, rest.count))
        guard let whole = rest.first, whole == 0x30 || whole == 0x31, rest.count <= 5 else { return nil }
        var thousandths = Int(whole - 0x30) * 1000
        if rest.count > 1 {
            guard rest[1] == UInt8(ascii: ".") else { return nil }
            var scale = 100
            for byte in rest.part(2, rest.count) {
                guard byte &- 0x30 < 10 else { return nil }
                thousandths += Int(byte - 0x30) * scale
                scale /= 10
            }
        }
        return thousandths <= 1000 ? thousandths : nil
    }
}
