/// Who is asked for what must not be seen.
enum SecretAsker: Sendable {
    /// The person at the terminal of this process.
    case terminal
    /// A program and its arguments.
    case program([String])

    /// Whether there is somebody to ask.
    var isThere: Bool {
        switch self {
        case .terminal: SecretPrompt.hasPerson
        case .program: true
        }
    }

    /// Where an answer would have come from, for who has got none.
    var name: String {
        switch self {
        case .terminal: "there is no terminal to ask at"
        case .program: "--use-askpass has no answer"
        }
    }

    /// The answer to a question; nil when there is none.
    ///
    /// - Parameter isShown: Whether what is typed may be seen, since it is no secret; a program shows what it likes.
    func read(_ question: String, isShown: Bool = false) -> String? {
        switch self {
        case .terminal: SecretPrompt.read(question, isShown: isShown)
        case .program(let command): AskProgram.answer(of: command, to: question)
        }
    }
}
