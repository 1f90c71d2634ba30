extension UInt8 {
    static let comma = UInt8(ascii: ",")
    static let equals = UInt8(ascii: "=")
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let colon = UInt8(ascii: ":")

    /// Whether it is a control character, as no user name or password may hold (RFC 7617 §2, CTL of RFC 5234).
    var isControl: Bool { self < 0x20 || self == 0x7F }
}
