import ArgumentParser
import Trawl
import TrawlHTTP

/// What is wrong with the arguments, in words that are safe on a terminal and tell no secret.
enum UsageText {
    /// One line of what the parser says of arguments.
    ///
    /// What it refuses it shows as it stands: a URL in a wrong place may have a password in it, behind `auth` an
    /// argument too many may be one, and what begins with `---` may be a form, behind an option that is not known.
    static func of(_ message: String, about arguments: [String]) -> String {
        if arguments.contains(where: { ArgumentExpansion.isRefused($0) && message.contains($0) }) {
            return "an argument that begins with '---' or '-=' is no option, and not the value of one; "
                + "it is not shown, since it may be a secret"
        }
        let isAuth = arguments.first == AuthCommand.configuration.commandName
        if isAuth, arguments.dropFirst().contains(where: { isOperand($0) && message.contains("'\($0)'") }) {
            return "an argument is one too many, or not known; it is not shown, since it may be a secret. "
                + "A password stands behind the user and a colon, or is asked for"
        }
        var line = message
        for text in arguments.flatMap(texts).sorted(by: { $0.utf8.count > $1.utf8.count }) {
            let shown = UserInformation.removed(from: text)
            if shown != text { line = line.replacing(text, with: shown) }
        }
        return line.split(whereSeparator: \.isNewline).joined(separator: " ").terminalSafe
    }

    private static func isOperand(_ argument: String) -> Bool { !argument.hasPrefix("--") }

    /// An argument, and the value in it of the option that it is.
    private static func texts(of argument: String) -> [String] {
        let value = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).dropFirst()
        return [argument] + value.map(String.init)
    }
}
