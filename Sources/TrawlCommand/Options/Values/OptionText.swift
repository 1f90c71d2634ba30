import ArgumentParser

/// Values of options that are kept as text.
enum OptionText {
    /// Refuses a value in the parser's own words.
    ///
    /// - Parameters:
    ///   - option: With its value's name, such as `--workers <count>`.
    ///   - wanted: What is taken, in words.
    static func check(
        _ text: String?, _ option: String, _ wanted: @autoclosure () -> String, isValid: (String) -> Bool
    ) throws {
        guard let text, !isValid(text) else { return }
        throw ValidationError("The value '\(text)' is invalid for '\(option)'; it wants \(wanted())")
    }

    /// Refuses what is no number within the bounds.
    static func check<Bounds: IntegerBounds>(_ text: String?, _ option: String, within bounds: Bounds.Type) throws {
        let range = Bounds.range
        try check(text, option, "a number from \(range.lowerBound) to \(range.upperBound)") {
            BoundedInteger<Bounds>(argument: $0) != nil
        }
    }

    /// Refuses what is no time.
    static func checkSeconds(_ text: String?, _ option: String) throws {
        try check(text, option, "seconds, such as 30 or 2.5, and at most ten years") {
            SecondsArgument(argument: $0) != nil
        }
    }

    /// Refuses what is no size.
    static func checkBytes(_ text: String?, _ option: String) throws {
        try check(text, option, "a number of bytes, with k, M, G or T behind it or not") {
            ByteCountArgument(argument: $0) != nil
        }
    }
}
