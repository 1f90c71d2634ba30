extension BinaryInteger {
    /// `1 file`, `2 files`
    func counted(_ one: String, _ many: String? = nil) -> String { "\(self) \(self == 1 ? one : many ?? one + "s")" }
}
