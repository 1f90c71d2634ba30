import TrawlHTTP

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

    // In halves: a `UInt128` lies at multiples of sixteen bytes, and an object with one in it comes from
    // `posix_memalign`, not from the blocks that `malloc` keeps at hand.
    private(set) var high: UInt64 = 0
    private(set) var low: UInt64 = 0

    private(set) var bits: UInt128 {
        get { UInt128(high) << 64 | UInt128(low) }
        set {
            high = UInt64(truncatingIfNeeded: newValue >> 64)
            low = UInt64(truncatingIfNeeded: newValue)
        }
    }

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
        let user = UserInformation.user(in: url)
        bits = Self.mixed(bits, user == nil ? url : UserInformation.removed(from: url))
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
            for index in 0..<4 {
                let digits = Self.digits(UInt32(truncatingIfNeeded: bits >> (96 - 32 * index)))
                text.storeBytes(of: digits.bigEndian, toByteOffset: 1 + 8 * index, as: UInt64.self)
            }
            return body(UnsafeRawBufferPointer(text))
        }
    }

    /// Eight hexadecimal digits, the first in the highest byte.
    @inline(__always)
    private static func digits(_ bits: UInt32) -> UInt64 {
        // Four bits in each byte.
        var digits = UInt64(bits)
        digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits | digits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // 1 in those above 9, which are letters.
        let letters = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return digits &+ 0x3030_3030_3030_3030 &+ letters &* 0x27
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
