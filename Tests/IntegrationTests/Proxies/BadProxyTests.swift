import Foundation
import Glibc
import Testing
import Trawl
import TrawlPlatform

/// Proxies that are gone, slow, or talk nonsense.
@Suite("Proxies that are of no use", .timeLimit(.minutes(2)))
struct BadProxyTests {
    private func withPeer(
        _ serve: @escaping @Sendable (ScriptedPeer.Connection, Int) -> Void,
        _ body: (ScriptedPeer, Coordinator) async throws -> Void
    ) async throws {
        let peer = try ScriptedPeer(serve)
        defer { peer.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in try await body(peer, coordinator) }
    }

    private func request(_ url: String, _ proxy: String, tunnels: Bool = false) throws -> Request {
        var request = Request(url)
        request.options.proxy = ProxyPolicy(try Proxy(proxy))
        request.options.proxy?.tunnelsAll = tunnels
        request.options.timeLimits.connect = .seconds(30)
        return request
    }

    @Test(
        "what is no answer to CONNECT is an error of the proxy",
        arguments: [
            "", "HTTP/1.1 200", "garbage\r\n\r\n", "HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\nno!!",
            "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 302 There\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 204 None\r\nNo colon here\r\n\r\n",
        ])
    func nonsense(answer: String) async throws {
        try await withPeer { connection, _ in
            _ = connection.readHead()
            connection.send(answer)
        } _: { peer, coordinator in
            let error = await failure(.proxy) {
                try await coordinator.send(try request("https://origin.test/", peer.place))
            }
            #expect(error?.detail.contains(peer.place) == true, "\(String(describing: error))")
        }
    }

    @Test(
        "an interim answer to CONNECT fails its own fetch and no other", arguments: [100, 103, 199],
        ["", "HTTP/1.1 200 Tunnel\r\n\r\n", "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n"])
    func interim(status: Int, next: String) async throws {
        let isAsked = Occasion()
        let isOver = Occasion()
        let origin = try ScriptedOrigin { _ in
            isAsked.open()
            isOver.wait()
            return ScriptedOrigin.Answer(200, "whole")
        }
        defer { origin.stop() }
        try await withPeer { connection, _ in
            _ = connection.readHead()
            isAsked.wait()
            connection.send("HTTP/1.1 \(status) Soon\r\n\r\n" + next)
            connection.drain()
        } _: { peer, coordinator in
            // A POST: were its worker lost, nobody would repeat it.
            let other = coordinator.start(Request(.post, origin.url("/other"), body: .text("once")))
            let error = await failure(.proxy) {
                try await coordinator.send(try request("https://origin.test/", peer.place))
            }
            let wanted = "it answered CONNECT with \(status) Soon"
            #expect(error?.detail.contains(wanted) == true, "\(String(describing: error))")
            isOver.open()
            let whole = try await other.response
            #expect(whole.bodyText == "whole")
            #expect(origin.seen().count == 1)
        }
    }

    @Test(
        "a refusal that does not come to its end is no word of the origin's", arguments: [false, true])
    func unfinishedRefusal(isWholeTime: Bool) async throws {
        try await withPeer { connection, _ in
            _ = connection.readHead()
            connection.send(
                "HTTP/1.1 407 Who\r\nStrict-Transport-Security: max-age=600\r\nContent-Length: 100000\r\n\r\n")
            connection.drain()
        } _: { peer, coordinator in
            var wanted = try request("https://origin.test/", peer.place)
            if isWholeTime {
                wanted.options.timeLimits.resource = .milliseconds(400)
            } else {
                wanted.options.timeLimits.connect = .seconds(3)
            }
            await failure(isWholeTime ? .timeout : .proxy) { try await coordinator.send(wanted) }
            #expect(coordinator.secureHosts.isEmpty)
        }
    }

    @Test("the command ends with curl's status when CONNECT is answered by an interim head")
    func interimStatus() throws {
        let peer = try ScriptedPeer { connection, _ in
            _ = connection.readHead()
            connection.send("HTTP/1.1 103 Early Hints\r\n\r\n")
            connection.drain()
        }
        defer { peer.stop() }
        let run = try CommandRun(["-x", peer.place, "https://origin.test/"])
        #expect(run.status == 56 && run.errors.contains("it answered CONNECT with 103"), "\(run.errors)")
    }

    @Test("the command ends with curl's status when CONNECT is answered with nonsense")
    func status() throws {
        let peer = try ScriptedPeer { connection, _ in
            _ = connection.readHead()
            connection.send([0, 1] + Array("junk\r\n\r\n".utf8))
        }
        defer { peer.stop() }
        let run = try CommandRun(["-x", peer.place, "https://origin.test/"])
        #expect(run.status == 56, "\(run.errors)")
    }

    @Test("a proxy at the second of its addresses has answered, and a trouble of its own is tried again")
    func secondAddress() throws {
        let peer = try ScriptedPeer { connection, number in
            _ = connection.readHead()
            connection.send("HTTP/1.1 \(number == 1 ? 503 : 403) No\r\nContent-Length: 0\r\n\r\n")
        }
        defer { peer.stop() }
        // libcurl knows ::1 for it too, where nobody listens, and tries that first.
        let run = try CommandRun(
            ["-x", "localhost:\(peer.port)", "--retry", "1", "--retry-delay", "0.01", "https://origin.test/"])
        #expect(run.status == 56 && run.errors.contains("it answered CONNECT with 403"), "\(run.errors)")
    }

    @Test("a head without an end is cut off", arguments: ["X: y\r\n", "x"])
    func endlessHead(piece: String) async throws {
        let sent = Guarded(0)
        try await withPeer { connection, _ in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 Fine\r\n")
            let many = Array(String(repeating: piece, count: 4096).utf8)
            while connection.send(many) { sent.withLock { $0 += many.count } }
        } _: { peer, coordinator in
            await failure(.proxy) { try await coordinator.send(try request("https://origin.test/", peer.place)) }
            #expect(sent.withLock { $0 } < 16 << 20)
        }
    }

    @Test("a proxy that says nothing is given up in time")
    func silence() async throws {
        try await withPeer { connection, _ in
            connection.drain()
        } _: { peer, coordinator in
            for place in [peer.place, "socks5h://\(peer.place)", "https://\(peer.place)"] {
                var request = try request("https://origin.test/", place)
                request.options.timeLimits.connect = .milliseconds(400)
                let error = await failure(.timeout) { try await coordinator.send(request) }
                #expect(error?.detail.contains("through the proxy") == true)
            }
        }
    }

    @Test(
        "a SOCKS proxy that refuses", arguments: [[0x05, 0xFF], [0x05, 0x00], [0x48, 0x54, 0x54, 0x50]] as [[UInt8]])
    func socks(answer: [UInt8]) async throws {
        try await withPeer { connection, _ in
            _ = connection.read(3)
            connection.send(answer)
            // Refused by rules, RFC 1928 §6.
            if answer == [5, 0] {
                _ = connection.read(10)
                connection.send([5, 2, 0, 1, 0, 0, 0, 0, 0, 0])
            }
            connection.drain()
        } _: { peer, coordinator in
            let error = await failure(.proxy) {
                try await coordinator.send(try request("http://127.0.0.1:9/", "socks5h://\(peer.place)"))
            }
            #expect(error?.cause == .curl(97), "\(String(describing: error))")
        }
    }

    @Test("SOCKS4a is told the name, and its user (ASI-PRX-07)")
    func socks4a() async throws {
        let heard = Guarded<[UInt8]>([])
        try await withOrigin { origin in
            try await withPeer { connection, _ in
                guard let wish = connection.read(8), wish.prefix(2) == [4, 1], wish.suffix(4) == [0, 0, 0, 1] else {
                    return
                }
                // User and name, each to a NUL.
                for _ in 0..<2 {
                    while let byte = connection.read(1), byte != [0] { heard.withLock { $0 += byte } }
                    heard.withLock { $0.append(UInt8(ascii: ";")) }
                }
                connection.send([0, 90, 0, 0, 0, 0, 0, 0])
                connection.tunnel(to: origin.port)
            } _: { peer, coordinator in
                let response = try await coordinator.send(
                    try request("http://named.invalid/anything", "socks4a://user@\(peer.place)"))
                #expect(response.status == 200)
                #expect(heard.withLock { String(decoding: $0, as: UTF8.self) } == "user;named.invalid;")
            }
        }
    }

    @Test("a SOCKS proxy is told user and password, and the name when it resolves names (ASI-PRX-07)")
    func socksUser() async throws {
        let heard = Guarded<[[UInt8]]>([])
        try await withOrigin { origin in
            try await withPeer { connection, _ in
                guard let greeting = connection.read(2), connection.read(Int(greeting[1])) != nil else { return }
                connection.send([5, 2])
                guard let start = connection.read(2), let user = connection.read(Int(start[1])),
                    let length = connection.read(1), let password = connection.read(Int(length[0]))
                else { return }
                heard.withLock { $0 += [user, password] }
                connection.send([1, 0])
                guard let wish = connection.read(5), wish[3] == 3, let name = connection.read(Int(wish[4])),
                    connection.read(2) != nil
                else { return }
                heard.withLock { $0.append(name) }
                connection.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
                connection.tunnel(to: origin.port)
            } _: { peer, coordinator in
                let place = "socks5h://us%20er:pass:word@\(peer.place)"
                for _ in 0..<2 {
                    let response = try await coordinator.send(try request("http://named.invalid/anything", place))
                    #expect(response.status == 200 && !response.bodyText.contains("pass:word"))
                }
                // One connection for both.
                #expect(
                    heard.withLock { $0.map { String(decoding: $0, as: UTF8.self) } } == [
                        "us er", "pass:word", "named.invalid",
                    ])
                // Another user's is another's.
                _ = try await coordinator.send(
                    try request("http://named.invalid/anything", "socks5h://other:word@\(peer.place)"))
                #expect(heard.withLock { $0.count } == 6)
            }
        }
    }

    @Test(
        "what a proxy answers to CONNECT is no part of the response, on a repeated request neither",
        arguments: [
            "Content-Length: 9", "Content-Length: ", "Content-Length: 1\r\nContent-Length: 2",
            "Transfer-Encoding: gzip, chunked",
        ])
    func tunnelHeads(framing: String) async throws {
        let lines = Guarded<[String]>([])
        try await withPeer { connection, number in
            guard let connect = connection.readHead() else { return }
            lines.withLock { $0.append(firstLine(connect)) }
            connection.send("HTTP/1.1 200 Tunnel\r\nX-Tunnel: yes\r\n\(framing)\r\n\r\n")
            while let head = connection.readHead() {
                lines.withLock { $0.append(firstLine(head)) }
                #expect(!head.contains("X-For-Proxy"))
                // The second request on the first connection finds it closed.
                if number == 1, head.contains("/2") { return }
                connection.send("HTTP/1.1 200 Origin\r\nContent-Length: 2\r\n\r\nok")
            }
        } _: { peer, coordinator in
            for target in ["/1", "/2", "/3"] {
                var wanted = try request("http://origin.test\(target)", peer.place, tunnels: true)
                wanted.options.proxy?.fields.add("X-For-Proxy", "yes")
                let response = try await coordinator.send(wanted)
                #expect(
                    response.head.reason == "Origin" && response.fields["X-Tunnel"] == nil && response.bodyText == "ok")
                #expect(response.interim.isEmpty)
            }
            #expect(
                lines.withLock { $0 } == [
                    "CONNECT origin.test:80 HTTP/1.1", "GET /1 HTTP/1.1", "GET /2 HTTP/1.1",
                    "CONNECT origin.test:80 HTTP/1.1", "GET /2 HTTP/1.1", "GET /3 HTTP/1.1",
                ])
        }
    }

    @Test("bytes beyond a response are not the next response, behind a proxy neither", arguments: [false, true])
    func poison(tunnels: Bool) async throws {
        try await withPeer { connection, _ in
            if tunnels {
                _ = connection.readHead()
                connection.send("HTTP/1.1 200 Tunnel\r\n\r\n")
            }
            while let head = connection.readHead() {
                #expect(!head.contains("Proxy-Connection"))
                let isFirst = head.contains("/first")
                connection.send(
                    "HTTP/1.1 200 Fine\r\nContent-Length: 4\r\n\r\n\(isFirst ? "one!" : "two!")"
                        + (isFirst ? "HTTP/1.1 200 Poison\r\nContent-Length: 6\r\n\r\npoison" : ""))
            }
        } _: { peer, coordinator in
            for round in 0..<20 {
                let target = round % 2 == 0 ? "/first" : "/second"
                let response = try await coordinator.send(
                    try request("http://origin.test\(target)", peer.place, tunnels: tunnels))
                #expect(response.head.reason == "Fine" && response.bodyText == (round % 2 == 0 ? "one!" : "two!"))
            }
        }
    }

    @Test("--resolve and --connect-to hold through a proxy, and for the proxy's own name")
    func routes() async throws {
        let seen = Guarded<[String]>([])
        try await withPeer { connection, _ in
            while let head = connection.readHead() {
                seen.withLock { $0.append(firstLine(head)) }
                connection.send("HTTP/1.1 200 Fine\r\nContent-Length: 0\r\n\r\n")
            }
        } _: { peer, coordinator in
            var routed = try request("http://origin.test/", "proxy.test:\(peer.port)")
            routed.options.transport.resolve = ["proxy.test:\(peer.port):127.0.0.1"]
            _ = try await coordinator.send(routed)
            routed.options.transport.resolve.append("origin.test:80:192.0.2.7")
            _ = try await coordinator.send(routed)
            routed.options.transport.connectTo = ["origin.test:80:elsewhere.test:81"]
            _ = try await coordinator.send(routed)
            #expect(
                seen.withLock { $0 } == [
                    "GET http://origin.test/ HTTP/1.1", "CONNECT 192.0.2.7:80 HTTP/1.1", "GET / HTTP/1.1",
                    "CONNECT elsewhere.test:81 HTTP/1.1", "GET / HTTP/1.1",
                ])
        }
    }

    private func firstLine(_ head: String) -> String {
        String(decoding: head.utf8.prefix { $0 != 0x0D }, as: UTF8.self)
    }

    @Test("a worker killed in the middle of CONNECT costs one repetition, a POST's too")
    func kill() async throws {
        let waits = Guarded(0)
        try await withOrigin { origin in
            try await withPeer { connection, number in
                guard connection.readHead() != nil else { return }
                if number == 1 {
                    waits.withLock { $0 += 1 }
                    connection.drain()
                } else {
                    connection.send("HTTP/1.1 200 Tunnel\r\n\r\n")
                    connection.tunnel(to: origin.port)
                }
            } _: { peer, coordinator in
                var wanted = try request("http://origin.test/anything", peer.place, tunnels: true)
                wanted.method = .post
                wanted.body = .text("once")
                let fetch = coordinator.start(wanted)
                #expect(await eventually { waits.withLock { $0 == 1 } })
                coordinator.signalWorkers(SIGKILL)
                let response = try await fetch.response
                #expect(response.status == 200 && response.bodyText.contains("POST"))
            }
        }
    }
}
