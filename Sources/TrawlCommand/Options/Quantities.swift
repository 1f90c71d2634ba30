/// A number of bytes: `1000`, `64k`, `10M`, `2G`, `1T`, by powers of 1024.
struct ByteCountArgument: Equatable {
    let bytes: UInt64

    init?(argument: String) {
        var digits = argument[...]
        var shift: UInt64 = 0
        switch digits.last {
        case "k", "K": shift = 10
        case "m", "M": shift = 20
        case "g", "G": shift = 30
        case "t", "T": shift = 40
        default: break
        }
        if shift > 0 { digits.removeLast() }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = UInt64(digits) else {
            return nil
        }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
        guard !overflow else { return nil }
        self.bytes = bytes
    }
}

/// A time in seconds, with at most nanoseconds after the point: `30`, `2.5`. At most ten years; zero is no limit.
struct SecondsArgument: Equatable {
    let duration: Duration

    init?(argument: String) {
        let parts = argument.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard argument.utf8.count <= 30, argument != ".",
            parts.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } })
        else { return nil }
        guard let whole = parts[0].isEmpty ? 0 : Int64(parts[0]), whole <= 10 * 366 * 86_400, !argument.isEmpty else {
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

/// A least time and what chance may add to it: `2`, `2~1.5`, in seconds.
struct WaitArgument: Equatable {
    let least: Duration
    let random: Duration

    init?(argument: String) {
        let parts = argument.split(separator: "~", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let least = SecondsArgument(argument: parts[0]) else { return nil }
        self.least = least.duration
        guard parts.count == 2 else {
            random = .zero
            return
        }
        guard let random = SecondsArgument(argument: parts[1]) else { return nil }
        self.random = random.duration
    }
}

/// A number within bounds, so that the message of a wrong one names the option.
struct BoundedInteger<Bounds: IntegerBounds>: Equatable {
    let value: Int

    init?(argument: String) {
        guard let value = Int(argument), Bounds.range.contains(value) else { return nil }
        self.value = value
    }
}

/// What a `BoundedInteger` may be.
protocol IntegerBounds {
    static var range: ClosedRange<Int> { get }
}

enum WorkerCount: IntegerBounds { static let range = 1...64 }
enum ParallelCount: IntegerBounds { static let range = 1...4096 }
enum PerHostCount: IntegerBounds { static let range = 0...4096 }
enum RetryCount: IntegerBounds { static let range = 0...1000 }
enum RedirectCount: IntegerBounds { static let range = -1...1000 }
