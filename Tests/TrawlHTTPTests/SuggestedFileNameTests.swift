import Testing

@testable import TrawlHTTP

@Suite("File names in Content-Disposition, RFC 6266, ULS-PROTO-10")
struct ContentDispositionTests {
    @Test(
        "the name is found",
        arguments: [
            ("attachment; filename=a.txt", "a.txt"), ("attachment; filename=\"a b;c.txt\"", "a b;c.txt"),
            ("attachment; filename=\"a\\\"b\"", "a\"b"), ("attachment;filename = a", "a"),
            ("inline; x=\"filename=no\"; FILENAME=\"yes\"", "yes"),
            ("attachment; filename=plain; filename*=UTF-8''%e2%82%ac%20rates", "€ rates"),
            ("attachment; filename*=iso-8859-1'en'%A3", "£"),
            ("attachment; filename=\"a\"; filename=\"b\"", "a"),
            // As browsers read it: no type, blanks without quotes, an extended name that is empty.
            ("filename=a", "a"), ("filename=\"a;b\"", "a;b"), ("attachment; filename=foo bar.txt", "foo bar.txt"),
            ("attachment; filename=foo bar.txt \t; x=y", "foo bar.txt"),
            ("attachment; filename=fb.txt; filename*=UTF-8''", "fb.txt"),
            ("attachment; filename*=UTF-8''; filename=fb.txt", "fb.txt"),
        ])
    func found(value: String, name: String) {
        #expect(SuggestedFileName(disposition: value)?.text == name)
    }

    @Test(
        "what looks like a path gives its last part alone",
        arguments: [
            ("attachment; filename=\"../../etc/passwd\"", "passwd"),
            ("attachment; filename=\"C:\\\\x\\\\y.txt\"", "y.txt"),
            ("attachment; filename=\"/.ssh\"", "ssh"), ("attachment; filename*=UTF-8''..%2Fa%00b", "ab"),
        ])
    func path(value: String, name: String) {
        #expect(SuggestedFileName(disposition: value)?.text == name)
    }

    @Test(
        "no name is none",
        arguments: [
            "", "attachment", "attachment; filename=", "attachment; filename=\"\"", "attachment; filename=\"a/\"",
            "filename", "attachment; filename*=UTF-8''%zz", "attachment; filename*=utf-16''a", ";;;=", "; filename",
        ])
    func none(value: String) {
        #expect(SuggestedFileName(disposition: value)?.text == nil)
    }
}

@Suite("Names that responses suggest for files, ULS-PROTO-10")
struct SuggestedFileNameTests {
    private func name(_ path: String, _ fields: (String, String)..., host: String = "example.org") throws -> String {
        var lines = FieldLines()
        for (name, value) in fields { try lines.append(name, value) }
        return SuggestedFileName(fields: lines, path: path, host: host).text
    }

    @Test(
        "nothing in a name leads out, hides it or drives a terminal",
        arguments: [
            ("..a", "a"), (".bashrc", "bashrc"), ("a/b", "a_b"), ("a\\b", "a_b"), ("a\u{0}b", "ab"), ("\u{1}.x", "x"),
            ("a\u{1b}[31m", "a[31m"), ("a\u{202e}b", "ab"), ("a\u{9b}b", "ab"), ("grün", "grün"), ("a b", "a b"),
            ("-rf", "_rf"), (".-x", "_x"), ("a-b", "a-b"),
        ])
    func safe(text: String, name: String) {
        #expect(SuggestedFileName(text)?.text == name)
    }

    @Test("dots and controls alone are no name", arguments: ["", ".", "..", "...", "\u{0}", ".\u{7f}."])
    func nothing(text: String) {
        #expect(SuggestedFileName(text) == nil)
    }

    @Test("a long name is cut between characters")
    func long() {
        #expect(SuggestedFileName(String(repeating: "ü", count: 300))?.text.utf8.count == SuggestedFileName.longest)
        let cut = SuggestedFileName(String(repeating: "ü", count: 200) + ".ab")?.text
        #expect(cut == String(repeating: "ü", count: 118) + ".ab")
    }

    @Test("a name that file systems take is kept whole, and a longer one keeps its extension")
    func longWithExtension() {
        func made(_ count: Int, _ ending: String) -> String? {
            SuggestedFileName(String(repeating: "a", count: count - ending.utf8.count) + ending)?.text
        }
        func wanted(_ count: Int, _ ending: String) -> String {
            String(repeating: "a", count: count - ending.utf8.count) + ending
        }
        #expect(made(224, ".pdf") == wanted(224, ".pdf"))
        #expect(made(240, ".pdf") == wanted(240, ".pdf"))
        #expect(made(241, ".pdf") == wanted(240, ".pdf"))
        #expect(made(300, ".pdf") == wanted(240, ".pdf"))
        #expect(made(300, ".fifteen-letters") == wanted(240, ".fifteen-letters"))
        // What is longer is none, nor is a dot at the end.
        #expect(made(300, ".sixteen--letters") == wanted(240, ""))
        #expect(made(300, ".") == wanted(240, ""))
    }

    @Test("Content-Disposition, else the path, else the host")
    func order() throws {
        #expect(try name("/a/b.txt", ("Content-Disposition", "attachment; filename=c.bin")) == "c.bin")
        #expect(try name("/a/b.txt", ("Content-Disposition", "attachment")) == "b.txt")
        #expect(try name("/a/b.txt", ("Content-Disposition", "attachment; filename=\"..\"")) == "b.txt")
        #expect(try name("/a/") == "example.org")
        #expect(try name("/", host: "[::1]") == "::1")
        #expect(try name("/..") == "example.org")
    }

    @Test("escapes of the path are undone, and lead nowhere")
    func escapes() throws {
        #expect(try name("/a%20b.txt") == "a b.txt")
        #expect(try name("/%2e%2e%2fx.txt") == "_x.txt")
        #expect(try name("/%C3%BC.txt") == "ü.txt")
        #expect(try name("/%FF.txt") == "%FF.txt")
        #expect(try name("/a%zz%4.txt") == "a%zz%4.txt")
    }

    @Test("a name without an extension gets that of its type")
    func extensions() throws {
        #expect(try name("/a", ("Content-Type", "text/html; charset=utf-8")) == "a.html")
        #expect(try name("/a.php", ("Content-Type", "text/html")) == "a.php")
        #expect(try name("/", ("Content-Type", "application/JSON")) == "example.org.json")
        #expect(try name("/a", ("Content-Type", "application/x-unknown")) == "a")
        #expect(try name("/a.", ("Content-Type", "image/png")) == "a..png")
        let named = ("Content-Disposition", "attachment; filename=report")
        #expect(try name("/", named, ("Content-Type", "application/pdf")) == "report.pdf")
    }
}
