/// A time in seconds, with at most nanoseconds after the point: `30`, `2.5`. At most ten years; zero is no limit.
struct SecondsArgument: Equatable {
    /// Ten years.
    static let most = Duration.seconds(10 * 366 * 86_400)

    let duration: Duration

    init?(argument: String) {
        let parts = argument.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard argument.utf8.count <= 30, argument != ".",
            parts.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } })
        else { return nil }
        guard let whole = parts[0].isEmpty ? 0 : Int64(parts[0]), Self.most >= .seconds(whole), !argument.isEmpty else {
            return nil
        }
        var nanoseconds: Int64 = 0
        if parts.count == 2 {
            var digits = parts[1].prefix(9)
            while digits.count < 9 { digits += "0" }
            nanoseconds = Int64(digits) ?? 0
        }
        duration = .seconds(whole) + .nanoseconds(nanoseconds)
    }
}
