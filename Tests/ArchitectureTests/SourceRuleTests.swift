import Testing

@Suite("Sources keep the layers and the rules of the code")
struct SourceRuleTests {
    let tree = Repository.shared

    @Test("the tree is found and is not empty")
    func found() {
        #expect(tree.exists("Package.swift"))
        #expect(tree.targets.contains("TrawlHTTP"))
    }

    @Test("every target has a row in the module table, and rows import only rows before them")
    func table() {
        for target in tree.targets where ModuleTable.row(target) == nil {
            expectNone([
                Violation(
                    path: "Sources/\(target)", "a new target needs a row in Tests/ArchitectureTests/ModuleTable.swift")
            ])
        }
        var below: Set<String> = []
        for row in ModuleTable.rows {
            #expect(
                row.ours.isSubset(of: below),
                "\(row.name) imports \(row.ours.subtracting(below)), which is not below it")
            if row.kind == .pure {
                #expect(row.ours.allSatisfy { ModuleTable.row($0)?.kind == .pure })
                #expect(row.others.isEmpty)
            }
            below.insert(row.name)
        }
    }

    @Test("a target imports only what is below it")
    func imports() {
        forEachSwiftFile { SourceRules.imports($0, of: $1) }
    }

    @Test("pure targets read no clock and draw no random numbers")
    func pure() {
        forEachSwiftFile { $1.kind == .pure ? SourceRules.noClockNoChance($0) : [] }
    }

    @Test("public appears only in the library targets")
    func visibility() {
        let libraries = ["Trawl", "TrawlFoundation", "TrawlMetrics"]
        forEachSwiftFile { libraries.contains($1.name) ? [] : SourceRules.noPublic($0) }
    }

    @Test("nothing traps by try!, as! or fatalError")
    func traps() {
        forEachSwiftFile { file, _ in SourceRules.noTraps(file) }
    }

    @Test("assertions of LMDB are caught")
    func assertions() {
        forEachSwiftFile { file, _ in SourceRules.assertionsCaught(file) }
    }

    @Test("unchecked concurrency promises are explained")
    func promises() {
        forEachSwiftFile { file, _ in SourceRules.promisesExplained(file) }
        for file in tree.swiftFiles(under: "Tests") { expectNone(SourceRules.promisesExplained(file)) }
    }

    @Test("what other targets can see is documented")
    func documentation() {
        forEachSwiftFile { file, _ in SourceRules.documented(file) }
    }

    @Test("what a public function throws is documented")
    func thrownErrors() {
        forEachSwiftFile { file, _ in SourceRules.throwsExplained(file) }
    }

    @Test("each target's main file opens with what it is for, and each shim header too")
    func openings() {
        for row in ModuleTable.rows where row.kind != .c {
            let files = tree.swiftFiles(under: "Sources/\(row.name)")
            let opens = files.contains { $0.lines.first?.hasPrefix("// \(row.name)") == true }
            #expect(opens, "no file of \(row.name) begins with a paragraph on what it is for, and must never do")
        }
        for file in tree.files where file.path.hasPrefix("Sources/C") && file.path.hasSuffix(".h") {
            guard file.path.contains("/include/"), file.lines.first?.hasPrefix("///") != true else { continue }
            expectNone([Violation(file, 0, "a shim header begins with what it is for")])
        }
    }

    @Test("shim headers include only stdint, stddef, stdatomic and the wrapped library")
    func headers() {
        let always: Set = ["stdint.h", "stddef.h", "stdatomic.h"]
        for file in tree.files where file.path.hasPrefix("Sources/") && file.path.hasSuffix(".h") {
            let parts = file.path.split(separator: "/")
            guard parts.count > 3, parts[2] == "include", let row = ModuleTable.row(String(parts[1])) else { continue }
            for (index, line) in file.lines.enumerated() {
                let words = line.drop { $0 == " " || $0 == "#" }
                guard line.contains("#"), words.hasPrefix("include"), let open = line.firstIndex(of: "<") else {
                    continue
                }
                let header = line[line.index(after: open)...].prefix { $0 != ">" }
                let isWrapped = row.headers.contains { $0.hasSuffix("/") ? header.hasPrefix($0) : header == $0 }
                if !always.contains(String(header)), !isWrapped {
                    expectNone([Violation(file, index, "<\(header)> belongs in a .c file, not in a shim header")])
                }
            }
        }
    }

    @Test("no file is a drawer of odds and ends, and none is longer than 700 lines")
    func files() {
        for file in tree.files where [".swift", ".c", ".h"].contains(where: { file.path.hasSuffix($0) }) {
            if file.name.lowercased().contains("utils") || file.name.lowercased().contains("utilities") {
                expectNone([Violation(file, 0, "a file is named after the type or idea it holds")])
            }
            if file.lineCount > 700 {
                expectNone([
                    Violation(file, 700, "\(file.lineCount) lines: find the second idea in it and give it a file")
                ])
            }
        }
    }

    private func forEachSwiftFile(_ rule: (TextFile, ModuleTable.Row) -> [Violation]) {
        for row in ModuleTable.rows {
            for file in tree.swiftFiles(under: "Sources/\(row.name)") { expectNone(rule(file, row)) }
        }
    }
}
