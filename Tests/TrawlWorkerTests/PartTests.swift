import Glibc
import Testing
import TrawlHTTP
import TrawlProtocol

@Suite("Responses that go on behind a part", .serialized)
struct PartTests {
    /// A 206 for the last six of ten bytes. The origin closes the connection behind it; not told, a worker may use it
    /// once more for a POST, which is not sent again.
    private static func rest(_ framing: String, _ body: String) -> [UInt8] {
        Array(
            "HTTP/1.1 206 Rest\r\nConnection: close\r\nContent-Range: bytes 4-9/10\r\n\(framing)\r\n\(body)".utf8)
    }

    @Test(
        "they have as many bytes as their Content-Range says, whatever tells their end",
        arguments: [
            ("Content-Length: 6\r\n", "456789", nil), ("Content-Length: 6\r\n", "45678", .truncated),
            ("", "456789", nil), ("", "45678", .truncated), ("", "4567890", .malformedResponse),
            ("Transfer-Encoding: chunked\r\n", "6\r\n456789\r\n0\r\n\r\n", nil),
            ("Transfer-Encoding: chunked\r\n", "5\r\n45678\r\n0\r\n\r\n", .truncated),
            ("Transfer-Encoding: chunked\r\n", "7\r\n4567890\r\n0\r\n\r\n", .malformedResponse),
        ] as [(String, String, HopFailure.Kind?)])
    func length(framing: String, body: String, expected: HopFailure.Kind?) throws {
        let worker = try TestCoordinator()
        for sink in [BodySink.discard, .stream(credit: 100), .descriptor] {
            let file = try temporaryFile(Array("0123".utf8))
            lseek(file, 0, SEEK_END)
            let copy = dup(file)
            defer { close(copy) }
            if sink != .descriptor { close(file) }
            let exchange = try worker.fetch("/raw", .post, descriptors: sink == .descriptor ? [file] : []) {
                $0.body = .inline(Self.rest(framing, body))
                $0.sink = sink
                $0.part = 4
            }
            #expect(exchange.failure?.kind == expected, "\(sink)")
            guard expected == nil, sink == .descriptor else { continue }
            #expect(exchange.end.outcome == .complete(.descriptor(length: 6)))
            var bytes = [UInt8](repeating: 0, count: 11)
            #expect(pread(copy, &bytes, bytes.count, 0) == 10)
            #expect(bytes.prefix(10).elementsEqual("0123456789".utf8))
        }
    }

    @Test("a 206 that goes on behind nothing is taken as it comes")
    func others() throws {
        let exchange = try TestCoordinator().fetch("/raw", .post) {
            $0.body = .inline(Self.rest("", "45678"))
        }
        #expect(exchange.body == Array("45678".utf8))
    }

    @Test("what is neither the rest nor a whole is kept in memory", arguments: [200, 201, 202, 203, 404, 503])
    func statuses(status: Int) throws {
        let worker = try TestCoordinator()
        for isBehindPart in [true, false] {
            let exchange = try worker.fetch("/status/\(status)?body=text", descriptors: [try temporaryFile([])]) {
                $0.sink = .descriptor
                $0.options.insert(.savesErrorBodies)
                if isBehindPart { $0.part = 4 }
            }
            let isWhole = status == 200 || status == 203
            let text = Array("text".utf8)
            #expect(
                exchange.end.outcome
                    == .complete(isBehindPart && !isWhole ? .inline(text) : .descriptor(length: 4)))
        }
    }

    @Test("the limit of a body is that of the whole, wherever it goes and however its end is told")
    func limit() throws {
        let worker = try TestCoordinator()
        for (number, limit) in [10, 9].enumerated() {
            var profile = TransferProfile()
            profile.bodyBytes = UInt64(limit)
            worker.send(.profile(number: UInt32(number) + 2, profile))
            for framing in ["Content-Length: 6\r\n", ""] {
                for sink in [BodySink.discard, .stream(credit: 100), .descriptor] {
                    let descriptors = try sink == .descriptor ? [temporaryFile([])] : []
                    let exchange = try worker.fetch("/raw", .post, descriptors: descriptors) {
                        $0.profile = UInt32(number) + 2
                        $0.body = .inline(Self.rest(framing, "456789"))
                        $0.sink = sink
                        $0.part = 4
                    }
                    #expect(exchange.failure?.kind == (limit == 10 ? nil : .bodyTooLarge), "\(sink)")
                }
            }
        }
    }
}
