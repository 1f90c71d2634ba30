import Foundation
import Glibc
import Testing

@Suite("The command and credentials", .timeLimit(.minutes(10)))
struct AuthCommandTests {
    private static let right = ChallengingOrigin.basic("me", "pass")

    private func run(_ arguments: [String], input: String? = nil) throws -> CommandRun {
        try CommandRun(arguments, input: input)
    }

    /// The options for a sealed vault in a directory, with its passphrase.
    private func vault(in directory: TemporaryDirectory) throws -> [String] {
        try directory.put("passphrase", Array("open sesame\n".utf8))
        return ["--vault", directory.file("vault"), "--vault-passphrase-file", directory.file("passphrase")]
    }

    @Test("-u, a URL, netrc and a token; the 401 is the answer when they are wrong")
    func sources() async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene in
            let directory = scene.directory
            try directory.put("netrc", Array("machine 127.0.0.1 login me password pass\n".utf8))
            try directory.put("corrupt", Array("machine 127.0.0.1 login \"me\n".utf8))
            let url = scene.origin.url("/x")
            let inURL = url.replacingOccurrences(of: "//", with: "//me:pass@")
            for arguments in [
                ["-u", "me:pass", url], ["-ume:pass", url], ["--user=me:pass", "--basic", url], [inURL],
                ["--netrc-file", directory.file("netrc"), url], ["--digest", "--anyauth", "-u", "me:pass", url],
            ] {
                let run = try run(arguments)
                #expect(
                    run.status == 0 && run.text == "welcome /x", "\(arguments.dropLast()): \(run.text) \(run.errors)")
            }
            let wrong = try run(["-u", "me:no", url])
            #expect(wrong.status == 0 && wrong.text == "who?")
            let failed = try run(["-f", "-u", "me:no", url])
            #expect(failed.status == 22)
            for arguments in [
                ["--basic", "-u", "me:p\nw"], ["-u", "me:p\nw"], ["--oauth2-bearer", "a b"], ["--oauth2-bearer", ""],
            ] {
                let count = scene.count
                let unsent = try run(arguments + [url])
                #expect(unsent.status == 67 && unsent.text.isEmpty, "\(arguments): \(unsent.errors)")
                #expect(scene.count == (arguments[0] == "-u" ? count + 1 : count))
            }
            let corrupt = try run(["--netrc-file", directory.file("corrupt"), url])
            #expect(corrupt.status != 0 && corrupt.errors.contains("line 1") && !corrupt.errors.contains("\"me"))
            try directory.put(".netrc", Array("machine 127.0.0.1 login \"me\n".utf8))
            for (option, name) in [("-n", "--netrc: "), ("--netrc-optional", "--netrc-optional: ")] {
                let home = try CommandRun([option, url], environment: ["HOME": directory.path])
                #expect(home.status == 26 && home.errors.contains(name), "\(home.errors)")
            }
            try directory.put(".netrc", Array("machine 127.0.0.1 login me password pass\n".utf8))
            for option in ["-n", "--netrc-optional"] {
                let home = try CommandRun([option, url], environment: ["HOME": directory.path])
                #expect(home.status == 0 && home.text == "welcome /x", "\(option): \(home.errors)")
            }
            let optional = try run(["--netrc-optional", "--netrc-file", directory.file("none"), url])
            #expect(optional.text == "who?")
            let verbose = try run(["-v", "-u", "me:pass", url])
            #expect(!verbose.errors.contains("pass") && !verbose.errors.contains("Basic bWU"), "\(verbose.errors)")
        }
        try await withScene(answering: ChallengingOrigin.taking("Bearer the-token", "Bearer")) { scene in
            let url = scene.origin.url("/x")
            let right = try run(["--oauth2-bearer", "the-token", url])
            // It is the request's own, and goes out before anybody asks.
            #expect(right.status == 0 && right.text == "welcome /x" && scene.count == 1, "\(right.errors)")
            let wrong = try run(["--oauth2-bearer", "another", url])
            #expect(wrong.status == 0 && wrong.text == "who?", "\(wrong.errors)")
        }
    }

    @Test("batch and pipe: each line may be somebody else, and no record says who")
    func lines() async throws {
        try await withScene(answering: { seen in
            let user = seen.target == "/a" ? ("ann", "secret-a") : ("bob", "secret-b")
            if seen.target == "/none" { return ChallengingOrigin.challenge() }
            return ChallengingOrigin.taking(ChallengingOrigin.basic(user.0, user.1))(seen)
        }) { scene in
            let lines = [("/a", "ann", "secret-a"), ("/b", "bob", "secret-b"), ("/none", "bob", "wrong")].map {
                #"{"url":"\#(scene.origin.url($0.0))","auth":{"username":"\#($0.1)","password":"\#($0.2)"}}"#
            }
            let pipe = try run(["pipe", "--store", scene.store], input: lines.joined(separator: "\n") + "\n")
            let statuses = pipe.text.split(separator: "\n").map { line in
                ["\"status\":200", "\"status\":401"].filter { line.contains($0) }.joined()
            }
            #expect(statuses.sorted() == ["\"status\":200", "\"status\":200", "\"status\":401"], "\(pipe.text)")
            let bed = try BatchBed()
            try bed.putList(
                Array(lines.prefix(2)) + [
                    scene.origin.url("/b").replacingOccurrences(of: "//", with: "//bob:secret-b@")
                ])
            let batch = try bed.run()
            #expect(batch.status == 0, "\(batch.errors)")
            let results = String(decoding: bed.directory.content("results") ?? [], as: UTF8.self)
            for text in [results, batch.errors, pipe.errors] { #expect(!text.contains("secret")) }
            #expect(!results.contains("@"))
            // A second run knows them again.
            let count = scene.count
            let again = try bed.run()
            #expect(again.status == 0 && scene.count == count)
        }
    }

    @Test(
        "a URL with a password, or a password, where it does not belong is not shown",
        arguments: [
            ["batch", "https://me:planted@host.test/list"], ["batch", "list", "https://me:planted@host.test/"],
            ["pipe", "https://me:planted@host.test/"], ["help", "https://me:planted@host.test/"],
            ["auth", "test", "https://host.test/", "https://me:planted@host.test/"],
            ["auth", "set", "https://host.test/", "me:planted"],
            ["auth", "set", "https://host.test/", "-u", "me", "planted"],
            ["auth", "set", "https://host.test/", "-u", "me", "-planted"],
        ])
    func misplaced(arguments: [String]) throws {
        let run = try run(arguments)
        #expect(run.status == 2 && run.errors.hasPrefix("trawl: "), "\(run.status): \(run.errors)")
        #expect(!run.errors.contains("planted") && run.text.isEmpty, "\(run.errors)")
    }

    @Test("a proxy's user without a password is asked for it")
    func proxyPassword() async throws {
        let peer = try ScriptedPeer { connection, _ in
            while let head = connection.readHead() {
                let isRight = head.lowercased().contains("proxy-authorization: basic bwu6chc=")
                connection.send(
                    isRight
                        ? "HTTP/1.1 200 Fine\r\nContent-Length: 4\r\n\r\nfine"
                        : "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n")
            }
        }
        defer { peer.stop() }
        let directory = try TemporaryDirectory()
        let terminal = try TerminalProcess(
            try BuiltProducts.trawl(),
            ["get", "-s", "--noproxy", "none.test", "-U", "me", "-x", "http://" + peer.place, "http://a.test/"]
                + ["--store", directory.file("store")], output: directory.file("output"))
        let isAsked = await eventually { terminal.text.contains("at the proxy: ") }
        #expect(isAsked, "\(terminal.text)")
        terminal.type("pw\n")
        _ = await eventually { terminal.status != nil }
        #expect(terminal.exitCode == 0, "\(terminal.text)")
        #expect(directory.content("output") == Array("fine".utf8))
    }

    @Test("no secret stays among the arguments")
    func arguments() async throws {
        let gate = DispatchSemaphore(value: 0)
        try await withScene(answering: { _ in
            gate.wait()
            return ScriptedOrigin.Answer(200, "fine")
        }) { scene in
            let url = scene.origin.url("/slow").replacingOccurrences(of: "//", with: "//u4:secret4@")
            let child = try ChildProcess(
                try BuiltProducts.trawl(),
                [
                    "get", "-u", "u1:secret1", "--oauth2-bearer=secret2", "-H", "Authorization: secret3",
                    "-HCookie: secret5", url,
                ], errors: scene.directory.file("errors"))
            defer { child.end() }
            // Bearer and user exclude each other: what is wrong with the arguments shows no secret either.
            _ = await eventually { !child.isRunning }
            #expect(!String(decoding: scene.directory.content("errors") ?? [], as: UTF8.self).contains("secret"))
            let other = try ChildProcess(
                try BuiltProducts.trawl(),
                [
                    "get", "-s", "-u", "u1:secret1", "-H", "X-Mine: 1", "-HCookie: secret5", "-b", "a=secret6",
                    "--pass", "secret7", "--noproxy", "*", "-x", "p:secret8@127.0.0.1:1", "-Uu9:secret9",
                    "--proxy-header", "Proxy-Authorization: secret10", String(url.dropFirst("http://".count)),
                ])
            defer { other.end() }
            let isAsking = await eventually { scene.count == 1 }
            #expect(isAsking)
            for process in ProcessTree.children(of: other.pid) + [other.pid] {
                var line = ""
                // There are none for a moment, when a process begins its program.
                let hasArguments = await eventually {
                    line = (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)) ?? ""
                    return !line.isEmpty
                }
                #expect(hasArguments && !line.contains("secret"), "\(line)")
            }
            gate.signal()
            _ = await eventually { !other.isRunning }
        }
    }

    @Test(
        "what may not be read is told as that: a vault, and another's socket",
        .enabled(if: geteuid() != 0, "root may do it anyway"))
    func forbidden() throws {
        let directory = try TemporaryDirectory()
        let storage = try vault(in: directory)
        let set = try run(["auth", "set", "http://a.test/", "-u", "me:pass"] + storage)
        #expect(set.status == 0 && chmod(directory.file("vault"), 0) == 0)
        let list = try run(["auth", "ls"] + storage)
        #expect(list.status == 77 && list.errors.contains("Permission denied"), "\(list.errors)")
        let closed = try directory.makeDirectory("closed")
        #expect(chmod(closed, 0) == 0)
        defer { chmod(closed, 0o700) }
        let status = try run(["status", closed + "/socket"])
        #expect(status.status == 77, "\(status.errors)")
    }

    @Test("auth test: a token answers no challenge for a user, and was not refused there")
    func tokenForUser() async throws {
        try await withScene(answering: { seen in
            ChallengingOrigin.challenge((seen.target == "/basic" ? "Basic" : "Bearer") + #" realm="here""#)
        }) { scene in
            let storage = try vault(in: scene.directory)
            let ask = scene.directory.file("ask")
            try scene.directory.put("ask", Array("#!/bin/sh\necho the-token\n".utf8))
            chmod(ask, 0o700)
            let set = try run(["auth", "set", scene.origin.url("/"), "--bearer", "--use-askpass", ask] + storage)
            #expect(set.status == 0, "\(set.errors)")
            for (target, text) in [
                ("/basic", "401 Basic \"here\": nothing is kept for it\n"),
                ("/bearer", "401 Bearer \"here\": refused\n"),
            ] {
                let test = try run(["auth", "test", scene.origin.url(target)] + storage)
                #expect(test.status == 1 && test.text == text, "\(test.text) \(test.errors)")
            }
        }
    }

    @Test("auth set keeps a token or a user, not one of both, and no helper's vault is looked after")
    func excluded() throws {
        let directory = try TemporaryDirectory()
        let storage = try vault(in: directory)
        let both = try run(["auth", "set", "http://a.test/", "--bearer", "-u", "me:pass"] + storage)
        #expect(both.status == 2 && both.errors.contains("--bearer and -u exclude each other"), "\(both.errors)")
        #expect(directory.content("vault") == nil)
        let helper = try run(["auth", "ls", "--credential-helper", "x"])
        #expect(helper.status == 2 && helper.errors.contains("Unknown option '--credential-helper'"))
        let vaults = try run(["--credential-helper", "x", "http://127.0.0.1:1/"] + storage)
        #expect(vaults.status == 2 && vaults.errors.contains("--vault and --credential-helper exclude each other"))
    }

    @Test("a vault that cannot be used ends one URL as a file that cannot be read, several and a list with 77 or 78")
    func unusable() throws {
        let directory = try TemporaryDirectory()
        let storage = try vault(in: directory)
        let url = "http://127.0.0.1:1/"
        func statuses() throws -> [Int32] {
            let one = try run(storage + [url])
            let several = try run(storage + [url, url])
            let list = try run(["batch", "--no-files"] + storage, input: url + "\n")
            return [one, several, list].map(\.status)
        }
        let missing = try statuses()
        #expect(missing == [26, 78, 78])
        try directory.put("vault", Array("no vault".utf8))
        let other = try statuses()
        #expect(other == [26, 78, 78])
        #expect(unlink(directory.file("vault")) == 0)
        let set = try run(["auth", "set", "http://a.test/", "-u", "me:pass"] + storage)
        #expect(set.status == 0, "\(set.errors)")
        try directory.put("passphrase", Array("another\n".utf8))
        let wrong = try statuses()
        #expect(wrong == [26, 77, 77])
    }

    @Test("auth: set, ls, rm, clear, and get with the vault (ASI-AUTH-11)")
    func keptForGood() async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene in
            let directory = scene.directory
            let storage = try vault(in: directory)
            let url = scene.origin.url("/x")
            let missing = try run(["auth", "ls"] + storage)
            #expect(missing.status == 78)
            let set = try run(["auth", "set", url, "-u", "me:pass"] + storage)
            #expect(set.status == 0, "\(set.errors)")
            let unsendable = try run(["auth", "set", url, "-u", "me:pa\nss"] + storage)
            #expect(unsendable.status == 2 && unsendable.errors.contains("control character"))
            let list = try run(["auth", "ls"] + storage)
            #expect(list.text.contains("127.0.0.1") && list.text.contains("me") && !list.text.contains("pass"))
            let json = try run(["auth", "ls", "--json"] + storage)
            #expect(json.text.contains("\"user\":\"me\"") && !json.text.contains("pass"))
            let fetched = try run(storage + [url])
            #expect(fetched.text == "welcome /x", "\(fetched.errors)")
            let test = try run(["auth", "test", url] + storage)
            #expect(test.status == 0 && test.text == "200 Basic \"here\"\n", "\(test.text) \(test.errors)")
            let port = try #require(url.split(separator: ":").last?.split(separator: "/").first)
            let named = "http://vault.test:\(port)/x"
            let setNamed = try run(["auth", "set", named, "-u", "me:pass"] + storage)
            #expect(setNamed.status == 0, "\(setNamed.errors)")
            for (option, value) in [
                ("--resolve", "vault.test:\(port):127.0.0.1"), ("--connect-to", "vault.test:\(port):127.0.0.1:\(port)"),
            ] {
                let routed = try run(["auth", "test", named, option, value] + storage)
                #expect(routed.status == 0 && routed.text == "200 Basic \"here\"\n", "\(routed.text) \(routed.errors)")
            }
            let removed = try run(["auth", "rm", named] + storage)
            #expect(removed.status == 0)
            let replaced = try run(["auth", "set", url, "-u", "me:bad"] + storage)
            let refused = try run(["auth", "test", url, "-k", "--noproxy", "*"] + storage)
            #expect(replaced.status == 0 && refused.status == 1 && refused.text == "401 Basic \"here\": refused\n")
            let elsewhere = directory.file("elsewhere")
            let other = ["--vault", elsewhere] + storage.dropFirst(2)
            let set2 = try run(["auth", "set", "http://b.test/", "-u", "me:pass"] + other)
            let unknown = try run(["auth", "test", url] + other)
            #expect(set2.status == 0 && unknown.status == 1, "\(set2.errors)")
            #expect(unknown.text == "401 Basic \"here\": nothing is kept for it\n", "\(unknown.errors)")
            let back = try run(["auth", "set", url, "-u", "me:pass"] + storage)
            #expect(back.status == 0)
            try directory.put("passphrase", Array("another\n".utf8))
            let wrong = try run(["auth", "ls"] + storage)
            #expect(wrong.status == 77)
            try directory.put("passphrase", Array("open sesame\n".utf8))
            for (arguments, status) in [(["rm", url], 0), (["rm", url], 1), (["clear"], 0)] as [([String], Int32)] {
                let done = try run(["auth"] + arguments + storage)
                #expect(done.status == status, "\(done.errors)")
            }
            let unanswered = try run(storage + [url])
            #expect(unanswered.text == "who?")
        }
    }

    @Test("what was removed from a vault does not come back, whatever realms have made of it (ASI-AUTH-11)")
    func removed() async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene in
            let directory = scene.directory
            let storage = try vault(in: directory)
            let (first, second) = (scene.origin.url("/a/x"), scene.origin.url("/b/x"))
            let set = try run(["auth", "set", first, "-u", "me:pass"] + storage)
            #expect(set.status == 0, "\(set.errors)")
            let fetched = try run(storage + [first, second])
            #expect(fetched.status == 0, "\(fetched.errors)")
            #expect(scene.origin.seen("/b/x").last?.fields["authorization"] == Self.right)
            let list = try run(["auth", "ls"] + storage)
            #expect(list.text.split(separator: "\n").count == 1, "\(list.text)")
            // Without a realm all of that origin go, with one that alone; other origins stay.
            for (realm, url) in [("here", first), ("there", first), ("here", "http://b.test/")] {
                let added = try run(["auth", "set", url, "--realm", realm, "-u", "me:pass"] + storage)
                #expect(added.status == 0, "\(added.errors)")
            }
            for (arguments, left) in [(["rm", first, "--realm", "there"], 3), (["rm", first], 1)] {
                let done = try run(["auth"] + arguments + storage)
                let rest = try run(["auth", "ls"] + storage)
                #expect(done.status == 0 && rest.text.split(separator: "\n").count == left, "\(rest.text)")
            }
            let unanswered = try run(storage + [first])
            #expect(unanswered.text == "who?", "\(unanswered.errors)")
        }
    }
}
