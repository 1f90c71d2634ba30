/// What a transfer that rests at its head wants to know; empty when it goes on.
///
/// Each is answered by an `answer` frame of its own.
package struct HeadQuestions: OptionSet, Sendable, Hashable {
    /// The bits of the wire.
    package let rawValue: UInt8

    /// Questions of their bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Whether and how the response is stored: answered by `keep`.
    package static let storing = HeadQuestions(rawValue: 1)
    /// What becomes of the body: answered by any other disposition.
    package static let disposition = HeadQuestions(rawValue: 2)
    /// All there are.
    package static let all: HeadQuestions = [.storing, .disposition]
}
