package import TrawlHTTP

/// Dates in `Expires`, which servers write in more ways than any grammar has.
///
/// - Source: RFC 6265bis §5.1.1.
package enum CookieDate {
    /// The moment a text names, or nil when it lacks a part of a date or has one that is out of range.
    ///
    /// Zones are not looked at: every time is taken as UTC.
    package static func parse(_ text: UnsafeRawBufferPointer) -> WallTime? {
        var time: Int64?
        var day: Int64?
        var month: Int64?
        var year: Int64?
        var start = 0
        while start < text.count {
            if isDelimiter(text[start]) {
                start += 1
                continue
            }
            var end = start + 1
            while end < text.count, !isDelimiter(text[end]) { end += 1 }
            let token = text.from(start, upTo: end)
            start = end
            // The first token that can be a part is that part, in this order.
            if time == nil, let found = timeOfDay(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = monthNumber(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year, time >= 0 else { return nil }
        // Years of two digits, and of three that are as small.
        if year >= 70, year <= 99 { year += 1900 }
        if year <= 69 { year += 2000 }
        guard year >= 1601 else { return nil }
        return HTTPDate.moment(year, month, day, time)
    }

    /// %x09 / %x20-2F / %x3B-40 / %x5B-60 / %x7B-7E
    @inline(__always)
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// The number a token starts with, when it has that many digits and no more.
    private static func number(_ token: UnsafeRawBufferPointer, digits: ClosedRange<Int>) -> Int64? {
        var index = 0
        guard let value = leadingNumber(token, &index, digits) else { return nil }
        return value
    }

    /// Seconds since midnight of `1:02:3`, whatever follows the last digit; -1 when a part is out of range.
    private static func timeOfDay(_ token: UnsafeRawBufferPointer) -> Int64? {
        var index = 0
        guard let hour = leadingNumber(token, &index, 1...2), skipColon(token, &index),
            let minute = leadingNumber(token, &index, 1...2), skipColon(token, &index),
            let second = leadingNumber(token, &index, 1...2)
        else { return nil }
        return hour <= 23 && minute <= 59 && second <= 59 ? hour * 3600 + minute * 60 + second : -1
    }

    private static func skipColon(_ token: UnsafeRawBufferPointer, _ index: inout Int) -> Bool {
        guard index < token.count, token[index] == UInt8(ascii: ":") else { return false }
        index += 1
        return true
    }

    private static func leadingNumber(
        _ token: UnsafeRawBufferPointer, _ index: inout Int, _ digits: ClosedRange<Int>
    ) -> Int64? {
        let start = index
        var value: Int64 = 0
        while index < token.count, token[index] &- 0x30 < 10 {
            guard index - start < digits.upperBound else { return nil }
            value = value * 10 + Int64(token[index] &- 0x30)
            index += 1
        }
        return index - start >= digits.lowerBound ? value : nil
    }

    private static func monthNumber(_ token: UnsafeRawBufferPointer) -> Int64? {
        // What is no letter may look like one in lower case.
        guard token.count >= 3, token[0] >= 0x41, token[1] >= 0x41, token[2] >= 0x41 else { return nil }
        return HTTPDate.month(token, 0)
    }
}
