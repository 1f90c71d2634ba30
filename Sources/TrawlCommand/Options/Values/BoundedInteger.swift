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
