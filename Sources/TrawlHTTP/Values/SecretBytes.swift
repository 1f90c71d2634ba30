/// Bytes that no log, error, record or debugger's dump shows: they say `(secret)` however they are printed.
package struct SecretBytes: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The bytes themselves, to be used and for nothing else.
    package let revealed: [UInt8]

    /// Takes bytes.
    package init(_ bytes: [UInt8]) { revealed = bytes }

    /// Whether there are none.
    package var isEmpty: Bool { revealed.isEmpty }
    /// Always the same word.
    package var description: String { "(secret)" }
    /// Always the same word.
    package var debugDescription: String { description }
    /// A mirror that shows nothing.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
