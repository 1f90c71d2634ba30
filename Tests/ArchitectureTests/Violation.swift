import Testing

/// A place where the tree breaks a rule.
struct Violation: Hashable, CustomStringConvertible {
    let path: String
    /// From 1.
    let line: Int
    /// What is wrong there, and what would be right.
    let rule: String

    init(_ file: TextFile, _ index: Int, _ rule: String) {
        path = file.path
        line = index + 1
        self.rule = rule
    }

    init(path: String, line: Int = 1, _ rule: String) {
        self.path = path
        self.line = line
        self.rule = rule
    }

    var description: String { "\(path):\(line): \(rule)" }
}

/// Records one issue for each violation, at its file and line.
func expectNone(_ violations: [Violation]) {
    let root = Repository.shared.root
    for violation in violations {
        let folder = violation.path.split(separator: "/").dropLast().last ?? "trawl"
        let name = violation.path.split(separator: "/").last ?? "?"
        Issue.record(
            "\(violation.description)",
            sourceLocation: SourceLocation(
                fileID: "\(folder)/\(name)", filePath: root + "/" + violation.path, line: violation.line, column: 1))
    }
}
