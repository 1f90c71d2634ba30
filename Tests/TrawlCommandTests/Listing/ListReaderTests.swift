import Glibc
import Testing
import TrawlPlatform

@testable import TrawlCommand

@Suite("Lists read line by line")
struct ListReaderTests {
    @Test(
        "lines end with LF, CR LF or the list",
        arguments: [
            ("", []), ("a", ["1 a"]), ("a\n", ["1 a"]), ("a\r\nb\r\n\r\n", ["1 a", "2 b", "3 "]),
            ("\n\na\nb", ["1 ", "2 ", "3 a", "4 b"]), ("\u{FEFF}a\n", ["1 a"]), ("\u{FEFF}", []),
            ("a\n\u{FEFF}b", ["1 a", "2 \u{FEFF}b"]), ("é\n", ["1 é"]),
        ])
    func lineEnds(text: String, expected: [String]) throws {
        let fixture = try ListFixture()
        #expect(try fixture.lines(of: Array(text.utf8)) == expected)
        #expect(try fixture.lines(of: ListFixture.gzip(Array(text.utf8))) == expected)
    }

    @Test("a few bytes that could begin a mark or a packed list are a line")
    func shortStarts() throws {
        let fixture = try ListFixture()
        #expect(try fixture.lines(of: [0x1F]) == ["1 \u{1F}"])
        #expect(try fixture.lines(of: [0xEF, 0xBB]) == ["1 bad: the line is not UTF-8"])
        #expect(try fixture.lines(of: [0x1F, 0x0A, 0x61]) == ["1 \u{1F}", "2 a"])
    }

    @Test("bad lines are told with their numbers, and the rest goes on")
    func badLines() throws {
        let fixture = try ListFixture()
        var limits = ListReader.Limits()
        limits.line = 10
        let text = Array("a\nb\0c\n".utf8) + [0xFF, 0x0A] + Array("12345678901\n1234567890\nend".utf8)
        #expect(
            try fixture.lines(of: text, limits) == [
                "1 a", "2 bad: the line holds a NUL", "3 bad: the line is not UTF-8",
                "4 bad: the line is longer than 10 bytes", "5 1234567890", "6 end",
            ])
    }

    @Test("a line of ten megabytes is skipped and counted once")
    func longLine() throws {
        let fixture = try ListFixture()
        let long = [UInt8](repeating: 0x78, count: 10_000_000)
        let text = Array("a\n".utf8) + long + Array("\nb\n".utf8) + long
        let bad = "bad: the line is longer than 1048576 bytes"
        #expect(try fixture.lines(of: text) == ["1 a", "2 \(bad)", "3 b", "4 \(bad)"])
        #expect(try fixture.lines(of: ListFixture.gzip(text)) == ["1 a", "2 \(bad)", "3 b", "4 \(bad)"])
    }

    @Test("input without an end and without lines is given up")
    func endless() throws {
        let interrupt = try WakeUp()
        let reader = try ListReader("/dev/zero")
        guard case .bad(1, _, _, _) = try reader.next(interrupt: interrupt.rawValue) else {
            Issue.record("no complaint")
            return
        }
        #expect(throws: CommandError("/dev/zero: not a list of URLs: line 1 does not end")) {
            _ = try reader.next(interrupt: interrupt.rawValue)
        }
    }

    @Test("bad lines are told, however many there are")
    func manyBadLines() throws {
        let fixture = try ListFixture()
        for bad in [[0, 0, 0, 0x0A], [0xE9, 0x0A]] as [[UInt8]] {
            let lines = try fixture.lines(of: Array(repeatElement(bad, count: 150).joined()) + Array("b\n".utf8))
            #expect(lines.count == 151 && lines.last == "151 b")
        }
    }

    @Test("members of gzip follow one another")
    func members() throws {
        let fixture = try ListFixture()
        let packed = ListFixture.gzip(Array("a\nb".utf8)) + ListFixture.gzip(Array("c\nd\n".utf8))
        #expect(try fixture.lines(of: packed) == ["1 a", "2 bc", "3 d"])
    }

    @Test("what follows a packed list is not dropped in silence; zeros are padding")
    func trailing() throws {
        let fixture = try ListFixture()
        let packed = ListFixture.gzip(Array("a\n".utf8))
        let lines = try fixture.lines(of: packed + Array("http://lost/\n".utf8))
        #expect(lines.last == "LIST: the compressed list is damaged: what follows its end is not compressed")
        #expect(try fixture.lines(of: packed + [0, 0, 0, 0]) == ["1 a"])
    }

    @Test("a second member of gzip that is cut off anywhere is told, be there its first byte alone")
    func cutMember() throws {
        let fixture = try ListFixture()
        let first = ListFixture.gzip(Array("a\n".utf8))
        let packed = first + ListFixture.gzip(Array("b\n".utf8))
        for length in (first.count + 1)..<packed.count {
            let lines = try fixture.lines(of: Array(packed[..<length]))
            #expect(lines.first == "1 a", "\(length) bytes")
            #expect(lines.last?.hasPrefix("LIST: the compressed list is damaged: ") == true, "\(length) bytes")
        }
        #expect(try fixture.lines(of: first) == ["1 a"])
        #expect(try fixture.lines(of: packed) == ["1 a", "2 b"])
    }

    @Test("how much of a list has been handed out is known where its length is")
    func share() throws {
        let directory = try ScratchDirectory()
        try directory.put("list", "ab\ncd\n")
        let reader = try ListReader(directory.path + "/list")
        #expect(reader.share == 0)
        _ = try reader.next(interrupt: -1)
        #expect(reader.share == 0.5)
        _ = try reader.next(interrupt: -1)
        #expect(reader.share == 1)
        #expect(try ListReader("/dev/null").share == nil)
    }

    @Test("of a packed list cut anywhere come whole lines only, then the error")
    func cut() throws {
        let fixture = try ListFixture()
        let text = (0..<50).map { "http://example.org/\($0 &* 7919)" }
        let expected = text.enumerated().map { "\($0 + 1) \($1)" }
        let packed = ListFixture.gzip(Array(text.joined(separator: "\n").utf8))
        for length in 2..<packed.count {
            let lines = try fixture.lines(of: Array(packed[..<length]))
            #expect(lines.last == "LIST: the compressed list is damaged: it ends too early")
            #expect(lines.dropLast().elementsEqual(expected.prefix(lines.count - 1)))
        }
        #expect(try fixture.lines(of: packed) == expected)
    }

    @Test("damage in a packed list is told after lines before it, and no line is made up")
    func damaged() throws {
        let fixture = try ListFixture()
        let text = (0..<10_000).map { "http://example.org/\($0 &* 7919)" }
        var packed = ListFixture.gzip(Array(text.joined(separator: "\n").utf8))
        packed[packed.count - 8] ^= 1
        let lines = try fixture.lines(of: packed)
        #expect(lines.last == "LIST: the compressed list is damaged: incorrect data check")
        #expect(lines.count > 5000)
        #expect(lines.dropLast().elementsEqual(text.enumerated().prefix(lines.count - 1).map { "\($0 + 1) \($1)" }))
    }

    @Test("a directory and a file that is not there are told at once")
    func unreadable() throws {
        #expect(throws: CommandError("/tmp: Is a directory")) { try ListReader("/tmp") }
        #expect(throws: CommandError("/nowhere/x: No such file or directory")) { try ListReader("/nowhere/x") }
    }

    @Test("a list that comes byte by byte through a pipe reads the same", arguments: [1, 2, 3, 7])
    func split(size: Int) throws {
        let fixture = try ListFixture()
        let text = Array("\u{FEFF}a\r\n\n# é\nhttp://example.org/\u{20AC}\nlast".utf8)
        let expected = ["1 a", "2 ", "3 # é", "4 http://example.org/€", "5 last"]
        for bytes in [text, ListFixture.gzip(text)] {
            guard mkfifo(fixture.path, 0o600) == 0 else { throw SystemError(errno: errno, call: "mkfifo") }
            let path = fixture.path
            let writer = try NamedThread.start(name: "list-writer") {
                let descriptor = open(path, O_WRONLY | O_CLOEXEC)
                defer { close(descriptor) }
                for start in stride(from: 0, to: bytes.count, by: size) {
                    try? ListFixture.writeAll(Array(bytes[start..<min(start + size, bytes.count)]), to: descriptor)
                }
            }
            #expect(try fixture.lines() == expected)
            writer.join()
            remove(path)
        }
    }

    @Test("waiting for input ends when the other descriptor is readable")
    func interrupted() throws {
        let fixture = try ListFixture()
        guard mkfifo(fixture.path, 0o600) == 0 else { throw SystemError(errno: errno, call: "mkfifo") }
        // Both ends, so that it neither blocks nor ends.
        let descriptor = open(fixture.path, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        try ListFixture.writeAll(Array("a\nb".utf8), to: descriptor)
        fixture.interrupt.signal()
        #expect(try fixture.lines() == ["interrupted"])
        fixture.interrupt.drain()
        let reader = try ListReader(fixture.path)
        guard case .line(1, _) = try reader.next(interrupt: fixture.interrupt.rawValue) else {
            Issue.record("no line")
            return
        }
        fixture.interrupt.signal()
        guard case .interrupted = try reader.next(interrupt: fixture.interrupt.rawValue) else {
            Issue.record("not interrupted")
            return
        }
    }

    @Test("a million lines take no more memory than a thousand")
    func flat() throws {
        let fixture = try ListFixture()
        var text: [UInt8] = []
        for number in 0..<1_000_000 { text.append(contentsOf: "http://example.org/page/\(number)\n".utf8) }
        let packed = ListFixture.gzip(text)
        for bytes in [text, packed] {
            try fixture.write(bytes)
            let reader = try ListReader(fixture.path)
            var count = 0
            var length = 0
            reading: while true {
                switch try reader.next(interrupt: fixture.interrupt.rawValue) {
                case .line(let number, let line):
                    count += 1
                    length += line.count + 1
                    if number != count { Issue.record("line \(count) is called \(number)") }
                case .bad, .end, .interrupted: break reading
                }
            }
            #expect(count == 1_000_000 && length == text.count)
            #expect(reader.bufferSize <= 2 << 20)
        }
    }
}
