import Foundation
import Testing
import Trawl

@Suite("NTLM, ASI-AUTH-06", .enabled(if: NTLMServer.canRun, NTLMServer.missing), .timeLimit(.minutes(5)))
struct NTLMTests {
    private func request(
        _ url: String, _ user: String, _ password: String, schemes: RequestOptions.Authentication.Schemes = .ntlm
    ) -> Request {
        var request = Request(url)
        request.options.authentication.credential = Credential(user: user, password: password, domain: "DOM")
        request.options.authentication.schemes = schemes
        request.options.authentication.usesSession = false
        return request
    }

    @Test("the exchange is one hop without heads of its own, and a body goes along", arguments: Engine.allCases)
    func exchange(engine: Engine) async throws {
        let server = try NTLMServer([("DOM", "ann", "secret-a")])
        defer { server.stop() }
        try await withTestCoordinator(workers: engine.workers) { coordinator in
            let fetch = coordinator.start(request(server.url("/x"), "ann", "secret-a"), into: .stream)
            let words = await allEvents(of: fetch).map(word).filter { $0 != "progress" }
            #expect(
                words == [
                    "started", "attempt 1", "authenticating NTLM", "attempt 2", "head 200", "data", "ended",
                ])
            var post = request(server.url("/x"), "ann", "secret-a")
            post.method = .post
            post.body = .bytes([UInt8](repeating: 1, count: 100_000))
            let response = try await coordinator.send(post)
            #expect(response.status == 200 && response.bodyText.hasSuffix(" 100000"), "\(response.bodyText)")
            #expect(response.authentication?.scheme == "NTLM")
            let written = try await coordinator.send(
                {
                    var request = Request(server.url("/x"))
                    request.options.authentication.credential = Credential(user: #"DOM\ann"#, password: "secret-a")
                    request.options.authentication.schemes = [.ntlm, .basic]
                    return request
                }())
            #expect(written.status == 200)
        }
    }

    @Test("wrong passwords fail, and nobody uses NTLM who was not told to")
    func refused() async throws {
        let server = try NTLMServer([("DOM", "ann", "secret-a")])
        defer { server.stop() }
        try await withTestCoordinator { coordinator in
            for request in [
                request(server.url("/x"), "ann", "wrong"), request(server.url("/x"), "ann", "secret-a", schemes: .any),
            ] {
                let error = await #expect(throws: FetchError.self) { try await coordinator.send(request) }
                #expect(error?.code == .authentication)
            }
        }
    }

    @Test("--ntlm, with the domain before the user")
    func command() throws {
        let server = try NTLMServer([("DOM", "ann", "secret-a")])
        defer { server.stop() }
        func run(_ password: String) throws -> CommandRun {
            try CommandRun(
                ["get", "-s", "-f", "--no-cache", "--noproxy", "*", "--ntlm", "-u", #"DOM\ann:"# + password]
                    + [server.url("/x")])
        }
        let right = try run("secret-a")
        let user = right.text.split(separator: " ").first
        #expect(right.status == 0 && user?.hasSuffix("ann") == true, "\(right.text) \(right.errors)")
        let wrong = try run("no")
        #expect(wrong.status == 22, "\(wrong.errors)")
    }

    @Test("no connection of one user is another's, nor anybody's afterwards")
    func connections() async throws {
        let server = try NTLMServer([("DOM", "ann", "secret-a"), ("DOM", "bob", "secret-b")])
        defer { server.stop() }
        try await withTestCoordinator(workers: 1) { coordinator in
            try await withThrowingTaskGroup(of: (String, String).self) { group in
                for number in 0..<150 {
                    group.addTask {
                        switch number % 3 {
                        case 0:
                            let response = try await coordinator.send(self.request(server.url("/a"), "ann", "secret-a"))
                            return ("ann", response.bodyText)
                        case 1:
                            let response = try await coordinator.send(self.request(server.url("/b"), "bob", "secret-b"))
                            return ("bob", response.bodyText)
                        default:
                            let response = try await coordinator.send(Request(server.url("/open")))
                            return ("-", response.bodyText)
                        }
                    }
                }
                for try await (user, text) in group {
                    let found = text.split(separator: " ").first.map(String.init) ?? ""
                    #expect(user == "-" ? found == "-" : found.hasSuffix(user), "\(user): \(text)")
                }
            }
        }
    }
}
