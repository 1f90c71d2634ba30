/// A number of bytes per second, as people write it: `10M`, `1.5G/s`, `500k`.
///
/// Units are powers of 1024, as in the byte counts of the command and in curl.
package struct ByteRate: Sendable, Hashable {
    /// Why a text is no rate.
    package enum Mistake: Error, Sendable, Hashable {
        /// There is nothing.
        case empty
        /// A sign in front.
        case negative
        /// What should be the number is none.
        case number(String)
        /// What follows the number is no unit.
        case unit(String)
        /// More than 2^63 - 1 bytes per second.
        case tooLarge
        /// Less than a byte per second, and not zero.
        case tooSmall

        /// What a person needs to write it right. It may repeat a part of the text, to be escaped for a terminal.
        package var advice: String {
            let forms = "a rate is a number with k, M, G or T, as in 500k, 10M or 1.5G/s; 0 is none"
            return switch self {
            case .empty: "no rate is given: \(forms)"
            case .negative: "a rate is not negative: \(forms)"
            case .number(let text): "'\(text.shortForMessages)' is no number: \(forms)"
            case .unit(let text) where text.isAboutBits: "rates are in bytes, not bits: 8 Mbit/s are 1M; \(forms)"
            case .unit(let text): "'\(text.shortForMessages)' is no unit: \(forms)"
            case .tooLarge: "more than can be counted: leave it out, or write 0, for no limit"
            case .tooSmall: "less than a byte per second: \(forms)"
            }
        }
    }

    /// Bytes per second; 0 is no limit. At most 2^63 - 1.
    package let bytesPerSecond: UInt64

    /// No limit.
    package static let none = ByteRate(bytesPerSecond: 0)

    /// A rate of so many bytes per second, at most 2^63 - 1.
    package init(bytesPerSecond: UInt64) {
        self.bytesPerSecond = min(bytesPerSecond, UInt64(Int64.max))
    }

    /// Whether it is no limit.
    package var isNone: Bool { bytesPerSecond == 0 }

    /// The rate a text says: digits, perhaps a point and more of them, perhaps `k`, `M`, `G` or `T` of either case,
    /// perhaps `/s`. Parts of a byte are dropped.
    package init(_ text: String) throws(Mistake) {
        let bytes = Array(text.utf8)
        guard let first = bytes.first else { throw .empty }
        if first == UInt8(ascii: "-") { throw .negative }
        var place = 0
        var number: UInt64 = 0
        var divisor: UInt64 = 1
        var digits = 0
        var isFraction = false
        while place < bytes.count {
            let digit = bytes[place] &- 0x30
            if digit < 10 {
                digits += 1
                if !isFraction {
                    let (product, tooLong) = number.multipliedReportingOverflow(by: 10)
                    let (sum, tooMuch) = product.addingReportingOverflow(UInt64(digit))
                    if tooLong || tooMuch { throw .tooLarge }
                    number = sum
                } else if divisor < Self.finest, number <= .max / 100 {
                    // Further digits are less than a byte of any unit that leaves room for what stands before the
                    // point.
                    number = number * 10 + UInt64(digit)
                    divisor *= 10
                }
            } else if bytes[place] == UInt8(ascii: "."), !isFraction, digits > 0 {
                isFraction = true
                digits = 0
            } else {
                break
            }
            place += 1
        }
        guard digits > 0 else { throw .number(text) }
        let shift = try Self.shift(of: bytes[place...], text)
        let (high, low) = number.multipliedFullWidth(by: 1 << shift)
        guard high < divisor else { throw .tooLarge }
        let value = divisor.dividingFullWidth((high, low)).quotient
        guard value <= Int64.max else { throw .tooLarge }
        if value == 0, bytes.contains(where: { (0x31...0x39).contains($0) }) { throw .tooSmall }
        bytesPerSecond = value
    }

    /// Digits behind the point that count: ten.
    private static let finest: UInt64 = 10_000_000_000

    private static func shift(of unit: ArraySlice<UInt8>, _ text: String) throws(Mistake) -> UInt64 {
        var rest = unit
        var shift: UInt64 = 0
        if let letter = rest.first, let known = units.firstIndex(of: letter | 0x20) {
            shift = UInt64(known + 1) * 10
            rest = rest.dropFirst()
        }
        if rest.isEmpty || rest.elementsEqual("/s".utf8) { return shift }
        let part = String(decoding: unit, as: UTF8.self)
        // What begins like a number, as in 1,5M or 1e6, is a number gone wrong rather than a unit.
        throw unit.contains(where: { (0x30...0x39).contains($0) }) ? .number(text) : .unit(part)
    }

    private static let units = Array("kmgt".utf8)
}

extension String {
    fileprivate var isAboutBits: Bool {
        lowercased().contains("bit") || hasSuffix("bps") || hasSuffix("b/s") && !hasSuffix("B/s")
    }

    /// As much of a text as a message needs.
    fileprivate var shortForMessages: String { String(prefix(40)) }
}
