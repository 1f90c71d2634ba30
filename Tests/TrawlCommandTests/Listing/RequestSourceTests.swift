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
            ListReader(directory.path + "/list"), ResultsFile(directory.path + "/results"), retriesFailed: false,
            console: Console(isSilent: true))
        if case .request(_, line: 1, isAgain: false) = source.next() {} else { Issue.record("\(listed) is not done") }
        if case .skipped(.fetched) = source.next() {} else { Issue.record("\(done) is done again") }
        withExtendedLifetime(directory) {}
    }
}
