import Foundation
import Glibc
import Testing

/// `trawl get` of many URLs into files.
@Suite("trawl get of several URLs", .serialized, .timeLimit(.minutes(5)))
struct GetListTests {
    private func get(_ arguments: [String], input: String? = nil) throws -> CommandRun {
        try CommandRun(["get"] + arguments, input: input)
    }

    @Test("they are fetched several at a time, into files named after them, and a name is given once")
    func names() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            try directory.put("5", Array("of an earlier run".utf8))
            let urls = ["/bytes/5", "/bytes/6", "/bytes/5?seed=2", "/delay/1000?n=1", "/delay/1000?n=2"].map {
                origin.url($0)
            }
            let run = try get(["--output-dir", directory.path] + urls)
            #expect(run.status == 0 && run.output.isEmpty)
            #expect(run.errors == "trawl: \(urls[2]): written to 5.1\ntrawl: \(urls[4]): written to 1000.1\n")
            #expect(try directory.names() == ["1000", "1000.1", "5", "5.1", "6"])
            #expect(directory.content("5") == ReferenceBytes.bytes(5))
            #expect(directory.content("5.1") == ReferenceBytes.bytes(5, seed: 2))
            #expect(try origin.concurrency().max >= 2)
            let quick = urls.map { $0.replacingOccurrences(of: "/delay/", with: "/bytes/") }
            let one = try get(["-q", "-j", "1", "--output-dir", directory.path] + quick)
            #expect(one.status == 0 && one.errors.isEmpty)
            #expect(try directory.names() == ["1000", "1000.1", "5", "5.1", "6"])
        }
    }

    @Test("-o names a file anywhere for each, and one that cannot be made fails alone")
    func outputs() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let other = try directory.makeDirectory("other")
            let missing = "../\(UUID())/../c"
            let run = try get(
                ["--output-dir", directory.path, "-o", "a", "-o", "/no/such/b", "-o", other + "/c", "-o", missing]
                    + (1...4).map { origin.url("/bytes/10\($0)") })
            #expect(run.status == 1)
            #expect(run.errors.split(separator: "\n").count == 2 && run.errors.contains("/no/such/b"), "\(run.errors)")
            #expect(directory.content("a") == ReferenceBytes.bytes(101))
            #expect(directory.content("other/c") == ReferenceBytes.bytes(103))
            let devices = try get(
                ["-o", "/dev/null", "-o", "/dev/null", "-w", "%{filename_effective} %{size_download}\n"]
                    + (1...2).map { origin.url("/bytes/7\($0)") })
            #expect(devices.status == 0 && devices.text.contains("/dev/null 71\n"), "\(devices.errors)")
        }
    }

    @Test("links are followed, pipes and devices written to, whether they are fetched one by one or together")
    func places() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            #expect(mkfifo(directory.file("11"), 0o600) == 0)
            // Its reader; the body has room in it.
            let pipe = open(directory.file("11"), O_RDWR | O_NONBLOCK | O_CLOEXEC)
            try #require(pipe >= 0)
            defer { close(pipe) }
            #expect(symlink("target", directory.file("12")) == 0)
            #expect(symlink("/dev/null", directory.file("13")) == 0)
            let urls = (11...13).map { origin.url("/bytes/\($0)") }
            for runs in [[urls], urls.map { [$0] }] {
                unlink(directory.file("target"))
                for run in runs {
                    let got = try get(["--output-dir", directory.path] + run)
                    #expect(got.status == 0, "\(got.errors)")
                }
                var bytes = [UInt8](repeating: 0, count: 100)
                let count = read(pipe, &bytes, bytes.count)
                #expect(count == 11 && bytes[..<11].elementsEqual(ReferenceBytes.bytes(11)))
                #expect(directory.content("target") == ReferenceBytes.bytes(12))
                #expect(try directory.names() == ["11", "12", "13", "target"])
                let kinds = ["11", "12", "13"].map { name in
                    var info = stat()
                    return lstat(directory.file(name), &info) == 0 ? info.st_mode & S_IFMT : 0
                }
                #expect(kinds == [S_IFIFO, S_IFLNK, S_IFLNK])
            }
        }
    }

    @Test(
        "a file that may not be written to is not replaced, by one URL or by several",
        .enabled(if: geteuid() != 0, "root may do it anyway"))
    func readOnly() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            try directory.put("11", Array("old".utf8))
            chmod(directory.file("11"), 0o444)
            let urls = [origin.url("/bytes/11"), origin.url("/bytes/12")]
            let both = try get(["--output-dir", directory.path] + urls)
            #expect(both.status == 1 && both.errors.contains("Permission denied"), "\(both.errors)")
            #expect(try get(["--output-dir", directory.path, urls[0]]).status == 23)
            #expect(try get(["--include", "--output-dir", directory.path, urls[0]]).status == 23)
            #expect(directory.content("11") == Array("old".utf8))
            #expect(directory.content("12") == ReferenceBytes.bytes(12))
        }
    }

    @Test("-o of a disk without room fails alone", arguments: [["-j", "1"], ["-v"]])
    func fullOutput(options: [String]) async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let run = try get(
                options + ["-o", "/dev/full", "-o", directory.file("a"), "-o", directory.file("b")]
                    + (1...3).map { origin.url("/bytes/10\($0)") })
            #expect(run.status == 1 && run.errors.contains("No space left on device"), "\(run.errors)")
            #expect(directory.content("a") == ReferenceBytes.bytes(102))
            #expect(directory.content("b") == ReferenceBytes.bytes(103))
        }
    }

    @Test("a name of two -o is given once, and a device takes all", arguments: [[], ["-v"]])
    func sameOutputs(options: [String]) async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            try directory.put("f", Array("of an earlier run".utf8))
            let urls = [origin.url("/bytes/5"), origin.url("/bytes/6")]
            let run = try get(options + ["--output-dir", directory.path, "-o", "f", "-o", "f"] + urls)
            #expect(run.status == 0 && run.errors.contains("trawl: \(urls[1]): written to f.1\n"), "\(run.errors)")
            #expect(directory.content("f") == ReferenceBytes.bytes(5))
            #expect(directory.content("f.1") == ReferenceBytes.bytes(6))
            let named = try get(
                options + ["-s", "-w", "%{filename_effective} ", "-o", "/dev/null", "-o", directory.file("f")] + urls)
            #expect(named.text.split(separator: " ").sorted() == ["/dev/null", directory.file("f")[...]].sorted())
            let dropped = try get(options + ["-o", "/dev/null", "-o", "/dev/null"] + urls)
            #expect(dropped.status == 0 && !dropped.errors.contains("written to"), "\(dropped.errors)")
        }
    }

    @Test("-w prints a line for each, failures included")
    func writeOut() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let format = "%{url} %{http_code} %{exitcode} %{filename_effective} %{method}%{stderr}e\\n%{stdout}\\n"
            let urls = [origin.url("/bytes/5"), "http://127.0.0.1:1/x", origin.url("/status/404")]
            let run = try get(["-s", "-f", "-w", format, "--output-dir", directory.path] + urls)
            #expect(run.status == 1)
            let lines = [
                "\(urls[0]) 200 0 \(directory.path)/5 GET", "\(urls[1]) 000 7 \(directory.path)/x GET",
                "\(urls[2]) 404 22 \(directory.path)/404 GET",
            ]
            #expect(run.text.split(separator: "\n").map(String.init).sorted() == lines.sorted())
            #expect(run.errors == "e\ne\ne\n")
        }
    }

    @Test("with -f a status of 400 makes no file, and a redirect that is not followed does")
    func fail() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let urls = ["/status/404", "/redirect/1", "/bytes/3"].map { origin.url($0) }
            let run = try get(["-f", "--output-dir", directory.path] + urls)
            #expect(run.status == 1)
            #expect(run.errors == "trawl: \(urls[0]): the response's status is 404\n")
            #expect(try directory.names() == ["1", "3"])
            let kept = try get(["--output-dir", directory.path, urls[0], urls[2]])
            #expect(kept.status == 0)
            #expect(try directory.names() == ["1", "3", "404"])
        }
    }

    @Test("a list is read as it comes, after the arguments, and its bad lines are told")
    func list() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let list = "\(origin.url("/bytes/5"))\tsub\n\n{\"url\":\"http://h/\"}\n#\n\(origin.url("/bytes/6"))\n"
            let run = try get(["-i", "-", "--output-dir", directory.path, origin.url("/bytes/4")], input: list)
            #expect(run.status == 1)
            #expect(run.errors == "trawl: standard input:3: JSON lines are for trawl batch\n")
            #expect(try directory.names() == ["4", "6", "sub"])

            let slow = try ChildProcess(
                try BuiltProducts.trawl(), ["get", "-i", "-", "--output-dir", directory.path])
            for number in 10...12 {
                let line = Array("\(origin.url("/bytes/\(number)"))\n".utf8)
                #expect(line.withUnsafeBytes { write(slow.input, $0.baseAddress, $0.count) } == line.count)
                #expect(await eventually { directory.content("\(number)")?.count == number })
            }
            slow.closeInput()
            #expect(slow.exitStatus(within: 60_000) == 0)
        }
    }

    @Test(
        "directories that a line names are made, and none is reached by a link, one by one as together",
        arguments: [[], ["-v"], ["--include"], ["-D", "/dev/null"], ["-J"]])
    func directories(options: [String]) async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let (out, other) = (try directory.makeDirectory("out"), try directory.makeDirectory("other"))
            #expect(symlink(other, out + "/link") == 0)
            let lines = ["sub/dir/a", "link/b", "sub/c"].enumerated().map { index, name in
                origin.url("/bytes/\(index + 5)") + "\t" + name
            }
            try directory.put("list", Array(lines.joined(separator: "\n").utf8))
            let run = try get(options + ["--no-cache", "-i", directory.file("list"), "--output-dir", out])
            #expect(run.status == 1 && run.errors.contains("/list:2: "), "\(run.errors)")
            #expect(try directory.names().filter { $0.hasPrefix("other") } == ["other"])
            for (name, count) in [("out/sub/dir/a", 5), ("out/sub/c", 7)] {
                let content = directory.content(name) ?? []
                #expect(content.suffix(count).elementsEqual(ReferenceBytes.bytes(count)), "\(name): \(content.count)")
                #expect(content.count == count || options == ["--include"])
            }
        }
    }

    @Test("with -v one conversation is shown after the other")
    func verbose() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let run = try get(
                ["-v", "--output-dir", directory.path] + (1...3).map { origin.url("/delay/50?n=\($0)") })
            #expect(run.status == 0)
            let starts = run.errors.split(separator: "\n").filter { $0.hasPrefix("> GET") || $0.hasPrefix("< HTTP") }
            #expect(starts.map { $0.first } == [">", "<", ">", "<", ">", "<"], "\(run.errors)")
            #expect(try origin.concurrency().max == 1)
        }
    }

    @Test("a reader of -w that does not read holds up no signal")
    func stoppedReader() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            // A line fills more than a stream takes, and then some more of them all that may wait.
            let format = String(repeating: "x", count: 100_000)
            try directory.put("format", Array(format.utf8))
            let list = (0..<2000).map { origin.url("/bytes/1?n=\($0)") + "\tf\($0 % 10)" }.joined(separator: "\n")
            try directory.put("list", Array(list.utf8))
            let run = try ChildProcess(
                try BuiltProducts.trawl(),
                ["get", "-q", "-j", "4", "-w", "@" + directory.file("format"), "-i", directory.file("list")]
                    + ["--output-dir", try directory.makeDirectory("out")])
            try await expectStandstill(origin)
            #expect(try origin.concurrency().total < 200)
            run.signal(SIGTERM)
            #expect(run.exitStatus(within: 60_000) == 75)
        }
    }

    @Test("-w into a pipe that is closed stops the run without a word, and not as one that has fetched all")
    func closedReader() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let list = (0..<400).map { origin.url("/delay/100?n=\($0)") }.joined(separator: "\n")
            try directory.put("list", Array(list.utf8))
            let run = try ChildProcess(
                try BuiltProducts.trawl(),
                ["get", "-q", "-j", "4", "-w", "%{url}\n", "-i", directory.file("list")]
                    + ["--output-dir", try directory.makeDirectory("out")], errors: directory.file("errors"))
            #expect(run.readLine() != nil)
            shutdown(run.output, Int32(SHUT_RDWR))
            #expect(run.exitStatus(within: 60_000) == 75)
            #expect(directory.content("errors") == [])
            #expect(try origin.concurrency().total < 400)
        }
    }

    @Test("a run whose last fetches end after a signal has done all", arguments: [true, false])
    func signalledAtItsEnd(hasList: Bool) async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let urls = (0..<3).map { origin.url("/delay/1500?n=\($0)") }
            try directory.put("list", Array(urls.joined(separator: "\n").utf8))
            let run = try ChildProcess(
                try BuiltProducts.trawl(),
                ["get", "-q", "-j", "3", "--output-dir", try directory.makeDirectory("out")]
                    + (hasList ? ["-i", directory.file("list")] : urls))
            #expect(await eventually { (try? origin.log(prefix: "/delay").count) == 3 })
            run.signal(SIGINT)
            #expect(run.exitStatus(within: 60_000) == 0)
            #expect(try directory.names() == ["list", "out", "out/1500", "out/1500.1", "out/1500.2"])
        }
    }

    @Test("a file that an option names and that cannot be read: curl's status for one URL, 2 for several")
    func unreadableFiles() throws {
        for (option, status) in [("-H@", 26), ("-d@", 26), ("-w@", 26), ("--cacert=", 77)] as [(String, Int32)] {
            let one = try get([option + "/no/such", "http://127.0.0.1:1/"])
            let name = option.hasPrefix("--") ? "\(option.dropLast()): " : ""
            #expect(
                one.status == status && one.errors == "trawl: \(name)/no/such: No such file or directory\n", "\(option)"
            )
            let many = try get(["-O", option + "/no/such", "http://127.0.0.1:1/", "http://127.0.0.1:1/"])
            #expect(many.status == 2 && many.errors == one.errors, "\(option)")
        }
        // How many URLs there are is not known without it.
        for urls in [["http://127.0.0.1:1/"], ["http://127.0.0.1:1/", "http://127.0.0.1:1/"]] {
            #expect(try get(["-K", "/no/such"] + urls).status == 26)
        }
        #expect(try get(["-i", "/no/such"]).status == 2)
    }

    @Test("credentials in a URL are not shown")
    func credentials() throws {
        let url = "http://user:secret@127.0.0.1:1/"
        let one = try get([url, "-w", "%{url} %{url_effective}"])
        #expect(one.status == 7 && one.text == "http://127.0.0.1:1/ http://127.0.0.1:1/")
        #expect(one.errors.contains("http://127.0.0.1:1/: ") && !one.errors.contains("secret"), "\(one.errors)")
        let many = try get(["-o", "/dev/null", "-o", "/dev/null", url, url])
        #expect(many.status == 1 && !many.errors.contains("secret") && !many.errors.contains("user"), "\(many.errors)")
        for sign in ["/", "?", "#"] {
            let run = try get(["http://user:pa\(sign)secret@127.0.0.1:1/"])
            #expect(run.status == 3 && run.errors.contains("http://127.0.0.1:1/: "), "\(run.errors)")
            #expect(!run.errors.contains("secret") && !run.errors.contains("user"), "\(run.errors)")
        }
    }

    @Test("standard input is read by one alone")
    func standardInput() throws {
        let both = try get(["-d", "@-", "-i", "-"], input: "http://127.0.0.1:1/\n")
        #expect(both.status == 2 && both.errors.contains("cannot be the list"), "\(both.errors)")
        let twice = try get(["-d", "@-", "-H", "@-", "http://127.0.0.1:1/"], input: "A: 1\n")
        #expect(twice.status == 2 && twice.errors.contains("by one option alone"), "\(twice.errors)")
    }
}
