import Foundation
import Glibc
import Testing
import Trawl

/// A real SOCKS server, which asks nobody who they are: it looks for users among those of the system. `BadProxyTests`
/// has servers that ask.
@Suite("Through dante", .enabled(if: DanteServer.executable != nil, "dante is not installed"), .timeLimit(.minutes(2)))
struct DanteTests {
    @Test("SOCKS of every kind, with names resolved here or there (ASI-PRX-07)")
    func kinds() async throws {
        let dante = try await DanteServer()
        defer { dante.stop() }
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 1) { coordinator in
                // It takes the mark of SOCKS4a, 0.0.0.1, for an address.
                for kind in [Proxy.Kind.socks4, .socks5, .socks5h] {
                    let policy = ProxyPolicy(try Proxy(kind, host: "127.0.0.1", port: dante.port))
                    for host in ["127.0.0.1", "localhost"] {
                        var request = Request("http://\(host):\(origin.port)/anything")
                        request.options.proxy = policy
                        let response = try await coordinator.send(request)
                        #expect(response.status == 200, "\(kind)")
                    }
                    var refused = Request("http://127.0.0.9:\(origin.port)/")
                    refused.options.proxy = policy
                    await failure(.proxy) { try await coordinator.send(refused) }
                }
            }
        }
    }
}

/// A dante of the tests' own, on a port nobody else has. It connects to 127.0.0.1 alone.
final class DanteServer: Sendable {
    static let executable: String? = ["/usr/sbin/danted", "/usr/sbin/sockd"].first { access($0, X_OK) == 0 }

    let port: UInt16
    private let directory: TemporaryDirectory
    private let process: ChildProcess

    init() async throws {
        let executable = try #require(Self.executable)
        for attempt in 1... {
            let directory = try TemporaryDirectory()
            // Started by root it goes on as a user of its own, who has to get in here.
            chmod(directory.path, 0o755)
            try directory.put("log", [])
            chmod(directory.file("log"), 0o666)
            let port = try ListeningSocket().port
            let user =
                geteuid() == 0 ? "nobody" : getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "nobody"
            let configuration = """
                logoutput: \(directory.file("log"))
                internal: 127.0.0.1 port = \(port)
                external: 127.0.0.1
                socksmethod: none
                clientmethod: none
                user.privileged: \(user)
                user.unprivileged: \(user)
                client pass {
                    from: 127.0.0.0/8 to: 0.0.0.0/0
                }
                socks pass {
                    from: 127.0.0.0/8 to: 127.0.0.1/32
                    command: connect
                }
                socks pass {
                    from: 127.0.0.0/8 to: localhost
                    command: connect
                }

                """
            try directory.put("danted.conf", Array(configuration.utf8))
            chmod(directory.file("danted.conf"), 0o644)
            let process = try ChildProcess(
                executable, ["-f", directory.file("danted.conf"), "-p", directory.file("pid")],
                errors: directory.file("stderr"), isServer: true)
            func log() -> String { String(decoding: directory.content("log") ?? [], as: UTF8.self) }
            let isUp = await eventually(within: .seconds(20)) { log().contains(" running") || !process.isRunning }
            if isUp, process.isRunning {
                self.port = port
                self.directory = directory
                self.process = process
                return
            }
            process.end(grace: 1)
            guard attempt < 5 else { throw ChildProcess.Failure(description: "dante does not start: \(log())") }
        }
        throw ChildProcess.Failure(description: "dante does not start")
    }

    deinit { stop() }

    /// Ends it, and with it the processes it has started.
    func stop() {
        process.signal(SIGTERM)
        process.end()
    }
}
