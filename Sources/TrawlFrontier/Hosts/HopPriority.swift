/// Which of the things that wait in one place goes first: five levels.
package enum HopPriority: UInt8, Sendable, Hashable, Comparable, CaseIterable {
    /// After all others.
    case veryLow
    /// After those of the middle.
    case low
    /// The middle.
    case normal
    /// Before those of the middle.
    case high
    /// Before all others.
    case veryHigh

    /// How many levels there are.
    package static let count = 5

    /// The level of a number from 0 to 1, as URL sessions and operation queues have them: 0.5 is the middle.
    ///
    /// What is outside counts as the nearest level, what is no number as the middle.
    package init(_ fraction: Double) {
        self =
            switch fraction {
            case ..<0.2: .veryLow
            case ..<0.4: .low
            case 0.8...: .veryHigh
            case 0.6...: .high
            default: .normal
            }
    }

    package static func < (left: HopPriority, right: HopPriority) -> Bool { left.rawValue < right.rawValue }
}
