/// The checkout that the tests were built from.
package enum Checkout {
    private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        .joined(separator: "/")

    /// The path of a file or directory in it; of itself without a name.
    package static func path(_ name: String = "") -> String { name.isEmpty ? root : "\(root)/\(name)" }
}
