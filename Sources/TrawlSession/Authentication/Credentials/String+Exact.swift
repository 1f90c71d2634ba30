extension String {
    /// Whether another text is the same byte for byte, as servers compare names and passwords. `==` takes a letter with
    /// an accent behind it for the letter that has the accent (Unicode's canonical equivalence).
    func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
