import TrawlHTTP

/// Text that no log, error, record or debugger's dump shows: it says `(secret)` however it is printed.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself, to be sent or sealed and for nothing else.
    package let revealed: String

    /// Takes a text.
    package init(_ text: String) {
        revealed = text
    }

    // Texts that are the same byte for byte have one hash; some others have that too.
    package static func == (one: Secret, other: Secret) -> Bool { one.revealed.hasSameBytes(as: other.revealed) }

    /// Always the same word.
    package var description: String { "(secret)" }
    /// Always the same word.
    package var debugDescription: String { description }
    /// A mirror that shows nothing.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
