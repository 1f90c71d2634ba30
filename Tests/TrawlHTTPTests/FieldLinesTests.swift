import Testing

@testable import TrawlHTTP

@Suite("Field lines, RFC 9110 §5")
struct FieldLinesTests {
    @Test("lines keep their order and the spelling of their names")
    func order() throws {
        let fields = try lines(("B", "1"), ("a", "2"), ("b", "3"))
        #expect(all(fields) == ["B: 1", "a: 2", "b: 3"])
        #expect(fields.count == 3)
    }

    @Test("names are found without regard to case, and lines of one name stay apart")
    func lookup() throws {
        let fields = try lines(("Set-Cookie", "a=1"), ("SET-COOKIE", "b=2"), ("Accept", ""))
        #expect(fields.first("set-cookie") == "a=1")
        #expect(fields.values("Set-Cookie") == ["a=1", "b=2"])
        #expect(fields.combined("set-Cookie") == "a=1, b=2")
        #expect(fields.contains("ACCEPT"))
        #expect(fields.first("accept") == "")
        #expect(!fields.contains("Set-Cooki"))
        #expect(!fields.contains("Set-Cookie2"))
        #expect(fields.first("Host") == nil)
        #expect(fields.combined("Host") == nil)
        #expect(fields.values("Host").isEmpty)
    }

    @Test("only ASCII letters have a case")
    func asciiCaseOnly() throws {
        // Each pair differs in the bit that distinguishes cases, but is no letter.
        let fields = try lines(("a^b", "1"), ("a`c", "2"))
        #expect(!fields.contains("a~b"))
        #expect(fields.first("A^B") == "1")
        #expect(!fields.contains("a@c"))
    }

    @Test("setting replaces the first line of a name, removes the others, and adds when there is none")
    func set() throws {
        var fields = try lines(("a", "1"), ("X", "2"), ("b", "3"), ("x", "4"))
        try fields.set("x", "new")
        #expect(all(fields) == ["a: 1", "x: new", "b: 3"])
        try fields.set("C", "5")
        #expect(all(fields) == ["a: 1", "x: new", "b: 3", "C: 5"])
        #expect(fields.count == 4)
    }

    @Test("a refused line leaves the list as it was")
    func refusalChangesNothing() throws {
        let before = try lines(("a", "1"))
        var fields = before
        #expect(throws: FieldLines.Refusal.value) { try fields.set("a", "x\r\ny") }
        #expect(throws: FieldLines.Refusal.name) { try fields.append("a b", "x") }
        #expect(fields == before)
    }

    @Test("removing takes every line of the name")
    func remove() throws {
        var fields = try lines(("a", "1"), ("B", "2"), ("A", "3"))
        fields.removeAll("A")
        #expect(all(fields) == ["B: 2"])
        fields.removeAll("none")
        #expect(fields.count == 1)
        fields.removeAll { $0.elementsEqual("B".utf8) }
        #expect(fields.isEmpty)
        #expect(fields == FieldLines())
    }

    @Test(
        "a name that is no token is refused",
        arguments: ["", " ", "a b", "a:", "a\r", "a\n", "a\0", "é", "(a)", "\"", "a/b"])
    func badNames(name: String) {
        var fields = FieldLines()
        #expect(throws: FieldLines.Refusal.name) { try fields.append(name, "v") }
        #expect(fields.isEmpty)
    }

    @Test(
        "a value with CR, LF or NUL is refused, wherever it stands",
        arguments: ["\r", "\n", "\0", "a\r\nB: c", "a\n", "\0a"])
    func badValues(value: String) {
        var fields = FieldLines()
        #expect(throws: FieldLines.Refusal.value) { try fields.append("a", value) }
        #expect(fields.isEmpty)
    }

    @Test("every token byte may be in a name, and no other", arguments: [UInt8.min...UInt8.max])
    func tokenBytes(bytes: ClosedRange<UInt8>) {
        let allowed = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        for byte in bytes { #expect(FieldSyntax.isTokenByte(byte) == allowed.contains(byte), "byte \(byte)") }
    }

    @Test("a name of any length is a token when each of its bytes is of one", arguments: 1...25)
    func tokens(length: Int) {
        for place in 0..<length {
            for filler in [UInt8(ascii: "x"), UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_")] {
                var name = [UInt8](repeating: filler, count: length)
                for byte in UInt8.min...UInt8.max {
                    name[place] = byte
                    let isToken = name.withUnsafeBytes { FieldSyntax.isToken($0) }
                    if isToken != FieldSyntax.isTokenByte(byte) {
                        Issue.record("byte \(byte) at \(place) of \(length)")
                    }
                }
            }
        }
    }

    @Test("a name may have 65,535 bytes and not one more")
    func longestName() throws {
        var fields = FieldLines()
        try fields.append(String(repeating: "n", count: 65_535), "v")
        #expect(throws: FieldLines.Refusal.name) { try fields.append(String(repeating: "n", count: 65_536), "v") }
        #expect(packedAgain(fields) == fields)
    }

    @Test("bytes that are not UTF-8 are kept, and read as ISO-8859-1")
    func latin1() throws {
        var fields = FieldLines()
        try append(to: &fields, "x", [0x63, 0x61, 0x66, 0xE9, 0x01, 0x7F])
        #expect(fields.first("x") == "caf\u{E9}\u{1}\u{7F}")
        fields.withFirst("x") { #expect($0.map(Array.init) == [0x63, 0x61, 0x66, 0xE9, 0x01, 0x7F]) }
        try append(to: &fields, "y", Array("café ☕".utf8))
        #expect(fields.first("y") == "café ☕")
    }

    @Test("appending a list adds its lines")
    func appendList() throws {
        var fields = try lines(("a", "1"))
        fields.append(contentsOf: try lines(("b", "2"), ("a", "3")))
        fields.append(contentsOf: FieldLines())
        #expect(all(fields) == ["a: 1", "b: 2", "a: 3"])
        #expect(fields.count == 3)
    }

    @Test("the packed form gives the same list back")
    func packedRoundTrip() throws {
        for fields in [FieldLines(), try lines(("a", "")), try lines(("Host", "example.org"), ("x", "\t \u{1} é"))] {
            #expect(packedAgain(fields) == fields)
            #expect(packedAgain(fields)?.count == fields.count)
        }
    }

    @Test("a packed form that ends anywhere but after a line is refused")
    func truncated() throws {
        let fields = try lines(("Host", "example.org"), ("Accept", "*/*"))
        let ends: Set = [0, 6 + 4 + 11, fields.packed.count]
        for length in 0...fields.packed.count {
            let list = unpack(Array(fields.packed[..<length]))
            #expect((list != nil) == ends.contains(length), "length \(length)")
        }
    }

    @Test(
        "hostile packed bytes are refused",
        arguments: [
            // Lengths that reach beyond the end, alone and together.
            [1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x61],
            [0xFF, 0xFF, 0, 0, 0, 0, 0x61],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x61, 0x61],
            // No name.
            [0, 0, 1, 0, 0, 0, 0x61],
            // A name that is no token; values with CR, LF, NUL.
            [1, 0, 1, 0, 0, 0, 0x20, 0x61],
            [1, 0, 1, 0, 0, 0, 0x61, 0x0D],
            [1, 0, 1, 0, 0, 0, 0x61, 0x0A],
            [1, 0, 1, 0, 0, 0, 0x61, 0x00],
            // A good line, then a bad one.
            [1, 0, 0, 0, 0, 0, 0x61, 1, 0, 0, 0, 0, 0, 0x3A],
        ] as [[UInt8]])
    func hostile(bytes: [UInt8]) {
        #expect(unpack(bytes) == nil)
    }

    private func lines(_ pairs: (String, String)...) throws -> FieldLines {
        var fields = FieldLines()
        for (name, value) in pairs { try fields.append(name, value) }
        return fields
    }

    private func append(to fields: inout FieldLines, _ name: String, _ value: [UInt8]) throws {
        try Array(name.utf8).withUnsafeBytes { name in
            try value.withUnsafeBytes { try fields.append(name: name, value: $0) }
        }
    }

    private func all(_ fields: FieldLines) -> [String] {
        var all: [String] = []
        fields.forEach { all.append("\(FieldLines.text($0)): \(FieldLines.text($1))") }
        return all
    }

    private func unpack(_ bytes: [UInt8]) -> FieldLines? {
        bytes.withUnsafeBytes { FieldLines(packed: $0) }
    }

    private func packedAgain(_ fields: FieldLines) -> FieldLines? { unpack(fields.packed) }
}
