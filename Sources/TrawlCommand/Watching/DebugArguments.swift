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
        try OptionText.check(text, "--debug <kinds>", "\(Self.names), several of them with commas, or all") {
            Self.categories($0) != nil
        }
    }

    private static let kinds: [(name: String, categories: DebugLog.Categories)] = [
        ("status", .status), ("connections", .connections), ("throttle", .throttle), ("auth", .authentication),
    ]

    private static var names: String { kinds.map { $0.name }.joined(separator: ", ") }

    private static func categories(_ text: String) -> DebugLog.Categories? {
        var categories: DebugLog.Categories = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let named = kinds.filter { word == "all" || word == $0.name }
            if named.isEmpty { return nil }
            for kind in named { categories.formUnion(kind.categories) }
        }
        return categories
    }
}
