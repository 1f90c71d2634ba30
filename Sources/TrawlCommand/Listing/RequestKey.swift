/// What a second run knows a request by: 128 bits, the same in every run and build.
///
/// FNV-1a with 128 bits: short, exact in any language, and two of a thousand million different requests share a key
/// with a chance of 10⁻²¹. It does not withstand someone who constructs collisions: who writes a list can leave a line
/// out anyway.
///
/// - Source: Fowler, Noll, Vo and Eastlake, draft-eastlake-fnv-22 §2 (the algorithm), §5 (prime and start for 128
///   bits).
struct RequestKey: Sendable, Hashable {
    private static let start: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D

    let bits: UInt128

    init(bits: UInt128) {
        self.bits = bits
    }

    /// Of a request that has an id: whatever else its line says.
    init(id: RequestID) {
        self.init(tag: 1, id.json)
    }

    /// Of a plain line: the URL as it is requested, with its scheme, the file named after the tab, and the user whom the
    /// URL names.
    init(url: String, out: String?) {
        var bits = Self.mixed(Self.start, 2)
        // Results are no place for a password, not even for a digest of it.
        bits = Self.mixed(bits, URLText.withoutUserInformation(url))
        let user = URLText.user(in: url)
        if out != nil || user != nil {
            // None of them can hold a zero byte.
            bits = Self.mixed(bits, 0)
            bits = Self.mixed(bits, out ?? "")
        }
        if let user {
            bits = Self.mixed(bits, 0)
            bits = Self.mixed(bits, user)
        }
        self.bits = bits
    }

    /// Of a JSON line without an id: the line itself, without whitespace around it.
    init(line: UnsafeRawBufferPointer) {
        self.init(tag: 3, line)
    }

    /// Of a JSON line without an id that holds secrets: what it says without them.
    ///
    /// - Parameter secrets: The places of texts with secrets, in their order, and what is left of each.
    init(line: UnsafeRawBufferPointer, without secrets: [(place: Range<Int>, rest: String)]) {
        var bits = Self.mixed(Self.start, 5)
        var start = 0
        for secret in secrets {
            bits = Self.mixed(bits, line[start..<secret.place.lowerBound])
            bits = Self.mixed(bits, secret.rest)
            start = secret.place.upperBound
        }
        self.bits = Self.mixed(bits, line[start...])
    }

    /// 32 hexadecimal digits, as in `hexadecimal`.
    init?(hexadecimal: String) {
        guard hexadecimal.utf8.count == 32, hexadecimal.utf8.allSatisfy({ $0 != 0x2B && $0 != 0x2D }),
            let bits = UInt128(hexadecimal, radix: 16)
        else { return nil }
        self.bits = bits
    }

    /// The digest of bytes, for other short names.
    init(bytes: some Sequence<UInt8>) {
        self.init(tag: 0, bytes)
    }

    private init(tag: UInt8, _ bytes: some Sequence<UInt8>) {
        self.bits = Self.mixed(Self.mixed(Self.start, tag), bytes)
    }

    /// 32 lower-case hexadecimal digits.
    var hexadecimal: String { withQuotedDigits { String(decoding: $0[1..<33], as: UTF8.self) } }

    /// Lends the digits with a quotation mark at either end.
    func withQuotedDigits<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        withUnsafeTemporaryAllocation(byteCount: 34, alignment: 1) { text in
            text[0] = UInt8(ascii: "\"")
            text[33] = UInt8(ascii: "\"")
            var halves = (UInt64(truncatingIfNeeded: bits), UInt64(truncatingIfNeeded: bits >> 64))
            for index in 0..<16 {
                text[32 - index] = Self.digit(halves.0)
                text[16 - index] = Self.digit(halves.1)
                halves = (halves.0 >> 4, halves.1 >> 4)
            }
            return body(UnsafeRawBufferPointer(text))
        }
    }

    /// The hexadecimal digit of the last four bits.
    @inline(__always)
    private static func digit(_ bits: UInt64) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: bits & 15)
        return value < 10 ? 0x30 &+ value : 0x57 &+ value
    }

    /// One step: exclusive or with the byte, then the product with the prime.
    ///
    /// The prime is 2^88 + 0x13B, so that the product modulo 2^128 takes one wide multiplication in place of three.
    @inline(__always)
    private static func mixed(_ bits: UInt128, _ byte: UInt8) -> UInt128 {
        let low = UInt64(truncatingIfNeeded: bits) ^ UInt64(byte)
        let high = UInt64(truncatingIfNeeded: bits >> 64)
        let product = low.multipliedFullWidth(by: 0x13B)
        let top = high &* 0x13B &+ product.high &+ low << 24
        return UInt128(top) << 64 | UInt128(product.low)
    }

    private static func mixed(_ bits: UInt128, _ bytes: some Sequence<UInt8>) -> UInt128 {
        var bits = bits
        for byte in bytes { bits = mixed(bits, byte) }
        return bits
    }

    private static func mixed(_ bits: UInt128, _ text: String) -> UInt128 {
        text.utf8.withContiguousStorageIfAvailable { mixed(bits, $0) } ?? mixed(bits, text.utf8)
    }
}
