import TrawlJSON

/// A JSON value as a tree, for reports: they are short, and read seldom.
enum ReportValue {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([ReportValue])
    case object([String: ReportValue])

    /// Reads the next value.
    init(_ reader: inout JSONReader) throws(JSONError) {
        switch try reader.peek() {
        case .null:
            try reader.readNull()
            self = .null
        case .bool: self = .bool(try reader.readBool())
        case .number:
            let number = try reader.readNumber()
            self = .number(number.double)
        case .string:
            let string = try reader.readString()
            self = .string(try reader.text(of: string))
        case .array:
            var elements: [ReportValue] = []
            try reader.beginArray()
            while try reader.nextElement() { elements.append(try ReportValue(&reader)) }
            self = .array(elements)
        case .object:
            var members: [String: ReportValue] = [:]
            try reader.beginObject()
            while let name = try reader.nextMember() {
                let text = try reader.text(of: name)
                members[text] = try ReportValue(&reader)
            }
            self = .object(members)
        }
    }

    /// A member of an object.
    subscript(_ name: String) -> ReportValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    var text: String? { if case .string(let text) = self { text } else { nil } }
    var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    var elements: [ReportValue]? { if case .array(let elements) = self { elements } else { nil } }
    var isNull: Bool { if case .null = self { true } else { false } }

    /// A whole number, not negative; one that is too large is the largest there is.
    var count: UInt64? {
        guard case .number(let number) = self, number >= 0, number.rounded() == number else { return nil }
        return number < 0x1p63 ? UInt64(number) : .max
    }

    /// As above.
    var smallCount: Int? { count.map { Int(clamping: $0) } }

    /// The number of a process.
    var process: Int32? { count.flatMap { Int32(exactly: $0) } }

    /// A number of seconds, to the microsecond.
    var seconds: Duration? {
        guard case .number(let number) = self, number >= 0, number < 1e11 else { return nil }
        return .microseconds(Int64((number * 1e6).rounded()))
    }
}
