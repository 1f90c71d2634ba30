import Foundation
import Glibc
import Testing

/// Options of `trawl get` that are spelled and mean as in curl.
@Suite("trawl get, more of curl's options", .serialized, .timeLimit(.minutes(5)))
struct GetFlagTests {
    private func seen(_ run: CommandRun) throws -> SeenRequest {
        try JSONDecoder().decode(SeenRequest.self, from: run.output)
    }

    private func shell(_ script: String) throws -> (status: Int32, output: String, errors: String) {
        let command = "trawl() { \(try BuiltProducts.trawl().shellWord) \"$@\"; }\n"
        let run = try CommandRun(program: "/bin/bash", ["-c", command + script])
        return (run.status, run.text, run.errors)
    }

    @Test("data goes into the query with -G, encoded where that is asked for")
    func query() async throws {
        try await withOrigin { origin in
            let run = try CommandRun([
                "-G", "--data-urlencode", "a=b c&d~", "-d", "x=1", "--data-urlencode", "=é", "--url",
                origin.url("/anything?q=1#part"),
            ])
            #expect(try seen(run).target == "/anything?q=1&a=b+c%26d~&x=1&%C3%A9", "\(run.errors)")
            #expect(try seen(run).method == "GET")
        }
    }

    @Test("a form field is sent encoded, and a part of a body asked for")
    func parts() async throws {
        try await withOrigin { origin in
            let form = try seen(try CommandRun(["--data-urlencode", "a=b c", "-g", "-Z", origin.url("/anything")]))
            #expect(form.method == "POST" && form.body == Data("a=b+c".utf8).base64EncodedString())
            let part = try CommandRun(["-r", "2-5", "--no-cache", origin.url("/bytes/9")])
            #expect(Array(part.output) == Array(ReferenceBytes.bytes(9)[2...5]), "\(part.errors)")
            #expect(try CommandRun(["-r", "x", origin.url("/bytes/9")]).status == 2)
        }
    }

    @Test(
        "HTTP/1.0 is spoken when asked for, else HTTP/1.1",
        arguments: [
            ([], "HTTP/1.1"), (["--http1.0"], "HTTP/1.0"), (["-0"], "HTTP/1.0"), (["-0", "--http1.1"], "HTTP/1.1"),
        ])
    func version(options: [String], version: String) async throws {
        try await withOrigin { origin in
            let run = try CommandRun(options + [origin.url("/anything")])
            #expect(try run.status == 0 && seen(run).version == version, "\(run.errors)")
        }
    }

    @Test("a body may begin with any number of dashes, as that of a form does, and is not shown where it is none")
    func form() async throws {
        let body = "------b\r\nContent-Disposition: form-data; name=\"pw\"\r\n\r\nplanted\r\n------b--\r\n"
        try await withOrigin { origin in
            let type = "Content-Type: multipart/form-data; boundary=----b"
            let run = try CommandRun(["-H", type, "--data-raw", body, origin.url("/anything")])
            #expect(try seen(run).body == Data(body.utf8).base64EncodedString(), "\(run.errors)")
            let wrong = try CommandRun(["--form-string", body, origin.url("/anything")])
            #expect(wrong.status == 2 && wrong.errors.contains("not shown"), "\(wrong.errors)")
            #expect(!wrong.errors.contains("planted"), "\(wrong.errors)")
        }
    }

    @Test("a long body waits for the server's word, unless -H 'Expect:' says that it shall not")
    func expectation() throws {
        let directory = try TemporaryDirectory()
        try directory.put("body", [UInt8](repeating: 0x61, count: (1 << 20) + 1))
        let origin = try ScriptedOrigin { _ in .init(200, "") }
        defer { origin.stop() }
        let arguments = ["-T", directory.file("body"), origin.url("/x")]
        #expect(try CommandRun(["get"] + arguments).status == 0)
        let run = try CommandRun(["get", "-v", "-H", "Expect:"] + arguments)
        #expect(run.status == 0 && !run.errors.contains("> Expect"), "\(run.errors)")
        #expect(origin.seen().map { $0.fields["expect"] } == ["100-continue", nil])
    }

    @Test("a file is uploaded, and named where the URL is a directory")
    func upload() async throws {
        let directory = try TemporaryDirectory()
        try directory.put("a b", Array("body".utf8))
        try await withOrigin { origin in
            let run = try seen(try CommandRun(["-T", directory.file("a b"), origin.url("/anything")]))
            #expect(run.method == "PUT" && run.body == Data("body".utf8).base64EncodedString())
            let named = try CommandRun(["-T", directory.file("a b"), origin.url("/status/200/")])
            #expect(named.status == 0, "\(named.errors)")
            #expect(try origin.log(prefix: "/status").map(\.target) == ["/status/200/a%20b"])
        }
    }

    @Test("the n-th -T goes to the n-th URL, and URLs behind the last one are fetched", arguments: [[], ["-v"]])
    func uploads(options: [String]) async throws {
        let directory = try TemporaryDirectory()
        for name in ["a", "b"] { try directory.put(name, Array("body of \(name)".utf8)) }
        try await withOrigin { origin in
            let files = ["-T", directory.file("a"), "-T", directory.file("b")]
            let outputs = (1...3).flatMap { ["-o", directory.file("\($0)")] }
            let run = try CommandRun(options + files + outputs + (1...3).map { origin.url("/anything?n=\($0)") })
            #expect(run.status == 0, "\(run.errors)")
            let seen = try (1...3).map { number in
                try JSONDecoder().decode(SeenRequest.self, from: Data(directory.content("\(number)") ?? []))
            }
            #expect(seen.map(\.target) == (1...3).map { "/anything?n=\($0)" })
            #expect(seen.map(\.method) == ["PUT", "PUT", "GET"])
            let bodies: [String?] = ["a", "b"].map { Data("body of \($0)".utf8).base64EncodedString() }
            #expect(seen.prefix(2).map(\.body) == bodies)
            #expect(seen.last?.bodyLength == 0)
        }
    }

    @Test("more files to send than URLs, and files for a list, are refused before anything is sent")
    func uploadsWithoutURL() async throws {
        let directory = try TemporaryDirectory()
        try directory.put("a", Array("a".utf8))
        try await withOrigin { origin in
            try directory.put("list", Array(origin.url("/anything").utf8))
            for rest in [["-T", directory.file("a"), origin.url("/anything")], ["-i", directory.file("list")]] {
                let run = try CommandRun(["-T", directory.file("a")] + rest)
                #expect(run.status == 2 && run.errors.contains("-T"), "\(run.errors)")
            }
            #expect(try origin.log(prefix: "/anything").isEmpty)
        }
    }

    @Test("heads go into a file of their own with -D")
    func heads() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            let run = try CommandRun(["-L", "-D", directory.file("heads"), origin.url("/redirect/1")])
            #expect(run.status == 0, "\(run.errors)")
            let text = String(decoding: directory.content("heads") ?? [], as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 302 ") && text.contains("\r\n\r\nHTTP/1.1 200 OK\r\n"))
            #expect(!run.text.hasPrefix("HTTP/"))
        }
    }

    @Test("the head of the response that ends a fetch is written as any other")
    func lastHeads() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            let cases: [(arguments: [String], target: String, status: Int32, heads: [String])] = [
                (["-f"], "/status/404?body=no", 22, ["404"]), (["-f", "-I"], "/status/404", 22, ["404"]),
                (["--max-filesize", "10"], "/bytes/1000", 63, ["200"]),
                (["-L", "--max-redirs", "1"], "/redirect/3", 47, ["302", "302"]),
                (["-L"], "/redirect-to?url=ftp://127.0.0.1/", 1, ["302"]),
            ]
            for (arguments, target, status, heads) in cases {
                let run = try CommandRun(
                    arguments + ["-s", "--include", "-D", directory.file("heads"), origin.url(target)])
                let text = String(decoding: directory.content("heads") ?? [], as: UTF8.self)
                #expect(run.status == status && run.text == text, "\(target): \(run.text) \(run.errors)")
                let found = text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { String($0.prefix(3)) }
                #expect(found == heads, "\(target): \(text)")
            }
        }
    }

    @Test("trailer fields come behind the body, and beneath the head in its file")
    func trailers() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            let run = try CommandRun(["--include", "-D", directory.file("heads"), origin.url("/trailers")])
            let text = String(decoding: directory.content("heads") ?? [], as: UTF8.self)
            let parts = text.components(separatedBy: "\r\n\r\n")
            #expect(parts.count == 2 && parts[0].hasPrefix("HTTP/1.1 200"), "\(text) \(run.errors)")
            #expect(parts.last?.lowercased().contains("x-checksum: ") == true && text.hasSuffix("\r\n"))
            #expect(run.output.suffix(parts.last?.utf8.count ?? 0) == Data((parts.last ?? "").utf8))
        }
    }

    @Test("-D names a file as it stands, wherever bodies go, and a disk that is full is told by that name")
    func headFile() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            let url = origin.url("/bytes/3")
            let place = "cd \(directory.path.shellWord) && "
            let run = try shell(place + "trawl get -D h --output-dir d --create-dirs '\(url)'")
            #expect(run.status == 0, "\(run)")
            #expect(try directory.names() == ["d", "d/3", "h"] && directory.content("d/3")?.count == 3)
            let full = try CommandRun(["-D", "/dev/full", url])
            #expect(full.status == 23 && full.errors.contains(": /dev/full: "), "\(full.errors)")
        }
    }

    @Test("a reader of -D - that has gone costs neither the body nor the status of a fetch into a file")
    func closedHeads() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            let cases: [(options: [String], target: String, status: Int32)] = [
                ([], "/bytes/70000", 0), (["-L"], "/redirect-to?url=/bytes/70000", 0),
                (["-f"], "/status/404?body=no", 22),
            ]
            for (options, target, status) in cases {
                let name = directory.file("\(status)\(options.count)")
                let run = try ChildProcess(
                    try BuiltProducts.trawl(),
                    ["get", "-s", "--no-cache", "-D", "-", "-o", name, origin.url(target)] + options)
                shutdown(run.output, Int32(SHUT_RDWR))
                #expect(run.exitStatus(within: 60_000) == status, "\(target)")
            }
            for name in ["00", "01"] { #expect(directory.content(name) == ReferenceBytes.bytes(70000)) }
            #expect(try directory.names() == ["00", "01"])
        }
    }

    @Test("directories that --create-dirs makes are not for others, as in curl")
    func madeDirectories() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            let fetch = "trawl get --create-dirs --output-dir d/e -o f/x '\(origin.url("/bytes/3"))'"
            let run = try shell("cd \(directory.path.shellWord) && umask 022 && \(fetch) && stat -c %a d d/e d/e/f")
            #expect(run.status == 0 && run.output == "750\n750\n750\n", "\(run)")
        }
    }

    @Test("what cannot be made ends one URL with curl's status, several with that of sysexits.h")
    func cannotCreate() throws {
        let directory = try TemporaryDirectory()
        let url = "http://127.0.0.1:1/x"
        for arguments in [["-D", directory.file("none/heads")], ["-O", "--output-dir", directory.file("none")]] {
            let name = try #require(arguments.last)
            let single = try CommandRun(arguments + [url])
            #expect(single.status == 23 && single.errors.contains(name), "\(single.errors)")
            let several = try CommandRun(arguments + [url, url])
            #expect(several.status == 73 && several.errors.contains(name), "\(several.errors)")
        }
    }

    @Test("-OJ replaces a file that is named after the URL, and none that the server names")
    func namedByServer() throws {
        let directory = try TemporaryDirectory()
        let named = [("Content-Disposition", "attachment; filename=named")]
        let origin = try ScriptedOrigin { .init(200, $0.target, $0.target == "/x" ? named : []) }
        defer { origin.stop() }
        for name in ["a", "named"] { try directory.put(name, Array("earlier".utf8)) }
        let arguments = ["-OJ", "--no-cache", "--output-dir", directory.path]
        #expect(try CommandRun(arguments + [origin.url("/a")]).status == 0)
        #expect(directory.content("a") == Array("/a".utf8))
        #expect(try CommandRun(arguments + [origin.url("/x")]).status == 23)
        #expect(directory.content("named") == Array("earlier".utf8))
        let both = try CommandRun(arguments + [origin.url("/a?1"), origin.url("/a?2")])
        #expect(both.status == 0 && directory.content("a.1") == Array("/a?2".utf8), "\(both.errors)")
        #expect(try CommandRun(["-J", "--no-cache", origin.url("/x")]).text == "/x")
    }

    @Test(
        "-OJ numbers names that a run has given already, whoever chose them",
        arguments: [["/named?1", "/named?2"], ["/named", "/a"], ["/a", "/named"]])
    func namedTwice(targets: [String]) throws {
        let directory = try TemporaryDirectory()
        let named = [("Content-Disposition", "attachment; filename=a")]
        let origin = try ScriptedOrigin { .init(200, $0.target, $0.target.hasPrefix("/named") ? named : []) }
        defer { origin.stop() }
        let urls = targets.map { origin.url($0) }
        let run = try CommandRun(["-OJ", "--no-cache", "--output-dir", directory.path] + urls)
        #expect(run.status == 0 && run.errors == "trawl: \(urls[1]): written to a.1\n", "\(run.errors)")
        #expect(try directory.names() == ["a", "a.1"])
        #expect(["a", "a.1"].map { directory.content($0) } == targets.map { Array($0.utf8) })
    }

    @Test("a name that the server chose leads to no pipe, device or link that is there")
    func namedByServerAsPipe() throws {
        let directory = try TemporaryDirectory()
        let origin = try ScriptedOrigin { seen in
            .init(200, "body", [("Content-Disposition", "attachment; filename=\(seen.target.dropFirst())")])
        }
        defer { origin.stop() }
        #expect(mkfifo(directory.file("pipe"), 0o600) == 0)
        #expect(symlink("/dev/null", directory.file("device")) == 0)
        #expect(symlink("nowhere", directory.file("link")) == 0)
        for name in ["pipe", "device", "link"] {
            let run = try CommandRun(
                ["-OJ", "--no-cache", "--output-dir", directory.path, origin.url("/" + name)], within: .seconds(30))
            #expect(run.status == 23 && run.errors.contains("\(name): File exists"), "\(run.errors)")
        }
        #expect(try directory.names() == ["device", "link", "pipe"])
    }

    @Test("a failure that may pass is tried again, and nothing of it is written", arguments: ["-s", "-o"])
    func retry(option: String) async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            let url = origin.url("/status/503?body=no&field=Retry-After:%200")
            let output = option == "-o" ? ["-o", directory.file("x")] : [option]
            let run = try CommandRun(["--retry", "2", "-w", "%{http_code}", url] + output)
            #expect(run.status == 0 && run.text == (option == "-o" ? "503" : "no503"), "\(run.text) \(run.errors)")
            #expect(try origin.log(prefix: "/status").count == 3)
            if option == "-o" { #expect(directory.content("x") == Array("no".utf8)) }
            #expect(try CommandRun(["--retry", "1", "http://127.0.0.1:1/"]).status == 7)
        }
    }

    @Test(
        "--max-filesize is for the body that is delivered, and not for those on the way to it",
        arguments: [ScriptedOrigin.Framing.length, .close])
    func limitOnTheWay(framing: ScriptedOrigin.Framing) throws {
        let origin = try ScriptedOrigin { request in
            let long = String(repeating: "x", count: 5000)
            var answer = ScriptedOrigin.Answer(200, "ok")
            switch request.target {
            case "/redirect": answer = .init(302, long, [("Location", "/page")])
            case "/login" where request.fields["authorization"] == nil:
                answer = .init(401, long, [("WWW-Authenticate", "Basic realm=\"r\"")])
            case "/busy" where request.number == 1, "/down": answer = .init(503, long, [("Retry-After", "0")])
            default: break
            }
            answer.framing = framing
            return answer
        }
        defer { origin.stop() }
        let options = ["-s", "--max-filesize", "1000", "-L", "--anyauth", "-u", "me:pass", "--retry", "1"]
        for target in ["/redirect", "/login", "/busy"] {
            let run = try CommandRun(options + [origin.url(target)])
            #expect(run.status == 0 && run.text == "ok", "\(target): \(run.errors)")
        }
        // When no attempt is left its body is delivered.
        #expect(try CommandRun(options + [origin.url("/down")]).status == 63)
        #expect(try CommandRun(["-s", "--max-filesize", "1000", origin.url("/redirect")]).status == 63)
    }

    @Test(
        "a redirect to no URL ends with curl's 3, one to another scheme with its 1",
        arguments: [
            ("http://127.0.0.1:99999/", 3), ("http://", 3), ("http://[::1", 3), ("/a\u{1}b", 3),
            ("ftp://127.0.0.1/", 1), ("mailto:ann@example.org", 1),
        ] as [(String, Int32)])
    func refusedRedirect(location: String, status: Int32) throws {
        let origin = try ScriptedOrigin { _ in ScriptedOrigin.Answer(302, "", [("Location", location)]) }
        defer { origin.stop() }
        let run = try CommandRun(["-L", origin.url("/")])
        #expect(run.status == status && run.errors.contains("redirect_refused"), "\(run.errors)")
    }

    @Test("a second Host is refused, by pipe before there is a request")
    func hosts() throws {
        let fields = ["-H", "Host: a.test", "-H", "host: a.test"]
        let get = try CommandRun(fields + ["http://127.0.0.1:1/"])
        #expect(get.status == 43 && get.errors.contains("Host is given twice"), "\(get.errors)")
        let pipe = try CommandRun(["pipe"] + fields)
        #expect(pipe.status == 2 && pipe.errors.contains("Host is given twice"), "\(pipe.errors)")
    }

    @Test("--fail-with-body fails as --fail does, and writes what came")
    func failWithBody() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            let url = origin.url("/status/404?body=gone")
            let shown = try CommandRun(["--fail-with-body", url])
            #expect(shown.status == 22 && shown.text == "gone" && shown.errors.contains("404"), "\(shown.errors)")
            for options in [[], ["--include"]] {
                let run = try CommandRun(options + ["--fail-with-body", "-o", directory.file("x"), url])
                let text = String(decoding: directory.content("x") ?? [], as: UTF8.self)
                #expect(run.status == 22 && text.hasSuffix("gone"), "\(text) \(run.errors)")
            }
            let both = [directory.file("y"), directory.file("z")]
            let several = try CommandRun(
                ["--fail-with-body", "-o", both[0], "-o", both[1], url, origin.url("/bytes/3")])
            #expect(several.status == 1 && directory.content("y") == Array("gone".utf8), "\(several.errors)")
            #expect(directory.content("z")?.count == 3)
            #expect(try CommandRun(["--fail-with-body", "-f", url]).status == 2)
        }
    }

    @Test("a 304 leaves files alone: whoever asked has what they hold", arguments: ["one", "several", "list", "fail"])
    func notModified(how: String) async throws {
        let directory = try TemporaryDirectory()
        try directory.put("304", Array("what there was".utf8))
        try await withOrigin { origin in
            let url = origin.url("/status/304")
            try directory.put("list", Array((url + "\n").utf8))
            let arguments =
                switch how {
                case "one": ["-o", directory.file("304"), url]
                case "fail": ["-f", "-o", directory.file("304"), url]
                case "several": ["-o", directory.file("304"), "-o", directory.file("x"), url, url]
                default: ["-i", directory.file("list"), "--output-dir", directory.path]
                }
            let run = try CommandRun(arguments + ["--no-cache", "-H", "If-None-Match: *"])
            #expect(run.status == 0, "\(run.errors)")
            #expect(directory.content("304") == Array("what there was".utf8))
            #expect(directory.content("x") == nil)
        }
    }

    @Test("-I with a method of the user's own shows the head alone, of an endless body too")
    func headOfMethod() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            for target in ["/bytes/3", "/bytes/100000000?rate=1000"] {
                let shown = try CommandRun(["-I", "-X", "GET", "-w", "%{http_code}", origin.url(target)])
                #expect(shown.status == 0 && shown.errors.isEmpty, "\(shown.errors)")
                #expect(shown.text.hasPrefix("HTTP/1.1 200 ") && shown.text.hasSuffix("\r\n\r\n200"), "\(shown.text)")
                #expect(try origin.log(prefix: "/bytes").last?.method == "GET")
                let saved = try CommandRun(["-I", "-X", "GET", "-o", directory.file("x"), origin.url(target)])
                #expect(saved.status == 0 && directory.content("x")?.suffix(4) == Array("\r\n\r\n".utf8)[...])
            }
            #expect(try CommandRun(["-I", "-f", "-X", "GET", origin.url("/status/404?body=no")]).status == 22)
        }
    }

    @Test("a working directory that is gone matters to who writes there alone")
    func noDirectory() async throws {
        try await withOrigin { origin in
            let url = origin.url("/status/200?body=hello")
            let gone = "cd \"$(mktemp -d)\" && rmdir \"$PWD\" && "
            let printed = try shell(gone + "trawl '\(url)'")
            #expect(printed.output == "hello")
            let dropped = try shell(gone + "trawl -o /dev/null '\(url)'")
            #expect(dropped.status == 0)
            let named = try shell(gone + "trawl -O '\(url)'")
            #expect(named.status != 0)
        }
    }

    @Test("an argument that is not UTF-8 is refused, and nothing else is fetched, sent or written")
    func notText() async throws {
        try await withOrigin { origin in
            let url = origin.url("/anything")
            for arguments in [#"'\#(url)'$'\xe9'"#, #"-d $'caf\xe9' '\#(url)'"#, #"-o $'n\xe9' '\#(url)'"#] {
                let run = try shell("trawl get \(arguments)")
                #expect(run.status == 2 && run.errors.contains("is not text in UTF-8"), "\(run)")
            }
            #expect(try origin.log(prefix: "/anything").isEmpty)
        }
    }

    @Test("a working directory whose name is not UTF-8 is as good as any other")
    func namelessDirectory() async throws {
        try await withOrigin { origin in
            let url = origin.url("/status/200?body=hello")
            let place =
                "d=$(mktemp -d) && trap 'rm -rf \"$d\"' EXIT && cd \"$d\" && mkdir $'n\\xe9' && cd $'n\\xe9' && "
            let got = try shell(place + "trawl get -s --store s -o f '\(url)' && cat f && ls -d s")
            #expect(got.status == 0 && got.output == "hellos\n", "\(got)")
            let batch = try shell(
                place + "echo '\(url)' | trawl batch -q --store s --out o --results r - && cat $(find o -type f) r")
            #expect(batch.status == 0 && batch.output.hasPrefix("hello{"), "\(batch)")
        }
    }

    @Test("a file that is replaced keeps its permissions, and a link that leads to none gets one")
    func permissions() async throws {
        let directory = try TemporaryDirectory()
        try directory.put("secret", Array("old".utf8))
        chmod(directory.file("secret"), 0o600)
        symlink("target", directory.file("link"))
        try await withOrigin { origin in
            let url = origin.url("/bytes/9")
            #expect(try CommandRun(["-o", directory.file("secret"), url]).status == 0)
            var info = stat()
            #expect(stat(directory.file("secret"), &info) == 0 && info.st_mode & 0o777 == 0o600 && info.st_size == 9)
            let linked = try CommandRun(["-o", directory.file("link"), url])
            #expect(linked.status == 0, "\(linked.errors)")
            #expect(directory.content("target") == ReferenceBytes.bytes(9))
            #expect(lstat(directory.file("link"), &info) == 0 && info.st_mode & S_IFMT == S_IFLNK)
        }
    }

    @Test("a damaged chunk ends with curl's status, and is told in words")
    func chunk() async throws {
        try await withOrigin { origin in
            let run = try CommandRun([origin.url("/bad-chunk?kind=size")])
            #expect(run.status == 56 && run.errors.contains("the size of a chunk is not a number"), "\(run.errors)")
            #expect(try CommandRun([origin.url("/big-head?bytes=200000&one=1")]).errors.contains("100 KiB"))
            #expect(try CommandRun(["file:///etc/passwd"]).status == 1)
        }
    }
}
