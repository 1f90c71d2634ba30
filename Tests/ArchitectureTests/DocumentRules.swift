/// Rules for documents and other text.
enum DocumentRules {
    private static let folders = ["Sources/", "Tests/", "docs/", "deploy/", ".ci/"]

    /// Paths of the repository that stand in backticks, or as the target of a relative link, and do not exist.
    static func missingPaths(in file: TextFile, exists: (String) -> Bool) -> [Violation] {
        var violations: [Violation] = []
        var isFenced = false
        let folder = file.path.split(separator: "/").dropLast().joined(separator: "/")
        for (index, line) in file.lines.enumerated() {
            if line.drop(while: { $0 == " " }).hasPrefix("```") { isFenced.toggle() }
            if isFenced { continue }
            for span in spans(of: line) {
                guard let path = repositoryPath(span), !exists(path) else { continue }
                violations.append(Violation(file, index, "names `\(path)`, which does not exist"))
            }
            for link in links(of: line) where !exists(folder.isEmpty ? link : folder + "/" + link) {
                violations.append(Violation(file, index, "links to \(link), which does not exist"))
            }
        }
        return violations
    }

    /// Home folders, and this checkout's own place, in any text.
    static func machinePaths(in file: TextFile, root: String) -> [Violation] {
        let inside = ["/Sources", "/Tests", "/docs", "/deploy", "/.build", "/Package.swift"].map { root + $0 }
        return file.lines.enumerated().compactMap { index, line in
            guard line.contains("/") else { return nil }
            if let path = inside.first(where: { line.contains($0) }) {
                return Violation(file, index, "names the place of one checkout (\(path))")
            }
            // In pieces, so that this file does not hold what it looks for.
            for home in ["home", "Users", "root"].map({ "/" + $0 + "/" }) where holdsHome(line, home) {
                return Violation(file, index, "names a developer's home (\(home)…)")
            }
            return nil
        }
    }

    /// Whether a line has the folder at the start of a path, followed by a name that is no stand-in.
    private static func holdsHome(_ line: String, _ home: String) -> Bool {
        let standIns = ["you", "user", "USER", "me", "alice", "bob", "example", "$", "<", "*"]
        var rest = line[...]
        while let found = rest.firstRange(of: home) {
            let before = found.lowerBound > line.startIndex ? line[line.index(before: found.lowerBound)] : " "
            let after = line[found.upperBound...]
            // A letter, digit or dot before it makes it the middle of another path or of a URL.
            let isStart = !(before.isLetter || before.isNumber || before == "." || before == "}" || before == ")")
            if isStart, after.first.map({ $0.isLetter || $0 == "." || $0 == "_" }) ?? false,
                !standIns.contains(where: { after.hasPrefix($0) })
            {
                return true
            }
            rest = after
        }
        return false
    }

    /// Fenced blocks of Swift whose lines do not stand in one of the files, one behind the other; indentation aside.
    static func uncompiledBlocks(in document: TextFile, of files: [TextFile]) -> [Violation] {
        let sources = files.map { $0.lines.map(unindented) }
        return swiftBlocks(of: document).compactMap { block in
            let isCompiled = sources.contains { $0.firstRange(of: block.lines) != nil }
            return isCompiled ? nil : Violation(document, block.start, "no file that is compiled has these lines")
        }
    }

    /// The lines between "```swift" and "```", and the index of the first fence.
    private static func swiftBlocks(of document: TextFile) -> [(start: Int, lines: [Substring])] {
        var blocks: [(start: Int, lines: [Substring])] = []
        var isFenced = false
        var isSwift = false
        for (index, line) in document.lines.map(unindented).enumerated() {
            if line.hasPrefix("```") {
                isSwift = !isFenced && line == "```swift"
                isFenced.toggle()
                if isSwift { blocks.append((index, [])) }
            } else if isSwift {
                blocks[blocks.count - 1].lines.append(line)
            }
        }
        return blocks
    }

    private static func unindented(_ line: String) -> Substring { line.drop { $0 == " " } }

    /// The text between pairs of backticks.
    private static func spans(of line: String) -> [Substring] {
        let pieces = line.split(separator: "`", omittingEmptySubsequences: false)
        return pieces.indices.filter { $0 % 2 == 1 && $0 + 1 < pieces.count }.map { pieces[$0] }
    }

    /// A path of the repository without line number and final slash; `nil` for other text and for patterns.
    private static func repositoryPath(_ span: Substring) -> String? {
        guard folders.contains(where: { span.hasPrefix($0) }) else { return nil }
        let path = span.prefix { $0 != " " && $0 != ":" && $0 != "#" }
        if path.contains(where: { "*<>{}…[]$,".contains($0) }) || path.contains("NNNN") { return nil }
        return path.hasSuffix("/") ? String(path.dropLast()) : String(path)
    }

    /// Targets of Markdown links to files of the repository.
    private static func links(of line: String) -> [String] {
        var links: [String] = []
        var rest = line[...]
        while let open = rest.firstRange(of: "](") {
            let target = rest[open.upperBound...].prefix { $0 != ")" && $0 != "#" && $0 != " " }
            rest = rest[open.upperBound...]
            if !target.isEmpty, !target.contains(":"), !target.hasPrefix("/") { links.append(String(target)) }
        }
        return links
    }
}
