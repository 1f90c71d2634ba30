import TrawlHTTP

/// The short way for URLs that are already in normal form: http or https, a lower-case host name or a dotted quad, and
/// only bytes that no step of normalisation touches.
///
/// Whatever is not plain is left to libcurl; tests compare the answers of both.
enum PlainURL {
    /// The target, or nil when the text is not plain.
    static func parse(_ text: String) -> TargetURI? {
        text.utf8.withContiguousStorageIfAvailable { parse(text, $0) } ?? nil
    }

    private static func parse(_ text: String, _ bytes: UnsafeBufferPointer<UInt8>) -> TargetURI? {
        // Looked up once, and not for each byte.
        let classes = Self.classes
        let hostStart: Int
        let scheme: String
        let defaultPort: UInt16
        if starts(bytes, with: "http://") {
            (hostStart, scheme, defaultPort) = (7, "http", 80)
        } else if starts(bytes, with: "https://") {
            (hostStart, scheme, defaultPort) = (8, "https", 443)
        } else {
            return nil
        }
        var index = hostStart
        while index < bytes.count, classes[Int(bytes[index])] & hostBit != 0 { index += 1 }
        let hostEnd = index
        guard hostEnd > hostStart, isPlainHost(UnsafeBufferPointer(rebasing: bytes[hostStart..<hostEnd])) else {
            return nil
        }
        var port = defaultPort
        if index < bytes.count, bytes[index] == UInt8(ascii: ":") {
            guard let (number, end) = plainPort(bytes, from: index + 1), number != defaultPort else { return nil }
            port = number
            index = end
        }
        // A URL without a path gets one: no longer the same text.
        guard index < bytes.count, bytes[index] == UInt8(ascii: "/") else { return nil }
        let pathStart = index
        while index < bytes.count, classes[Int(bytes[index])] & pathBit != 0 {
            // Possible dot segments.
            if bytes[index] == UInt8(ascii: "."), bytes[index - 1] == UInt8(ascii: "/") { return nil }
            index += 1
        }
        let pathEnd = index
        if index < bytes.count {
            guard bytes[index] == UInt8(ascii: "?") else { return nil }
            index += 1
            while index < bytes.count, classes[Int(bytes[index])] & pathBit != 0 { index += 1 }
            guard index == bytes.count, pathEnd + 1 < index else { return nil }
        }
        return TargetURI(
            origin: Origin(scheme: scheme, host: string(bytes, hostStart, hostEnd), port: port), text: text,
            pathStart: pathStart, queryStart: pathEnd < bytes.count ? pathEnd : nil)
    }

    private static func string(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
    }

    private static func starts(_ bytes: UnsafeBufferPointer<UInt8>, with prefix: StaticString) -> Bool {
        guard bytes.count > prefix.utf8CodeUnitCount else { return false }
        for index in 0..<prefix.utf8CodeUnitCount where bytes[index] != prefix.utf8Start[index] { return false }
        return true
    }

    /// Whether the host is a name that cannot be taken for an address, or a dotted quad of decimal numbers.
    private static func isPlainHost(_ host: UnsafeBufferPointer<UInt8>) -> Bool {
        guard host.count <= 253, let first = host.first, let last = host.last, first != UInt8(ascii: "."),
            last != UInt8(ascii: "."), first != UInt8(ascii: "-")
        else { return false }
        var label = 0
        for index in 0..<host.count where host[index] == UInt8(ascii: ".") {
            if host[index + 1] == UInt8(ascii: ".") { return false }
            label = index + 1
        }
        // A last label that starts with a digit could be a number in a form that libcurl rewrites.
        return host[label] &- 0x30 >= 10 || isDottedQuad(host)
    }

    private static func isDottedQuad(_ host: UnsafeBufferPointer<UInt8>) -> Bool {
        var dots = 0
        var value = 0
        var digits = 0
        for byte in host {
            if byte == UInt8(ascii: ".") {
                guard digits > 0 else { return false }
                dots += 1
                value = 0
                digits = 0
            } else {
                guard byte &- 0x30 < 10, digits == 0 || value > 0 else { return false }
                value = value * 10 + Int(byte &- 0x30)
                digits += 1
                guard value <= 255 else { return false }
            }
        }
        return dots == 3 && digits > 0
    }

    private static func plainPort(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> (UInt16, Int)? {
        var index = start
        var value = 0
        while index < bytes.count, bytes[index] &- 0x30 < 10 {
            // No leading zero: the text would change.
            guard index == start || value > 0 else { return nil }
            value = value * 10 + Int(bytes[index] &- 0x30)
            guard value <= 65_535 else { return nil }
            index += 1
        }
        return value > 0 ? (UInt16(value), index) : nil
    }

    private static let hostBit: UInt8 = 1
    private static let pathBit: UInt8 = 2

    /// What each byte may be part of: a plain host; a plain path or query (RFC 3986 §3.3, without percent signs).
    private static let classes: [UInt8] = {
        var classes = [UInt8](repeating: 0, count: 256)
        for byte in "abcdefghijklmnopqrstuvwxyz0123456789.-".utf8 { classes[Int(byte)] |= hostBit }
        for byte in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/".utf8 {
            classes[Int(byte)] |= pathBit
        }
        return classes
    }()
}
