import Testing

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
            ListReader(directory.path + "/list"), ResultsFile(directory.path + "/results"),
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
            ListReader(directory.path + "/list"), ResultsFile(directory.path + "/results"),
            in: ScratchPlaces(["/tmp"]), retriesFailed: false, console: Console(isSilent: true))
        if case .skipped(.failed) = source.next() {} else { Issue.record("it is done again") }
        withExtendedLifetime(directory) {}
    }

    /// Bad lines and requests that the list of a directory has, and the error at its end.
    private func count(
        _ directory: ScratchDirectory, _ results: ResultsFile? = nil
    ) throws -> (bad: Int, requests: Int, error: String?) {
        let source = try RequestSource(
            ListReader(directory.path + "/list"), results, in: ScratchPlaces(["/tmp"]), retriesFailed: false,
            console: Console(isSilent: true))
        var (bad, requests) = (0, 0)
        while true {
            switch source.next() {
            case .request: requests += 1
            case .bad: bad += 1
            case .nothing, .skipped, .wait: break
            case .end: return (bad, requests, nil)
            case .unreadable(let message): return (bad, requests, message)
            }
        }
    }

    @Test("a hundred bad lines before any request are no list; behind one they are bad lines, however many")
    func badLines() throws {
        let directory = try ScratchDirectory()
        let many = String(repeating: "{\n", count: 150)
        try directory.put("list", "http://h/a\n" + many + "http://h/b\n")
        let list = try count(directory)
        #expect(list.bad == 150 && list.requests == 2 && list.error == nil)
        try directory.put("list", many + "http://h/b\n")
        let none = try count(directory)
        #expect(none.bad == 100 && none.requests == 0)
        #expect(none.error?.hasSuffix("after 100 bad lines") == true, "\(none)")
        withExtendedLifetime(directory) {}
    }

    @Test("bad lines that an earlier run has reported are not counted again")
    func reportedBefore() throws {
        let directory = try ScratchDirectory()
        try directory.put("list", String(repeating: "{\n", count: 150) + "http://h/b\n")
        var records = ""
        for line in 1...100 {
            guard case .bad(let bad) = Array("{".utf8).withUnsafeBytes({ RequestLine($0, .list) }) else { continue }
            let key = ResultRecord.key(of: bad, line: line)
            records += #"{"v":1,"key":"\#(key.hexadecimal)","ok":false}"# + "\n"
        }
        try directory.put("results", records)
        let rest = try count(directory, ResultsFile(directory.path + "/results"))
        #expect(rest.bad == 50 && rest.requests == 1 && rest.error == nil, "\(rest)")
        withExtendedLifetime(directory) {}
    }
}
