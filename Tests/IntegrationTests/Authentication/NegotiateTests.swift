import Foundation
import Testing
import Trawl

@Suite(
    "Negotiate, ASI-AUTH-07", .enabled(if: KerberosRealm.canRun, KerberosRealm.missing), .timeLimit(.minutes(2)))
struct NegotiateTests {
    @Test("a ticket is enough, and without one there is nothing to say")
    func tickets() async throws {
        let realm = try KerberosRealm(users: ["ann"])
        defer { realm.stop() }
        let server = try await ApacheServer(modules: ["auth_gssapi"], environment: realm.environment) { directory in
            let site = try directory.makeDirectory("site")
            try directory.put("site/page", Array("page".utf8))
            return """
                <Directory \(site)>
                    AuthType GSSAPI
                    AuthName "g"
                    GssapiCredStore keytab:\(realm.keytab)
                    Require valid-user
                </Directory>
                """
        }
        defer { server.stop() }
        var request = Request(server.url("/page", host: "localhost"))
        request.options.authentication.credential = .ticket
        let wanted = request
        let environment = try await realm.ticket(for: "ann") + ["PATH=/usr/bin:/bin"]
        try await withTestCoordinator(adjust: { $0.workerEnvironment = environment }) { coordinator in
            for _ in 0..<3 {
                let response = try await coordinator.send(wanted)
                #expect(response.status == 200 && response.bodyText == "page", "\(response.status)")
                #expect(response.authentication?.scheme == "Negotiate" && response.metrics.count == 2)
            }
        }
        let none = realm.environment + ["PATH=/usr/bin:/bin", "KRB5CCNAME=FILE:\(realm.directory.file("none"))"]
        try await withTestCoordinator(adjust: { $0.workerEnvironment = none }) { coordinator in
            let error = await #expect(throws: FetchError.self) { try await coordinator.send(wanted) }
            #expect(error?.code == .authentication)
        }
    }
}
