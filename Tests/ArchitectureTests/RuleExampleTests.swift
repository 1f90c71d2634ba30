import Testing

@Suite("The rules find what they are for")
struct RuleExampleTests {
    private func file(_ text: String, path: String = "Sources/TrawlHTTP/Example.swift") -> TextFile {
        TextFile(path: path, text: text)
    }

    @Test(
        "an import is read in all its forms",
        arguments: [
            ("import Glibc", "Glibc"),
            ("package import TrawlHTTP", "TrawlHTTP"),
            ("@_exported public import HTTPTypes", "HTTPTypes"),
            ("@preconcurrency import struct Foundation.Date", "Foundation"),
            ("let important = 1", nil),
            ("// import Glibc", nil),
        ])
    func imports(line: String, module: String?) {
        #expect(SourceRules.importedModule(file(line).tokens(ofLine: 0)) == module)
    }

    @Test("a pure target that imports more is found")
    func impure() throws {
        let row = try #require(ModuleTable.row("TrawlProtocol"))
        let found = SourceRules.imports(
            file("import TrawlHTTP\nimport Glibc\nimport CTrawlCurl\nimport TrawlURL"), of: row)
        #expect(found.map(\.line) == [2, 3, 4])
    }

    @Test(
        "clocks and chance are found, generators passed in are not",
        arguments: [
            ("let t = ContinuousClock.now", 1),
            ("let d = Date()", 1),
            ("let d = HTTPDate(0)", 0),
            ("let r = Int.random(in: 0..<3)", 1),
            ("let r = Int.random(in: 0..<3, using: &generator)", 0),
            ("let e = list.randomElement()", 1),
            ("let text = \"ContinuousClock\" // Date()", 0),
            ("Task { }", 1),
        ])
    func clocks(line: String, count: Int) {
        #expect(SourceRules.noClockNoChance(file(line)).count == count)
    }

    @Test(
        "traps are found in code, not in words about it",
        arguments: [
            ("let a = try! f()", 1),
            ("let a = b as! C", 1),
            ("fatalError(\"x\")", 1),
            ("/* try! /* nested */ as! */ let a = try f()", 0),
            ("let a = \"try! \\\" as! \"", 0),
            ("let a = #\"\\\" fatalError\"#", 0),
            ("let a = \"\"\"\n  fatalError() \"quoted\"\n  \"\"\"", 0),
            ("guard x as? Y != nil else { return }", 0),
        ])
    func traps(text: String, count: Int) {
        #expect(SourceRules.noTraps(file(text)).count == count)
    }

    @Test(
        "calls of LMDB that may assert are found",
        arguments: [
            ("let code = mdb_cursor_open(handle, table, &cursor)", 1),
            ("let code = clmdb_cursor_open(handle, table, &cursor)", 0),
            ("try succeed(code, \"mdb_put\")", 0),
            ("mdb_txn_abort(handle)", 0),
        ])
    func assertions(line: String, count: Int) {
        #expect(SourceRules.assertionsCaught(file(line)).count == count)
    }

    @Test(
        "promises need a comment above",
        arguments: [
            ("final class A: @unchecked Sendable {}", 1),
            ("// The lock guards all of it.\nfinal class A: @unchecked Sendable {}", 0),
            ("let x = 1\nnonisolated(unsafe) var y = 2", 1),
            ("// Set once before any thread starts.\nnonisolated(unsafe) var y = 2", 0),
        ])
    func promises(text: String, count: Int) {
        #expect(SourceRules.promisesExplained(file(text)).count == count)
    }

    @Test(
        "declarations for others need a doc comment",
        arguments: [
            ("package struct A {}", 1),
            ("/// A.\npackage struct A {}", 0),
            ("/// A.\n@frozen\npackage struct A {}", 0),
            ("package private(set) var a = 1", 1),
            ("@inlinable package static func f() {}", 1),
            ("package import TrawlHTTP", 0),
            ("package extension A {", 0),
            ("package(set) var a = 1", 0),
            ("package static func == (a: A, b: A) -> Bool {", 0),
            ("package func hash(into hasher: inout Hasher) {", 0),
            ("package init(from decoder: any Decoder) throws {", 0),
            ("package init(a: Int) {", 1),
            ("// Words.\npackage init(a: Int) {", 1),
            ("let package = Package(", 0),
        ])
    func documentation(text: String, count: Int) {
        #expect(SourceRules.documented(file(text)).count == count)
    }

    @Test(
        "public functions that throw say what",
        arguments: [
            ("/// A.\npublic func a() throws {", 1),
            ("/// A.\n///\n/// - Throws: B.\npublic func a() throws {", 0),
            ("/// - Throws: B.\n@discardableResult\npublic func a() async throws(B) -> C {", 0),
            ("/// A.\npublic init(\n    a: Int\n) throws(B) {", 1),
            ("/// A.\npublic func a(_ b: () throws -> C) -> C {", 0),
            ("/// A.\npublic func a(b: [C] = { [] }()) {\n    func d() throws {}", 0),
            ("/// - Throws: B.\nlet b = 1\n/// A.\npublic func a() throws {", 1),
            ("/// A.\npackage func a() throws {", 0),
            ("public init(from decoder: any Decoder) throws {", 0),
        ])
    func thrownErrors(text: String, count: Int) {
        #expect(SourceRules.throwsExplained(file(text)).count == count)
    }

    @Test(
        "public and open are found",
        arguments: [
            ("public struct A {}", 1), ("open class A {}", 1), ("open(path)", 0), ("package func open() {}", 0),
        ])
    func visibility(text: String, count: Int) {
        #expect(SourceRules.noPublic(file(text)).count == count)
    }

    @Test(
        "a document's missing paths are found",
        arguments: [
            ("see `docs/none.md` and `Tests/there`", 1),
            ("see `docs/none.md:12`", 1),
            ("`docs/decisions/NNNN-title.md` and `Sources/<Target>/`", 0),
            ("[a](none.md) [b](https://example.org/none.md) [c](#here)", 1),
            ("```\n`docs/none.md`\n```", 0),
        ])
    func documents(text: String, count: Int) {
        let found = DocumentRules.missingPaths(in: file(text, path: "README.md")) { $0 == "Tests/there" }
        #expect(found.count == count)
    }

    @Test(
        "code of a document that is compiled nowhere is found",
        arguments: [
            ("```swift\nlet a = 1\nlet b = 2\n```", 0),
            ("```swift\nlet a = 1\nlet c = 3\n```", 1),
            ("```swift\nlet a = 2\n```\n\n```swift\nlet a = 3\n```", 2),
            ("```sh\nlet a = 2\n```", 0),
        ])
    func code(text: String, count: Int) {
        let source = file("func f() {\n    let a = 1\n    let b = 2\n    let c = 3\n}")
        #expect(DocumentRules.uncompiledBlocks(in: file(text, path: "README.md"), of: [source]).count == count)
    }

    @Test(
        "IDs of behaviours are read one by one, after commas, and as ranges",
        arguments: [
            ("Queues, ASI-Q-01, 03 to 05", ["ASI-Q-01", "ASI-Q-03", "ASI-Q-04", "ASI-Q-05"]),
            ("ends once (ASI-CAN-01…03, AFC-10, 11)", ["ASI-CAN-01", "ASI-CAN-02", "ASI-CAN-03", "AFC-10", "AFC-11"]),
            ("text, ASI-RSP-05 and 06, POOL-12", ["ASI-RSP-05", "ASI-RSP-06", "POOL-12"]),
            ("dates, RFC 9110 §5.6.7, ASI-CACHE-18, 2026", ["ASI-CACHE-18"]),
            ("all of ASI-THR", []),
        ])
    func identifiers(text: String, expected: [String]) {
        #expect(BehaviourRules.identifiers(in: text) == expected)
    }

    @Test(
        "rows and titles that disagree are found",
        arguments: [
            ("| POOL-01 | a | `ATests` |", 0),
            ("| POOL-01 | a | `OneTests.ATests`, `BTests` |", 1),
            ("| POOL-01 | a | `NoTests` |\n| POOL-02 | b | `ATests` |", 3),
            ("| Uploads | POOL-01 |", 1),
        ])
    func behaviours(rows: String, count: Int) {
        let tests = file(
            "@Suite(\"A\")\nstruct ATests {\n    @Test(\n        \"works (POOL-01)\")\n    func a() {}\n}\n"
                + "@Suite(\"B\") struct BTests {\n    @Test func b() {}\n}", path: "Tests/OneTests/ATests.swift")
        let document = file(rows, path: "docs/behaviours.md")
        #expect(BehaviourRules.disagreements(in: document, with: [tests]).count == count)
    }

    @Test(
        "places on one machine are found",
        arguments: [
            ("cd /hom" + "e/carol/trawl", 1),
            ("file:///hom" + "e/user/x", 0),
            ("https://example.org/hom" + "e/news/", 0),
            ("cp /clone/of/it/.build/debug/trawl .", 1),
        ])
    func machinePaths(text: String, count: Int) {
        #expect(DocumentRules.machinePaths(in: file(text, path: "a.md"), root: "/clone/of/it").count == count)
    }
}
