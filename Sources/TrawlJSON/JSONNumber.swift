/// A number as it is written. Valid as long as the text it was read from.
package struct JSONNumber {
    /// The text, exactly.
    package let text: UnsafeRawBufferPointer
    /// Whether it is written without point and exponent.
    let isInteger: Bool

    /// The value, when it is written without point and exponent and fits.
    package var integer: Int? {
        guard isInteger else { return nil }
        let isNegative = text.first == UInt8(ascii: "-")
        var value = 0
        for byte in text.dropFirst(isNegative ? 1 : 0) {
            // Downwards, since there is one negative number more.
            let (ten, tooMany) = value.multipliedReportingOverflow(by: 10)
            let (next, overflow) = ten.subtractingReportingOverflow(Int(byte &- 0x30))
            if tooMany || overflow { return nil }
            value = next
        }
        if isNegative { return value }
        return value == Int.min ? nil : -value
    }

    /// The value, when it is a whole number that fits, however it is written: many programs write `3` as `3.0` (RFC
    /// 8259 §6 makes no difference between them). Those with a point or an exponent are exact up to 2⁵³.
    package var wholeNumber: Int? {
        if let integer { return integer }
        let double = double
        return isInteger || double.magnitude > 0x1p53 ? nil : Int(exactly: double)
    }

    /// The nearest number there is; infinite when it is too large (RFC 8259 §6).
    package var double: Double {
        Double(String(decoding: text, as: UTF8.self)) ?? .nan
    }
}
