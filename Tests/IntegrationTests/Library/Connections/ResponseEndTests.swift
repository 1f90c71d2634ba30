import Testing
import Trawl

@Suite("Where a response ends, whatever libcurl makes of its head", .timeLimit(.minutes(3)))
struct ResponseEndTests {
    /// Fetches what a server sends that closes the connection behind it, or leaves it open.
    private func fetch(_ text: String, closes: Bool) async throws -> Response {
        let peer = try ScriptedPeer { connection, _ in
            guard connection.readHead() != nil else { return }
            connection.send(text)
            if !closes { connection.drain() }
        }
        defer { peer.stop() }
        return try await withTestCoordinator(workers: 1) { coordinator in
            var request = Request("http://\(peer.place)/")
            request.options.timeLimits.inactivity = .seconds(10)
            return try await coordinator.send(request)
        }
    }

    @Test(
        "the length counts beside a transfer coding that is none",
        arguments: ["identity", "", ","], ["hello", "helloHTTP/1.1 200 OK\r\n\r\n", ""])
    func identity(coding: String, body: String) async throws {
        let length = min(5, body.utf8.count)
        let response = try await fetch(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\nContent-Length: \(length)\r\n\r\n\(body)",
            closes: false)
        #expect(response.status == 200 && response.bodyText == String(body.prefix(5)))
    }

    @Test(
        "a body that is shorter than the length beside such a coding is no whole one", arguments: ["identity", "", ","])
    func shortIdentity(coding: String) async throws {
        let error = await #expect(throws: FetchError.self) {
            try await fetch(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\nContent-Length: 10\r\n\r\nhello", closes: true)
        }
        #expect(error?.code == .truncated)
    }

    @Test(
        "what calls itself HTTP/2 over HTTP/1 is read as HTTP/1.1", arguments: ["HTTP/2", "HTTP/2.0"],
        [
            "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-End: 1\r\n\r\n",
            "200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 OK\r\nContent-Length: 0\r\n\r\n", "204 None\r\n\r\n",
            "200 OK\r\n\r\nhello",
        ])
    func claimedVersion(version: String, rest: String) async throws {
        let closes = rest == "200 OK\r\n\r\nhello"
        let claimed = try await fetch("\(version) \(rest)", closes: closes)
        let plain = try await fetch("HTTP/1.1 \(rest)", closes: closes)
        #expect(claimed.head.version == "HTTP/1.1" && claimed.status == plain.status)
        #expect(claimed.body.bytes == plain.body.bytes && claimed.fields == plain.fields)
        #expect(claimed.trailers == plain.trailers)
    }
}
