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
