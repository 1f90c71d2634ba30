import Testing
import TrawlFrontier

@testable import Trawl

@Suite("The requests of a queue that wait")
struct WaitingRequestsTests {
    @Test("come back as they were, once, and not for another fetch of their place")
    func kept() {
        var machine = QueueMachine()
        var waiting = WaitingRequests()
        var requests: [(QueueMachine.FetchID, Request, Destination)] = []
        for number in 0..<20 {
            var request = Request("http://a.test/\(number)?q", fields: ["X-Number": "\(number / 5)"])
            if number % 7 == 0 { request.body = .text("\(number)") }
            var options = Destination.FileOptions()
            options.syncs = number % 3 == 0
            let destination: Destination =
                number % 2 == 0 ? .file("/tmp/\(number)", options: options) : number % 3 == 0 ? .discard : .memory
            let id = machine.add()
            waiting.keep(request, destination, for: id)
            requests.append((id, request, destination))
        }
        for (id, request, destination) in requests {
            #expect(waiting.look(at: id).map { $0.0 == request && $0.1 == destination } == true)
            #expect(waiting.name(of: id).map { $0.0 == request.effectiveMethod && $0.1 == request.url } == true)
            #expect(waiting.take(id).map { $0.0 == request && $0.1 == destination } == true)
            #expect(waiting.take(id) == nil && waiting.name(of: id) == nil)
        }
        let first = requests[0].0
        machine.cancel(first)
        while machine.next() != nil {}
        let other = machine.add()
        #expect(other.place < 20 && other != first)
        waiting.keep(Request("http://b.test/"), .memory, for: other)
        for (id, _, _) in requests where id.place == other.place { #expect(waiting.look(at: id) == nil) }
        waiting.drop(first)
        #expect(waiting.name(of: other)?.1 == "http://b.test/")
    }

    @Test(
        "the path of a URL, RFC 3986 §3.3",
        arguments: [
            ("http://a.test", "/"), ("http://a.test/", "/"), ("http://a.test?q=/x", "/"), ("http://a.test#/x", "/"),
            ("http://u:p@a.test:80/b/c?d#e", "/b/c"), ("https://a.test/b#?", "/b"), ("http://a.test//b", "//b"),
            ("", "/"),
            ("http://[::1]/x%2Fy", "/x%2Fy"), ("http://a.test/?u=http://b.test/c", "/"),
        ])
    func path(url: String, path: String) {
        #expect(WaitingRequests.path(of: url) == path)
    }
}
