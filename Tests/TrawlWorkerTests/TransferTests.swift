import Testing
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

@Suite("Transfers of one worker", .serialized)
struct TransferTests {
    @Test("a body comes with its end, its head and its metrics")
    func simple() throws {
        let worker = try TestCoordinator()
        let exchange = try worker.fetch("/bytes/1000")
        #expect(exchange.head?.status == 200)
        #expect(exchange.head?.contentLength == 1000)
        #expect(exchange.body == stream(1000))
        let metrics = exchange.end.metrics
        #expect(metrics.connection == 1)
        #expect(!metrics.reusedConnection)
        #expect(metrics.bytesReceived > 1000 && metrics.bodyBytes == 1000)
        #expect(metrics.bytesSent > 50)
        #expect(metrics.remoteAddress == "127.0.0.1")
        #expect(metrics.ended > 0 && metrics.firstByte > 0)
        let second = try worker.fetch("/bytes/1000?chunked=1")
        #expect(second.body == stream(1000) && second.end.metrics.bodyBytes == 1000)
        #expect(second.end.metrics.reusedConnection)
        #expect(second.end.metrics.connection == 1)
    }

    @Test("the request is what the lease says, and nothing else")
    func request() throws {
        let worker = try TestCoordinator()
        let exchange = try worker.fetch("/anything/x?y=1", named("PURGE")) { lease in
            try? lease.fields.append("X-Empty", "")
            try? lease.fields.append("x-odd", "1")
            try? lease.fields.append("X-Odd", "2")
        }
        let text = String(decoding: exchange.body, as: UTF8.self).filter { $0 != " " && $0 != "\n" }
        #expect(text.contains(#""method":"PURGE""#))
        #expect(
            text.contains(
                #"["User-Agent","test"],["Accept","*/*"],["X-Empty",""],["x-odd","1"],["X-Odd","2"]]"#))
    }

    @Test(
        "a body is sent with any method, from the lease or from a file",
        arguments: ["POST", "PUT", "PATCH", "DELETE", "GET", "QUERY"])
    func bodies(method: String) throws {
        let worker = try TestCoordinator()
        let method = try named(method)
        for length in [1, 5000, 65_536] {
            let bytes = stream(length, seed: 3)
            let inline = try worker.fetch("/echo", method) { $0.body = .inline(bytes) }
            #expect(inline.body == bytes)
            let file = try temporaryFile(bytes)
            let fromFile = try worker.fetch("/echo", method, descriptors: [file]) {
                $0.body = .descriptor(length: UInt64(length))
            }
            #expect(fromFile.body == bytes)
        }
    }

    @Test("a body of more than a megabyte goes out, though a server is slow to say 100")
    func largeBody() throws {
        let worker = try TestCoordinator()
        let bytes = stream(3 << 20, seed: 5)
        let exchange = try worker.fetch("/echo", .post, descriptors: [try temporaryFile(bytes)]) {
            $0.body = .descriptor(length: UInt64(bytes.count))
        }
        #expect(exchange.body == bytes)
        #expect(exchange.wasSealed)
    }

    @Test("methods that expect a body announce its lack, others do not")
    func emptyBodies() throws {
        let worker = try TestCoordinator()
        for (method, announced) in [("POST", true), ("PUT", true), ("PATCH", true), ("GET", false), ("DELETE", false)] {
            let exchange = try worker.fetch("/anything", try named(method))
            let text = String(decoding: exchange.body, as: UTF8.self)
            #expect(text.contains("\"\(method)\""))
            #expect(text.contains("Content-Length") == announced, "\(method)")
            #expect(!text.contains("Content-Type"), "\(method)")
        }
    }

    @Test("handles switch between shapes of requests")
    func shapes() throws {
        let worker = try TestCoordinator(leases: 1)
        for _ in 0..<2 {
            #expect(try worker.fetch("/bytes/10", .head).body.isEmpty)
            #expect(try worker.fetch("/echo", .post) { $0.body = .inline([1, 2, 3]) }.body == [1, 2, 3])
            #expect(try worker.fetch("/bytes/10").body == stream(10))
            #expect(try worker.fetch("/echo", .put) { $0.body = .inline([4]) }.body == [4])
            #expect(try worker.fetch("/bytes/10", .head).end.outcome == .complete(.inline([])))
            #expect(try worker.fetch("/status/204").head?.status == 204)
        }
    }

    @Test("interim responses are told, and their order is kept")
    func interim() throws {
        let worker = try TestCoordinator()
        let exchange = try worker.fetch("/interim?list=103,102,103")
        #expect(exchange.interim.map(\.status) == [103, 102, 103])
        #expect(exchange.head?.status == 200)
    }

    @Test(
        "content codings are undone, unless the profile says otherwise",
        arguments: ["gzip", "deflate", "raw-deflate", "brotli", "gzip-multi"])
    func codings(name: String) throws {
        let worker = try TestCoordinator()
        for query in ["", "?chunked=1"] {
            let exchange = try worker.fetch("/\(name)\(query)")
            #expect(exchange.body == plainText)
            #expect(exchange.end.decoded.count == 1)
        }
        var profile = TransferProfile()
        profile.decoding = .off
        worker.send(.profile(number: 2, profile))
        let raw = try worker.fetch("/\(name)") { $0.profile = 2 }
        #expect(raw.failure == nil)
        #expect(raw.body != plainText)
        #expect(raw.end.decoded.isEmpty)
    }

    @Test("trailers come with the end")
    func trailers() throws {
        let exchange = try TestCoordinator().fetch("/trailers")
        #expect(exchange.failure == nil)
        #expect(exchange.end.trailers.contains("X-Checksum"))
    }

    @Test("the body of a redirect is dropped on demand, a long one with its connection")
    func redirectBodies() throws {
        let worker = try TestCoordinator()
        let small = try worker.fetch("/redirect/1") { $0.options.insert(.dropsRedirectBodies) }
        #expect(small.head?.status == 302)
        guard case .complete(.discarded) = small.end.outcome else {
            Issue.record("not dropped")
            return
        }
        let target = "/bytes/10000000?field=X:%20y"
        let large = try worker.fetch(target) { $0.options.insert(.dropsRedirectBodies) }
        #expect(large.body.count == 10_000_000)
    }

    @Test("limits of size hold, announced or not")
    func limits() throws {
        var profile = TransferProfile()
        profile.bodyBytes = 1000
        let worker = try TestCoordinator(profile: profile)
        #expect(try worker.fetch("/bytes/1000").failure == nil)
        #expect(try worker.fetch("/bytes/1001").failure?.kind == .bodyTooLarge)
        #expect(try worker.fetch("/bytes/1001?chunked=1").failure?.kind == .bodyTooLarge)
        #expect(try worker.fetch("/gzip").failure?.kind == .bodyTooLarge)
        profile.bodyBytes = .max
        profile.memoryBytes = 100_000
        worker.send(.profile(number: 1, profile))
        #expect(try worker.fetch("/endless").failure?.kind == .bodyTooLarge)
        #expect(try worker.fetch("/endless?chunked=1").failure?.kind == .bodyTooLarge)
    }

    @Test(
        "a length beyond all bounds is one like any other under a limit of bandwidth",
        arguments: ["9223372036854775800", "5000000000000000000"])
    func boundlessLengths(length: String) throws {
        let worker = try TestCoordinator()
        worker.segment.limit(0).set(down: 10 << 20, up: nil, burst: .milliseconds(20), at: MonotonicClock.now())
        let response = Array("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nshort".utf8)
        for _ in 0..<2 {
            let exchange = try worker.fetch("/raw", .post) {
                $0.limits = LimitNumbers(0)
                $0.body = .inline(response)
                $0.sink = .discard
            }
            #expect(exchange.failure?.kind == .truncated)
        }
        #expect(try worker.fetch("/bytes/10").body == stream(10))
    }

    @Test(
        "a body may be one row again and again up to 8 MiB, and no further",
        arguments: [(4 << 20, true), (9 << 20, false)])
    func repeatedRows(size: Int, isTaken: Bool) throws {
        let worker = try TestCoordinator()
        let exchange = try worker.fetch("/gzip-bomb?size=\(size)") { $0.sink = .discard }
        #expect(exchange.failure?.kind == (isTaken ? nil : .decoding))
    }

    @Test("a decompression bomb ends early")
    func bomb() throws {
        var profile = TransferProfile()
        profile.codingRatio = 100
        let worker = try TestCoordinator(profile: profile)
        #expect(try worker.fetch("/gzip-bomb") { $0.sink = .discard }.failure?.kind == .decoding)
    }
}
