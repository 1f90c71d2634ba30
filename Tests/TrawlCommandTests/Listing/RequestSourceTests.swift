import Testing
import TrawlJSON

@testable import TrawlCommand

@Suite("Requests that are still to be done")
struct RequestSourceTests {
    @Test(
        "a record of one user's request says nothing about another's",
        arguments: [
            ("http://bob:b@h/x", "http://alice:a@h/x"),
            (#"{"url":"http://bob:b@h/x"}"#, #"{"url":"http://alice:a@h/x"}"#),
        ])
    func users(done: String, listed: String) throws {
        let line = Array(done.utf8).withUnsafeBytes { RequestLine($0, .list) }
        guard case .request(let request) = line else {
            Issue.record("\(done) is refused")
            return
        }
        let directory = try ScratchDirectory()
        try directory.put("list", "\(listed)\n\(done)\n")
        try directory.put("results", #"{"v":1,"key":"\#(request.key.hexadecimal)","ok":true}"# + "\n")
        let source = try RequestSource(
            ListReader(directory.path + "/list"), into: "", ResultsFile(directory.path + "/results"),
            in: ScratchPlaces(["/tmp"]), retriesFailed: false, console: Console(isSilent: true))
        if case .request(_, line: 1, isAgain: false) = source.next() {} else { Issue.record("\(listed) is not done") }
        if case .skipped(.fetched) = source.next() {} else { Issue.record("\(done) is done again") }
        withExtendedLifetime(directory) {}
    }

    @Test("a failure that was recorded again is over, though the record it replaced was dropped")
    func supersededDropped() throws {
        let directory = try ScratchDirectory()
        try directory.put("list", "http://h/x\n")
        let key = RequestKey(url: "http://h/x", out: nil).hexadecimal
        try directory.put("results", #"{"v":1,"key":"\#(key)","ok":false,"again":true}"# + "\n")
        let source = try RequestSource(
            ListReader(directory.path + "/list"), into: "", ResultsFile(directory.path + "/results"),
            in: ScratchPlaces(["/tmp"]), retriesFailed: false, console: Console(isSilent: true))
        if case .skipped(.failed) = source.next() {} else { Issue.record("it is done again") }
        withExtendedLifetime(directory) {}
    }

    /// Bad lines and requests that the list of a directory has, and the error at its end.
    ///
    /// - Parameter results: Gets a record of each bad line.
    private func count(
        _ directory: ScratchDirectory, _ results: ResultsFile? = nil, retriesFailed: Bool = false
    ) throws -> (bad: Int, requests: Int, error: String?) {
        let source = try RequestSource(
            ListReader(directory.path + "/list"), into: "", results, in: ScratchPlaces(["/tmp"]),
            retriesFailed: retriesFailed, console: Console(isSilent: true))
        var records = JSONWriter()
        var (bad, requests) = (0, 0)
        var error: String?
        reading: while true {
            switch source.next() {
            case .request: requests += 1
            case .bad(let line, let number, let isAgain):
                bad += 1
                ResultRecord.write(line, line: number, isAgain: isAgain, time: RecordTime(), to: &records)
            case .nothing, .skipped, .wait: break
            case .end: break reading
            case .unreadable(let message):
                error = message
                break reading
            }
        }
        try results?.append(records)
        return (bad, requests, error)
    }

    /// So many lines of these bytes.
    private func lines(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
        Array(repeatElement(bytes + [0x0A], count: count).joined())
    }

    @Test(
        "a hundred bad lines before any request are no list; objects, and lines behind one, are bad lines, however many"
    )
    func badLines() throws {
        let directory = try ScratchDirectory()
        let many = String(repeating: "{\n", count: 150)
        try directory.put("list", "http://h/a\n" + many + "http://h/b\n")
        let list = try count(directory)
        #expect(list.bad == 150 && list.requests == 2 && list.error == nil)
        // Whoever writes objects means a list.
        try directory.put("list", many + "http://h/b\n")
        let objects = try count(directory)
        #expect(objects.bad == 150 && objects.requests == 1 && objects.error == nil)
        try directory.put("list", String(repeating: "a\t../b\n", count: 150) + "http://h/b\n")
        let none = try count(directory)
        #expect(none.bad == 100 && none.requests == 0)
        #expect(none.error?.hasSuffix("after 100 bad lines") == true, "\(none)")
        withExtendedLifetime(directory) {}
    }

    @Test(
        "behind the last request nothing is left but lines that say nothing",
        arguments: [("", true), ("\n# the end\n\n", true), ("\nhttp://h/b\n", false), ("a\t../b\n", false)])
    func exhausted(rest: String, expected: Bool) throws {
        let directory = try ScratchDirectory()
        try directory.put("list", "http://h/a\n" + rest)
        let source = RequestSource(
            [ListedRequest(url: "http://h/", out: nil)], try ListReader(directory.path + "/list"), .plain,
            in: ScratchPlaces(["/tmp"]))
        for _ in 0..<2 { if case .request = source.next() {} else { Issue.record("no request") } }
        #expect(source.isExhausted() == expected)
        withExtendedLifetime(directory) {}
    }

    @Test("more than a MiB of lines that say nothing is not passed over in search of the end")
    func longRest() throws {
        let directory = try ScratchDirectory()
        let comment = "#" + String(repeating: "x", count: 999_999) + "\n"
        for (count, expected) in [(1, true), (3, false)] {
            try directory.put("list", String(repeating: comment, count: count))
            let reader = try ListReader(directory.path + "/list")
            let source = RequestSource([], reader, .plain, in: ScratchPlaces(["/tmp"]))
            #expect(source.isExhausted() == expected)
        }
        withExtendedLifetime(directory) {}
    }

    @Test("bytes of all lines count as read, be they requests, done, bad, too long or nothing", arguments: [0, 1])
    func bytesRead(ends: Int) throws {
        let directory = try ScratchDirectory()
        let done = "http://h/done"
        let texts = [
            "http://h/a", "", "# comment\r", done, "{", String(repeating: "x", count: 3 << 20), "http://h/b",
        ]
        let list = texts.joined(separator: "\n") + String(repeating: "\n", count: ends)
        try directory.put("list", list)
        let key = RequestKey(url: done, out: nil).hexadecimal
        try directory.put("results", #"{"v":1,"key":"\#(key)","ok":true}"# + "\n")
        let source = try RequestSource(
            ListReader(directory.path + "/list"), into: "", ResultsFile(directory.path + "/results"),
            in: ScratchPlaces(["/tmp"]), retriesFailed: false, console: Console(isSilent: true))
        #expect(source.bytesRead == 0)
        for index in 0..<5 {
            _ = source.next()
            let length = texts[...index].joined(separator: "\n").utf8.count + 1
            #expect(source.bytesRead == length, "\(index)")
        }
        // The start of the long line; the rest comes with the next.
        _ = source.next()
        _ = source.next()
        #expect(source.bytesRead == list.utf8.count)
        if case .end = source.next() {} else { Issue.record("no end") }
        #expect(source.bytesRead == list.utf8.count)
        let none = RequestSource([], nil, .plain, in: ScratchPlaces(["/tmp"]))
        #expect(none.bytesRead == 0)
        withExtendedLifetime(directory) {}
    }

    @Test("where objects are no requests they speak against a list like other lines")
    func objectsOfPlainLists() throws {
        let directory = try ScratchDirectory()
        try directory.put("list", String(repeating: "{}\n", count: 150))
        let source = RequestSource([], try ListReader(directory.path + "/list"), .plain, in: ScratchPlaces(["/tmp"]))
        for _ in 0..<100 { if case .bad = source.next() {} else { Issue.record("no bad line") } }
        if case .unreadable = source.next() {} else { Issue.record("it goes on") }
        withExtendedLifetime(directory) {}
    }

    @Test("a hundred lines with a NUL and none of text between them are no list, behind a request too")
    func binary() throws {
        let directory = try ScratchDirectory()
        let request = Array("a\n".utf8)
        let zeros = [UInt8](repeating: 0, count: 3)
        try directory.put("list", request + lines(zeros, 101) + request)
        let none = try count(directory)
        #expect(none.bad == 100 && none.requests == 1)
        #expect(
            none.error == "\(directory.path)/list: not a list of URLs: the line holds a NUL, after 100 bad lines")
        // A line in another encoding or a comment in between changes nothing; a bad line of text does.
        let mixed = lines(zeros, 50) + lines([0xE9], 1) + Array("\n# a\n".utf8) + lines(zeros, 51)
        try directory.put("list", request + mixed + request)
        #expect(try count(directory).error != nil)
        for text in ["a", "{"] {
            let part = lines(zeros, 99) + lines(Array(text.utf8), 1)
            try directory.put("list", request + part + part)
            let list = try count(directory)
            #expect(list.bad + list.requests == 201 && list.error == nil, "\(list)")
        }
        withExtendedLifetime(directory) {}
    }

    @Test("behind a request any number of lines in another encoding are bad lines of a list")
    func otherEncoding() throws {
        let directory = try ScratchDirectory()
        let request = Array("a\n".utf8)
        try directory.put("list", request + lines([0xE9], 150) + request)
        let list = try count(directory)
        #expect(list.bad == 150 && list.requests == 2 && list.error == nil)
        try directory.put("list", lines([0xE9], 150) + request)
        let none = try count(directory)
        #expect(none.bad == 100 && none.requests == 0)
        #expect(
            none.error == "\(directory.path)/list: not a list of URLs: the line is not UTF-8, after 100 bad lines")
        withExtendedLifetime(directory) {}
    }

    @Test(
        "bad lines that an earlier run has reported are not counted again, whether they are skipped or not",
        arguments: [
            ([], Array("a\t../b".utf8)), ([], [0xE9]), ([], [0]), (Array("http://h/a\n".utf8), [0]),
        ] as [([UInt8], [UInt8])])
    func reportedBefore(start: [UInt8], bad: [UInt8]) throws {
        let directory = try ScratchDirectory()
        try directory.put("list", start + lines(bad, 150) + Array("http://h/b\n".utf8))
        let before = start.isEmpty ? 0 : 1
        let first = try count(directory, ResultsFile(directory.path + "/results"))
        #expect(first.bad == 100 && first.requests == before && first.error != nil, "\(first)")
        let second = try count(directory, ResultsFile(directory.path + "/results"))
        #expect(second.bad == 50 && second.requests == before + 1 && second.error == nil, "\(second)")
        let again = try count(directory, ResultsFile(directory.path + "/results"), retriesFailed: true)
        #expect(again.bad == 150 && again.requests == before + 1 && again.error == nil, "\(again)")
        let last = try count(directory, ResultsFile(directory.path + "/results"))
        #expect(last.bad == 0 && last.requests == before + 1 && last.error == nil, "\(last)")
        withExtendedLifetime(directory) {}
    }
}
