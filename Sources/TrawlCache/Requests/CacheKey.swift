package import TrawlHTTP

/// What stored responses are found by: the target URI without fragment and user information, normalised.
///
/// Beyond the target's own form, which is what is requested, percent-encoded characters that need no encoding stand for
/// themselves, and other percent-encodings have capitals: URIs that differ in that alone name one resource, and servers
/// should tell none of them apart (RFC 9110 §4.2.3). What is requested stays as it was written.
///
/// Only responses that may answer GET are stored, so the method is not part of it: HEAD is answered from them, and a
/// storable answer to POST or PATCH answers a later GET (RFC 9110 §9.3.3, RFC 5789 §2). The trailing slash and the query
/// are significant.
///
/// - Source: RFC 9111 §2; RFC 3986 §6.2.2.1, §6.2.2.2.
package struct CacheKey: Sendable, Hashable {
    /// The key as text. Its UTF-8 bytes are what a digest is made of.
    package var text: String

    /// The key of a target.
    package init(_ target: TargetURI) {
        text = Self.normalised(target.text)
    }

    /// A URI, or the beginning of one, with the percent-encodings of keys. What is none stays as it is.
    package static func normalised(_ uri: String) -> String {
        var text = uri
        let percent = UInt8(ascii: "%")
        let bytes: [UInt8]? = text.withUTF8 { bytes in
            guard let first = bytes.firstIndex(of: percent) else { return nil }
            var result = Array(bytes[..<first])
            result.reserveCapacity(bytes.count)
            var index = first
            while index < bytes.count {
                guard bytes[index] == percent, index + 2 < bytes.count, let high = hexadecimal(bytes[index + 1]),
                    let low = hexadecimal(bytes[index + 2])
                else {
                    result.append(bytes[index])
                    index += 1
                    continue
                }
                let byte = high << 4 | low
                if isUnreserved(byte) {
                    result.append(byte)
                } else {
                    result += [percent, digit(high), digit(low)]
                }
                index += 3
            }
            return result
        }
        return bytes.map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// RFC 3986 §2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    /// A key read back from a record.
    package init(text: String) {
        self.text = text
    }
}

/// Stands for a secret in records: the same for equal secrets, and of no use to who reads it.
///
/// Made outside with a keyed digest of the store, so that a credential or cookie is never written into the cache.
package struct SecretTag: Sendable, Hashable {
    /// Half of the digest.
    package var high: UInt64
    /// The other half.
    package var low: UInt64

    /// A tag of its halves.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The tag of several secrets in their order, of which this is the last.
    func following(_ others: SecretTag?) -> SecretTag {
        guard let others else { return self }
        return SecretTag(
            high: (others.high &* 0x9E37_79B9_7F4A_7C15) ^ high, low: (others.low &* 0x9E37_79B9_7F4A_7C15) ^ low)
    }
}
