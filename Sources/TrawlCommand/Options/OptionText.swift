import ArgumentParser

/// Values of options that are kept as text.
enum OptionText {
    /// Refuses a value in the parser's own words.
    ///
    /// - Parameter option: With its value's name, such as `--workers <count>`.
    static func check(_ text: String?, _ option: String, isValid: (String) -> Bool) throws {
        guard let text, !isValid(text) else { return }
        throw ValidationError("The value '\(text)' is invalid for '\(option)'")
    }
}
