import Foundation
import Testing

@Suite(
    "trawl get: certificates as in curl", .enabled(if: RecordingOrigin.canRun, RecordingOrigin.missing),
    .timeLimit(.minutes(5)))
struct TLSCommandTests {
    @Test("statuses and messages, as curl has them")
    func statuses() async throws {
        try await TrustScene.with { scene, _ in
            let place = try scene.directory.makeDirectory("trusted")
            try FileManager.default.copyItem(atPath: scene.authority.root, toPath: place + "/one.pem")
            try TestAuthority.openssl(["rehash", place], scene.directory)
            let (certificate, key) = scene.member
            try TestAuthority.openssl(
                ["pkcs12", "-export", "-in", certificate, "-inkey", key, "-passout", "pass:a:b"]
                    + ["-out", scene.directory.file("m.p12")], scene.directory)
            let p12 = scene.directory.file("m.p12")
            let trust = ["--cacert", scene.authority.root]
            let pin = ["--pinnedpubkey", "sha256//" + String(repeating: "A", count: 43) + "="]
            let cases: [(status: Int32, listener: String, arguments: [String])] = [
                (0, "good", trust), (0, "good", ["--capath", place]), (60, "good", []), (60, "unknown", trust),
                (60, "expired", trust), (60, "wrong", trust), (90, "good", trust + pin), (90, "good", ["-k"] + pin),
                (0, "unknown", ["-k"]), (0, "members", trust + ["--cert", certificate, "--key", key]),
                (0, "members", trust + ["--cert", p12 + ":a:b"]),
                (0, "members", trust + ["--cert", p12, "--cert-type", "P12", "--pass", "a:b"]),
                (58, "members", trust + ["--cert", p12 + ":wrong"]), (58, "members", trust + ["--cert", p12]),
                (77, "good", ["--capath", "/no/such/directory"]), (2, "good", ["--cert-type", "XYZ"]),
                (2, "good", ["--pinnedpubkey", "sha256//short"]),
            ]
            for (status, listener, arguments) in cases {
                let run = try CommandRun(["get"] + arguments + [scene.origin.url(listener)])
                #expect(run.status == status, "\(listener) \(arguments): \(run.errors)")
                #expect(!run.errors.contains("a:b") && run.errors.contains("-k:") == arguments.contains("-k"))
            }
        }
    }

    @Test("--proxy-cacert takes the place of the system's directory of certificates too")
    func proxyTrust() async throws {
        try await TrustScene.with { scene, _ in
            let place = try scene.directory.makeDirectory("system")
            try FileManager.default.copyItem(atPath: scene.authority.root, toPath: place + "/one.pem")
            try TestAuthority.openssl(["rehash", place], scene.directory)
            // The system's file has to be there, whatever it holds.
            try FileManager.default.copyItem(atPath: scene.stranger.root, toPath: place + "/ca-certificates.crt")
            // In a name space that ends with the command.
            let script = "mount --bind \"$1\" /etc/ssl/certs || exit 99; shift; exec \"$0\" get \"$@\""
            func get(_ arguments: [String]) throws -> Int32 {
                let process = Process()
                process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
                process.arguments = ["-Urm", "sh", "-c", script, try BuiltProducts.trawl(), place] + arguments
                process.standardInput = FileHandle.nullDevice
                process.standardOutput = FileHandle.nullDevice
                process.standardError = FileHandle.nullDevice
                try process.run()
                process.waitUntilExit()
                return process.terminationStatus
            }
            let proxied = ["-x", "https://127.0.0.1:\(scene.origin.port("good"))", scene.origin.url("clear")]
            let bySystem = try get(proxied)
            // Where nothing may be mounted, there is nothing to see.
            if [1, 99].contains(bySystem) { return }
            #expect(bySystem == 0)
            #expect(try get(["--proxy-cacert", scene.stranger.root] + proxied) == 60)
            #expect(try get(["--proxy-cacert", scene.authority.root] + proxied) == 0)
        }
    }

    @Test("-k is for the URL's own host, and a certificate for its origin (ASI-TLS-01)")
    func redirects() async throws {
        try await TrustScene.with { scene, _ in
            let elsewhere = scene.origin.url("alone", scene.redirect(to: "otherAlone"))
            #expect(try CommandRun(["get", "-kL", elsewhere]).status == 60)
            let same = scene.origin.url("alone", scene.redirect(to: "unknown"))
            #expect(try CommandRun(["get", "-kL", same]).status == 0)
            try scene.origin.reset()
            let (certificate, key) = scene.member
            let away = scene.origin.url("asking", scene.redirect(to: "otherAsking"))
            let run = try CommandRun(
                ["get", "-L", "--cacert", scene.authority.root, "--cert", certificate, "--key", key, away])
            #expect(run.status == 0, "\(run.errors)")
            #expect(try scene.members("asking") == ["member"] && scene.members("otherAsking") == [nil])
        }
    }
}
