import TestSupport
import Testing
import Trawl

/// Bytes beyond an answer must never become the next answer.
///
/// That holds for bytes that are there before the next request is sent. Later ones cannot be told from the answer to
/// it; so each round waits until the poison has come.
@Suite("Bytes beyond a response poison nothing", .serialized)
struct PoisonTests {
    static let targets = [
        "/poison/late?ms=0", "/poison/late?ms=1", "/poison/late?ms=5", "/poison/with-body?bytes=16&ms=0",
        "/poison/with-body?bytes=100000&ms=0",
        "/poison/short-length?ms=0", "/poison/short-length?ms=2", "/poison/zero-length?ms=0",
        "/poison/zero-length?ms=2", "/poison/chunked?ms=0", "/poison/chunked?ms=2",
        "/poison/304?ms=0", "/poison/304?ms=2", "/poison/204?ms=0", "/poison/204?ms=2", "/poison/head?ms=0",
        "/poison/head?ms=2",
    ]

    @Test("in clear", .timeLimit(.minutes(3)), arguments: targets, Engine.allCases)
    func clear(target: String, engine: Engine) async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: engine.workers) { coordinator in
                try await rounds(target, of: origin, at: origin.port, on: coordinator) { Request(origin.url($0)) }
            }
        }
    }

    @Test(
        "over TLS",
        .enabled(if: NginxServer.canTerminateTLS, "nginx with its stream module and openssl are not installed"),
        .timeLimit(.minutes(3)), arguments: targets)
    func tls(target: String) async throws {
        try await withOrigin { origin in
            let front = try await TLSFront(before: origin.port)
            defer { front.server.stop() }
            try await withTestCoordinator(workers: 2) { coordinator in
                try await rounds(target, of: origin, at: front.server.port, on: coordinator) { target in
                    var request = Request(front.url(target))
                    request.options.tls.caFile = front.certificate
                    return request
                }
            }
        }
    }

    /// Takes poison and then asks for known bytes, so many times.
    ///
    /// - Parameter port: Where the connections lead, be it the origin or what stands before it.
    private func rounds(
        _ target: String, of origin: LoopbackOriginProcess, at port: UInt16, on coordinator: Coordinator,
        _ request: (String) -> Request
    ) async throws {
        // In one write with the answer there is next to nothing to wait for.
        let isLater = !target.hasSuffix("ms=0") || target.hasPrefix("/poison/late")
        for round in 0..<(runsLongTests ? 200 : 15) {
            var poisoned = request(target)
            if target.hasPrefix("/poison/head") { poisoned.method = .head }
            let old = ProcessTree.unreadBytes(ofConnectionsTo: port).filter { $0.value > 0 }
            let response = try await coordinator.send(poisoned)
            check(response, round)
            let number = try #require(response.fields["X-Connection"].flatMap { Int($0) })
            if isLater {
                let isSent = try await eventually { try !origin.isQuiet(number) }
                #expect(isSent, "round \(round): no poison")
            }
            // The connection holds it unread, or is closed: poison that came along with the answer may have been seen.
            _ = await eventually(within: isLater ? .seconds(5) : .milliseconds(8)) {
                let unread = ProcessTree.unreadBytes(ofConnectionsTo: port)
                if unread.contains(where: { $0.value > 0 && old[$0.key] == nil }) { return true }
                guard let open = try? origin.connections().numbers else { return false }
                return !open.contains(number)
            }
            for step in 0..<2 {
                let seed = UInt64(round * 2 + step + 1)
                let next = try await coordinator.send(request("/bytes/64?seed=\(seed)"))
                check(next, round)
                #expect(next.body.bytes == ReferenceBytes.bytes(64, seed: seed), "round \(round)")
            }
        }
    }

    private func check(_ response: Response, _ round: Int) {
        #expect(response.fields["X-Poison"] == nil, "round \(round)")
        #expect(!response.bodyText.contains("POISON"), "round \(round)")
    }
}
