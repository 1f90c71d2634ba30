/// Rules for `docs/behaviours.md`: the suites that a behaviour's row names are those whose titles name the behaviour.
enum BehaviourRules {
    /// A type with tests.
    struct Suite: Hashable {
        /// The folder of `Tests/` that it is in.
        let target: String
        /// The type's name.
        let name: String
    }

    /// Where a title stands, and the IDs of behaviours that it names.
    struct Title {
        let file: TextFile
        /// From 0.
        let line: Int
        let identifiers: [String]
    }

    /// Where the rows of a document and the titles of suites and tests say different things.
    static func disagreements(in document: TextFile, with files: [TextFile]) -> [Violation] {
        let suites = titles(in: files)
        var violations: [Violation] = []
        var listing: [String: Set<Suite>] = [:]
        for (index, line) in document.lines.enumerated() {
            guard let identifier = rowIdentifier(line) else { continue }
            listing[identifier] = []
            for name in suiteNames(in: line) {
                let meant = suites.keys.filter { name == $0.name || name == "\($0.target).\($0.name)" }
                listing[identifier, default: []].formUnion(meant)
                guard let suite = meant.first, meant.count == 1 else {
                    violations.append(Violation(document, index, "\(meant.count) suites have the name `\(name)`"))
                    continue
                }
                if suites[suite]?.contains(where: { $0.identifiers.contains(identifier) }) != true {
                    violations.append(Violation(document, index, "no title of `\(name)` names \(identifier)"))
                }
            }
        }
        for (suite, titles) in suites {
            for title in titles {
                for identifier in title.identifiers where listing[identifier]?.contains(suite) != true {
                    let rule = "names \(identifier), whose row in \(document.path) does not name this suite"
                    violations.append(Violation(title.file, title.line, rule))
                }
            }
        }
        return violations
    }

    /// The IDs in a text, in their order. `ASI-Q-01, 02, 04 to 06` and `ASI-Q-01, 02, 04…06` are five.
    static func identifiers(in text: String) -> [String] {
        var found: [String] = []
        for match in text.matches(of: /((?:ASI|ULS)-[A-Z]+|AFC|POOL)-(\d\d)((?:(?:, | and | to |…)\d\d(?!\d))*)/) {
            var numbers = [Int(match.2) ?? 0]
            for further in match.3.matches(of: /(, | and | to |…)(\d\d)/) {
                guard let last = numbers.last, let number = Int(further.2) else { continue }
                let isRange = further.1 == " to " || further.1 == "…"
                numbers += isRange ? Array(stride(from: last + 1, through: number, by: 1)) : [number]
            }
            found += numbers.map { "\(match.1)-\($0 < 10 ? "0" : "")\($0)" }
        }
        return found
    }

    /// The ID of a table's row that begins with one, and with nothing else in its first cell.
    private static func rowIdentifier(_ line: String) -> String? {
        guard line.hasPrefix("| ") else { return nil }
        let cell = String(line.dropFirst(2).prefix { $0 != " " })
        return identifiers(in: cell) == [cell] ? cell : nil
    }

    /// What stands in backticks and is a suite's name, with its target or without.
    private static func suiteNames(in line: String) -> [String] {
        line.matches(of: /`((?:\w+Tests\.)?\w+Tests)`/).map { String($0.1) }
    }

    /// The titles of all suites and of their tests.
    private static func titles(in files: [TextFile]) -> [Suite: [Title]] {
        var suites: [Suite: [Title]] = [:]
        for file in files {
            let target = file.path.split(separator: "/").dropFirst().first.map(String.init) ?? ""
            var suite: Suite?
            // A suite's title stands before its type.
            var waiting: [Title] = []
            for index in file.lines.indices {
                if let text = title(at: index, in: file) {
                    let title = Title(file: file, line: index, identifiers: identifiers(in: text))
                    if file.lines[index].hasPrefix("@Suite") {
                        waiting.append(title)
                    } else if let suite {
                        suites[suite, default: []].append(title)
                    }
                }
                guard let name = typeName(at: index, in: file) else { continue }
                let next = Suite(target: target, name: name)
                if !waiting.isEmpty { suites[next, default: []] += waiting }
                waiting = []
                suite = next
            }
        }
        return suites
    }

    /// The title of the suite or test whose attribute begins at a line: there, or at the start of the next one.
    private static func title(at index: Int, in file: TextFile) -> String? {
        let line = file.lines[index].drop { $0 == " " }
        guard let start = ["@Suite(", "@Test("].first(where: { line.hasPrefix($0) }) else { return nil }
        var rest = line.dropFirst(start.count)
        if rest.isEmpty, index + 1 < file.lines.count { rest = file.lines[index + 1].drop { $0 == " " } }
        guard rest.first == "\"" else { return nil }
        return String(rest.dropFirst().prefix { $0 != "\"" })
    }

    /// The name of the type that a line without indentation declares or extends.
    private static func typeName(at index: Int, in file: TextFile) -> String? {
        guard let first = file.code[index].first, first != " " else { return nil }
        let tokens = file.tokens(ofLine: index)
        let kinds: Set = ["struct", "class", "enum", "actor", "extension"]
        guard let kind = tokens.firstIndex(where: { kinds.contains($0) }), kind + 1 < tokens.count else { return nil }
        return tokens[kind + 1]
    }
}
