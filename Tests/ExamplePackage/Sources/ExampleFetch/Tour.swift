import Trawl

/// Fetches in each of the ways there are.
func tour() async throws {
    try await withCoordinator { coordinator in
        let response = try await coordinator.send(Request("https://example.org/"))
        print(response.status, response.fields["Content-Type"] ?? "", response.body.count)
        print(try response.text())

        var request = Request(.post, "https://example.org/upload", fields: ["Content-Type": "text/plain"])
        request.body = .text("hello")
        request.options.timeLimits.resource = .seconds(30)
        _ = try await coordinator.send(request)

        // To a file: it has its name when it is complete, and never before.
        _ = try await coordinator.send(Request("https://example.org/big.iso"), into: .file("/tmp/big.iso"))

        // Piece by piece; the transfer waits for a slow reader.
        let fetch = coordinator.start(Request("https://example.org/feed"), into: .stream)
        for await event in fetch.events {
            switch event {
            case .head(let head): print(head.status)
            case .data(let bytes): print(bytes.count)
            case .ended(.failure(let error)): print(error)
            default: break
            }
        }
    }
}
