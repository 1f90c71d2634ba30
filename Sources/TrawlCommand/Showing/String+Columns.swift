extension String {
    /// With blanks behind it, for text of one column a character.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - utf8.count)) }

    /// With blanks in front of it.
    func aligned(to width: Int) -> String { String(repeating: " ", count: max(0, width - utf8.count)) + self }
}
