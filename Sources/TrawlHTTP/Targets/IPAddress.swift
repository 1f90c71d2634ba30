/// An IPv4 or IPv6 address in binary form.
package struct IPAddress: Sendable, Hashable {
    /// Four bytes or sixteen, in network order.
    package let bytes: [UInt8]

    /// Reads an address: four decimal numbers (no other form of IPv4), or IPv6 with or without brackets, without zone.
    ///
    /// - Source: RFC 3986 §3.2.2 (IPv4address), RFC 4291 §2.2.
    package init?(_ text: some StringProtocol) {
        var utf8 = Array(text.utf8)
        if utf8.first == UInt8(ascii: "[") {
            guard utf8.last == UInt8(ascii: "]") else { return nil }
            utf8.removeLast()
            utf8.removeFirst()
            guard utf8.contains(UInt8(ascii: ":")) else { return nil }
        }
        guard utf8.count <= 45 else { return nil }
        let parsed = utf8.contains(UInt8(ascii: ":")) ? Self.version6(utf8[...]) : Self.version4(utf8[...])
        guard let parsed else { return nil }
        bytes = parsed
    }

    /// Reads the host of a URL, in which IPv6 stands in brackets and may have a zone. That is left out.
    ///
    /// - Source: RFC 3986 §3.2.2, RFC 6874 §2.
    package init?(host: String) {
        guard host.utf8.first == UInt8(ascii: "["), let mark = host.utf8.firstIndex(of: UInt8(ascii: "%")) else {
            self.init(host)
            return
        }
        let zone = host.utf8[mark...]
        guard zone.starts(with: "%25".utf8), zone.last == UInt8(ascii: "]"), zone.count > 4 else { return nil }
        self.init(String(host[..<mark]) + "]")
    }

    /// An address of four or sixteen bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Whether its first `length` bits are those of another of the same family. An IPv4 address in IPv6's form
    /// (`::ffff:0:0/96`, RFC 4291 §2.5.5.2) counts as IPv4.
    package func shares(_ length: Int, with network: IPAddress) -> Bool {
        let (own, other) = (isVersion4Network(network) ? version4Bytes : bytes, network.bytes)
        guard own.count == other.count, (0...(own.count * 8)).contains(length) else { return false }
        let whole = length / 8
        guard own.prefix(whole) == other.prefix(whole) else { return false }
        guard length % 8 > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> (length % 8))
        return own[whole] & mask == other[whole] & mask
    }

    private func isVersion4Network(_ network: IPAddress) -> Bool { network.bytes.count == 4 }

    private var version4Bytes: [UInt8] {
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        return bytes.starts(with: mapped) ? Array(bytes.suffix(4)) : bytes
    }

    private static func version4(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0"),
                part.allSatisfy({ $0 &- 0x30 < 10 })
            else { return nil }
            let value = part.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            guard value <= 255 else { return nil }
            bytes.append(UInt8(value))
        }
        return bytes
    }

    private static func version6(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var rest = text
        var before: [UInt8] = []
        var after: [UInt8] = []
        var hasGap = false
        if rest.starts(with: [0x3A, 0x3A]) {
            hasGap = true
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let group = rest.prefix { $0 != 0x3A }
            let end = group.endIndex
            var value: [UInt8]
            if group.contains(UInt8(ascii: ".")) {
                // The last 32 bits may be written as IPv4.
                guard end == rest.endIndex, let address = version4(group) else { return nil }
                value = address
            } else {
                guard (1...4).contains(group.count), group.first != UInt8(ascii: "+"),
                    let number = UInt16(String(decoding: group, as: UTF8.self), radix: 16)
                else { return nil }
                value = [UInt8(number >> 8), UInt8(number & 0xFF)]
            }
            if hasGap { after += value } else { before += value }
            rest = rest[end...]
            guard !rest.isEmpty else { break }
            rest = rest.dropFirst()
            if rest.first == 0x3A {
                guard !hasGap else { return nil }
                hasGap = true
                rest = rest.dropFirst()
            } else if rest.isEmpty {
                return nil
            }
        }
        let known = before.count + after.count
        guard hasGap ? known <= 14 : known == 16 else { return nil }
        return before + [UInt8](repeating: 0, count: 16 - known) + after
    }
}
