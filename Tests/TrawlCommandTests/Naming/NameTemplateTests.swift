import Testing
import TrawlURL

@testable import TrawlCommand

@Suite("File names by pattern")
struct NameTemplateTests {
    private func name(_ pattern: String, _ url: String = "http://h:81/a/b.c?x=1/2", id: String? = nil) throws -> String
    {
        try NameTemplate(pattern).path(
            for: URLParser().parse(url), line: 7, id: id.map { RequestID(json: Array($0.utf8)) })
    }

    @Test(
        "what braces stand for",
        arguments: [
            ("{host}/{name}", "h_81/b.c"), ("{path}", "a/b.c?x=1%2f2"), ("x/{line}.html", "x/7.html"),
            ("{{{line}}}", "{7}"), ("plain", "plain"), ("{host}{line}-{line}", "h_817-7"), ("ä {name}", "ä b.c"),
        ])
    func filled(pattern: String, expected: String) throws {
        #expect(try name(pattern) == expected)
    }

    @Test(
        "ids are made safe and stay different",
        arguments: [
            ("1", "1"), (#""a/b""#, "a%2fb"), (#""a%2fb""#, "a%252fb"), (#""..""#, "%2e%2e"), (#"".x""#, "%2ex"),
            (#""ä""#, "%c3%a4"), (#""a b\n""#, "a%20b%0a"), ("1e3", "1e3"),
        ])
    func ids(json: String, expected: String) throws {
        #expect(try name("{id}", id: json) == expected)
        #expect(try name("d/{id}.x", id: json) == "d/\(expected).x")
    }

    @Test("a pattern with an id wants one in every line")
    func missingID() throws {
        #expect(try NameTemplate("{id}").needsID && !NameTemplate("{line}").needsID)
        #expect(throws: BadLine(reason: "the output name wants an {id}, and the line has none")) { try name("{id}") }
        #expect(throws: BadLine.self) { try name("a/{id}", id: "\"\"") }
        #expect(try name("a{id}", id: "\"\"") == "a")
    }

    @Test(
        "patterns that lead out or say nothing known are refused at once",
        arguments: [
            "", "/{host}", "../{name}", "{host}/../x", "a//b", "{name}/", ".", "{Host}", "{}", "{host", "host}", "a\0",
            "{stem}",
        ])
    func refused(pattern: String) {
        #expect(throws: CommandError.self) { try NameTemplate(pattern) }
    }

    @Test("long results are cut and stay different")
    func long() throws {
        let one = try name("{name}-{id}.html", id: "\"\(String(repeating: "x", count: 400))1\"")
        let two = try name("{name}-{id}.html", id: "\"\(String(repeating: "x", count: 400))2\"")
        #expect(one != two && one.utf8.count <= 205)
    }

    @Test("the rule without a pattern is the URL's path or its last part")
    func rules() throws {
        let target = try URLParser().parse("http://h/a/b?x")
        #expect(try NameRule.url.path(for: target, line: 1, id: nil) == "h/a/b?x")
        #expect(try NameRule.lastPart.path(for: target, line: 1, id: nil) == "b")
        #expect(try NameRule.template(NameTemplate("{line}")).path(for: target, line: 1, id: nil) == "1")
    }
}
