import Testing
import Trawl

@Suite("A body that a server did not wait for never holds another request", .timeLimit(.minutes(3)))
struct UnsentBodyTests {
    @Test("behind an answer in place of 100 the next request has another connection", arguments: [200, 201, 204])
    func inPlaceOfContinue(status: Int) async throws {
        let bytes = ReferenceBytes.bytes(3 << 20)
        let peer = try ScriptedPeer { connection, _ in
            while let head = connection.readHead() {
                if head.hasPrefix("POST ") {
                    let rest = status == 204 ? "\r\n" : "Content-Length: 4\r\n\r\nnope"
                    connection.send("HTTP/1.1 \(status) Early\r\n\(rest)")
                    // RFC 9110 §10.1.1: it goes on reading the body, and drops it. When this answer was late, all of
                    // it may come, and another request behind it.
                    guard connection.read(bytes.count) != nil else { return }
                } else {
                    connection.send("HTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nhi")
                }
            }
        }
        defer { peer.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            let url = "http://\(peer.place)/"
            let body = Request.Body.bytes(bytes)
            let early = try await coordinator.send(Request(.post, url, body: body))
            #expect(early.status == status && early.bodyText == (status == 204 ? "" : "nope"))
            var next = Request(url)
            next.options.timeLimits.inactivity = .seconds(10)
            let response = try await coordinator.send(next)
            #expect(response.status == 200 && response.bodyText == "hi")
        }
    }

    @Test("an answer that comes before a body that is on its way leaves the connection as it is")
    func early() async throws {
        let seen = Locked<[Int]>([])
        let peer = try ScriptedPeer { connection, number in
            while let head = connection.readHead() {
                seen.withLock { $0.append(number) }
                connection.send("HTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nhi")
                if head.hasPrefix("POST"), connection.read(20_000) == nil { return }
            }
        }
        defer { peer.stop() }
        try await withTestCoordinator(workers: 1) {
            // The body waits for its turn when the answer comes.
            $0.bandwidth = BandwidthLimit(download: 0, upload: 20_000)
        } _: { coordinator in
            let url = "http://\(peer.place)/"
            for _ in 0..<2 {
                let response = try await coordinator.send(
                    Request(.post, url, body: .bytes(ReferenceBytes.bytes(20_000))))
                #expect(response.status == 200)
            }
            let response = try await coordinator.send(Request(url))
            #expect(response.bodyText == "hi")
        }
        #expect(seen.withLock { $0 } == [1, 1, 1])
    }

    @Test("behind a 417 within the body the request is repeated on another connection, body and all (ASI-REQ-09)")
    func lateRefusal() async throws {
        let bytes = ReferenceBytes.bytes(6 << 20, seed: 417)
        let seen = Locked<[String]>([])
        let peer = try ScriptedPeer { connection, number in
            guard let head = connection.readHead() else { return }
            let isAsked = head.lowercased().contains("\r\nexpect: 100-continue\r\n")
            seen.withLock { $0.append("\(number) \(isAsked ? "asked" : "unasked")") }
            if isAsked {
                // Without an answer the body begins after a second.
                guard connection.read(1) != nil else { return }
                connection.send("HTTP/1.1 417 Not Like This\r\nContent-Length: 4\r\n\r\nnope")
                connection.drain()
            } else {
                let word = connection.read(bytes.count) == bytes ? "whole" : "wrong"
                connection.send("HTTP/1.1 200 Fine\r\nContent-Length: 5\r\n\r\n\(word)")
            }
        }
        defer { peer.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            var request = Request(.post, "http://\(peer.place)/", body: .bytes(bytes))
            request.options.timeLimits.inactivity = .seconds(10)
            let response = try await coordinator.send(request)
            #expect(response.status == 200 && response.bodyText == "whole")
            #expect(seen.withLock { $0 } == ["1 asked", "2 unasked"])
        }
    }

    @Test(
        "behind a 417 that closes its connection the request is repeated unasked, body and all",
        arguments: [
            "HTTP/1.1 417 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 417 No\r\nConnection: close\r\nContent-Length: 4\r\n\r\nnope",
            "HTTP/1.1 417 No\r\n\r\nnope",
            "HTTP/1.0 417 No\r\nContent-Length: 0\r\n\r\n",
        ])
    func closingRefusal(answer: String) async throws {
        let bytes = ReferenceBytes.bytes(2 << 20, seed: 417)
        let asked = Locked<[Bool]>([])
        let peer = try ScriptedPeer { connection, _ in
            guard let head = connection.readHead() else { return }
            let asks = head.lowercased().contains("\r\nexpect: 100-continue\r\n")
            asked.withLock { $0.append(asks) }
            if asks {
                connection.send(answer)
                // When this was late the body is on its way: with bytes unread the answer might be lost.
                connection.endSending()
                connection.drain()
            } else {
                let word = connection.read(bytes.count) == bytes ? "whole" : "wrong"
                connection.send("HTTP/1.1 200 Fine\r\nContent-Length: 5\r\n\r\n\(word)")
            }
        }
        defer { peer.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            // Which must not be sent twice; but nothing was done.
            let response = try await coordinator.send(Request(.post, "http://\(peer.place)/", body: .bytes(bytes)))
            #expect(response.status == 200 && response.bodyText == "whole")
            #expect(response.metrics.count == 1)
            #expect(asked.withLock { $0 } == [true, false])
        }
    }
}
