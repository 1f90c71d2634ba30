/// The body of a response in a file that has no name yet: see `FileCollision.onlyNumber`.
package struct UnnamedBody: Sendable {
    /// The path that the file is to have, relative to its output directory.
    package let path: String
    /// Where its bytes are, and may get a name in that directory; gone with the last who holds it.
    package let file: PassedFile
}
