/// Times in one unit: `59s`, `12m`, `47h`, `300d`, `12y`.
enum ShortTime {
    static func text(_ seconds: UInt64) -> String {
        switch seconds {
        case ..<60: "\(seconds)s"
        case ..<3600: "\(seconds / 60)m"
        case ..<172_800: "\(seconds / 3600)h"
        case ..<86_400_000: "\(seconds / 86_400)d"
        case ..<315_576_000_000: "\(seconds / 31_557_600)y"
        default: "ever"
        }
    }
}

extension BinaryInteger {
    /// `1 file`, `2 files`
    func counted(_ one: String, _ many: String? = nil) -> String { "\(self) \(self == 1 ? one : many ?? one + "s")" }
}

extension String {
    /// With blanks behind it, for text of one column a character.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - utf8.count)) }

    /// With blanks in front of it.
    func aligned(to width: Int) -> String { String(repeating: " ", count: max(0, width - utf8.count)) + self }
}
