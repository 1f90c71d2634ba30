import Testing
import Trawl

@Suite("Connections are kept, ended and repeated by rule, ASI-CONN-01 to 05, 07")
struct ConnectionTests {
    /// Runs with an origin and a coordinator that nobody else uses.
    private func alone(
        _ engine: Engine, _ body: (LoopbackOriginProcess, Coordinator) async throws -> Void
    ) async throws {
        try await withOrigin(addresses: 2) { origin in
            try await withTestCoordinator(workers: engine.workers) { coordinator in try await body(origin, coordinator)
            }
        }
    }

    @Test("one fetch after the other uses one connection", .timeLimit(.minutes(3)), arguments: Engine.allCases)
    func keepAlive(engine: Engine) async throws {
        try await alone(engine) { origin, coordinator in
            var connections: Set<String> = []
            var reused = 0
            for index in 0..<20 {
                let response = try await coordinator.send(Request(origin.url("/bytes/\(index * 10_000)")))
                connections.insert(try #require(response.fields["X-Connection"]))
                reused += response.metrics.last?.reusedConnection == true ? 1 : 0
            }
            // A worker each at most: a busy origin may be spread.
            #expect(connections.count <= max(1, engine.workers))
            #expect(reused == 20 - connections.count)
        }
    }

    @Test("with bodies too, and for every method (ASI-CONN-03)", .timeLimit(.minutes(3)))
    func keepAliveWithBodies() async throws {
        try await alone(.inProcess) { origin, coordinator in
            for method: Request.Method in [.post, .put, "PATCH", "DELETE", .post] {
                let response = try await coordinator.send(
                    Request(method, origin.url("/echo"), body: .bytes(ReferenceBytes.bytes(70_000))))
                #expect(response.body.bytes == ReferenceBytes.bytes(70_000))
            }
            #expect(try origin.log(prefix: "/echo").map(\.connection) == [1, 1, 1, 1, 1])
        }
    }

    @Test(
        "a redirect stays on the connection to the same origin and leaves it for another one", .timeLimit(.minutes(3)),
        arguments: Engine.allCases)
    func redirect(engine: Engine) async throws {
        try await alone(engine) { origin, coordinator in
            let same = try await coordinator.send(Request(origin.url("/redirect/5")))
            #expect(Set(same.metrics.map(\.connection)).count == 1)
            let used = try Set(origin.log(prefix: "/redirect").map(\.connection))
            #expect(used.count == 1, "\(used)")
            let other = try await coordinator.send(
                Request(origin.url("/redirect-to?url=" + origin.url("/anything", address: 2).percentEncoded)))
            #expect(Set(other.metrics.map(\.connection)).count == 2)
            #expect(other.metrics.last?.remoteAddress == "127.0.0.2:\(origin.port)")
        }
    }

    @Test(
        "Connection: close and HTTP/1.0 without keep-alive end the connection", .timeLimit(.minutes(3)),
        arguments: ["/response-headers?Connection=close", "/http10", "/bytes/10?nolength=1", "/both-lengths"])
    func serverCloses(target: String) async throws {
        try await alone(.workers) { origin, coordinator in
            for _ in 0..<4 {
                let response = try await coordinator.send(Request(origin.url(target)))
                #expect(response.metrics.last?.reusedConnection == false)
            }
            let log = try origin.log(prefix: target)
            #expect(Set(log.map(\.connection)).count == 4)
        }
    }

    @Test("HTTP/1.0 with keep-alive keeps it", .timeLimit(.minutes(3)))
    func http10KeepAlive() async throws {
        try await alone(.inProcess) { origin, coordinator in
            // Two are enough: to a server that speaks 1.0 libcurl speaks 1.0 the next time, and that ends it.
            for _ in 0..<2 { _ = try await coordinator.send(Request(origin.url("/http10?keep=1"))) }
            let log = try origin.log(prefix: "/http10")
            #expect(log.map(\.connection) == [1, 1])
        }
    }

    @Test(
        "so it does where HTTP/1.0 is asked for (ASI-REQ-11)", .timeLimit(.minutes(3)),
        arguments: ["HTTP/1.0", "HTTP/1.1"], [0, 1])
    func http10Asked(version: String, workers: Int) async throws {
        let seen = Locked<[Int]>([])
        let asked = Locked<[String]>([])
        let peer = try ScriptedPeer { connection, number in
            while let head = connection.readHead() {
                seen.withLock { $0.append(number) }
                asked.withLock { $0.append(String(head.prefix { $0 != "\r\n" })) }
                connection.send("\(version) 200 Fine\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi")
            }
        }
        defer { peer.stop() }
        try await withTestCoordinator(workers: workers) { coordinator in
            var request = Request("http://\(peer.place)/")
            request.options.transport.version = .http1_0
            for index in 0..<3 {
                let response = try await coordinator.send(request)
                #expect(response.bodyText == "hi")
                let isUsedAgain = index > 0
                #expect(response.metrics.last?.reusedConnection == isUsedAgain)
            }
        }
        #expect(seen.withLock { $0 } == [1, 1, 1])
        #expect(asked.withLock { $0 } == [String](repeating: "GET / HTTP/1.0", count: 3))
    }

    @Test("options turn reuse and keeping off", .timeLimit(.minutes(3)), arguments: Engine.allCases)
    func reuseOff(engine: Engine) async throws {
        try await alone(engine) { origin, coordinator in
            var fresh = Request(origin.url("/bytes/1"))
            fresh.options.reusesConnection = false
            var last = Request(origin.url("/bytes/2"))
            last.options.keepsConnection = false
            let plain = Request(origin.url("/bytes/3"))
            for request in [plain, fresh, fresh] { _ = try await coordinator.send(request) }
            let first = try origin.log(prefix: "/bytes").map(\.connection)
            #expect(Set(first).count == 3)
            for _ in 0..<3 {
                _ = try await coordinator.send(last)
            }
            // What the first three left may be used once by each of these, which end it.
            let ended = try origin.log(prefix: "/bytes/2")
            #expect(Set(ended.map(\.connection)).count == 3)
        }
    }

    @Test("the server's own limit on idle connections is kept", .timeLimit(.minutes(3)))
    func serverTimeout() async throws {
        try await alone(.inProcess) { origin, coordinator in
            _ = try await coordinator.send(Request(origin.url("/keepalive?timeout=1")))
            let clock = ContinuousClock()
            let until = clock.now + .milliseconds(1100)
            #expect(await eventually(within: .seconds(10)) { clock.now >= until })
            let response = try await coordinator.send(
                Request(.post, origin.url("/keepalive?timeout=1"), body: .text("x")))
            #expect(response.status == 200)
            #expect(response.metrics.last?.reusedConnection == false)
        }
    }

    @Test("the server's own limit takes the place of the request's, also where it is longer", .timeLimit(.minutes(3)))
    func longerServerTimeout() async throws {
        try await alone(.inProcess) { origin, coordinator in
            var request = Request(origin.url("/keepalive?timeout=60"))
            request.options.transport.idleLifetime = .seconds(1)
            _ = try await coordinator.send(request)
            let clock = ContinuousClock()
            let until = clock.now + .milliseconds(2100)
            #expect(await eventually(within: .seconds(10)) { clock.now >= until })
            #expect(try await coordinator.send(request).metrics.last?.reusedConnection == true)
            #expect(try origin.log(prefix: "/keepalive").map(\.connection) == [1, 1])
        }
    }

    @Test("so is what it says with 304", .timeLimit(.minutes(3)))
    func serverTimeoutOfValidation() async throws {
        try await withOrigin { origin in
            let store = try TemporaryDirectory()
            try await withTestCoordinator(workers: 0) {
                $0.store = .directory(store.file("store"))
            } _: { coordinator in
                let url = origin.url(
                    "/bytes/10?etag=1&field=Keep-Alive:%20timeout%3D1&field=Cache-Control:%20no-cache")
                for source in [Response.Source.network, .revalidated] {
                    let response = try await coordinator.send(Request(url))
                    #expect(response.source == source)
                }
                let clock = ContinuousClock()
                let until = clock.now + .milliseconds(1100)
                #expect(await eventually(within: .seconds(10)) { clock.now >= until })
                let response = try await coordinator.send(Request(.post, origin.url("/echo"), body: .text("x")))
                #expect(response.metrics.last?.reusedConnection == false)
            }
        }
    }

    @Test("a connection with few requests left is not used again", .timeLimit(.minutes(3)))
    func fewLeft() async throws {
        try await alone(.inProcess) { origin, coordinator in
            for _ in 0..<3 { _ = try await coordinator.send(Request(origin.url("/keepalive?max=5&timeout=60"))) }
            #expect(Set(try origin.log(prefix: "/keepalive").map(\.connection)).count == 3)
            let many = Request(origin.url("/keepalive?max=50&many=1&timeout=60"))
            for _ in 0..<3 { _ = try await coordinator.send(many) }
            #expect(Set(try origin.log(prefix: "/keepalive?max=50&many").map(\.connection)).count == 1)
        }
    }

    @Test("the idle lifetime of the request is kept", .timeLimit(.minutes(3)))
    func idleLifetime() async throws {
        try await alone(.inProcess) { origin, coordinator in
            var request = Request(origin.url("/bytes/1"))
            request.options.transport.idleLifetime = .seconds(1)
            _ = try await coordinator.send(request)
            let clock = ContinuousClock()
            let until = clock.now + .milliseconds(2100)
            #expect(await eventually(within: .seconds(10)) { clock.now >= until })
            #expect(try await coordinator.send(request).metrics.last?.reusedConnection == false)
        }
    }

    @Test(
        "a connection the server closed while idle is noticed, for any method", .timeLimit(.minutes(3)),
        arguments: ["GET", "POST"], Engine.allCases)
    func closedIdle(method: String, engine: Engine) async throws {
        try await alone(engine) { origin, coordinator in
            for round in 0..<4 {
                let request = Request(
                    Request.Method(method), origin.url("/close-idle?ms=20&round=\(round)"),
                    body: method == "POST" ? .text("x") : .none)
                let response = try await coordinator.send(request)
                #expect(response.status == 200)
                // The question itself is on a connection.
                #expect(try await eventually { try origin.connections().open <= 1 })
            }
            #expect(try origin.log(prefix: "/close-idle").count == 4)
        }
    }

    @Test(
        "a reused connection that dies without an answer: GET is sent once more", .timeLimit(.minutes(3)),
        arguments: ["", "?reset=1"], ["GET", "HEAD", "PUT", "DELETE"])
    func repeated(query: String, method: String) async throws {
        try await alone(.inProcess) { origin, coordinator in
            let first = try await coordinator.send(Request(origin.url("/close-after-request\(query)")))
            #expect(first.metrics.last?.repeatedRequest == false)
            let body: Request.Body = method == "PUT" ? .text("again") : .none
            let response = try await coordinator.send(
                Request(Request.Method(method), origin.url("/close-after-request\(query)"), body: body))
            #expect(response.status == 200)
            #expect(response.metrics.last?.reusedConnection == false && response.metrics.last?.repeatedRequest == true)
            let log = try origin.log(prefix: "/close-after-request")
            #expect(log.map(\.connection) == [1, 1, 2], "first, lost, repeated")
        }
    }

    @Test(
        "a reused connection that dies without an answer: POST is not sent again", .timeLimit(.minutes(3)),
        arguments: ["", "?reset=1"], ["POST", "PATCH", "PURGE"])
    func notRepeated(query: String, method: String) async throws {
        for engine in Engine.allCases {
            try await alone(engine) { origin, coordinator in
                // Once per worker at least, so that whichever gets the request reuses a connection.
                for _ in 0..<4 { _ = try await coordinator.send(Request(.get, origin.url("/bytes/1"))) }
                let error = await failure(.connectionLost) {
                    try await coordinator.send(
                        Request(Request.Method(method), origin.url("/close-after-request\(query)"), body: .text("once"))
                    )
                }
                #expect(error?.isRetryable == false)
                #expect(try origin.log(prefix: "/close-after-request").count == 1)
            }
        }
    }

    @Test(
        "a fresh connection that dies without an answer is a failure, sent once", .timeLimit(.minutes(3)),
        arguments: ["GET", "POST"])
    func freshDies(method: String) async throws {
        try await alone(.workers) { origin, coordinator in
            for target in ["/close?fresh=1", "/reset?fresh=1"] {
                let error = await failure(.connectionLost) {
                    try await coordinator.send(
                        Request(Request.Method(method), origin.url(target), body: method == "POST" ? .text("x") : .none)
                    )
                }
                let isRepeatable = method == "GET"
                #expect(error?.isRetryable == isRepeatable)
                let log = try origin.log(prefix: target)
                #expect(log.count == 1)
            }
        }
    }

    @Test("no connection is refused and named", .timeLimit(.minutes(3)))
    func refusedConnection() async throws {
        try await withTestCoordinator { coordinator in
            let error = await failure(.cannotConnect) {
                try await coordinator.send(Request("http://127.0.0.1:\(ClosedPort.number)/"))
            }
            #expect(error?.urlErrorCode == -1004)
            #expect(error?.isRetryable == true)
        }
    }

    @Test(
        "so is a name that leads nowhere", .timeLimit(.minutes(3)),
        .enabled(if: Resolver.knowsNobody, Resolver.missing))
    func unknownName() async throws {
        try await withTestCoordinator { coordinator in
            _ = await failure(.hostNotFound) { try await coordinator.send(Request("http://no-such-name.invalid/")) }
        }
    }

    @Test(
        "where a server says that it closes the connection nothing more is sent on it, however it says so",
        .timeLimit(.minutes(3)),
        arguments: ["Connection: close", "Connection : close", "Connection:\r\n close", "Connection: x, Close"])
    func closing(line: String) async throws {
        let seen = Locked<[Int]>([])
        let peer = try ScriptedPeer { connection, number in
            while connection.readHead() != nil {
                seen.withLock { $0.append(number) }
                connection.send("HTTP/1.1 200 Fine\r\n\(line)\r\nContent-Length: 2\r\n\r\nhi")
            }
        }
        defer { peer.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            for _ in 0..<2 {
                let response = try await coordinator.send(Request("http://\(peer.place)/"))
                #expect(response.bodyText == "hi")
            }
        }
        #expect(seen.withLock { $0 } == [1, 2])
    }

    @Test("connections of fetches with other transport settings are not shared", .timeLimit(.minutes(3)))
    func settings() async throws {
        try await alone(.inProcess) { origin, coordinator in
            let plain = Request("http://127.0.0.1:\(origin.port)/bytes/1")
            var elsewhere = plain
            elsewhere.options.transport.connectTo = ["127.0.0.1:\(origin.port):127.0.0.2:\(origin.port)"]
            for request in [plain, elsewhere, plain, elsewhere] {
                let response = try await coordinator.send(request)
                let address = request == plain ? "127.0.0.1" : "127.0.0.2"
                #expect(response.metrics.last?.remoteAddress == "\(address):\(origin.port)")
            }
            var resolved = Request("http://example.invalid:\(origin.port)/bytes/1")
            resolved.options.transport.resolve = ["example.invalid:\(origin.port):127.0.0.2"]
            #expect(try await coordinator.send(resolved).metrics.last?.remoteAddress == "127.0.0.2:\(origin.port)")
        }
    }

    @Test("a fetch that names no interface does not use a connection that is bound to one", .timeLimit(.minutes(3)))
    func interfaces() async throws {
        try await alone(.inProcess) { origin, coordinator in
            let plain = Request(origin.url("/bytes/1"))
            var bound = plain
            bound.options.transport.interface = "127.0.0.2"
            var connections: [[String]] = [[], []]
            for _ in 0..<2 {
                for (kind, request) in [bound, plain].enumerated() {
                    let response = try await coordinator.send(request)
                    connections[kind].append(try #require(response.fields["X-Connection"]))
                }
            }
            #expect(Set(connections[0]).isDisjoint(with: connections[1]), "\(connections)")
        }
    }
}
