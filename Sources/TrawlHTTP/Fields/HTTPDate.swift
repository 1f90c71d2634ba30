/// Dates in field values.
///
/// The three forms of the standard are taken and nothing else, since a date that is not one of them has to count as past
/// in `Expires`.
///
/// - Source: RFC 9110 §5.6.7.
package enum HTTPDate {
    /// The moment a field value names in one of the three forms, or nil. Letters of either case.
    ///
    /// - Parameter now: Decides the century of a year of two digits, and nothing else.
    package static func parse(_ bytes: UnsafeRawBufferPointer, now: WallTime) -> WallTime? {
        let text = FieldSyntax.trimmed(bytes)
        // Sun, 06 Nov 1994 08:49:37 GMT
        if text.count == 29, text[3] == comma {
            guard dayName(text, 0) != nil, text[4] == space, text[7] == space, text[11] == space, text[16] == space,
                text[25] == space, isGMT(text, 26),
                let day = number(text, 5, 2), let month = month(text, 8), let year = number(text, 12, 4),
                let time = timeOfDay(text, 17)
            else { return nil }
            return moment(year, month, day, time)
        }
        // Sun Nov  6 08:49:37 1994
        if text.count == 24, text[3] == space {
            guard dayName(text, 0) != nil, text[7] == space, text[10] == space, text[19] == space,
                let month = month(text, 4), let day = text[8] == space ? number(text, 9, 1) : number(text, 8, 2),
                let time = timeOfDay(text, 11), let year = number(text, 20, 4)
            else { return nil }
            return moment(year, month, day, time)
        }
        return parseDashed(text, now)
    }

    /// Sunday, 06-Nov-94 08:49:37 GMT
    private static func parseDashed(_ text: UnsafeRawBufferPointer, _ now: WallTime) -> WallTime? {
        guard text.count >= 30, text.count <= 33 else { return nil }
        let start = text.count - 22
        guard text[start - 2] == comma, text[start - 1] == space, let name = dayName(text, 0),
            FieldSyntax.equalIgnoringCase(
                UnsafeRawBufferPointer(rebasing: text[..<(start - 2)]), longDayNames[name]),
            text[start + 2] == dash, text[start + 6] == dash, text[start + 9] == space, text[start + 18] == space,
            isGMT(text, start + 19), let day = number(text, start, 2), let month = month(text, start + 3),
            let year = number(text, start + 7, 2), let time = timeOfDay(text, start + 10)
        else { return nil }
        // A moment more than 50 years ahead is past (RFC 9110 §5.6.7).
        let today = civil(fromDays: floorDivide(now.seconds, 86_400))
        let full = floorDivide(today.year, 100) * 100 + year
        let limit = today.year + 50
        let rest = now.seconds - floorDivide(now.seconds, 86_400) * 86_400
        let isAhead = (full, month, day, time) > (limit, today.month, today.day, rest)
        return moment(isAhead ? full - 100 : full, month, day, time)
    }

    /// A moment as `Sun, 06 Nov 1994 08:49:37 GMT`; moments outside the years 1 to 9999 become the nearest inside.
    package static func format(_ time: WallTime) -> String {
        let seconds = min(max(time.seconds, -62_135_596_800), 253_402_300_799)
        let days = floorDivide(seconds, 86_400)
        let date = civil(fromDays: days)
        let rest = seconds - days * 86_400
        let name = dayNames[Int(((days + 3) % 7 + 7) % 7)]
        let clock = two(rest / 3600) + ":" + two(rest / 60 % 60) + ":" + two(rest % 60)
        let year = two(date.year / 100) + two(date.year % 100)
        return name + ", " + two(date.day) + " " + monthNames[Int(date.month - 1)] + " " + year + " " + clock + " GMT"
    }

    // MARK: Parts

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func number(_ text: UnsafeRawBufferPointer, _ start: Int, _ count: Int) -> Int64? {
        var value: Int64 = 0
        for index in start..<(start + count) {
            let digit = text[index] &- 0x30
            guard digit < 10 else { return nil }
            value = value * 10 + Int64(digit)
        }
        return value
    }

    /// Seconds since midnight of `08:49:37`.
    private static func timeOfDay(_ text: UnsafeRawBufferPointer, _ start: Int) -> Int64? {
        guard let hour = number(text, start, 2), let minute = number(text, start + 3, 2),
            let second = number(text, start + 6, 2), text[start + 2] == colon, text[start + 5] == colon
        else { return nil }
        return seconds(hour, minute, second)
    }

    private static func seconds(_ hour: Int64, _ minute: Int64, _ second: Int64) -> Int64? {
        // 60 is a leap second.
        guard hour < 24, minute < 60, second <= 60 else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    /// The moment of a date and the seconds since its midnight, or nil when there is no such day.
    package static func moment(_ year: Int64, _ month: Int64, _ day: Int64, _ time: Int64) -> WallTime? {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let length = month == 2 ? (isLeap ? 29 : 28) : (month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31)
        guard day >= 1, day <= length else { return nil }
        return WallTime(seconds: days(year, month, day) * 86_400 + time)
    }

    /// Days from 1970-01-01. Years are counted from March, so that the leap day is a year's last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return year * 365 + floorDivide(year, 4) - floorDivide(year, 100) + floorDivide(year, 400) + dayOfYear - 719_468
    }

    /// The date of a day, counted from 1970-01-01, in the Gregorian calendar.
    package static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
        number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
    }

    /// The first three letters in lower case as one number.
    private static func letters(_ text: UnsafeRawBufferPointer, _ start: Int) -> UInt32 {
        guard text.count >= start + 3 else { return 0 }
        return UInt32(text[start] | 0x20) << 16 | UInt32(text[start + 1] | 0x20) << 8 | UInt32(text[start + 2] | 0x20)
    }

    /// The month, from 1, whose name begins with three letters of a text, of either case; nil for none.
    package static func month(_ text: UnsafeRawBufferPointer, _ start: Int) -> Int64? {
        // The letters as numbers: a search in tables takes several times as long, and dates are read with each
        // response.
        switch letters(text, start) {
        case 0x6A616E: 1
        case 0x666562: 2
        case 0x6D6172: 3
        case 0x617072: 4
        case 0x6D6179: 5
        case 0x6A756E: 6
        case 0x6A756C: 7
        case 0x617567: 8
        case 0x736570: 9
        case 0x6F6374: 10
        case 0x6E6F76: 11
        case 0x646563: 12
        default: nil
        }
    }

    private static func dayName(_ text: UnsafeRawBufferPointer, _ start: Int) -> Int? {
        switch letters(text, start) {
        case 0x6D6F6E: 0
        case 0x747565: 1
        case 0x776564: 2
        case 0x746875: 3
        case 0x667269: 4
        case 0x736174: 5
        case 0x73756E: 6
        default: nil
        }
    }

    private static func isGMT(_ text: UnsafeRawBufferPointer, _ start: Int) -> Bool {
        letters(text, start) == 0x676D74
    }

    private static let dayNames = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let longDayNames = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]
    private static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static let comma = UInt8(ascii: ",")
    private static let space = UInt8(ascii: " ")
    private static let dash = UInt8(ascii: "-")
    private static let colon = UInt8(ascii: ":")
}
