import Testing
import Trawl

@Suite(
    "A slow reader whose connection others share", .enabled(if: WebSites.canRun, WebSites.missing),
    .timeLimit(.minutes(2)))
struct RestingStreamTests {
    @Test("a body that rests again and again while others are read comes whole")
    func whole() async throws {
        try await WebSites.with { sites in
            try await withTestCoordinator(workers: 1) { coordinator in
                let request = sites.request(.secure, "/huge") { $0.options.transport.version = .http2 }
                let part = 64 << 20
                var other = request
                other.fields.add("Range", "bytes=0-\(part - 1)")
                let fetch = coordinator.start(request, into: .stream)
                var received = 0
                var rests = 0
                for await event in fetch.events {
                    switch event {
                    case .data(let piece):
                        received += piece.count
                        guard rests < 4, received > rests << 20 else { continue }
                        rests += 1
                        // Meanwhile the server sends as much as it may for the one that rests.
                        let length = try await coordinator.send(other, into: .discard).receivedLength
                        #expect(length == UInt64(part))
                    case .ended(let result): _ = try result.get()
                    default: break
                    }
                }
                #expect(received == WebSites.hugeLength)
            }
        }
    }
}
