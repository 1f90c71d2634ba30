import Foundation
import Testing
import Trawl

@Suite(
    "Negotiate, ASI-AUTH-07", .enabled(if: KerberosRealm.canRun, KerberosRealm.missing), .timeLimit(.minutes(2)))
struct NegotiateTests {
    @Test("a ticket is enough, and without one there is nothing to say")
    func tickets() async throws {
        let realm = try await KerberosRealm(users: ["ann"])
        defer { realm.stop() }
        let server = try await ApacheServer(modules: ["auth_gssapi"], environment: realm.environment) { directory in
            let site = try directory.makeDirectory("site")
            try directory.put("site/page", Array("page".utf8))
            return """
                <Directory \(site)>
                    AuthType GSSAPI
                    AuthName "g"
                    GssapiCredStore keytab:\(realm.keytab)
                    GssapiConnectionBound On
                    Require valid-user
                </Directory>
                """
        }
        defer { server.stop() }
        var request = Request(server.url("/page", host: "localhost"))
        request.options.authentication.credential = .ticket
        let wanted = request
        var anonymous = Request(wanted.url)
        anonymous.options.authentication.usesSession = false
        let unproved = anonymous
        let ticket = try await realm.ticket(for: "ann")
        let environment = ticket + ["PATH=/usr/bin:/bin"]
        try await withTestCoordinator(workers: 1, adjust: { $0.workerEnvironment = environment }) { coordinator in
            for _ in 0..<3 {
                let response = try await coordinator.send(wanted)
                #expect(response.status == 200 && response.bodyText == "page", "\(response.status)")
                #expect(response.authentication?.scheme == "Negotiate" && response.metrics.count == 2)
                // Whoever got that connection would be let in: it stays who proved it.
                let other = try await coordinator.send(unproved)
                #expect(other.status == 401, "\(other.bodyText)")
            }
        }
        let variables = Dictionary(
            uniqueKeysWithValues: ticket.map { entry in
                let parts = entry.split(separator: "=", maxSplits: 1)
                return (String(parts[0]), String(parts[1]))
            })
        let run = try CommandRun(
            ["get", "-s", "--no-cache", "--noproxy", "*", "--negotiate", "-u", ":", wanted.url], environment: variables)
        #expect(run.status == 0 && run.text == "page", "\(run.text) \(run.errors)")
        let none = realm.environment + ["PATH=/usr/bin:/bin", "KRB5CCNAME=FILE:\(realm.directory.file("none"))"]
        try await withTestCoordinator(adjust: { $0.workerEnvironment = none }) { coordinator in
            let error = await #expect(throws: FetchError.self) { try await coordinator.send(wanted) }
            #expect(error?.code == .authentication)
        }
    }
}
