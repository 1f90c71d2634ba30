import Foundation
import Glibc
import Testing
import Trawl

/// Secrets by every way in which commands are told them: they arrive where they belong, and are nowhere else.
@Suite("Credentials of commands appear nowhere", .timeLimit(.minutes(3)))
struct PlantedCredentialTests {
    /// How a secret comes in.
    enum Source: String, CaseIterable, Sendable {
        /// By an option in a file for `-K`, or a file that one names.
        case user, bearer, netrc, proxyUser, proxyURL, vaultPassphrase
        /// In the URL, and in the request's line.
        case urlPassword, line
        /// By the environment.
        case proxyVariable
        /// By a server.
        case jarCookie, location

        /// Whether it is for a server or proxy.
        var arrives: Bool { self != .vaultPassphrase && self != .location }
    }

    /// What is fetched with.
    enum Tool: String, CaseIterable, Sendable {
        case get, batch, pipe

        /// Whether there is such a way to tell it.
        func has(_ source: Source) -> Bool { self != .get || source != .line }
    }

    /// One run of the command.
    private struct Run {
        let source: Source
        let tool: Tool
        /// What its files and the last parts of its targets are called.
        var name: String { "\(source.rawValue)-\(tool.rawValue)" }
        var secret: String { PlantedCredentialTests.secret(name) }
    }

    /// What all secrets begin with, and what they begin with in the field value of Basic for the user `me`.
    private static let marks = ["buried-", Data("me:buried".utf8).base64EncodedString()]

    private static func secret(_ name: String) -> String { "buried-\(name)-secret" }

    /// Challenges to who says nothing, and answers that take as long as a look at the command lines.
    private static func answer(_ seen: ScriptedOrigin.Seen) -> ScriptedOrigin.Answer {
        let parts = seen.target.split(separator: "/").map(String.init)
        let name = parts.last ?? ""
        if seen.target.hasPrefix("http://"), seen.fields["proxy-authorization"] == nil {
            return ScriptedOrigin.Answer(407, "who?", [("Proxy-Authenticate", #"Basic realm="proxy""#)])
        }
        if parts.contains("asked"), seen.fields["authorization"] == nil { return ChallengingOrigin.challenge() }
        if parts.contains("setting") {
            let cookie = "sid=\(secret(name)); Max-Age=600; Path=/open/\(name)"
            // A response that may be stored is stored with all its fields (RFC 9111 §3.1), those that set cookies too.
            return ScriptedOrigin.Answer(200, "set", [("Set-Cookie", cookie), ("Cache-Control", "no-store")])
        }
        if parts.contains("leading") {
            let place = "http://me:\(secret(name))@\(seen.fields["host"] ?? "")/open/\(name)"
            return ScriptedOrigin.Answer(302, "", [("Location", place)])
        }
        Thread.sleep(forTimeInterval: 0.1)
        return ScriptedOrigin.Answer(200, "here", [("Cache-Control", "max-age=600")])
    }

    /// The options of a run, as lines of a file, and what they name.
    private func options(
        _ run: Run, _ origin: ScriptedOrigin, _ place: TemporaryDirectory, _ config: TemporaryDirectory
    ) throws -> [String] {
        let proxy = "127.0.0.1:\(origin.port)"
        switch run.source {
        case .user: return [#"user = "me:\#(run.secret)""#]
        case .bearer: return [#"oauth2-bearer = "\#(run.secret)""#]
        case .netrc:
            let file = "netrc-\(run.name)"
            try config.put(file, Array("machine 127.0.0.1 login me password \(run.secret)\n".utf8))
            return [#"netrc-file = "\#(config.file(file))""#]
        case .proxyUser: return [#"proxy = "\#(proxy)""#, #"proxy-user = "me:\#(run.secret)""#]
        case .proxyURL: return [#"proxy = "http://me:\#(run.secret)@\#(proxy)""#]
        case .vaultPassphrase:
            let file = place.file("vault-\(run.name)")
            let vault = try SealedFileVault(path: file, passphrase: run.secret)
            try vault.store(
                Credential(user: "me", password: Self.secret("in-" + run.name)),
                for: VaultItem(scheme: "http", host: "127.0.0.1", port: Int(origin.port)))
            try config.put("passphrase-\(run.name)", Array((run.secret + "\n").utf8))
            return [
                #"vault = "\#(file)""#, #"vault-passphrase-file = "\#(config.file("passphrase-\(run.name)"))""#,
            ]
        case .urlPassword, .line, .proxyVariable, .jarCookie, .location: return []
        }
    }

    private func url(_ run: Run, _ origin: ScriptedOrigin) -> String {
        switch run.source {
        case .user, .bearer, .netrc, .vaultPassphrase, .line: return origin.url("/asked/\(run.name)")
        case .urlPassword: return "http://me:\(run.secret)@127.0.0.1:\(origin.port)/asked/\(run.name)"
        case .location: return origin.url("/leading/\(run.name)")
        case .proxyUser, .proxyURL, .proxyVariable, .jarCookie: return origin.url("/open/\(run.name)")
        }
    }

    /// The arguments of a run, and what it reads.
    private func arguments(
        _ run: Run, _ origin: ScriptedOrigin, _ place: TemporaryDirectory, _ config: TemporaryDirectory
    ) throws -> (arguments: [String], input: String) {
        var lines = ["location"] + (try options(run, origin, place, config))
        let url = url(run, origin)
        let auth = run.source == .line ? #","auth":{"username":"me","password":"\#(run.secret)"}"# : ""
        let line = #"{"url":"\#(url)"\#(auth)}"# + "\n"
        var arguments: [String]
        switch run.tool {
        case .get:
            lines.append(#"url = "\#(url)""#)
            arguments = ["get", "-o", place.file("out-\(run.name)")]
        case .batch:
            try config.put("list-\(run.name)", Array(line.utf8))
            arguments = [
                "batch", config.file("list-\(run.name)"), "--out", place.file("out-\(run.name)"), "--results",
                place.file("results-\(run.name)"),
            ]
        case .pipe: arguments = ["pipe"]
        }
        try config.put("config-\(run.name)", Array((lines.joined(separator: "\n") + "\n").utf8))
        arguments += [
            "--store", place.file("store"), "--workers", "1", "--debug", "status,auth", "-K",
            config.file("config-\(run.name)"),
        ]
        return (arguments, run.tool == .pipe ? line : "")
    }

    /// The command lines of all processes that hold a secret of these.
    private func commandLines() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.filter { Int($0) != nil }.compactMap { pid in
            let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
            let line = String(decoding: bytes, as: UTF8.self)
            return Self.marks.contains { line.contains($0) } ? line : nil
        }
    }

    /// Runs it, and looks at the command lines all the while.
    private func carryOut(
        _ run: Run, _ origin: ScriptedOrigin, _ place: TemporaryDirectory, _ config: TemporaryDirectory
    ) async throws {
        let (arguments, input) = try arguments(run, origin, place, config)
        var environment: [String]?
        if run.source == .proxyVariable {
            environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
            environment?.append("http_proxy=http://me:\(run.secret)@127.0.0.1:\(origin.port)")
        }
        let process = try ChildProcess(
            try BuiltProducts.trawl(), arguments, environment: environment, errors: place.file("errors-\(run.name)"))
        if !input.isEmpty { _ = input.withCString { write(process.input, $0, strlen($0)) } }
        process.closeInput()
        var shown: [String] = []
        while process.isRunning {
            shown += commandLines()
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(shown.isEmpty, "\(run.name): \(shown)")
        var output = ""
        while let line = process.readLine() { output += line + "\n" }
        try place.put("output-\(run.name)", Array(output.utf8))
        let errors = String(decoding: place.content("errors-\(run.name)") ?? [], as: UTF8.self)
        #expect(process.exitStatus(within: 1) == 0 && errors.contains("trawl: fetch "), "\(run.name): \(errors)")
    }

    @Test(
        "what is given by files, environment, URLs and servers is in no message, result, store or process list",
        arguments: Tool.allCases)
    func nowhere(tool: Tool) async throws {
        try await withScene(answering: Self.answer) { scene in
            let place = try TemporaryDirectory()
            let config = try TemporaryDirectory()
            let runs = Source.allCases.filter(tool.has).map { Run(source: $0, tool: tool) }
            for run in runs {
                if run.source == .jarCookie {
                    let url = scene.origin.url("/setting/\(run.name)")
                    let before = try CommandRun(["get", "--store", place.file("store"), url])
                    #expect(before.status == 0 && before.text == "set", "\(before.errors)")
                }
                try await carryOut(run, scene.origin, place, config)
            }
            for name in try place.names() {
                guard let bytes = place.content(name) else { continue }
                let text = String(decoding: bytes, as: Unicode.ASCII.self)
                // The jar is where its cookies are kept; nothing else is.
                let isJar = name.hasPrefix("store/state/")
                let found = Self.marks.flatMap { text.components(separatedBy: $0).dropFirst() }
                    .filter { !isJar || !$0.hasPrefix("jarCookie-") }
                #expect(found.isEmpty, "\(name): \(found.map { $0.prefix(40) })")
            }
            #expect(try place.names().contains { $0.hasPrefix("store/cache/") })
            let seen = scene.origin.seen()
            func arrived(_ secret: String, _ name: String) -> Bool {
                let coded = Data("me:\(secret)".utf8).base64EncodedString()
                return seen.contains { request in
                    request.target.hasSuffix("/\(name)")
                        && request.fields.values.contains { $0.contains(secret) || $0.contains(coded) }
                }
            }
            for run in runs {
                #expect(arrived(run.secret, run.name) == run.source.arrives, "\(run.name)")
                // The last of its requests, wherever it began.
                let end = run.source == .location ? "/open/\(run.name)" : "/\(run.name)"
                #expect(seen.contains { $0.target.hasSuffix(end) }, "\(run.name)")
                guard run.source == .vaultPassphrase else { continue }
                #expect(arrived(Self.secret("in-" + run.name), run.name), "\(run.name)")
            }
        }
    }

    @Test("a secret in a field line that is refused is in no message", arguments: ["get", "batch", "pipe"])
    func refusedOptions(command: String) throws {
        let config = try TemporaryDirectory()
        try config.put("list", Array("http://127.0.0.1:1/\n".utf8))
        try config.put("header", Array("header = \"Authorization Bearer told-secret\"\n".utf8))
        try config.put("joined", Array("--oauth2-bearer=told-secret more\n".utf8))
        let operands = ["get": ["http://127.0.0.1:1/"], "batch": [config.file("list"), "--no-files"]][command] ?? []
        for options in [
            ["-H", "Authorization Bearer told-secret"], ["-H", "Authorization Bearer told-secret: x"],
            ["--proxy-header", "Authorization Bearer told-secret"],
            ["--proxy-header", "Authorization Bearer told-secret: x"],
            ["--proxy-header", "Authorization Bearer told-secret:"], ["-K", config.file("header")],
            ["-K", config.file("joined")],
        ] {
            let run = try CommandRun([command] + options + operands)
            #expect(run.status == 2 && !run.errors.isEmpty && run.output.isEmpty, "\(options): \(run.errors)")
            #expect(!run.errors.contains("told-secret"), "\(run.errors)")
        }
    }

    @Test("nor is one in a line of a list, or of pipe's input, in a record or an answer")
    func refusedLines() throws {
        let bed = try BatchBed()
        let lines = [
            #"{"url":"http://127.0.0.1:1/","headers":[["Cookie told-secret","x"]]}"#,
            #"{"url":"http://127.0.0.1:1/","headers":[["Authorization: Bearer told-secret",""]]}"#,
        ]
        try bed.putList(lines)
        let batch = try bed.run()
        let results = String(decoding: bed.directory.content("results") ?? [], as: UTF8.self)
        #expect(try bed.records().map(\.code) == ["bad_request", "bad_request"])
        #expect(!results.contains("told-secret") && !batch.errors.contains("told-secret"), "\(results) \(batch.errors)")
        let pipe = try CommandRun(["pipe"], input: lines.map { $0 + "\n" }.joined())
        #expect(pipe.text.components(separatedBy: "bad_request").count == 3, "\(pipe.text)")
        #expect(!pipe.text.contains("told-secret") && !pipe.errors.contains("told-secret"), "\(pipe.text)")
    }
}
