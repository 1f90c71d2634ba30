import Foundation
import Glibc
import Testing

@Suite(
    "Secrets appear nowhere", .enabled(if: RecordingOrigin.canRun, RecordingOrigin.missing), .timeLimit(.minutes(5)))
struct PlantedSecretTests {
    /// A run of the command: what it fetches, and its options with a secret in each.
    private struct Run {
        let listener: String
        let target: String
        let options: [String]
        let secrets: [String]
        /// Those of them that no server gets.
        var kept: [String] = []
    }

    private func runs(_ scene: TrustScene) throws -> [Run] {
        var number = 0
        func secret() -> String {
            number += 1
            return "planted-\(number)-secret"
        }
        // Right answers, refusals and failures: each has its own way into results and messages.
        let places = [
            ("good", "/ok?cache=max-age=600&sleep=0.3"), ("good", "/no?status=401&challenge=Basic"), ("expired", "/"),
            ("good", "/go?status=302&to=" + scene.origin.url("otherClear", "/end").percentEncoded),
            ("good", "/go?status=302&to=" + "ftp://127.0.0.1/".percentEncoded),
        ]
        var runs = places.map { listener, target in
            let secrets = [secret(), secret(), secret()]
            return Run(
                listener: listener, target: target,
                options: [
                    "header = \"Authorization: Bearer \(secrets[0])\"", "header = \"Cookie: a=\(secrets[1])\"",
                    "header = \"Proxy-Authorization: Basic \(secrets[2])\"",
                ], secrets: secrets, kept: [secrets[2]])
        }
        let (certificate, key) = scene.member
        for (index, isRight) in [true, true, true, false, false].enumerated() {
            let pass = secret()
            let file = scene.directory.file("locked-\(index).pem")
            try TestAuthority.openssl(
                ["pkey", "-in", key, "-aes256", "-passout", "pass:\(isRight ? pass : "other")", "-out", file],
                scene.directory)
            runs.append(
                Run(
                    listener: "members", target: "/?sleep=0.3",
                    options: ["cert = \"\(certificate):\(pass)\"", "key = \"\(file)\""], secrets: [pass]))
        }
        return runs
    }

    /// The command lines of all processes.
    private func commandLines() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.filter { Int($0) != nil }.map { pid in
            String(decoding: FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data(), as: UTF8.self)
        }
    }

    @Test("20 planted secrets are in no message, result, file, cache or process list, and arrive where they belong")
    func nowhere() async throws {
        try await TrustScene.with { scene, _ in
            try scene.origin.reset()
            let place = try TemporaryDirectory()
            let config = try TemporaryDirectory()
            let runs = try runs(scene)
            let secrets = runs.flatMap(\.secrets)
            #expect(secrets.count >= 20)
            var shown: [String] = []
            for (index, run) in runs.enumerated() {
                try config.put("config", Array((run.options.joined(separator: "\n") + "\n").utf8))
                try place.put("list", Array((scene.origin.url(run.listener, run.target) + "\n").utf8))
                let process = try ChildProcess(
                    try BuiltProducts.trawl(),
                    [
                        "batch", place.file("list"), "--out", place.file("out"), "--results",
                        place.file("results-\(index)"),
                    ]
                        + [
                            "--store", place.file("store"), "-K", config.file("config"), "--cacert",
                            scene.authority.root,
                        ]
                        + ["--workers", "1"], errors: place.file("errors-\(index)"))
                while process.isRunning {
                    let lines = commandLines()
                    shown += secrets.filter { secret in lines.contains { $0.contains(secret) } }
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            #expect(shown.isEmpty, "in command lines: \(shown)")
            let names = try place.names()
            #expect(names.contains { $0.hasPrefix("store/cache/") } && names.contains("errors-0"))
            for name in names where name != "list" {
                guard let bytes = place.content(name) else { continue }
                let text = String(decoding: bytes, as: Unicode.ASCII.self)
                for secret in secrets where text.contains(secret) { Issue.record("\(secret) is in \(name)") }
            }
            let seen = try scene.origin.seen()
            for run in runs where run.listener == "good" {
                for secret in run.secrets {
                    let arrived = seen.contains { request in
                        (request.fields ?? []).contains { $0[1].contains(secret) }
                    }
                    #expect(arrived != run.kept.contains(secret), "\(secret)")
                }
            }
            #expect(try scene.members("members") == ["member", "member", "member"])
        }
    }
}
