extension Unicode.Scalar {
    /// The scalar as text that is safe on a terminal: control characters become `\u{…}`.
    ///
    /// C0, DEL and C1 controls can drive a terminal; bidirectional controls can make text lie.
    package func escaped(asASCII: Bool) -> String {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069:
            "\\u{" + String(value, radix: 16) + "}"
        case 0xA0...:
            asASCII ? "\\u{" + String(value, radix: 16) + "}" : String(self)
        default:
            String(self)
        }
    }
}

extension String {
    /// The text with control characters made visible, for logs and terminals.
    package var terminalSafe: String {
        if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return self }
        return unicodeScalars.map { $0.escaped(asASCII: false) }.joined()
    }
}
