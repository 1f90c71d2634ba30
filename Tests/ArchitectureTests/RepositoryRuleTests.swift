import Testing

@Suite("The repository around the sources")
struct RepositoryRuleTests {
    let tree = Repository.shared

    @Test("documents name only paths that exist")
    func namedPaths() {
        for file in tree.files where isDocument(file.path) {
            for violation in DocumentRules.missingPaths(in: file, exists: tree.exists) { expectNone([violation]) }
        }
    }

    @Test("the README's Swift is that of the example package, which is compiled")
    func readmeCode() throws {
        let readme = try #require(tree.files.first { $0.path == "README.md" })
        expectNone(DocumentRules.uncompiledBlocks(in: readme, of: tree.swiftFiles(under: "Tests/ExamplePackage")))
    }

    @Test("each row of behaviours names the suites whose titles name its ID, and no others")
    func behaviours() throws {
        let document = try #require(tree.files.first { $0.path == "docs/behaviours.md" })
        // What this target holds are examples.
        let files = tree.swiftFiles(under: "Tests").filter { !$0.path.hasPrefix("Tests/ArchitectureTests/") }
        expectNone(BehaviourRules.disagreements(in: document, with: files))
    }

    @Test("docs/configuration.md has each property of a configuration, and each variable that is read")
    func configuration() throws {
        let document = try #require(tree.files.first { $0.path == "docs/configuration.md" })
        let source = try #require(tree.files.first { $0.path == "Sources/Trawl/Configuration.swift" })
        let properties = source.lines.compactMap { $0.prefixMatch(of: /\s{4}public var (\w+)/).map { String($0.1) } }
        #expect(properties.count > 30)
        for property in properties {
            #expect(document.lines.contains { $0.hasPrefix("| `\(property)`") || $0.hasPrefix("| `\(property).") })
        }
        let sources = tree.files.filter { $0.path.hasPrefix("Sources/") }
        let lines: [String] = sources.flatMap { $0.lines }.filter { $0.contains("getenv(") || $0.contains("variable(") }
        let variables = Set(
            lines.flatMap { line in
                line.matches(of: /(?:getenv|variable)\("(\w+)"\)/).map { String($0.1) }
            })
        #expect(variables.contains("TRAWL_WORKERS"))
        for variable in variables { #expect(document.lines.contains { $0.contains("`\(variable)`") }) }
    }

    @Test("the unit of docs/operations.md lives on when the kernel ends a worker for want of memory")
    func unit() throws {
        let document = try #require(tree.files.first { $0.path == "docs/operations.md" })
        let unit = document.lines.drop { $0 != "[Service]" }.prefix { !$0.hasPrefix("```") }
        #expect(unit.contains("OOMPolicy=continue") && unit.contains { $0.hasPrefix("ExecStart=") })
    }

    @Test("make crawl builds the release that make build does, with the runtime of Swift in it")
    func release() throws {
        let makefile = try #require(tree.files.first { $0.path == "Makefile" })
        let script = try #require(tree.files.first { $0.path == "deploy/crawl.sh" })
        let line = try #require(makefile.lines.first { $0.hasPrefix("release := ") })
        let flags = String(line.dropFirst("release := ".count))
        for flag in ["-c release", "--static-swift-stdlib", "--disable-local-rpath"] { #expect(flags.contains(flag)) }
        #expect(script.lines.contains { $0.contains(" \(flags) ") })
        for product in ["trawl", "trawl-worker"] {
            let recipe = "\t$(SWIFT) build $(release) $(strict) --product \(product)"
            #expect(makefile.lines.contains(recipe), "\(product)")
        }
        // What is asked for as URLS is the script's list.
        #expect(makefile.lines.contains { $0.hasSuffix(" deploy/crawl.sh '$(OUT)' '$(URLS)' $(ARGS)") })
    }

    @Test("the manifest has no unsafe flags, so that packages can depend on this one")
    func manifest() {
        guard let file = tree.files.first(where: { $0.path == "Package.swift" }) else { return }
        for index in file.code.indices where file.tokens(ofLine: index).contains("unsafeFlags") {
            expectNone([Violation(file, index, "a package with unsafeFlags cannot be depended on")])
        }
    }

    @Test("targets of the package are named so that they fit beside those of any other")
    func targetNames() throws {
        let manifest = try #require(tree.files.first { $0.path == "Package.swift" })
        let names = manifest.lines.joined(separator: "\n").matches(of: /\.target\(\s*name: "(\w+)"/).map {
            String($0.1)
        }
        #expect(names.count > 20)
        // What no product needs is no part of another package's graph.
        for name in names where !name.hasPrefix("Trawl") && !name.hasPrefix("CTrawl") {
            #expect(name == "TestSupport", "\(name) may be another package's")
        }
    }

    @Test("resolved versions stay out of the repository")
    func ignored() {
        let ignored = tree.files.first { $0.path == ".gitignore" }?.lines ?? []
        #expect(ignored.contains { $0 == "Package.resolved" || $0 == "/Package.resolved" })
    }

    @Test("each suite with real processes is in one part of their tests, and no part is without one")
    func parts() throws {
        let parts = try #require(tree.files.first { $0.path == "Tests/parts" }).lines.filter { !$0.isEmpty }
        let suites = tree.swiftFiles(under: "Tests/IntegrationTests").flatMap(\.code).compactMap { line in
            line.prefixMatch(of: /struct (\w+Tests)\b/).map { String($0.1) }
        }
        #expect(suites.count > 100)
        var taken: [String: Int] = [:]
        for part in parts {
            let beginning = try Regex(part)
            let own = suites.filter { $0.prefixMatch(of: beginning) != nil }
            #expect(!own.isEmpty, "\(part)")
            for suite in own { taken[suite, default: 0] += 1 }
        }
        for suite in suites { #expect(taken[suite] == 1, "\(suite)") }
    }

    @Test("each reason for which a test may be skipped is one that a test gives")
    func skipReasons() throws {
        let document = try #require(tree.files.first { $0.path == "Tests/skip-reasons" })
        let sources = tree.swiftFiles(under: "Tests").flatMap(\.lines)
        let reasons = document.lines.compactMap { $0.wholeMatch(of: /[a-z]+ +(.+)/).map { String($0.1) } }
        #expect(reasons.count > 5)
        for reason in Set(reasons) { #expect(sources.contains { $0.contains("\"\(reason)\"") }, "\(reason)") }
    }

    @Test("no file holds a path of one developer's machine")
    func machinePaths() {
        for file in tree.files {
            expectNone(DocumentRules.machinePaths(in: file, root: tree.root))
        }
    }

    private func isDocument(_ path: String) -> Bool {
        path.hasSuffix(".md")
            && (!path.contains("/") || path.hasPrefix("docs/") || path.hasPrefix("deploy/")
                || path.hasPrefix("Tests/"))
    }
}
