import Foundation
import Glibc
import Testing

@Suite("trawl cache", .serialized, .timeLimit(.minutes(5)))
struct CacheCommandTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private var store: String { directory.file("store") }

    /// Runs a subcommand of `cache` on the store of this test.
    private func cache(_ arguments: String...) throws -> CommandRun {
        try CommandRun(["cache"] + arguments + ["--store", store])
    }

    /// Fetches into nothing, through the store of this test.
    private func get(_ url: String, _ options: [String] = []) throws -> CommandRun {
        try CommandRun(["get", "--store", store, "-o", "/dev/null", "-w", "%{source}"] + options + [url])
    }

    /// A response that is fresh for an hour.
    private func fresh(_ target: String) -> String {
        target + (target.contains("?") ? "&" : "?") + "field=Cache-Control:%20max-age=3600"
    }

    /// One object a line, read by a parser that is not ours.
    private func objects(_ run: CommandRun) throws -> [[String: Any]] {
        try run.output.split(separator: 0x0A).map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        }
    }

    @Test("what was fetched is listed, given back without the network, exported and removed")
    func whole() async throws {
        var urls: [String] = []
        let lengths = [0, 10, 100_000, 3_000_000]
        try await withOrigin { origin in
            urls = lengths.map { origin.url(fresh("/bytes/\($0)?etag=1")) }
            let sources = try urls.map { try get($0).text }
            #expect(sources == Array(repeating: "network", count: urls.count))
        }
        let list = try objects(try cache("ls", "--json"))
        #expect(list.compactMap { $0["url"] as? String } == urls)
        #expect(list.compactMap { $0["length"] as? Int } == lengths)
        #expect(list.allSatisfy { $0["freshness"] as? String == "fresh" && ($0["fresh_for"] as? Int ?? 0) > 0 })
        #expect(list.allSatisfy { $0["kept"] as? String == "permanent" && $0["etag"] is String })
        for (url, length) in zip(urls, lengths) {
            let body = try cache("get", url)
            #expect(body.status == 0 && Array(body.output) == ReferenceBytes.bytes(length))
        }
        let head = try cache("get", "-i", urls[1])
        #expect(head.output.starts(with: Data("HTTP/1.1 200 OK\r\n".utf8)))
        #expect(head.output.suffix(10) == Data(ReferenceBytes.bytes(10)))
        #expect(try cache("get", "-o", directory.file("body"), urls[3]).output.isEmpty)
        #expect(directory.content("body") == ReferenceBytes.bytes(3_000_000))

        let export = try cache("export", directory.file("out"), "--json")
        #expect(export.status == 0, "\(export.errors)")
        #expect(try objects(export).first?["files"] as? Int == 4)
        let index = String(decoding: directory.content("out/index.ndjson") ?? [], as: UTF8.self)
        for line in index.split(separator: "\n") {
            let entry = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let length = try #require(entry["bytes"] as? Int)
            #expect(directory.content("out/" + (entry["file"] as? String ?? "")) == ReferenceBytes.bytes(length))
        }

        #expect(try cache("rm", urls[0], urls[3]).text.split(separator: "\n").allSatisfy { $0.hasPrefix("1 removed") })
        #expect(try cache("get", urls[3]).status == 1)
        let origin = String(try #require(URL(string: urls[0])).port ?? 0)
        #expect(try cache("rm", "--prefix", "127.0.0.1:\(origin)").text.hasPrefix("2 removed"))
        #expect(try cache("ls").text.isEmpty)
    }

    @Test("a coded body is given out as text, or as it is stored")
    func codings() async throws {
        try await withOrigin { origin in
            let url = origin.url(fresh("/gzip"))
            _ = try get(url, ["--compressed"])
            #expect(try cache("get", url).text.hasPrefix("Line 0001"))
            #expect(try cache("get", "--raw", url).output.starts(with: [0x1F, 0x8B]))
            let broken = origin.url(fresh("/gzip-badcrc"))
            #expect(try CommandRun(["get", "--store", store, "-o", "/dev/null", broken]).status == 0)
            #expect(try cache("get", broken).status == 65)
            #expect(try cache("get", "--raw", broken).status == 0)
        }
    }

    @Test("of several variants -H says which one is meant, else it is the newest")
    func variants() async throws {
        try await withOrigin { origin in
            let url = origin.url(fresh("/headers") + "&field=Vary:%20X-Which")
            for name in ["one", "two"] { _ = try get(url, ["-H", "X-Which: \(name)"]) }
            #expect(try cache("get", url).text.contains("two"))
            #expect(try cache("get", "-H", "X-Which: one", url).text.contains("one"))
            let none = try cache("get", "-H", "X-Which: three", url)
            #expect(none.status == 1 && none.errors.contains("2 stored"), "\(none.errors)")
            #expect(try cache("rm", url).text.hasPrefix("2 removed"))
        }
    }

    @Test("nothing is made where there is no store, and nothing is no failure")
    func nothing() throws {
        for arguments in [["ls"], ["stats"], ["verify"], ["prune"], ["clear"], ["rm", "h"], ["ls", "--json"]] {
            let run = try CommandRun(["cache"] + arguments + ["--store", store])
            #expect(run.status == 0 && run.errors.isEmpty, "\(arguments) \(run.errors)")
        }
        let get = try cache("get", "http://h/")
        #expect(get.status == 1 && get.errors == "trawl: http://h/: nothing is stored\n")
        #expect(try directory.names().isEmpty)
    }

    @Test(
        "a store without the right to write may not be looked at",
        .enabled(if: geteuid() != 0, "root may do it anyway"))
    func forbidden() async throws {
        try await withOrigin { origin in _ = try get(origin.url(fresh("/bytes/10"))) }
        #expect(chmod(store + "/cache/environment.lock", 0o400) == 0)
        for arguments in [["ls"], ["stats"], ["verify"], ["prune"], ["clear"], ["rm", "h"]] {
            let run = try CommandRun(["cache"] + arguments + ["--store", store])
            #expect(run.status == 77 && run.output.isEmpty, "\(arguments) \(run.text) \(run.errors)")
        }
    }

    @Test(
        "a store on a disk that is only read is one that cannot be written",
        .enabled(if: OwnMount.isAllowed, OwnMount.missing))
    func readOnlyDisk() async throws {
        try await withOrigin { origin in _ = try get(origin.url(fresh("/bytes/10"))) }
        // In a name space that ends with the command.
        let script = """
            { mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"; } 2>/dev/null || exit 99
            exec "$0" cache stats --store "$1"
            """
        let words = ["-m", "sh", "-c", script, try BuiltProducts.trawl(), store]
        let run = try CommandRun(program: "/usr/bin/unshare", words)
        #expect(run.status == 74, "\(run.errors)")
    }

    @Test("a file in the place of a store is no empty store", arguments: ["store", "store/cache"])
    func inTheWay(name: String) throws {
        if name != "store" { _ = try directory.makeDirectory("store") }
        try directory.put(name, [1])
        let before = try directory.names()
        for arguments in [["ls"], ["stats"], ["verify"], ["prune"], ["clear"], ["rm", "h"], ["get", "http://h/"]] {
            let run = try CommandRun(["cache"] + arguments + ["--store", store])
            #expect(run.status == 78 && run.output.isEmpty, "\(arguments) \(run.text)")
            #expect(run.errors.contains("is no directory"), "\(arguments) \(run.errors)")
        }
        #expect(try directory.names() == before)
    }

    /// Changes a byte of one of so many stored bodies: its file.
    private func flipBlob(at offset: UInt64, of count: Int) throws -> String {
        let blobs = try directory.names().filter { $0.hasPrefix("store/cache/blobs/") && $0.utf8.count > 60 }
        #expect(blobs.count == count)
        let blob = directory.file(try #require(blobs.first))
        #expect(chmod(blob, 0o600) == 0)
        let file = try #require(FileHandle(forUpdatingAtPath: blob))
        try file.seek(toOffset: offset)
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: offset)
        try file.write(contentsOf: [~byte])
        try file.close()
        return blob
    }

    @Test(
        "a stored body that is damaged far from its beginning is fetched anew, also by who reads it as it comes",
        arguments: ["-", "file"])
    func damageBeyond(output: String) async throws {
        try await withOrigin { origin in
            let url = origin.url(fresh("/bytes/6000000"))
            let arguments = ["get", "--store", store, "-w", "%{stderr}%{source}", url]
            let first = try CommandRun(arguments)
            #expect(first.status == 0 && first.errors.hasSuffix("network"), "\(first.errors)")
            _ = try flipBlob(at: 5_500_000, of: 1)
            let path = output == "-" ? "-" : directory.file("body")
            for source in ["network", "cache"] {
                let run = try CommandRun(arguments + ["-o", path])
                #expect(run.status == 0 && run.errors.hasSuffix(source), "\(run.errors)")
                let body = output == "-" ? Array(run.output) : directory.content("body")
                #expect(body == ReferenceBytes.bytes(6_000_000))
            }
        }
    }

    @Test("damage is found, told and removed, and then there is none")
    func damage() async throws {
        try await withOrigin { origin in
            for length in [20_000, 30_000] { _ = try get(origin.url(fresh("/bytes/\(length)"))) }
        }
        let blob = try flipBlob(at: 12_345, of: 2)
        let found = try cache("verify", "--json")
        let result = try #require(try objects(found).first)
        #expect(found.status == 65 && result["damaged_files"] as? Int == 1, "\(result)")
        #expect(result["damaged_responses"] as? Int == 1 && result["responses"] as? Int == 2, "\(result)")
        let again = try cache("verify")
        #expect(again.status == 0 && again.text.hasPrefix("responses  1 read, 0 damaged"), "\(again.text)")
        #expect(access(blob, F_OK) != 0)
    }

    @Test("a cache whose file was cut off is told of, by verify with the status of damage")
    func lost() async throws {
        try await withOrigin { origin in
            for command in ["verify", "ls"] {
                _ = try get(origin.url(fresh("/bytes/100")))
                #expect(truncate(directory.file("store/cache/data.mdb"), 8192) == 0)
                let found = try cache(command)
                #expect(found.status == (command == "verify" ? 65 : 0), "\(found.status) of \(command)")
                #expect(found.errors.hasSuffix("was damaged, and is empty now\n"), "\(found.errors)")
                let again = try cache("verify")
                #expect(again.status == 0 && again.errors.isEmpty, "\(again.errors)")
            }
        }
    }

    @Test("pruning keeps a budget, clearing a time, and the numbers say so")
    func budget() async throws {
        try await withOrigin { origin in
            for seed in 1...8 { _ = try get(origin.url(fresh("/bytes/100000?seed=\(seed)"))) }
        }
        func numbers() throws -> [String: Any] { try #require(try objects(try cache("stats", "--json")).first) }
        #expect(try numbers()["file_bytes"] as? Int == 800_000)
        #expect(try cache("prune", "--size", "500k").status == 0)
        let left = try numbers()
        let bytes = try #require(left["bytes"] as? Int)
        #expect((300_000...512_000).contains(bytes) && left["responses"] as? Int == left["files"] as? Int, "\(left)")
        #expect(try cache("clear", "--session").text == "0 removed\n")
        #expect(try cache("clear", "--permanent", "--since", "0").text == "0 removed\n")
        let count = try #require(left["responses"] as? Int)
        #expect(try cache("clear", "--since", "300").text == "\(count) removed\n")
        #expect(try directory.names().allSatisfy { !$0.hasPrefix("store/cache/blobs/") || $0.utf8.count < 60 })
    }

    @Test("a store that cannot be used is told once, unless nothing is to be said")
    func warning() async throws {
        try directory.put("file", [])
        let bad = directory.file("file") + "/store"
        try await withOrigin { origin in
            try directory.put("list", Array((1...50).map { origin.url("/bytes/\($0)") + "\n" }.joined().utf8))
            let batch = ["batch", directory.file("list"), "--no-files", "--store", bad]
            let loud = try CommandRun(batch)
            #expect(loud.status == 0)
            let lines = loud.errors.split(separator: "\n")
            #expect(lines.count { $0.contains("the cache is not used") } == 1 && lines.count == 3, "\(loud.errors)")
            #expect(lines.count { $0.contains("not all cookies") } == 1, "\(loud.errors)")
            let cookies = try CommandRun([
                "get", "--no-cache", "--store", bad, "-o", "/dev/null", origin.url("/bytes/1"),
            ])
            #expect(cookies.status == 0 && cookies.errors.contains("not all cookies"), "\(cookies.errors)")
            let hosts = try CommandRun(
                [
                    "get", "--store", directory.file("good"), "--hsts", directory.file("none") + "/hosts", "-o",
                    "/dev/null", origin.url("/bytes/1"),
                ])
            #expect(hosts.status == 0 && hosts.errors.contains("--hsts: "), "\(hosts.errors)")
            #expect(!loud.errors.contains("misses"))
            for option in ["-q", "--silent"] { #expect(try CommandRun(batch + [option]).errors.isEmpty) }
            let get = try CommandRun(["get", "--store", bad, "-o", "/dev/null", origin.url("/bytes/1")])
            #expect(get.status == 0 && get.errors.contains("the cache is not used"), "\(get.errors)")
            let pipe = try CommandRun(
                ["pipe", "--store", bad], input: "{\"url\":\"\(origin.url("/bytes/1"))\"}\n")
            #expect(pipe.status == 0 && pipe.errors.contains("the cache is not used"), "\(pipe.errors)")
        }
    }

    @Test("-v shows requests that are sent, and says when a response is from the cache")
    func verbose() throws {
        let origin = try ScriptedOrigin { request in page("one", "max-age=60", to: request) }
        defer { origin.stop() }
        let url = origin.url("/page")
        for output in ["-", "/dev/null", directory.file("body")] {
            let arguments = ["get", "-v", "--store", store + (output.utf8.count > 1 ? "2" : "1"), "-o", output]
            _ = try CommandRun(arguments + [url])
            let hit = try CommandRun(arguments + [url])
            #expect(!hit.errors.contains("> GET") && hit.errors.contains("* From the cache: nothing"), "\(hit.errors)")
            let asked = try CommandRun(arguments + ["--cache-policy", "no-cache", url])
            #expect(asked.errors.contains("> GET") && asked.errors.contains("still right"), "\(asked.errors)")
        }
        let plain = try CommandRun(["get", "-v", "--no-cache", url])
        #expect(plain.errors.contains("> GET") && !plain.errors.contains("* From"), "\(plain.errors)")
    }

    @Test("-v shows what the cache adds to a request, and nothing when nothing is sent")
    func conditions() throws {
        let origin = try ScriptedOrigin { request in
            let tag = ("ETag", "\"1\"")
            if request.fields["if-none-match"] == "\"1\"" { return ScriptedOrigin.Answer(304, "", [tag]) }
            return ScriptedOrigin.Answer(
                200, "body", [tag, ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Cache-Control", "max-age=60")])
        }
        defer { origin.stop() }
        let url = origin.url("/page")
        func verbose(_ options: String...) throws -> [String] {
            let run = try CommandRun(["get", "-v", "--store", store, "-o", "/dev/null"] + options + [url])
            #expect(run.status == 0, "\(run.errors)")
            return run.errors.split(separator: "\n").map(String.init).filter { $0.hasPrefix("> ") }
        }
        let first = try verbose()
        #expect(first.first?.hasPrefix("> GET /page") == true && !first.contains { $0.contains("If-") }, "\(first)")
        #expect(try verbose().isEmpty)
        let second = try verbose("--cache-policy", "no-cache")
        #expect(second.filter { $0.hasPrefix("> GET") }.count == 1, "\(second)")
        for line in [
            "> If-None-Match: \"1\"", "> If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT",
            "> Cache-Control: max-age=0",
        ] { #expect(second.contains(line), "\(second)") }
        // As they went out.
        let sent = String(decoding: origin.seen().last?.head ?? [], as: UTF8.self) + "\r\n"
        for line in second.dropFirst() { #expect(sent.contains(line.dropFirst(2) + "\r\n"), "\(line) of \(sent)") }
        let reload = try verbose("--cache-policy", "reload")
        #expect(reload.contains("> Pragma: no-cache") && !reload.contains { $0.contains("If-") }, "\(reload)")
        let without = try verbose("--no-cache", "--cache-policy", "reload")
        #expect(without.contains("> Pragma: no-cache"), "\(without)")
    }

    @Test("spellings of one URL share what is stored, and each is requested as it was written")
    func spellings() throws {
        let origin = try ScriptedOrigin { request in
            ScriptedOrigin.Answer(200, request.target, [("Cache-Control", "max-age=60")])
        }
        defer { origin.stop() }
        #expect(try get(origin.url("/%7eu/%c3%a9")).text == "network")
        for spelling in ["/~u/%C3%A9", "/%7Eu/%c3%A9"] { #expect(try get(origin.url(spelling)).text == "cache") }
        #expect(try get(origin.url("/~u%2F%C3%A9")).text == "network")
        #expect(origin.seen().map(\.target) == ["/%7eu/%c3%a9", "/~u%2F%C3%A9"])
        #expect(try cache("rm", "--prefix", origin.url("/%7eu/%c3")).text.hasPrefix("1 removed"))
        #expect(try cache("rm", origin.url("/%7eu%2f%c3%a9")).text.hasPrefix("1 removed"))
    }

    @Test("who has no home is told that nothing is kept")
    func homeless() async throws {
        let nowhere = ["HOME": "", "XDG_CACHE_HOME": "relative"]
        try await withOrigin { origin in
            let url = origin.url(fresh("/bytes/1"))
            let get = try CommandRun(["get", "-o", "/dev/null", url], environment: nowhere)
            #expect(get.status == 0 && get.errors.contains("the cache is not used: neither"), "\(get.errors)")
            let silent = try CommandRun(["get", "-s", "-o", "/dev/null", url], environment: nowhere)
            #expect(silent.status == 0 && silent.errors.isEmpty, "\(silent.errors)")
            let batch = try CommandRun(["batch", "-", "--no-files"], input: url + "\n", environment: nowhere)
            #expect(batch.status == 0 && batch.errors.contains("the cache is not used: neither"), "\(batch.errors)")
            #expect(!batch.errors.contains("; cache:"), "\(batch.errors)")
            let empty = ["HOME": "", "XDG_CACHE_HOME": ""]
            let meant = try CommandRun(["get", "-o", "/dev/null", url], environment: empty)
            #expect(meant.status == 0 && meant.errors.isEmpty, "\(meant.errors)")
        }
    }

    @Test(
        "cache and cookies of a user outlive the process, in $XDG_CACHE_HOME or ~/.cache, ULS-SES-01",
        arguments: ["XDG_CACHE_HOME", "HOME"])
    func userDefault(variable: String) throws {
        let origin = try ScriptedOrigin { seen in
            let kept = [("Cache-Control", "max-age=60"), ("Set-Cookie", "kept=1; Max-Age=600")]
            return seen.target == "/page"
                ? ScriptedOrigin.Answer(200, "there", kept)
                : ScriptedOrigin.Answer(200, seen.fields["cookie"] ?? "nobody")
        }
        defer { origin.stop() }
        let environment = ["XDG_CACHE_HOME": "relative", "HOME": "/nowhere"].merging([variable: directory.path]) { $1 }
        func get(_ target: String) throws -> String {
            let run = try CommandRun(["get", "-w", " %{source}", origin.url(target)], environment: environment)
            #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
            return run.text
        }
        #expect(try get("/page") == "there network")
        #expect(try get("/page") == "there cache")
        #expect(try get("/who") == "kept=1 network")
        let place = directory.file(variable == "HOME" ? ".cache/trawl" : "trawl")
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: place)).isSuperset(of: ["cache", "state"]))
    }

    @Test("a batch counts hits, validations and misses, and its records say where a response is from")
    func counts() async throws {
        try await withOrigin { origin in
            let urls = (1...3).map { origin.url(fresh("/bytes/10?etag=1&seed=\($0)")) }
            try directory.put("list", Array(urls.map { $0 + "\n" }.joined().utf8))
            _ = try get(urls[0])
            let batch = ["batch", directory.file("list"), "--no-files", "--store", store, "--results", "-"]
            let first = try CommandRun(batch)
            #expect(first.errors.contains("; cache: 1 hit, 0 validated, 2 misses"), "\(first.errors)")
            #expect(try objects(first).compactMap { $0["source"] as? String } == ["cache"])
            #expect(try objects(first).allSatisfy { $0["bytes"] as? Int == 10 })
            let second = try CommandRun(batch + ["--cache-policy", "no-cache"])
            #expect(second.errors.contains("; cache: 0 hits, 3 validated, 0 misses"), "\(second.errors)")
            #expect(try objects(second).allSatisfy { $0["source"] as? String == "revalidated" })
            #expect(try objects(second).allSatisfy { $0["bytes"] as? Int == 10 })
            #expect(try !CommandRun(batch + ["--no-cache"]).errors.contains("cache:"))
        }
    }

    @Test("what was served stale is validated before the command ends", arguments: ["get", "batch", "pipe"])
    func staleWhileRevalidate(command: String) throws {
        let origin = try ScriptedOrigin { request in
            page(
                request.number == 1 ? "one" : "two",
                request.number == 1 ? "max-age=0, stale-while-revalidate=60" : "max-age=60", to: request)
        }
        defer { origin.stop() }
        let url = origin.url("/page")
        try directory.put("list", Array((url + "\n").utf8))
        for (round, source) in ["network", "stale", "cache"].enumerated() {
            let run: CommandRun
            switch command {
            case "get": run = try CommandRun(["get", "--store", store, "-w", " %{source}", url])
            case "batch":
                let printing = ["-q", "--no-files", "-w", "- %{source}"]
                run = try CommandRun(["batch", directory.file("list"), "--store", store] + printing)
            default: run = try CommandRun(["pipe", "--store", store], input: "{\"url\":\"\(url)\"}\n")
            }
            #expect(run.status == 0, "\(run.errors)")
            let last = run.text.split(whereSeparator: \.isWhitespace).last.map(String.init)
            #expect(command == "pipe" || last == source, "\(run.text) in round \(round)")
        }
        #expect(origin.seen().map { $0.fields["if-none-match"] } == [nil, "\"one\""])
    }

    @Test(
        "a signal that comes when only validations are waited for ends those, and the run is complete",
        arguments: [1, 2])
    func signalBehindTheEnd(count: Int) async throws {
        let held = Occasion()
        let origin = try ScriptedOrigin { request in
            guard request.target == "/page" else { return ScriptedOrigin.Answer(200, "other") }
            if request.number > 1 { held.wait() }
            return page("one", "max-age=0, stale-while-revalidate=60", to: request)
        }
        defer {
            held.open()
            origin.stop()
        }
        let url = origin.url("/page")
        let first = try CommandRun(["get", "--store", store, url])
        #expect(first.status == 0, "\(first.errors)")
        let errors = directory.file("errors")
        let urls = [origin.url("/other"), url].suffix(count)
        let run = try ChildProcess(try BuiltProducts.trawl(), ["get", "--store", store] + urls, errors: errors)
        let isValidating = await eventually { origin.seen("/page").count == 2 }
        try #require(isValidating)
        // All has been fetched when its status says so.
        let isOver = await eventually {
            run.signal(SIGUSR1)
            return String(decoding: directory.content("errors") ?? [], as: UTF8.self).contains("  draining\n")
        }
        try #require(isOver)
        run.signal(SIGINT)
        #expect(run.exitStatus(within: 20_000) == 0)
    }

    @Test("a retry is never answered by the failure it retries", arguments: [[], ["--cache-ttl", "60"]])
    func retries(options: [String]) throws {
        let origin = try ScriptedOrigin { request in
            request.number < 3
                ? ScriptedOrigin.Answer(503, "no", [("Cache-Control", "max-age=60"), ("Retry-After", "0")])
                : page("one", to: request)
        }
        defer { origin.stop() }
        try directory.put("list", Array((origin.url("/page") + "\n").utf8))
        let batch = ["batch", directory.file("list"), "--no-files", "--results", "-", "--retry", "5", "--store", store]
        let run = try CommandRun(batch + options)
        let record = try #require(try objects(run).first)
        #expect(record["status"] as? Int == 200 && record["attempts"] as? Int == 3, "\(run.text)")
        #expect(origin.seen().count == 3)
        // Nobody is asked, so nothing comes of asking again.
        try directory.put("list", Array((origin.url("/other") + "\n").utf8))
        let offline = try CommandRun(batch + ["--cache-policy", "only-if-cached"])
        #expect(try objects(offline).allSatisfy { ($0["attempts"] as? Int ?? 1) == 1 }, "\(offline.text)")
        #expect(origin.seen().count == 3)
    }

    @Test(
        "wrong usage is told with the words for help",
        arguments: [
            (["ls", "--bogus"], "cache ls"), (["get"], "cache get"), (["rm"], "cache rm"), (["nonsense"], "cache"),
        ])
    func usage(arguments: [String], page: String) throws {
        let run = try CommandRun(["cache"] + arguments)
        #expect(run.status == 2 && run.errors.hasSuffix("(see: trawl help \(page))\n"), "\(run.errors)")
        #expect(try CommandRun(["help"] + page.split(separator: " ").map(String.init)).status == 0)
    }
}
