import Foundation
import Glibc
import Testing

private let curlPath = "/usr/bin/curl"

@Suite("trawl cookies, -b and -c, ASI-COOK-01, 11", .serialized, .timeLimit(.minutes(5)))
struct CookieCommandTests {
    private let directory: TemporaryDirectory
    private let origin: ScriptedOrigin

    init() throws {
        directory = try TemporaryDirectory()
        origin = try ScriptedOrigin { request in
            let query = request.target.split(separator: "?").dropFirst().first?.split(separator: "&") ?? []
            let fields = query.filter { !$0.hasPrefix("to=") }.map {
                ("Set-Cookie", $0.removingPercentEncoding ?? "")
            }
            if let to = query.first(where: { $0.hasPrefix("to=") }) {
                return ScriptedOrigin.Answer(302, "", fields + [("Location", String(to.dropFirst(3)))])
            }
            return ScriptedOrigin.Answer(200, (request.fields["cookie"] ?? "none") + "\n", fields)
        }
    }

    private var store: String { directory.file("store") }

    private func get(_ target: String, _ options: [String] = []) throws -> String {
        let run = try CommandRun(["get", "--store", store] + options + [origin.url(target)])
        #expect(run.status == 0, "\(run.errors)")
        return run.text
    }

    private func cookies(_ arguments: String..., input: String? = nil) throws -> CommandRun {
        try CommandRun(["cookies"] + arguments + ["--store", store], input: input)
    }

    @Test("a jar that may not be looked at is not an empty one", .enabled(if: geteuid() != 0, "root may do it anyway"))
    func forbidden() throws {
        _ = try get("/?a=1")
        #expect(chmod(store + "/state", 0) == 0)
        defer { chmod(store + "/state", 0o700) }
        for arguments in [["ls"], ["export"], ["rm", "a"], ["clear"]] {
            let run = try CommandRun(["cookies"] + arguments + ["--store", store])
            #expect(run.status == 77 && run.output.isEmpty, "\(arguments): \(run.text) \(run.errors)")
        }
    }

    @Test("a file in the place of a store is no empty jar", arguments: ["store", "store/state"])
    func inTheWay(name: String) throws {
        if name != "store" { _ = try directory.makeDirectory("store") }
        try directory.put(name, [1])
        for arguments in [["ls"], ["export"], ["rm", "a"], ["clear"]] {
            let run = try CommandRun(["cookies"] + arguments + ["--store", store])
            #expect(run.status == 78 && run.output.isEmpty, "\(arguments): \(run.text) \(run.errors)")
        }
    }

    private func curl(_ arguments: String...) throws -> String {
        try CommandRun(program: curlPath, ["-s", "-q", "--noproxy", "*"] + arguments).text
    }

    /// The cookies of a field. Files do not tell which came first, and curl sends the last of one path first.
    private func sorted(_ field: String) -> [String] {
        field.trimmingCharacters(in: .newlines).components(separatedBy: "; ").sorted()
    }

    @Test("the next run sends what a run was given, unless it is told not to")
    func runs() throws {
        defer { origin.stop() }
        #expect(try get("/?a=1&b=2%3bMax-Age=600") == "none\n")
        #expect(try get("/") == "a=1; b=2\n")
        #expect(try get("/", ["--no-cookies"]) == "none\n")
        #expect(try get("/", ["--jar", "other"]) == "none\n")
        #expect(try get("/?c=3", ["--jar", "other"]) == "none\n")
        #expect(try get("/", ["--jar", "other"]) == "c=3\n")
        #expect(try get("/", ["-b", "a=hand; d=4"]) == "a=hand; d=4; b=2\n")
        #expect(try get("/", ["--no-cookies", "-b", "d=4", "-b", "e=5"]) == "d=4; e=5\n")
        #expect(try get("/?to=/", ["-L", "--no-cookies", "-b", "d=4"]) == "d=4\n")
        #expect(try get("/", ["-b", "a=\"x;y\""]) == "a=\"x;y\"; b=2\n")
        #expect(try get("/", ["-H", "Cookie: =x;  b = 1"]) == "=x;  b = 1; a=1\n")
        #expect(try CommandRun(["get", "-b", "a=1\n", "--store", store, origin.url("/")]).status == 2)
    }

    @Test(
        "cookies by hand go along with a redirect of their origin, of -H as of -b, and to no other port",
        arguments: [["-b", "a=b"], ["-H", "Cookie: a=b"]])
    func redirects(cookie: [String]) throws {
        defer { origin.stop() }
        let other = try ScriptedOrigin { ScriptedOrigin.Answer(200, ($0.fields["cookie"] ?? "none") + "\n") }
        defer { other.stop() }
        #expect(try get("/?to=/end", ["-L"] + cookie) == "a=b\n")
        #expect(try get("/?to=/end", ["-L", "--no-cookies"] + cookie) == "a=b\n")
        #expect(try get("/?to=\(other.url("/"))", ["-L"] + cookie) == "none\n")
    }

    @Test("cookies that cannot be kept are told, and are no reason to fail")
    func untold() throws {
        defer { origin.stop() }
        try FileManager.default.createDirectory(
            atPath: directory.file("broken/state/data.mdb"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let get = ["get", "--store", directory.file("broken"), "--no-cache"]
        let lost = try CommandRun(get + [origin.url("/?a=1")])
        #expect(lost.status == 0 && lost.text == "none\n")
        #expect(lost.errors.contains("not all cookies"), "\(lost.errors)")
        let silent = try CommandRun(get + ["-s", origin.url("/?a=1")])
        #expect(silent.status == 0 && silent.errors.isEmpty, "\(silent.errors)")
        let without = try CommandRun(get + ["--no-cookies", "--no-hsts", origin.url("/?a=1")])
        #expect(without.status == 0 && without.errors.isEmpty, "\(without.errors)")
    }

    @Test("listed, set, removed and cleared")
    func subcommands() throws {
        defer { origin.stop() }
        #expect(try cookies("ls").text.isEmpty)
        #expect(try !directory.names().contains("store"))
        #expect(try cookies("set", origin.url("/"), "a=1; Path=/; HttpOnly; SameSite=Lax").status == 0)
        #expect(
            try cookies(
                "set", "https://x.example.org/", "-",
                input: "Set-Cookie: b=2; Secure; Domain=example.org\r\n set-cookie:c=3\n"
            ).status == 0)
        #expect(try cookies("set", "http://x.example.org/", "s=1; Secure").status == 1)
        #expect(try get("/") == "a=1\n")
        let list = try cookies("ls", "--json")
        let objects = try list.output.split(separator: 0x0A).map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        }
        #expect(objects.map { $0["name"] as? String } == ["a", "b", "c"])
        #expect(objects[0]["same_site"] as? String == "Lax" && objects[0]["http_only"] as? Bool == true)
        #expect(objects[1]["domain"] as? String == "example.org" && objects[1]["host_only"] as? Bool == false)
        #expect(objects[1]["expires"] is NSNull)
        let text = try cookies("ls", "example.org").text
        #expect(text.contains(".example.org/  b=2") && text.contains("x.example.org/  c=3") && !text.contains("a=1"))
        #expect(try cookies("rm", "example.org").text == "1 removed\n")
        #expect(try cookies("rm", "example.org", "c", "--subdomains").text == "1 removed\n")
        #expect(try cookies("clear", "--json").text == "{\"v\":1,\"removed\":1}\n")
        #expect(try get("/") == "none\n")
    }

    @Test("set from http leaves a secure cookie alone, and says so (RFC 6265bis §5.7)")
    func sparesSecure() throws {
        defer { origin.stop() }
        #expect(try cookies("set", "https://x.example.org/", "a=1; Secure").status == 0)
        let one = try cookies("set", "http://x.example.org/", "a=2")
        #expect(one.status == 1 && one.errors.contains("it would hide a secure cookie"), "\(one.errors)")
        let some = try cookies("set", "http://x.example.org/", "-", input: "a=3\nb=4\n")
        #expect(some.status == 1 && some.errors.contains("1 of 2 cookies are not taken"), "\(some.errors)")
        let text = try cookies("ls").text
        #expect(text.contains("a=1") && text.contains("b=4"), "\(text)")
        #expect(try cookies("set", "https://x.example.org/", "a=5").status == 0)
        #expect(try cookies("ls").text.contains("a=5"))
    }

    @Test(
        "listed and removed by the name they were set under",
        arguments: [("http://bücher.example/", "bücher.example"), ("http://[::1]/", "::1")])
    func names(url: String, name: String) throws {
        defer { origin.stop() }
        #expect(try cookies("set", url, "a=1").status == 0)
        #expect(try cookies("ls", name).text.contains("a=1"))
        #expect(try cookies("rm", name).text == "1 removed\n")
    }

    @Test(
        "curl reads what is exported, and what curl wrote is imported",
        .enabled(if: access(curlPath, X_OK) == 0, "curl is not installed"))
    func interchange() throws {
        defer { origin.stop() }
        let file = directory.file("jar")
        #expect(try get("/?a=1&b=2%3bMax-Age=600%3bHttpOnly&c=3%3bPath=/p") == "none\n")
        #expect(try cookies("export", file).status == 0)
        #expect(try sorted(curl("-b", file, origin.url("/p"))) == ["a=1", "b=2", "c=3"])
        var facts = stat()
        #expect(stat(file, &facts) == 0 && facts.st_mode & 0o777 == 0o600)

        let theirs = directory.file("theirs")
        _ = try curl("-c", theirs, origin.url("/?x=1&y=2%3bMax-Age=600%3bHttpOnly&z=3%3bPath=/p"))
        #expect(try cookies("import", theirs, "--jar", "curl").text == "3 stored\n")
        #expect(try sorted(get("/p", ["--jar", "curl"])) == ["x=1", "y=2", "z=3"])
        let copy = directory.file("copy.json")
        #expect(try cookies("export", copy, "--json", "--jar", "curl").status == 0)
        #expect(try cookies("import", copy, "--jar", "copy", "--junk-session-cookies").text == "1 stored\n")
        #expect(try get("/p", ["--jar", "copy"]) == "y=2\n")
    }

    @Test(
        "cookies of an IPv6 address, too, which curl writes without brackets",
        .enabled(if: access(curlPath, X_OK) == 0, "curl is not installed"))
    func addressInterchange() throws {
        defer { origin.stop() }
        // The name alone is such an address: not every machine has one.
        let route = "[::1]:80:127.0.0.1:\(origin.port)"
        func get(_ target: String, _ options: String...) throws -> String {
            let place = ["--connect-to", route, "http://[::1]\(target)"]
            let run = try CommandRun(["get", "--store", store] + options + place)
            #expect(run.status == 0, "\(run.errors)")
            return run.text
        }
        let ours = directory.file("ours")
        #expect(try get("/?a=1") == "none\n")
        #expect(try cookies("export", ours).status == 0)
        let text = String(decoding: directory.content("ours") ?? [], as: UTF8.self)
        #expect(text.hasSuffix("\n::1\tFALSE\t/\tFALSE\t0\ta\t1\n"), "\(text)")
        #expect(try curl("-g", "-b", ours, "--connect-to", route, "http://[::1]/") == "a=1\n")

        let theirs = directory.file("theirs")
        _ = try curl("-g", "-c", theirs, "--connect-to", route, "http://[::1]/?b=2")
        #expect(try cookies("import", theirs, "--jar", "curl").text == "1 stored\n")
        #expect(try get("/", "--jar", "curl") == "b=2\n")
        #expect(try get("/", "-b", theirs) == "b=2\n")
    }

    @Test("a cookie of a -b file whose line names no domain is not sent, which is told")
    func homeless() throws {
        defer { origin.stop() }
        try directory.put("heads", Array("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2; Path=/\r\n\r\n".utf8))
        let arguments = ["get", "--store", store, "-b", directory.file("heads"), origin.url("/")]
        let run = try CommandRun(arguments)
        #expect(run.status == 0 && run.text == "none\n", "\(run.errors)")
        #expect(run.errors.hasSuffix("heads: cookies that are not sent, without a usable domain: 2\n"), "\(run.errors)")
        #expect(try CommandRun(arguments + ["-s"]).errors.isEmpty)
    }

    @Test("lines of a -b file that were to be cookies are told once")
    func broken() throws {
        defer { origin.stop() }
        let text = "127.0.0.1\tFALSE\t/\tFALSE\tnever\ta\t1\nServer: x\na\tb\n127.0.0.1\tFALSE\t/\tFALSE\t0\tb\t2\n"
        try directory.put("jar", Array(text.utf8))
        let arguments = ["get", "--store", store, "-b", directory.file("jar"), origin.url("/")]
        let run = try CommandRun(arguments)
        #expect(run.status == 0 && run.text == "b=2\n", "\(run.errors)")
        let told = "jar: lines that are not taken: 2, first line 1: this is no cookie\n"
        #expect(run.errors.hasSuffix(told), "\(run.errors)")
        #expect(try CommandRun(arguments + ["-s"]).errors.isEmpty)
    }

    @Test("what a file ends is not sent by -b nor imported, and what the store has stays")
    func ended() throws {
        defer { origin.stop() }
        let heads = """
            HTTP/1.1 200 OK
            Set-Cookie: a=1; Domain=127.0.0.1
            Set-Cookie: b=2; Domain=127.0.0.1

            HTTP/1.1 200 OK
            Set-Cookie: a=; Domain=127.0.0.1; Max-Age=0

            """
        try directory.put("heads", Array(heads.utf8))
        try directory.put("more", Array("127.0.0.1\tFALSE\t/\tFALSE\t1\tb\t\n".utf8))
        #expect(try get("/", ["-b", directory.file("heads")]) == "b=2\n")
        #expect(try get("/", ["-b", directory.file("heads"), "-b", directory.file("more")]) == "none\n")
        #expect(try get("/?a=stored") == "none\n")
        #expect(try cookies("import", directory.file("heads")).text == "1 stored\n")
        #expect(try get("/") == "a=stored; b=2\n")
        let both = try cookies("import", directory.file("heads"), directory.file("more"), "--jar", "own")
        #expect(both.text == "0 stored\n")
        // Lines of heads are no cookies, which is told.
        #expect(both.status == 1)
        #expect(try get("/", ["--jar", "own"]) == "none\n")
    }

    @Test(
        "-b reads and -c writes files as curl does, and the store has no part in it",
        .enabled(if: access(curlPath, X_OK) == 0, "curl is not installed"))
    func files() throws {
        defer { origin.stop() }
        let file = directory.file("jar")
        #expect(try get("/?kept=1") == "none\n")
        // A file that is not there is one without cookies, as in curl.
        #expect(try get("/?a=1&b=2%3bMax-Age=600&to=/", ["-L", "-b", file, "-c", file]) == "a=1; b=2\n")
        #expect(try sorted(curl("-b", file, origin.url("/"))) == ["a=1", "b=2"])
        _ = try curl("-b", file, "-c", file, origin.url("/?c=3"))
        #expect(try sorted(get("/", ["-b", file])) == ["a=1", "b=2", "c=3"])
        #expect(try get("/", ["-b", file, "--junk-session-cookies"]) == "b=2\n")
        #expect(try sorted(get("/", ["-b", "@" + file])) == ["a=1", "b=2", "c=3"])
        let both = try get("/", ["-b", file, "-b", "x=9"])
        #expect(both.hasPrefix("x=9; ") && sorted(both) == ["a=1", "b=2", "c=3", "x=9"])
        #expect(try get("/") == "kept=1\n")
        let shown = try get("/", ["-b", file, "-c", "-", "-o", "/dev/null"])
        #expect(shown.hasPrefix("# Netscape HTTP Cookie File\n") && shown.contains("\tc\t3\n"))
        let badly = ["get", "--store", store, "-c", directory.file("no/such"), "-o", "/dev/null", origin.url("/")]
        let bad = try CommandRun(badly)
        #expect(bad.status == 0 && bad.errors.hasPrefix("trawl: -c: ") && bad.errors.contains("no/such"))
        let silent = try CommandRun(badly + ["-s"])
        #expect(silent.status == 0 && silent.errors.isEmpty, "\(silent.errors)")
    }

    @Test("what is no regular file stays what it is under -c and export", arguments: [false, true])
    func namedPipe(exports: Bool) throws {
        defer { origin.stop() }
        let path = directory.file("fifo")
        #expect(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(reader >= 0)
        defer { close(reader) }
        let options = exports ? [] : ["-c", path]
        #expect(try get("/?a=1%3bMax-Age=600", options) == "none\n")
        if exports {
            let run = try cookies("export", path)
            #expect(run.status == 0, "\(run.errors)")
        }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(reader, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        #expect(text.hasPrefix("# Netscape HTTP Cookie File\n") && text.contains("\ta\t1\n"))
        var info = stat()
        #expect(lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFIFO)
    }

    @Test("a file of hosts that is a device stays one")
    func hostsDevice() throws {
        defer { origin.stop() }
        // Never the machine's own: a link leads there, and nothing can be renamed to it.
        symlink("/dev/null", directory.file("hosts"))
        #expect(try get("/", ["--hsts", directory.file("hosts")]) == "none\n")
        var info = stat()
        #expect(stat(directory.file("hosts"), &info) == 0 && info.st_mode & S_IFMT == S_IFCHR)
        let names = try directory.names()
        #expect(!names.contains { $0.contains(".part") || $0.contains(".trawl-") })
    }

    @Test("set wants a URL that is fetched and a line; nothing else is stored")
    func refusedSettings() throws {
        defer { origin.stop() }
        let other = try cookies("set", "ftp://x/", "a=1")
        #expect(other.status == 2 && other.errors.contains("ftp://x/"), "\(other.errors)")
        for input in ["", "\n\r\n"] {
            let run = try cookies("set", "http://h/", "-", input: input)
            #expect(run.status == 1 && run.errors.contains("not taken"), "\(run.errors)")
        }
        #expect(try cookies("set", "http://h/", "").status == 1)
        let credentials = try CommandRun(["auth", "set", "ftp://h/", "-u", "a:b", "--vault", directory.file("vault")])
        #expect(credentials.status == 2)
        #expect(try cookies("ls", "--json").text.isEmpty)
    }

    @Test("a file that is none of cookies is told in few words")
    func rubbish() throws {
        defer { origin.stop() }
        try directory.put("binary", [0x7F, 0x45, 0, 1] + [UInt8](repeating: 0x0A, count: 4000))
        let binary = try cookies("import", directory.file("binary"))
        #expect(binary.status == 1 && binary.errors.split(separator: "\n").count == 1, "\(binary.errors)")
        try directory.put("text", Array(String(repeating: "this is no cookie\n", count: 500).utf8))
        let text = try cookies("import", directory.file("text"))
        let lines = text.errors.split(separator: "\n")
        #expect(text.status == 1 && lines.count == 11 && lines.last?.hasSuffix("and 490 more") == true)
    }

    @Test("a pipe keeps cookies in the store, live for others")
    func pipe() async throws {
        defer { origin.stop() }
        let requests = ["/?a=1", "/"].map { "{\"url\":\"\(origin.url($0))\"}\n" }
        let run = try CommandRun(["pipe", "-j", "1", "--store", store], input: requests.joined())
        #expect(run.status == 0)
        #expect(origin.seen("/").last?.fields["cookie"] == "a=1")
        #expect(try get("/") == "a=1\n")
    }
}
