/// Rules for one Swift file of `Sources`. Each returns the places that break it.
enum SourceRules {
    /// A target imports what its row of `ModuleTable` allows.
    static func imports(_ file: TextFile, of row: ModuleTable.Row) -> [Violation] {
        file.code.indices.compactMap { index in
            guard let module = importedModule(file.tokens(ofLine: index)) else { return nil }
            if row.ours.contains(module) || row.others.contains(module) { return nil }
            let reason =
                row.kind == .pure
                ? "a pure target imports only other pure targets"
                : "Tests/ArchitectureTests/ModuleTable.swift says what it may import"
            return Violation(file, index, "\(row.name) must not import \(module): \(reason)")
        }
    }

    /// The module an `import` line names; its first component for `import struct A.B`.
    static func importedModule(_ tokens: [String]) -> String? {
        guard let position = tokens.firstIndex(of: "import") else { return nil }
        let before: Set = ["package", "public", "internal", "private", "fileprivate"]
        guard tokens[..<position].allSatisfy({ before.contains($0) || $0.hasPrefix("@") }) else { return nil }
        let kinds: Set = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
        return tokens[(position + 1)...].first { !kinds.contains($0) }
    }

    /// Pure targets get the time and random numbers as arguments.
    static func noClockNoChance(_ file: TextFile) -> [Violation] {
        let clocks: Set = [
            "ContinuousClock", "SuspendingClock", "DispatchTime", "clock_gettime", "gettimeofday", "time_t",
            "mach_absolute_time",
        ]
        let chance: Set = ["SystemRandomNumberGenerator", "arc4random", "getrandom", "drand48"]
        let drawing: Set = ["random", "randomElement", "shuffled", "shuffle"]
        return file.code.indices.compactMap { index in
            let tokens = file.tokens(ofLine: index)
            for (position, token) in tokens.enumerated() {
                let next = position + 1 < tokens.count ? tokens[position + 1] : ""
                if clocks.contains(token) || (token == "Date" && next == "(") {
                    return Violation(
                        file, index, "a pure target reads no clock (\(token)): take the time as an argument")
                }
                let draws = drawing.contains(token) && next == "(" && position > 0 && tokens[position - 1] == "."
                if chance.contains(token) || (draws && !tokens.contains("using")) {
                    return Violation(
                        file, index, "a pure target draws no random numbers (\(token)): take them as arguments")
                }
                if token == "Task", next == "." || next == "{" {
                    return Violation(file, index, "a pure target starts and delays no task")
                }
            }
            return nil
        }
    }

    /// `public` and `open` are for the library's surface.
    static func noPublic(_ file: TextFile) -> [Violation] {
        file.code.indices.compactMap { index in
            let tokens = file.tokens(ofLine: index)
            let isOpen = zip(tokens, tokens.dropFirst()).contains {
                $0 == "open" && ["class", "func", "var"].contains($1)
            }
            guard tokens.contains("public") || isOpen else { return nil }
            return Violation(file, index, "`public` appears only in the library targets: use `package`")
        }
    }

    /// Nothing in the product traps on what another process, a disk or a server can cause.
    static func noTraps(_ file: TextFile) -> [Violation] {
        file.code.indices.compactMap { index in
            let tokens = file.tokens(ofLine: index)
            for (token, next) in zip(tokens, tokens.dropFirst() + [""]) {
                if token == "fatalError" {
                    return Violation(file, index, "no fatalError: throw, or `precondition` for a bug")
                }
                if (token == "try" || token == "as"), next == "!" {
                    return Violation(file, index, "no `\(token)!`: throw or handle it")
                }
            }
            return nil
        }
    }

    /// LMDB is called through `CTrawlLMDB` wherever it walks pages, so that its assertions do not end the process.
    static func assertionsCaught(_ file: TextFile) -> [Violation] {
        let walking: Set = [
            "mdb_dbi_open", "mdb_get", "mdb_put", "mdb_del", "mdb_drop", "mdb_stat", "mdb_cursor_open",
            "mdb_cursor_renew", "mdb_cursor_get", "mdb_cursor_put", "mdb_cursor_del", "mdb_cursor_count",
            "mdb_txn_commit",
        ]
        return file.code.indices.compactMap { index in
            guard let call = file.tokens(ofLine: index).first(where: walking.contains) else { return nil }
            return Violation(file, index, "\(call) may assert: call it through CTrawlLMDB, which catches that")
        }
    }

    /// A promise the compiler cannot check names the rule that makes it true.
    static func promisesExplained(_ file: TextFile) -> [Violation] {
        file.code.indices.compactMap { index in
            let tokens = file.tokens(ofLine: index)
            let isUnsafe = zip(tokens, tokens.dropFirst(2)).contains { $0 == "nonisolated" && $1 == "unsafe" }
            guard tokens.contains("@unchecked") || isUnsafe else { return nil }
            if hasComment(file, above: index, documentation: false) { return nil }
            let promise = isUnsafe ? "nonisolated(unsafe)" : "@unchecked Sendable"
            return Violation(file, index, "\(promise) needs a comment right above that says why it holds")
        }
    }

    /// Every `package` and `public` declaration has a doc comment.
    static func documented(_ file: TextFile) -> [Violation] {
        file.code.indices.compactMap { index in
            guard let declaration = declaration(file.tokens(ofLine: index)) else { return nil }
            if hasComment(file, above: index, documentation: true) { return nil }
            return Violation(file, index, "`\(declaration)` is visible to other targets and has no doc comment")
        }
    }

    /// A doc comment says what a public function or initializer throws.
    static func throwsExplained(_ file: TextFile) -> [Violation] {
        file.code.indices.compactMap { index in
            let tokens = file.tokens(ofLine: index)
            guard tokens.contains("public"), let declaration = declaration(tokens),
                declaration.hasPrefix("func ") || declaration.hasPrefix("init "), canThrow(file, from: index),
                !documentation(file, above: index).contains(where: { $0.contains("- Throws:") })
            else { return nil }
            return Violation(file, index, "`\(declaration)` throws: its doc comment says what, by `- Throws:`")
        }
    }

    /// Whether the declaration that begins on a line throws. What its parameters throw is between parentheses.
    private static func canThrow(_ file: TextFile, from index: Int) -> Bool {
        var depth = 0
        for line in index..<file.code.count {
            for token in file.tokens(ofLine: line) {
                switch token {
                case "(", "[": depth += 1
                case ")", "]": depth -= 1
                case "throws" where depth == 0: return true
                case "{" where depth == 0: return false
                default: break
                }
            }
        }
        return false
    }

    /// `kind name` of a declaration that another target can see. Requirements of the standard library's protocols say
    /// nothing new.
    private static func declaration(_ tokens: [String]) -> String? {
        let kinds: Set = [
            "struct", "class", "enum", "actor", "protocol", "func", "var", "let", "init", "subscript", "typealias",
            "case",
            "associatedtype", "macro",
        ]
        guard let access = tokens.firstIndex(where: { $0 == "package" || $0 == "public" }),
            access + 1 < tokens.count, tokens[access + 1] != "(", !tokens.contains("import"),
            tokens[..<access].allSatisfy({ !kinds.contains($0) })
        else { return nil }
        // `class func` is a func.
        var rest = tokens[(access + 1)...]
        while rest.count > 1, let first = rest.first,
            !kinds.contains(first) || (first == "class" && rest.dropFirst().first == "func")
        {
            if first == "extension" { return nil }
            rest = rest.dropFirst()
        }
        guard let kind = rest.first, kinds.contains(kind) else { return nil }
        let following = Array(rest.dropFirst().prefix(3))
        let text = following.joined()
        let isWellKnown =
            kind == "func"
            && (text.hasPrefix("==") || text.hasPrefix("<(") || text == "hash(into" || text == "encode(to")
            || kind == "init" && text == "(fromdecoder"
        return isWellKnown ? nil : "\(kind) \(kind == "init" ? text : following.first ?? "")"
    }

    /// The lines of the doc comment above a declaration, attributes and conditions between them aside.
    private static func documentation(_ file: TextFile, above index: Int) -> [String] {
        file.lines[..<index].reversed().map { String($0.drop { $0 == " " }) }
            .prefix { $0.hasPrefix("//") || $0.hasPrefix("@") || $0.hasPrefix("#if") }
            .filter { $0.hasPrefix("///") }
    }

    /// Whether a comment ends on the line above, attributes and conditions between them aside.
    private static func hasComment(_ file: TextFile, above index: Int, documentation: Bool) -> Bool {
        var line = index - 1
        while line >= 0 {
            let text = file.lines[line].drop { $0 == " " }
            if text.hasPrefix("///") || text.hasSuffix("*/") { return true }
            if text.hasPrefix("//") {
                // A remark for tools may stand between the doc comment and its declaration.
                if !documentation { return true }
            } else if !text.hasPrefix("@") && !text.hasPrefix("#if") {
                return false
            }
            line -= 1
        }
        return false
    }
}
