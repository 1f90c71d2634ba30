import Foundation
import Testing
import Trawl

/// Decision 0036. In worker processes, which are new, and where nothing is known of libcurl yet.
@Suite("libcurl finds no field line of an earlier response", .timeLimit(.minutes(2)))
struct LastFieldLineTests {
    private static let folded = "HTTP/1.1 200 Fine\r\n folded: onto nothing\r\nContent-Length: 2\r\n\r\nhi"
    /// What is said of it. A head that libcurl has put together with an earlier line is refused in other words.
    private static let refusal = "a line of the head is no field line"

    private func expectRefusal(of request: Request, _ coordinator: Coordinator) async {
        do throws(FetchError) {
            let response = try await coordinator.send(request)
            Issue.record("\(response.status)")
        } catch {
            #expect(error.code == .protocolViolation && error.detail == Self.refusal, "\(error)")
        }
    }

    @Test("behind a head of far too many lines, which holds up nobody")
    func manyLines() async throws {
        let peer = try ScriptedPeer { connection, number in
            guard connection.readHead() != nil else { return }
            switch number {
            case 1: connection.send("HTTP/1.1 200 Fine\r\n" + String(repeating: "a:\n", count: 90_000) + "\r\n")
            case 2: connection.send(Self.folded)
            default: connection.send("HTTP/1.1 200 Fine\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
            }
        }
        defer { peer.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            let request = Request("http://\(peer.place)/")
            await failure(.tooLarge) { try await coordinator.send(request) }
            let clock = ContinuousClock()
            let start = clock.now
            await expectRefusal(of: request, coordinator)
            let response = try await coordinator.send(request)
            #expect(response.bodyText == "hi")
            // Who looks through all lines for each line takes more than twice as long.
            #expect(clock.now - start < .seconds(15))
        }
    }

    @Test("behind a 417 whose repetition needs a connection of its own")
    func restart() async throws {
        let (both, asked, strayed) = (Occasion(), Occasion(), Occasion())
        let state = Locked((gets: 0, askedOn: 0))
        let peer = try ScriptedPeer { connection, number in
            while let head = connection.readHead() {
                if head.hasPrefix("GET") {
                    if state.withLock({ state in
                        state.gets += 1
                        return state.gets == 2
                    }) {
                        both.open()
                    }
                    both.wait()
                    connection.send(
                        "HTTP/1.1 200 Fine\r\nX-One: \(String(repeating: "a", count: 30))\r\nContent-Length: 2\r\n\r\nhi"
                    )
                    // A byte that nobody asked for, on the connection that the next request does not take.
                    Thread.detachNewThread {
                        asked.wait()
                        guard state.withLock({ $0.askedOn }) != number else { return }
                        connection.send("X")
                        strayed.open()
                    }
                } else if head.lowercased().contains("\r\nexpect:") {
                    state.withLock { $0.askedOn = number }
                    asked.open()
                    strayed.wait()
                    connection.send(
                        "HTTP/1.1 417 No\r\nX-Last: \(String(repeating: "b", count: 40))\r\nContent-Length: 0\r\n\r\n")
                } else {
                    connection.send(Self.folded)
                    // Closed with a part of the body unread, the connection would be reset and the head perhaps lost.
                    return connection.drain()
                }
            }
        }
        defer { peer.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            let url = "http://\(peer.place)/"
            async let first = coordinator.send(Request(url))
            async let second = coordinator.send(Request(url + "other"))
            let texts = try await [first.bodyText, second.bodyText]
            #expect(texts == ["hi", "hi"])
            await expectRefusal(of: Request(.post, url, body: .bytes(ReferenceBytes.bytes(2 << 20))), coordinator)
        }
    }
}
