import Foundation
import Glibc
import TestSupport
import Testing

@Suite("trawl batch, POOL-09", .serialized, .timeLimit(.minutes(15)))
struct BatchCommandTests {
    // MARK: In flight

    @Test("no more are in flight than -j and --per-host say, and that many are")
    func limits() async throws {
        let bed = try BatchBed()
        try await withOrigin(addresses: 3) { origin in
            try bed.putList((0..<24).map { origin.url("/delay/800?n=\($0)", address: $0 % 3 + 1) })
            #expect(try bed.run(["-j", "8", "--per-host", "4"]).status == 0)
            // To the origin an answer is given before its last bytes go out, so no client has it earlier.
            let seen = try origin.concurrency()
            #expect((7...8).contains(seen.max), "\(seen)")
            let hosts = try origin.hostMaxima()
            #expect(hosts.count == 3 && hosts.values.allSatisfy { (3...4).contains($0) }, "\(hosts)")
            #expect(bed.recordCount() == 24)
        }
    }

    @Test("a list of one host is fetched as many at a time as -j says, when those are few")
    func oneHost() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList((0..<6).map { origin.url("/delay/60000?n=\($0)") })
            let run = try bed.start(["-j", "6"])
            #expect(await eventually { (try? origin.concurrency().now) == 6 })
            await run.signalTwice(SIGINT)
            #expect(await eventually { !run.isRunning })
        }
    }

    @Test("a list sorted by host does not keep the last host waiting")
    func sorted() async throws {
        let bed = try BatchBed()
        try await withOrigin(addresses: 2) { origin in
            let first = (0..<300).map { origin.url("/delay/30?a=\($0)") }
            try bed.putList(first + (0..<20).map { origin.url("/delay/30?b=\($0)", address: 2) })
            #expect(try bed.run(["-j", "16", "--per-host", "4"]).status == 0)
            let order = try bed.records().compactMap(\.line)
            let place = try #require(order.firstIndex(of: 301))
            #expect(place < 100, "the second host's first came after \(place) others")
        }
    }

    @Test(
        "a host that does not answer leaves room for others, where it may not have all the connections",
        arguments: [["-j", "2", "--per-host", "1"], ["-j", "6", "--per-host", "5"], ["-j", "7"]])
    func hanging(options: [String]) async throws {
        let bed = try BatchBed()
        try await withOrigin(addresses: 2) { origin in
            let hanging = (0..<20).map { origin.url("/delay/60000?n=\($0)") }
            try bed.putList(hanging + (0..<5).map { origin.url("/bytes/9?n=\($0)", address: 2) })
            let run = try bed.start(options)
            #expect(await eventually { bed.recordCount() == 5 }, "\(bed.recordCount()) records")
            #expect(try bed.records().allSatisfy { $0.isFetched == true })
            await run.signalTwice(SIGINT)
            #expect(await eventually { !run.isRunning })
        }
    }

    @Test("command and workers ask the kernel for throughput, not for quick wake-ups")
    func scheduling() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList([origin.url("/delay/20000")])
            let run = try bed.start()
            #expect(await eventually { ProcessTree.children(of: run.pid).count == 2 })
            // SCHED_BATCH is 3 (sched.h); the main thread of the command only waits.
            for process in ProcessTree.children(of: run.pid) + [run.pid] {
                #expect(sched_getscheduler(process) == 3, "\(process)")
            }
            await run.signalTwice(SIGINT)
            #expect(await eventually { !run.isRunning })
        }
    }

    @Test("a run whose last fetches end after a signal has done all, and says so")
    func signalledAtItsEnd() async throws {
        let bed = try BatchBed()
        let origin = try HeldOrigin()
        defer { origin.stop() }
        try bed.putList((0..<3).map { origin.url("/\($0)") })
        let socket = bed.directory.file("socket")
        let run = try bed.start(["--status-socket", socket])
        #expect(await eventually { origin.count == 3 })
        run.signal(SIGINT)
        #expect(await eventually { (try? StatusClient.report(socket))?["stage"] as? String == "draining" })
        origin.letGo()
        #expect(run.exitStatus(within: 30_000) == 0, "\(bed.errors)")
        #expect(bed.errors.contains("3 fetched") && !bed.errors.contains("stopped"), "\(bed.errors)")
        #expect(bed.recordCount() == 3)
    }

    @Test("a second signal ends at once what the first one waits for, and leaves no worker, no file and no record")
    func signalledTwice() async throws {
        // A busy machine may need long for the end itself: one try is enough.
        var least = try await timeOfSecondSignal()
        for _ in 0..<2 where least >= .seconds(5) { least = try await timeOfSecondSignal() }
        #expect(least < .seconds(5), "the drain would take ten seconds")
    }

    /// How long it takes from the second signal to the end.
    private func timeOfSecondSignal() async throws -> Duration {
        let bed = try BatchBed()
        return try await withOrigin { origin in
            try bed.putList(["/stall?after=1000", "/stall"].map { origin.url($0) })
            let socket = bed.directory.file("socket")
            let run = try bed.start(["--status-socket", socket])
            #expect(await eventually { (try? origin.log(prefix: "/stall").count) == 2 })
            run.signal(SIGINT)
            #expect(await eventually { (try? StatusClient.report(socket))?["stage"] as? String == "draining" })
            let clock = ContinuousClock()
            let start = clock.now
            run.signal(SIGINT)
            #expect(await eventually { !run.isRunning })
            let time = clock.now - start
            #expect(run.exitStatus(within: 1) == 75, "\(bed.errors)")
            #expect(bed.errors.contains("stopped") && bed.recordCount() == 0, "\(bed.errors)")
            #expect(try bed.files().isEmpty)
            #expect(await eventually { ProcessTree.users(of: bed.directory.path).isEmpty })
            return time
        }
    }

    // MARK: Names

    @Test("hostile and awkward paths become files inside the directory, and no two share one")
    func names() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let long = String(repeating: "x", count: 10_000)
            let targets = [
                "/..", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/a%2fb", "/a%00b", "/a%0ab", "/con",
                "/aux.txt",
                "/A", "/a", "/" + long, "/" + long + "y", "/?" + long, "/?" + long + "y", "/a/b/c", "/a/b", "/a/b/",
                "/a//b",
                "/.hidden", "/x.part", "/~", "/%7e", "/*", "/%ff%fe", "/%C3%BC", "/-rf", "/ü",
            ]
            let urls = targets.map { origin.url($0) }
            try bed.putList(urls)
            let run = try bed.run(["-j", "1"])
            #expect(run.status == 0, "\(run.errors)")
            let records = try bed.records()
            let names = records.compactMap(\.file)
            #expect(names.count == targets.count && Set(names).count == names.count)
            #expect(names.allSatisfy { $0.hasPrefix("127.0.0.1_\(origin.port)/") && !$0.contains("/../") }, "\(names)")
            #expect(try bed.files() == names.sorted())
            #expect(try bed.directory.names().allSatisfy { $0.hasPrefix("out") || ["list", "results"].contains($0) })
        }
    }

    @Test("what is in the directory before is kept, and no link leads out of it", arguments: [[], ["-O"]])
    func occupied(options: [String]) async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let elsewhere = try bed.directory.makeDirectory("elsewhere")
            let host = options.isEmpty ? "127.0.0.1_\(origin.port)/" : ""
            let place = "out/" + host + (options.isEmpty ? "bytes/" : "")
            _ = try bed.directory.makeDirectory(place)
            try bed.directory.put(place + "1", Array("mine".utf8))
            #expect(symlink(elsewhere, bed.directory.file(place + "2")) == 0)
            #expect(symlink(elsewhere + "/new", bed.directory.file(place + "3")) == 0)
            _ = try bed.directory.makeDirectory(place + "4")
            try bed.putList((1...4).map { origin.url("/bytes/\($0)") })
            let run = try bed.run(options)
            #expect(run.status == 0, "\(run.errors)")
            for record in try bed.records() {
                let length = try #require(record.line)
                let file = try #require(record.file)
                #expect(file.hasSuffix("/\(length).1") || file == "\(length).1", "\(file)")
                #expect(bed.directory.content("out/" + file) == ReferenceBytes.bytes(length))
            }
            #expect(bed.directory.content(place + "1") == Array("mine".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).isEmpty)
        }
    }

    @Test("a link or a file in the place of a directory is gone around")
    func obstacles() async throws {
        let bed = try BatchBed()
        try await withOrigin(addresses: 2) { origin in
            let elsewhere = try bed.directory.makeDirectory("elsewhere")
            _ = try bed.directory.makeDirectory("out")
            #expect(symlink(elsewhere, bed.out + "/127.0.0.1_\(origin.port)") == 0)
            try bed.directory.put("out/127.0.0.2_\(origin.port)", Array("mine".utf8))
            let items = [1, 2].map {
                BatchBed.Item(origin.url("/bytes/9", address: $0), body: ReferenceBytes.bytes(9))
            }
            try bed.putList(items.map(\.line))
            let run = try bed.run()
            #expect(run.status == 0, "\(run.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).isEmpty)
            for record in try bed.records() {
                #expect(bed.directory.content("out/" + (record.file ?? "")) == ReferenceBytes.bytes(9))
            }
            #expect(bed.directory.content("out/127.0.0.2_\(origin.port)") == Array("mine".utf8))
        }
    }

    @Test("a response names its file with -J, made safe, and a line's own name counts more (ULS-PROTO-10)")
    func disposition() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            func url(_ length: Int, _ value: String) -> String {
                origin.url("/bytes/\(length)?field=Content-Disposition:%20\(value.percentEncoded)")
            }
            try bed.putList([
                url(1, "attachment; filename=same.txt"), url(2, "attachment; filename=same.txt"),
                url(3, "attachment; filename=../../up"), url(4, "attachment; filename*=UTF-8''%e2%82%ac.txt"),
                url(5, "attachment; filename=\"\""), url(6, "attachment; filename=no") + "\tmine/yes",
                origin.url("/bytes/7"), origin.url("/bytes/8") + "\t\(bed.out)/mine/from the root",
                #"{"url":"\#(origin.url("/bytes/9"))","out":"\#(bed.out)/mine/9"}"#,
            ])
            let run = try bed.run(["-J", "-O", "-j", "1"])
            #expect(run.status == 0, "\(run.errors)")
            let names = try bed.records().sorted { ($0.line ?? 0) < ($1.line ?? 0) }.map { $0.file ?? "" }
            let own = ["mine/from the root", "mine/9"]
            #expect(names == ["same.txt", "same.txt.1", "up", "€.txt", "5", "mine/yes", "7"] + own)
            for (index, name) in names.enumerated() {
                #expect(bed.directory.content("out/" + name) == ReferenceBytes.bytes(index + 1))
            }
            #expect(try bed.files() == names.sorted())
            // A second run finds them all done.
            #expect(try bed.run(["-J", "-O"]).status == 0)
            #expect(bed.recordCount() == names.count)
        }
    }

    @Test("a name that a response suggests is left out where the path has no room for it")
    func suggestedTooLong() throws {
        let bed = try BatchBed()
        let long = String(repeating: "n", count: 240)
        let origin = try ScriptedOrigin { seen in
            let name = seen.target.hasSuffix("/x") ? long : "short"
            return .init(200, seen.target, [("Content-Disposition", "attachment; filename=\(name)")])
        }
        defer { origin.stop() }
        // With the long name behind them they are more than 4095 bytes.
        let part = "/" + String(repeating: "p", count: 200)
        let parts = String(repeating: part, count: 19) + "/and-the-last-of-the-parts"
        try bed.putList([origin.url(parts + "/x"), origin.url(parts + "/y")])
        let run = try bed.run(["-J"])
        #expect(run.status == 0, "\(run.errors)")
        let host = "127.0.0.1_\(origin.port)"
        #expect(try bed.files() == ["\(host)\(parts)/short", "\(host)\(parts)/x"])
        #expect(bed.directory.content("out/\(host)\(parts)/x") == Array((parts + "/x").utf8))
    }

    // MARK: Lists

    @Test("bad lines get a record each, with their number, and the rest goes on")
    func badLines() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let good = origin.url("/bytes/1")
            let lines = [
                good, "http://", "ht!tp://x/", "{\"url\":1}", "{\"url\":\"\(good)\",\"bogus\":1}", "{", "http://[::1/",
                "gopher://h/", "{\"id\":7,\"url\":\"\"}", String(repeating: "y", count: 10 << 20), "a\u{0}b",
                good + "\t../x",
                good + "?last",
            ]
            try bed.putList(lines)
            let run = try bed.run()
            #expect(run.status == 1)
            let records = try bed.records()
            #expect(records.compactMap(\.line).sorted() == Array(1...lines.count))
            let fetched = records.filter { $0.isFetched == true }.compactMap(\.line).sorted()
            #expect(fetched == [1, lines.count], "\(fetched)")
            #expect(records.allSatisfy { $0.isFetched == true || $0.code != nil })
            // They are over: a second run does nothing.
            #expect(try bed.run().status == 1)
            #expect(bed.recordCount() == lines.count)
        }
    }

    @Test("a password with a sign that ends an authority is in no record and no message", arguments: ["/", "?", "#"])
    func passwords(sign: String) throws {
        let bed = try BatchBed()
        try bed.putList([
            "http://user:pa\(sign)ssW2@127.0.0.1:1/", "{\"url\":\"http://user:pb\(sign)ssW2@127.0.0.1:1/\"}",
            "{\"url\":\"http://user:pc\(sign)ssW2@127.0.0.1:1/\",\"colour\":1}",
        ])
        let run = try bed.run()
        #expect(run.status == 1 && !run.errors.contains("ssW2") && !run.errors.contains("user:"), "\(run.errors)")
        let records = try bed.records()
        #expect(records.map(\.url) == Array(repeating: "http://127.0.0.1:1/", count: 3))
        #expect(records.compactMap(\.code).sorted() == ["bad_request", "invalid_url", "invalid_url"])
        let results = String(decoding: bed.directory.content("results") ?? [], as: UTF8.self)
        #expect(!results.contains("ssW2") && !results.contains("user:"), "\(results)")
    }

    @Test("what is no list is told in one line", arguments: ["/dev/zero", "/", "/proc/self/exe", "/nonexistent"])
    func noList(path: String) async throws {
        let bed = try BatchBed()
        let run = try CommandRun(["batch", path, "--out", bed.out, "--results", bed.results])
        #expect(run.status != 0 && !run.wasSignalled)
        #expect(run.errors.utf8.count < 50_000, "\(run.errors.utf8.count)")
        #expect(try bed.files().isEmpty)
    }

    @Test("a list that comes slowly is fetched as it comes, and retries do not wait for it")
    func slowList() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let run = try ChildProcess(
                try BuiltProducts.trawl(),
                ["batch", "--out", bed.out, "--results", bed.results, "--workers", "1", "--retry", "1"],
                errors: bed.directory.file("errors"))
            func write(_ text: String) {
                _ = Array(text.utf8).withUnsafeBytes { send(run.input, $0.baseAddress, $0.count, 0) }
            }
            write(origin.url("/status/503") + "\n" + origin.url("/bytes/5") + "\n" + origin.url("/bytes/"))
            // In the middle of a line: the first two come to their ends, the retry after a second included.
            #expect(await eventually { bed.recordCount() == 2 })
            write("6\n")
            #expect(await eventually { bed.recordCount() == 3 })
            run.closeInput()
            #expect(await eventually { !run.isRunning })
            // No try was left for the first.
            #expect(run.exitStatus(within: 1) == 1)
            let first = try bed.records().first { $0.status == 503 }
            #expect(first?.attempts == 2)
        }
    }

    @Test("lists come from a FIFO, and packed from standard input")
    func otherLists() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            #expect(mkfifo(bed.list, 0o600) == 0)
            let run = try bed.start()
            let url = origin.url("/bytes/5")
            let script = try shell("printf '%s\\n' \(url) > \(bed.list.shellWord)")
            #expect(script == 0)
            #expect(await eventually { !run.isRunning })
            #expect(run.exitStatus(within: 1) == 0 && bed.recordCount() == 1, "\(bed.errors)")
            let batch = [try BuiltProducts.trawl(), "batch", "--results", bed.results, "--out", bed.out].shellWords
            let packed = try shell("printf '%s\\n' \(url) \(url)6 | gzip -c | \(batch)")
            #expect(packed == 0 && bed.recordCount() == 2)
        }
    }

    // MARK: Results

    @Test("a results file in use, one of something else, and one torn at its end")
    func resultsFiles() async throws {
        let bed = try BatchBed()
        let origin = try HeldOrigin()
        defer { origin.stop() }
        try bed.putList([origin.url("/a"), origin.url("/b")])
        let run = try bed.start(["-j", "1"])
        #expect(await eventually { origin.count == 1 })
        // It stands still meanwhile, however long that takes.
        run.signal(SIGSTOP)
        let second = try bed.run()
        origin.letGo()
        run.signal(SIGCONT)
        #expect(second.status == 73 && second.errors.contains("in use by another run"), "\(second.errors)")
        #expect(await eventually { !run.isRunning })
        #expect(bed.recordCount() == 2)

        let whole = try #require(bed.directory.content("results"))
        try bed.directory.put("results", Array(whole.dropLast(7)))
        #expect(bed.recordCount() == 1)
        let mended = try bed.run()
        #expect(mended.status == 0 && mended.errors.contains("not complete"), "\(mended.errors)")
        #expect(bed.recordCount() == 2)
        #expect(try bed.records().count == 2)

        try bed.directory.put("results", Array("my diary\n".utf8))
        let refused = try bed.run()
        #expect(refused.status == 73 && refused.errors.contains("left as it is"), "\(refused.errors)")
        #expect(bed.directory.content("results") == Array("my diary\n".utf8))
    }

    @Test("results that cannot be written end the run with 74, and the next one completes it")
    func fullResults() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let items = (0..<60).map { number in
                BatchBed.Item(
                    origin.url("/bytes/50?seed=\(number)"), body: ReferenceBytes.bytes(50, seed: UInt64(number)))
            }
            try bed.putList(items.map(\.line))
            // Files may grow to 4 MiB, which workers need for their shared memory; there is room for a dozen records.
            let start = #"{"v":1,"key":"00000000000000000000000000000000","ok":true,"url":""#
            let filled = (4 << 20) - 3000
            try bed.directory.put(
                "results", Array((start + String(repeating: "x", count: filled - start.utf8.count - 3) + "\"}\n").utf8))
            let command = ([try BuiltProducts.trawl()] + bed.arguments(["-j", "4"])).shellWords
            let errors = bed.directory.file("errors").shellWord
            let status = try shell("trap '' XFSZ; ulimit -f 8192; exec \(command) 2>\(errors)")
            #expect(status == 74, "\(bed.errors)")
            let bytes = try #require(bed.directory.content("results"))
            #expect(bytes.last == 0x0A)
            let count = bed.recordCount()
            #expect(count > 1 && count < 60)
            #expect(try bed.records().count == count)
            let next = try bed.run()
            #expect(next.status == 0, "\(next.errors)")
            try bed.directory.put("results", Array((bed.directory.content("results") ?? []).dropFirst(filled)))
            try bed.expectComplete(items)
            // A device without room takes nothing.
            let full = try CommandRun(["batch", bed.list, "--out", bed.out, "--results", "/dev/full"])
            #expect(full.status == 74, "\(full.errors)")
        }
    }

    @Test(
        "an output directory without room ends the run with 74, and the next one completes it",
        .enabled(if: OwnMount.isAllowed, OwnMount.missing))
    func fullDirectory() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList((0..<40).map { origin.url("/bytes/9000?seed=\($0)") })
            _ = try bed.directory.makeDirectory("out")
            let command = ([try BuiltProducts.trawl()] + bed.arguments(["-j", "4"])).shellWords
            let script = """
                cd "$0" && mount -t tmpfs -o size=128k none out || exit 99
                \(command) 2>>errors; first=$?
                cp results first; mount -o remount,size=8m out
                \(command) 2>>errors || exit 98
                find out -type f -size 9000c | wc -l > count
                find out -type f ! -size 9000c | wc -l >> count
                exit $first
                """
            let run = try CommandRun(program: "/usr/bin/unshare", ["-m", "sh", "-c", script, bed.directory.path])
            #expect(run.status == 74, "\(run.errors) \(bed.errors)")
            #expect(bed.directory.content("first")?.last == 0x0A)
            #expect(String(decoding: bed.directory.content("count") ?? [], as: UTF8.self) == "40\n0\n")
            #expect(bed.recordCount() == 40)
        }
    }

    @Test("results into a pipe that is closed end the run quietly")
    func closedPipe() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList((0..<400).map { origin.url("/delay/10?n=\($0)") })
            let command = [try BuiltProducts.trawl(), "batch", bed.list, "--no-files", "--results", "-"].shellWords
            let (errors, three) = (bed.directory.file("errors").shellWord, bed.directory.file("three").shellWord)
            let status = try shell("\(command) 2>\(errors) | head -n 3 > \(three)")
            #expect(status == 0)
            #expect(bed.directory.content("three")?.count { $0 == 0x0A } == 3)
            #expect(bed.errors.split(separator: "\n").count <= 1, "\(bed.errors)")
            #expect(try origin.concurrency().total < 400)
        }
    }

    // MARK: Memory

    /// The most memory that a run of the list takes, which must be a good one.
    private func peak(of bed: BatchBed, count: Int) async throws -> Int {
        let run = try ChildProcess(
            try BuiltProducts.trawl(), ["batch", bed.list, "--no-files", "--results", bed.results],
            errors: bed.directory.file("errors"))
        var peak = 0
        while run.isRunning {
            peak = max(peak, ProcessTree.anonymousMemory(of: run.pid))
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(run.exitStatus(within: 1) == 0 && bed.recordCount() == count, "\(bed.errors.suffix(500))")
        return peak
    }

    @Test("a long list takes no more memory than a short one, nor does a run that finds all of it done")
    func memory() async throws {
        let bed = try BatchBed()
        try await withOrigin(addresses: 8) { origin in
            let long = runsLongTests ? 1_000_000 : 20_000
            var peaks: [Int] = []
            for count in [2000, long] {
                try? FileManager.default.removeItem(atPath: bed.results)
                try bed.putList((0..<count).map { origin.url("/bytes/8?n=\($0)", address: $0 % 8 + 1) })
                peaks.append(try await peak(of: bed, count: count))
            }
            peaks.append(try await peak(of: bed, count: long))
            #expect(peaks[1] < peaks[0] + 6 << 20 && peaks[2] < peaks[0] + 6 << 20, "\(peaks)")
        }
    }

    private func shell(_ script: String) throws -> Int32 {
        try CommandRun(program: "/bin/sh", ["-c", script]).status
    }
}
