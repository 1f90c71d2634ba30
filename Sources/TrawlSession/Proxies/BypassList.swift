package import TrawlHTTP

/// Hosts that no proxy is used for.
///
/// Entries are parted by commas or white space. An entry is
///
/// - `*`: every host;
/// - `<local>`: a name without a dot;
/// - `example.org` or `.example.org`: that host and everything beneath it, as in curl;
/// - `*.example.org`: what is beneath it, and not the host itself;
/// - `192.0.2.1`, `2001:db8::1`, `[2001:db8::1]`: an address;
/// - `192.0.2.0/24`, `2001:db8::/32`: all addresses of a network (RFC 4632 §3.1). Names are not resolved for it.
///
/// Behind names, and addresses of IPv4 or in brackets, `:port` may say that only that port is meant. A dot at the end
/// of a name counts neither here nor there. What is none of these matches nothing.
package struct BypassList: Sendable, Hashable {
    private enum Pattern: Hashable {
        case all
        case local
        case domain([UInt8], withItself: Bool)
        case network(IPAddress, length: Int)
    }

    private struct Entry: Hashable {
        let pattern: Pattern
        let port: UInt16?
    }

    /// Entries beyond these are left out: the list is looked through for every hop.
    private static let mostEntries = 4096

    private let entries: [Entry]

    /// The list that says nothing.
    package init() { entries = [] }

    /// Reads a list.
    package init(_ text: some StringProtocol) {
        let parts = text.utf8.split { $0 == UInt8(ascii: ",") || $0 == 0x20 || (0x09...0x0D).contains($0) }
        entries = parts.prefix(Self.mostEntries).compactMap { Self.entry(Array($0)) }
    }

    /// Whether it has no entry.
    package var isEmpty: Bool { entries.isEmpty }

    /// Whether no proxy is used for that origin.
    package func covers(_ origin: Origin) -> Bool {
        if entries.isEmpty { return false }
        let address = IPAddress(host: origin.host)
        var host = Array(origin.host.utf8)[...]
        if address == nil, host.last == UInt8(ascii: ".") { host = host.dropLast() }
        return entries.contains { entry in
            if let port = entry.port, port != origin.port { return false }
            switch entry.pattern {
            case .all: return true
            case .local: return address == nil && !host.contains(UInt8(ascii: "."))
            case .network(let network, let length): return address?.shares(length, with: network) ?? false
            case .domain(let name, let withItself):
                guard address == nil, host.count >= name.count, host.suffix(name.count) == name[...] else {
                    return false
                }
                if host.count == name.count { return withItself }
                return host[host.endIndex - name.count - 1] == UInt8(ascii: ".")
            }
        }
    }

    private static func entry(_ text: [UInt8]) -> Entry? {
        let lower = text.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        if lower.elementsEqual("*".utf8) { return Entry(pattern: .all, port: nil) }
        if lower.elementsEqual("<local>".utf8) { return Entry(pattern: .local, port: nil) }
        if let network = network(lower) { return Entry(pattern: network, port: nil) }
        var name = lower[...]
        var port: UInt16?
        if let colon = name.lastIndex(of: UInt8(ascii: ":")) {
            guard let number = UInt16(String(decoding: name[(colon + 1)...], as: UTF8.self)), number > 0 else {
                return nil
            }
            port = number
            name = name[..<colon]
            if let network = network(Array(name)) { return Entry(pattern: network, port: port) }
        }
        var withItself = true
        if name.starts(with: "*.".utf8) {
            withItself = false
            name = name.dropFirst(2)
        } else if name.first == UInt8(ascii: ".") {
            name = name.dropFirst()
        }
        if name.last == UInt8(ascii: ".") { name = name.dropLast() }
        guard !name.isEmpty, !name.contains(UInt8(ascii: "*")), !name.contains(UInt8(ascii: ":")) else { return nil }
        return Entry(pattern: .domain(Array(name), withItself: withItself), port: port)
    }

    /// An address, or one with the length of a prefix.
    private static func network(_ text: [UInt8]) -> Pattern? {
        let parts = text.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(String(decoding: first, as: UTF8.self)) else {
            return nil
        }
        let bits = address.bytes.count * 8
        guard parts.count == 2 else { return .network(address, length: bits) }
        guard parts[1].count <= 3, parts[1].allSatisfy({ $0 &- 0x30 < 10 }),
            let length = Int(String(decoding: parts[1], as: UTF8.self)), length <= bits
        else { return nil }
        return .network(address, length: length)
    }
}
