import ArgumentParser
import Trawl

/// What is told step by step on standard error.
struct DebugArguments: ParsableArguments {
    @Option(
        name: .customLong("debug"), parsing: .unconditional,
        help: ArgumentHelp(
            "Tell on standard error what happens: status (of each fetch), connections, throttle, auth, or several with "
                + "commas, or all. Queries, credentials and bodies are left out.",
            valueName: "kinds"))
    var text: String?

    /// What is told.
    var categories: DebugLog.Categories { text.flatMap(Self.categories) ?? [] }

    func validate() throws {
        try OptionText.check(text, "--debug <kinds>") { Self.categories($0) != nil }
    }

    private static func categories(_ text: String) -> DebugLog.Categories? {
        var categories: DebugLog.Categories = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            switch word {
            case "status": categories.insert(.status)
            case "connections": categories.insert(.connections)
            case "throttle": categories.insert(.throttle)
            case "auth": categories.insert(.authentication)
            case "all": categories.formUnion([.status, .connections, .throttle, .authentication])
            default: return nil
            }
        }
        return categories
    }
}
