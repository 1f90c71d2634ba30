import Foundation
import Glibc
import Testing

/// What becomes of the terminal that a password is asked at.
@Suite("Questions at the terminal (ASI-AUTH-17)", .timeLimit(.minutes(2)))
struct SecretPromptTests {
    private static let right = ChallengingOrigin.basic("me", "pass")

    /// The command on a terminal that shows what is typed; a signal leaves no core file.
    private func trawl(_ arguments: [String], output: String? = nil) throws -> TerminalProcess {
        try TerminalProcess(
            "/bin/sh", ["-c", "ulimit -c 0; exec \"$@\"", "sh", try BuiltProducts.trawl()] + arguments, output: output,
            echoes: true)
    }

    @Test(
        "a signal at the question ends the command, and the terminal shows again what is typed",
        arguments: [("\u{3}", SIGINT), ("\u{1C}", SIGQUIT), ("", SIGTERM), ("", SIGHUP)] as [(String, Int32)])
    func interrupted(key: String, signal: Int32) async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene in
            let directory = scene.directory
            try directory.put("passphrase", Array("open sesame\n".utf8))
            let get = ["get", "-s", "--noproxy", "*", "--store", scene.store]
            let vault = ["--vault", directory.file("vault"), "--vault-passphrase-file", directory.file("passphrase")]
            for (arguments, isAskedForUser) in [
                (get + ["-u", "me", scene.origin.url("/x")], false),
                (get + ["--ask", scene.origin.url("/x")], true),
                (["auth", "set", scene.origin.url("/x"), "-u", "me"] + vault, false),
            ] {
                let terminal = try trawl(arguments)
                if isAskedForUser {
                    let isAsked = await eventually { terminal.text.contains("User: ") }
                    #expect(isAsked, "\(terminal.text)")
                    terminal.type("me\n")
                }
                let isSilent = await eventually { terminal.text.contains("Password") && !terminal.echoes }
                #expect(isSilent, "\(arguments): \(terminal.text)")
                if key.isEmpty { kill(terminal.pid, signal) } else { terminal.type(key) }
                let isOver = await eventually { terminal.status != nil }
                #expect(isOver && terminal.endingSignal == signal, "\(arguments): \(terminal.text)")
                #expect(terminal.echoes && terminal.handsOnLines, "\(arguments)")
            }
        }
    }

    @Test("stopped at the question it gives the terminal back, and takes it again when it goes on")
    func suspended() async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene in
            let script = "set -m; \"$@\"; echo \"left $?\"; read -r line; fg >/dev/null; echo \"done $?\""
            let terminal = try TerminalProcess(
                "/bin/bash",
                [
                    "--norc", "--noprofile", "-c", script, "bash", try BuiltProducts.trawl(), "-s", "--noproxy", "*",
                    "--store", scene.store, "-u", "me", "-o", scene.directory.file("body"), scene.origin.url("/x"),
                ], echoes: true)
            #expect(await eventually { terminal.text.contains("Password for me: ") && !terminal.echoes })
            terminal.type("\u{1A}")
            #expect(await eventually { terminal.text.contains("left 148") }, "\(terminal.text)")
            #expect(terminal.echoes)
            terminal.type("\n")
            #expect(await eventually { !terminal.echoes && terminal.screen.lastLine == "Password for me:" })
            terminal.type("pass\n")
            #expect(await eventually { terminal.status != nil })
            #expect(terminal.text.contains("done 0"), "\(terminal.text)")
            #expect(scene.directory.content("body") == Array("welcome /x".utf8))
        }
    }

    @Test("the user of a URL need not be typed, and may be another")
    func namedUser() async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene in
            let place = scene.origin.url("").dropFirst("http://".count)
            for (name, typed) in [("me", ""), ("you", "me")] {
                let terminal = try trawl(
                    ["get", "-s", "--ask", "--noproxy", "*", "--store", scene.store, "http://\(name)@\(place)/x"],
                    output: scene.directory.file(name))
                #expect(await eventually { terminal.text.contains("User [\(name)]: ") }, "\(terminal.text)")
                terminal.type(typed + "\n")
                #expect(await eventually { terminal.text.contains("Password: ") && !terminal.echoes })
                terminal.type("pass\n")
                #expect(await eventually { terminal.status != nil })
                #expect(terminal.exitCode == 0, "\(terminal.text)")
                #expect(scene.directory.content(name) == Array("welcome /x".utf8))
            }
        }
    }

    @Test("a question warns where the password would go in clear")
    func clearText() async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene in
            let terminal = try trawl(
                ["get", "-s", "--ask", "--noproxy", "*", "--store", scene.store, scene.origin.url("/x")],
                output: scene.directory.file("body"))
            #expect(await eventually { terminal.text.contains("User: ") }, "\(terminal.text)")
            #expect(terminal.text.contains("Warning: the password is sent in clear"), "\(terminal.text)")
            #expect(terminal.text.contains("(Basic)") && !terminal.text.contains("domain"), "\(terminal.text)")
            terminal.type("\n")
            #expect(await eventually { terminal.status != nil })
            #expect(scene.directory.content("body") == Array("who?".utf8))
        }
    }

    @Test("NTLM asks for a domain with the user (ASI-AUTH-06)", .enabled(if: NTLMServer.canRun, NTLMServer.missing))
    func domain() async throws {
        let server = try NTLMServer([("DOM", "ann", "secret-a")])
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        let terminal = try trawl(
            ["get", "-s", "--ntlm", "--ask", "--noproxy", "*", "--store", directory.file("store"), server.url("/x")],
            output: directory.file("body"))
        #expect(await eventually { terminal.text.contains("User: ") }, "\(terminal.text)")
        #expect(terminal.text.contains(#"A domain is given as DOMAIN\user."#), "\(terminal.text)")
        #expect(!terminal.text.contains("Warning"), "\(terminal.text)")
        terminal.type("DOM\\ann\n")
        #expect(await eventually { terminal.text.contains("Password: ") && !terminal.echoes })
        terminal.type("secret-a\n")
        #expect(await eventually { terminal.status != nil })
        let body = String(decoding: directory.content("body") ?? [], as: UTF8.self)
        #expect(terminal.exitCode == 0 && body.split(separator: " ").first?.hasSuffix("ann") == true, "\(body)")
    }

    @Test("the progress line leaves a question alone, and messages come above it")
    func undisturbed() async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene in
            let directory = scene.directory
            // Read as it is written: a line that comes while the question stands there.
            let list = directory.file("list")
            #expect(mkfifo(list, 0o600) == 0)
            let terminal = try trawl(
                [
                    "batch", "--ask", "--noproxy", "*", "--store", scene.store, "--no-files", "--results",
                    directory.file("results"), list,
                ])
            let writer = try #require(FileHandle(forWritingAtPath: list))
            try writer.write(contentsOf: Array((scene.origin.url("/x") + "\n").utf8))
            #expect(await eventually { terminal.text.contains("User: ") }, "\(terminal.text)")
            // More than a second: the progress line would have been drawn by now.
            let isDrawn = await eventually(within: .milliseconds(1200)) { terminal.screen.lastLine != "User:" }
            #expect(!isDrawn, "\(terminal.screen.lines)")
            try writer.write(contentsOf: Array((scene.origin.url("/y") + "\t../y\n").utf8))
            let isTold = await eventually {
                terminal.text.contains("stay inside the output directory") && terminal.screen.lastLine == "User:"
            }
            #expect(isTold, "\(terminal.screen.lines)")
            terminal.type("me\n")
            #expect(await eventually { terminal.screen.lastLine == "Password:" && !terminal.echoes })
            terminal.type("pass\n")
            try writer.close()
            #expect(await eventually { terminal.status != nil })
            #expect(terminal.exitCode == 1 && terminal.text.contains("1 fetched, 1 failed"), "\(terminal.text)")
        }
    }

    @Test("a list that is typed at the terminal is not asked beside: a password would be a line of it")
    func typedList() async throws {
        for arguments in [["batch", "-"], ["pipe"], ["get", "-i", "-"]] {
            let refused = try trawl(arguments + ["--ask", "--no-cache"])
            #expect(await eventually { refused.status != nil })
            #expect(refused.exitCode == 2 && refused.text.contains("--ask: the list is typed"), "\(refused.text)")
        }
        let proxy = try ChallengingProxy(ChallengingProxy.taking(Self.right))
        defer { proxy.stop() }
        let directory = try TemporaryDirectory()
        let results = directory.file("results")
        let terminal = try trawl(
            [
                "batch", "-", "-q", "-f", "--no-files", "--results", results, "-x", "http://" + proxy.place,
                "--noproxy",
                "none.test", "--store", directory.file("store"),
            ])
        terminal.type("http://a.test/\n")
        #expect(await eventually { terminal.text.contains("the response's status is 407") }, "\(terminal.text)")
        terminal.type("\u{4}")
        #expect(await eventually { terminal.status != nil })
        #expect(terminal.exitCode == 1 && !terminal.text.contains("User: "), "\(terminal.text)")
    }

    @Test("who gives no user, or ends the input, is not asked again for that realm", arguments: ["\n", "\u{4}"])
    func declined(key: String) async throws {
        try await withScene(answering: { seen in
            ChallengingOrigin.challenge(#"Basic realm="\#(seen.target.hasPrefix("/a") ? "one" : "two")""#)
        }) { scene in
            let directory = scene.directory
            let urls = (0..<10).flatMap { [scene.origin.url("/a\($0)"), scene.origin.url("/b\($0)")] }
            try directory.put("list", Array(urls.joined(separator: "\n").utf8))
            let terminal = try trawl(
                [
                    "batch", "-q", "--ask", "--noproxy", "*", "--store", scene.store, "--no-files", "--results",
                    directory.file("results"), directory.file("list"),
                ])
            func questions() -> Int { terminal.text.components(separatedBy: "User: ").count - 1 }
            for number in 1...2 {
                #expect(await eventually { questions() == number }, "\(terminal.text)")
                terminal.type(key)
            }
            #expect(await eventually { terminal.status != nil }, "\(terminal.text)")
            #expect(questions() == 2 && scene.origin.seen().allSatisfy { $0.fields["authorization"] == nil })
        }
    }

    @Test("a list that is being stopped waits for no answer")
    func stoppedList() async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene in
            let directory = scene.directory
            try directory.put("list", Array((scene.origin.url("/x") + "\n").utf8))
            let terminal = try trawl(
                [
                    "batch", "-q", "--ask", "--noproxy", "*", "--store", scene.store, "--no-files", "--results",
                    directory.file("results"), directory.file("list"),
                ])
            #expect(await eventually { terminal.text.contains("User: ") }, "\(terminal.text)")
            terminal.type("me\n")
            #expect(await eventually { terminal.text.contains("Password: ") && !terminal.echoes })
            terminal.type("\u{3}")
            #expect(await eventually { terminal.status != nil })
            #expect(terminal.exitCode == 75 && terminal.echoes, "\(terminal.text)")
        }
    }

    @Test("a proxy's question comes unasked at a terminal; a server's does not, and a program's pipe has none")
    func proxies() async throws {
        let proxy = try ChallengingProxy { seen in
            if seen.target.hasSuffix("/open") {
                return ChallengingProxy.answer(401, "who?", ["WWW-Authenticate: Basic realm=\"r\""])
            }
            return ChallengingProxy.taking(Self.right)(seen)
        }
        defer { proxy.stop() }
        let directory = try TemporaryDirectory()
        let options = ["-x", "http://" + proxy.place, "--noproxy", "none.test", "--store", directory.file("store")]
        let terminal = try trawl(["get", "-s", "http://a.test/"] + options, output: directory.file("body"))
        #expect(await eventually { terminal.text.contains("User: ") }, "\(terminal.text)")
        #expect(terminal.text.contains("The proxy http://127.0.0.1") && terminal.text.contains("\"den\""))
        terminal.type("me\n")
        #expect(await eventually { terminal.text.contains("Password: ") && !terminal.echoes })
        terminal.type("pass\n")
        #expect(await eventually { terminal.status != nil })
        #expect(terminal.exitCode == 0 && directory.content("body") == Array("there".utf8), "\(terminal.text)")

        let count = proxy.seen().count
        let server = try trawl(["get", "-s", "http://a.test/open"] + options, output: directory.file("open"))
        #expect(await eventually { server.status != nil })
        #expect(server.text.isEmpty && directory.content("open") == Array("who?".utf8))
        #expect(proxy.seen().count == count + 1)

        try directory.put("requests", Array("{\"id\":1,\"url\":\"http://a.test/\"}\n".utf8))
        let pipe = try TerminalProcess(
            "/bin/sh",
            ["-c", "exec \"$@\" < '\(directory.file("requests"))'", "sh", try BuiltProducts.trawl(), "pipe"] + options,
            output: directory.file("responses"))
        #expect(await eventually { pipe.status != nil })
        #expect(pipe.text.isEmpty, "\(pipe.text)")
        #expect(String(decoding: directory.content("responses") ?? [], as: UTF8.self).contains("\"status\":407"))
    }
}
