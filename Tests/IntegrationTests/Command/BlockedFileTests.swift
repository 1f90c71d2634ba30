import Foundation
import Glibc
import Testing

@Suite("trawl get: files of options that do not come, or are of another kind", .timeLimit(.minutes(10)))
struct BlockedFileTests {
    @Test("one signal ends a run that waits for a file", arguments: ["-b", "--hsts", "--netrc-file"])
    func signalled(option: String) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let run = try ChildProcess(
            try BuiltProducts.trawl(), [option, path, "--store", directory.file("store"), "http://127.0.0.1:1/"])
        let writer = BlockedReader.writer(of: path)
        #expect(writer >= 0)
        run.signal(SIGTERM)
        let isOver = await eventually(within: .seconds(20)) { !run.isRunning }
        #expect(isOver)
        if writer >= 0 { close(writer) }
    }

    @Test("a netrc file may be a pipe, which is read once for all fetches")
    func netrcPipe() async throws {
        let right = ChallengingOrigin.basic("me", "pass")
        try await withScene(answering: ChallengingOrigin.taking(right)) { scene in
            let path = scene.directory.file("pipe")
            #expect(mkfifo(path, 0o600) == 0)
            let run = try ChildProcess(
                try BuiltProducts.trawl(),
                ["-s", "-w", "\n", "--netrc-file", path, "--store", scene.store, scene.origin.url("/a")]
                    + [scene.origin.url("/b")])
            let writer = BlockedReader.writer(of: path)
            try #require(writer >= 0)
            let text = Array("machine 127.0.0.1 login me password pass\n".utf8)
            #expect(write(writer, text, text.count) == text.count)
            close(writer)
            let lines = [run.readLine(), run.readLine()]
            #expect(lines == ["welcome /a", "welcome /b"])
            let status = run.exitStatus(within: 30_000)
            #expect(status == 0)
        }
    }

    @Test("no worker opens what is no regular file, and the message names the option")
    func pipes() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        for (option, status) in [
            ("--cert", 58), ("--key", 58), ("--cacert", 77), ("--capath", 77), ("--proxy-cacert", 77),
            ("--pinnedpubkey", 90),
        ] as [(String, Int32)] {
            let run = try CommandRun([option, path, "https://127.0.0.1:1/"])
            #expect(run.status == status && run.errors.contains(option + ": "), "\(option): \(run.errors)")
        }
    }

    @Test("an empty name of a file is one that is not there, and the message says that it is empty")
    func nameless() throws {
        for (option, status) in [
            ("--cert", 58), ("--key", 58), ("--cacert", 77), ("--proxy-cacert", 77), ("--pinnedpubkey", 90),
        ] as [(String, Int32)] {
            let run = try CommandRun([option, "", "https://127.0.0.1:1/"])
            #expect(run.status == status && run.errors == "trawl: \(option): the file's name is empty\n", "\(option)")
        }
        let run = try CommandRun(["--capath", "", "https://127.0.0.1:1/"])
        #expect(run.status == 77 && run.errors == "trawl: --capath: the directory's name is empty\n")
    }

    @Test("a file that is not there ends a run with curl's status, and the message names the option")
    func missing() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("missing")
        try directory.put("bad", Array("machine a login \"b\n".utf8))
        let cases: [(option: String, path: String, status: Int32)] = [
            ("--cacert", path, 77), ("--cacert", directory.path, 77), ("--capath", path, 77),
            ("--proxy-cacert", path, 77), ("--cert", path, 58), ("--key", path, 58), ("--pinnedpubkey", path, 90),
            ("--netrc-file", path, 26), ("--netrc-file", directory.file("bad"), 26),
        ]
        for (option, path, status) in cases {
            let run = try CommandRun([option, path, "https://127.0.0.1:1/"])
            #expect(run.status == status, "\(option) \(path): \(run.errors)")
            #expect(run.errors.contains(option + ": "), "\(run.errors)")
            let list = try CommandRun([option, path, "https://127.0.0.1:1/", "https://127.0.0.1:1/"])
            #expect(list.status == 2, "\(option) \(path): \(list.errors)")
        }
        let home = ["HOME": directory.path]
        #expect(try CommandRun(["-n", "http://127.0.0.1:1/"], environment: home).status == 26)
        #expect(try CommandRun(["--netrc-optional", "http://127.0.0.1:1/"], environment: home).status == 7)
    }
}
