import Foundation
import Glibc
import Testing

/// A program that is asked in place of a terminal.
@Suite("Questions to a program, --use-askpass (ASI-AUTH-17)", .timeLimit(.minutes(2)))
struct AskProgramTests {
    private static let right = ChallengingOrigin.basic("me", "p ass")

    /// A program that notes each question behind a line of dashes, and answers by what it is asked for last.
    private func program(in directory: TemporaryDirectory, _ end: String = "") throws -> String {
        let script = """
            #!/bin/sh
            printf -- '---\\n%s\\n' "$1" >> '\(directory.file("asked"))'
            case $1 in *User:*) echo me;; *Passphrase*) echo 'open sesame';; *Password*) echo 'p ass';; esac
            \(end)
            """
        try directory.put("ask", Array(script.utf8))
        chmod(directory.file("ask"), 0o700)
        return directory.file("ask")
    }

    private func questions(in directory: TemporaryDirectory) -> [String] {
        String(decoding: directory.content("asked") ?? [], as: UTF8.self).components(separatedBy: "---\n")
            .dropFirst().map { $0 }
    }

    @Test("user and password for a server that asks, by get and by pipe: who asks and for what is told")
    func server() async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene in
            let ask = ["--use-askpass", try program(in: scene.directory)]
            let get = try CommandRun(["get", "--store", scene.store] + ask + [scene.origin.url("/x")])
            #expect(get.status == 0 && get.text == "welcome /x", "\(get.errors)")
            let asked = questions(in: scene.directory)
            #expect(asked.count == 2)
            for question in asked {
                #expect(question.contains("for \"here\" (Basic)") && question.contains("sent in clear"), "\(question)")
            }
            #expect(asked.last?.contains("Password for me: ") == true)
            let line = #"{"url":"\#(scene.origin.url("/y"))"}"# + "\n"
            let pipe = try CommandRun(["pipe", "--store", scene.store] + ask, input: line)
            #expect(pipe.status == 0 && pipe.text.contains(#""status":200"#), "\(pipe.text) \(pipe.errors)")
            #expect(questions(in: scene.directory).count == 4)
            // Who is named already is not asked for.
            let place = scene.origin.url("").dropFirst("http://".count)
            let named = try CommandRun(["get", "--store", scene.store] + ask + ["http://me@\(place)/z"])
            #expect(named.status == 0 && named.text == "welcome /z", "\(named.errors)")
            let last = questions(in: scene.directory)
            #expect(last.count == 5 && last.last?.contains("Password for me: ") == true, "\(last)")
        }
    }

    @Test("who starts the command may ignore the ends of its children")
    func ignoredEnds() async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene in
            let ask = ["--use-askpass", try program(in: scene.directory)]
            let command = [try BuiltProducts.trawl(), "get", "--store", scene.store] + ask + [scene.origin.url("/x")]
            let get = try CommandRun(program: "/usr/bin/env", ["--ignore-signal=CHLD"] + command)
            #expect(get.status == 0 && get.text == "welcome /x", "\(get.errors)")
        }
    }

    @Test("the password of -u, and the passphrase of a vault")
    func others() async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene in
            let url = scene.origin.url("/x")
            let ask = ["--use-askpass", try program(in: scene.directory)]
            let named = try CommandRun(["get", "--store", scene.store, "-u", "me", url] + ask)
            #expect(named.text == "welcome /x", "\(named.errors)")
            #expect(questions(in: scene.directory) == ["Password for me: \n"])
            let vault = ["--vault", scene.directory.file("vault")] + ask
            let set = try CommandRun(["auth", "set", url] + vault)
            #expect(set.status == 0, "\(set.errors)")
            let kept = try CommandRun(["get", "--store", scene.store, url] + vault)
            #expect(kept.text == "welcome /x", "\(kept.errors)")
            // Twice for a new one, user, password; then once.
            #expect(questions(in: scene.directory).count == 1 + 4 + 1)
        }
    }

    @Test(
        "a program that gives up, cannot be started or says too much has no answer", arguments: ["exit 1", "yes", nil])
    func none(end: String?) async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene in
            let url = scene.origin.url("/x")
            let path = try end.map { try program(in: scene.directory, $0) } ?? scene.directory.file("none")
            let get = try CommandRun(["get", "--store", scene.store, "--use-askpass", path, url])
            #expect(get.status == 0 && get.text == "who?", "\(get.errors)")
            let named = try CommandRun(["get", "-u", "me", "--store", scene.store, "--use-askpass", path, url])
            #expect(named.status == 2 && named.errors.contains("--use-askpass has no answer"), "\(named.errors)")
        }
    }

    @Test("a program that would read from the terminal has no answer, and is not waited for")
    func terminal() async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene in
            let path = scene.directory.file("ask")
            try scene.directory.put("ask", Array("#!/bin/sh\nread -r line < /dev/tty && echo \"$line\"\n".utf8))
            chmod(path, 0o700)
            let get = ["get", "-s", "--store", scene.store, "--use-askpass", path, "-o", scene.directory.file("body")]
            let terminal = try TerminalProcess(try BuiltProducts.trawl(), get + [scene.origin.url("/x")])
            #expect(await eventually { terminal.status != nil })
            #expect(scene.directory.content("body") == Array("who?".utf8))
        }
    }

    @Test("a signal ends the command at the question, and the program with it", arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) async throws {
        try await withScene(answering: ChallengingOrigin.taking(Self.right)) { scene in
            let pidFile = scene.directory.file("pid")
            let path = try program(in: scene.directory, "echo $$ > '\(pidFile)'; exec sleep 1000")
            let command = try ChildProcess(
                try BuiltProducts.trawl(),
                ["get", "-s", "--store", scene.store, "--use-askpass", path, scene.origin.url("/x")])
            func pid() -> pid_t? {
                pid_t(String(decoding: scene.directory.content("pid") ?? [], as: UTF8.self).dropLast())
            }
            #expect(await eventually { pid() != nil })
            let asked = try #require(pid())
            kill(command.pid, signal)
            #expect(await eventually { !command.isRunning })
            #expect(await eventually { kill(asked, 0) != 0 })
        }
    }
}
