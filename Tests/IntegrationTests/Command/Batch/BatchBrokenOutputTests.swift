import Foundation
import Glibc
import Testing

/// What a run does when what it writes to breaks under it: it says so, stops, and the same command goes on later.
@Suite("trawl batch, outputs that break", .serialized, .timeLimit(.minutes(6)))
struct BatchBrokenOutputTests {
    private func shell(_ script: String) throws -> Int32 {
        try CommandRun(program: "/bin/bash", ["-c", script]).status
    }

    @Test("an output directory that is removed ends the run, which loses no request")
    func removed() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            // More than are done before anybody looks: the run is ended from here.
            let urls = (0..<400).map { origin.url("/delay/50?n=\($0)") }
            try bed.putList(urls)
            let run = try bed.start(["-j", "2", "-O"])
            #expect(await eventually { bed.recordCount() > 3 })
            // A file may appear while the others are removed.
            #expect(await eventually { (try? FileManager.default.removeItem(atPath: bed.out)) != nil })
            #expect(run.exitStatus(within: 60_000) == 74)
            #expect(bed.errors.contains("\(bed.out): "), "\(bed.errors)")
            #expect(try bed.records().allSatisfy { $0.isFetched == true })
            #expect(try bed.run(["-j", "64", "--per-host", "64", "-O"]).status == 0)
            #expect(bed.recordCount() == 400)
        }
    }

    @Test("an output directory that is moved takes its run along, which leaves alone what comes to its old place")
    func moved() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let run = try ChildProcess(
                try BuiltProducts.trawl(),
                ["batch", "--out", bed.out, "--results", bed.results, "--workers", "1", "--retry", "1", "-O"],
                errors: bed.directory.file("errors"))
            func add(_ target: String) {
                let line = Array((origin.url(target) + "\n").utf8)
                #expect(line.withUnsafeBytes { write(run.input, $0.baseAddress, $0.count) } == line.count)
            }
            add("/bytes/10")
            #expect(await eventually { bed.recordCount() == 1 })
            rename(bed.out, bed.directory.file("old"))
            _ = try bed.directory.makeDirectory("out")
            try bed.directory.put("out/503", Array("of another run".utf8))
            add("/status/503?body=busy")
            run.closeInput()
            #expect(run.exitStatus(within: 30_000) == 1, "\(bed.errors)")
            #expect(bed.directory.content("out/503") == Array("of another run".utf8))
            #expect(try bed.directory.names().filter { $0.hasPrefix("old/") } == ["old/10"])
        }
    }

    @Test(
        "one that nothing can be written to is told before anything is fetched",
        .enabled(if: geteuid() != 0, "root may do it anyway"))
    func unwritable() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            _ = try bed.directory.makeDirectory("out")
            chmod(bed.out, 0o555)
            try bed.putList([origin.url("/bytes/1")])
            let run = try bed.run()
            #expect(run.status == 73 && run.errors.contains("out: Permission denied"), "\(run.errors)")
            #expect(try origin.log(prefix: "/bytes").isEmpty && bed.recordCount() == 0)
        }
    }

    @Test("a file that may not become so long (RLIMIT_FSIZE) is the failure of one body, or the end of results")
    func limited() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList([origin.url("/bytes/3000000"), origin.url("/bytes/10")])
            let trawl = try BuiltProducts.trawl()
            let words = [trawl, "batch", bed.list, "--no-cache", "--results", bed.results].shellWords
            let command = "exec \(words) 2>\(bed.directory.file("errors").shellWord)"
            let status = try shell("ulimit -f 2000; \(command) -O --out \(bed.out.shellWord)")
            #expect(status == 1, "\(bed.errors)")
            let records = try bed.records().sorted { ($0.line ?? 0) < ($1.line ?? 0) }
            #expect(records.map(\.isFetched) == [false, true] && records.map(\.code) == ["file", nil])
            #expect(bed.errors.contains("File too large"), "\(bed.errors)")
            #expect(try bed.files() == ["10"])

            // Records of 200 bytes.
            try bed.putList((0..<4000).map { "ftp://h/\($0)" })
            let unwritten = try shell("rm \(bed.results.shellWord); ulimit -f 400; \(command) --no-files")
            #expect(unwritten == 74, "\(bed.errors)")
            #expect(bed.errors.contains("\(bed.results): File too large"), "\(bed.errors)")
            #expect(try bed.records().count > 1000)
            let get = [trawl, "-s", "-o", bed.directory.file("x"), origin.url("/bytes/3000000")].shellWords
            #expect(try shell("ulimit -f 2000; exec " + get) == 23)
        }
    }

    @Test("a file that cannot be given its name when a run goes on has a record that says why, as in a first run")
    func unnamed() async throws {
        let bed = try BatchBed()
        // No number fits behind it: the path is as long as one may be, and its last name has one byte.
        let name = String(repeating: "d", count: 255)
        let folder = (Array(repeating: name, count: 15) + [String(name.dropLast(2))]).joined(separator: "/")
        try await withOrigin { origin in
            try bed.putList([10, 11].map { origin.url("/bytes/\($0)") + "\t\(folder)/x" })
            for goesOn in [false, true] {
                if goesOn { try bed.directory.put("results", []) }
                let run = try bed.run(["-j", "1", "--no-cache"])
                #expect(run.status == 1, "\(run.errors)")
                let records = try bed.records()
                #expect(records.count == 2 && records.count { $0.isFetched == true } == 1)
                let failed = try #require(records.first { $0.isFetched == false })
                #expect(failed.code == "file" && failed.status == nil && failed.file == nil)
                #expect(failed.message?.contains("File name too long") == true, "\(failed.members)")
                // Deeper than one path can tell.
                #expect(try shell("rm -rf \(bed.out.shellWord) \(bed.results.shellWord)") == 0)
            }
        }
    }

    @Test("results that lie where no file can be made serve all the same, in this run and the next")
    func resultsWithoutDirectory() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList([origin.url("/bytes/10"), origin.url("/bytes/11")])
            try bed.directory.put("results", [])
            for _ in 0..<2 {
                // Who writes to /dev/fd writes beside no other file.
                let words = [try BuiltProducts.trawl(), "batch", bed.list, "-O", "--out", bed.out, "--no-cache"]
                let errors = bed.directory.file("errors").shellWord
                let status = try shell(
                    "exec 3<>\(bed.results.shellWord); exec \(words.shellWords) --results /dev/fd/3 2>\(errors)")
                #expect(status == 0, "\(bed.errors)")
            }
            #expect(bed.errors.contains("0 fetched, 2 done before"), "\(bed.errors)")
            #expect(try bed.files() == ["10", "11"] && bed.recordCount() == 2)
        }
    }

    @Test("results into a named pipe end with their reader")
    func reader() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList((0..<400).map { origin.url("/delay/10?n=\($0)") })
            let pipe = bed.directory.file("pipe")
            let words = [try BuiltProducts.trawl(), "batch", bed.list, "--no-files", "--results", pipe].shellWords
            let status = try shell(
                """
                mkfifo \(pipe.shellWord); head -n 2 \(pipe.shellWord) > \(bed.directory.file("two").shellWord) &
                timeout 60 \(words) 2>\(bed.directory.file("errors").shellWord)
                """)
            #expect(status == 0, "\(bed.errors)")
            #expect(bed.directory.content("two")?.count { $0 == 0x0A } == 2)
            #expect(try origin.concurrency().total < 400)
        }
    }

    @Test("who closes what -w prints stops the run, which goes on with the same command", arguments: [true, false])
    func printsClosed(hasResults: Bool) async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList((0..<800).map { origin.url("/delay/50?n=\($0)") })
            let plain = ["batch", bed.list, "--no-files"]
            let run = try ChildProcess(
                try BuiltProducts.trawl(), (hasResults ? bed.arguments() : plain) + ["-j", "4", "-w", "%{url}\n"],
                errors: bed.directory.file("errors"))
            #expect(run.readLine() != nil)
            shutdown(run.output, Int32(SHUT_RDWR))
            #expect(run.exitStatus(within: 60_000) == 75, "\(bed.errors)")
            let lines = bed.errors.split(separator: "\n")
            #expect(lines.count == 1 && lines[0].contains(", stopped"), "\(bed.errors)")
            #expect(try origin.concurrency().total < 800)
            guard hasResults else { return }
            let count = bed.recordCount()
            #expect((1..<800).contains(count))
            #expect(try bed.run(["-j", "64", "--per-host", "64"]).status == 0)
            #expect(bed.recordCount() == 800)
        }
    }

    @Test("a run that has done all has its own status, whoever reads what -w prints")
    func printsUnread() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList([origin.url("/status/404")])
            let words = ([try BuiltProducts.trawl()] + bed.arguments(["-f", "-w", "%{url}\n"])).shellWords
            let status = try shell("\(words) 2>\(bed.directory.file("errors").shellWord) | true; exit ${PIPESTATUS[0]}")
            #expect(status == 1, "\(bed.errors)")
            #expect(bed.recordCount() == 1 && !bed.errors.contains("stopped"), "\(bed.errors)")
        }
    }

    @Test("results whose file is taken away end the run", arguments: ["removed", "replaced"])
    func resultsGone(how: String) async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList((0..<1600).map { origin.url("/delay/50?n=\($0)") })
            let run = try bed.start(["-j", "4"])
            #expect(await eventually { bed.recordCount() > 3 })
            if how == "removed" {
                unlink(bed.results)
            } else {
                // As when a log is rotated.
                try bed.directory.put("other", [])
                rename(bed.directory.file("other"), bed.results)
            }
            #expect(run.exitStatus(within: 60_000) == 74)
            #expect(bed.errors.contains("results: removed or replaced"), "\(bed.errors)")
        }
    }

    @Test("few descriptors mean fewer fetches at a time, not failures")
    func descriptors() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList((0..<150).map { origin.url("/delay/50?n=\($0)") })
            let words = ([try BuiltProducts.trawl()] + bed.arguments(["-j", "128", "--per-host", "128"])).shellWords
            let errors = bed.directory.file("errors").shellWord
            let status = try shell("ulimit -n 64; exec \(words) 2>\(errors)")
            #expect(status == 0, "\(bed.errors)")
            #expect(bed.errors.contains("the 64 open files allowed"), "\(bed.errors)")
            #expect(try bed.records().allSatisfy { $0.isFetched == true } && bed.recordCount() == 150)
        }
    }

    @Test("a long body of the run takes one descriptor, whatever else its lines say")
    func descriptorsOfBodies() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            // Above 64 KiB: a memory file. As many are read ahead as would take more of them than there may be.
            let body = ReferenceBytes.bytes(70_000)
            try bed.directory.put("body", body)
            let url = origin.url("/anything?n=")
            try bed.putList(
                (1...200).map { "{\"url\":\"\(url)\($0)\",\"headers\":[[\"X-Id\",\"\($0)\"]]}" })
            let more = ["-j", "4", "-o", "{line}", "--data-binary", "@" + bed.directory.file("body")]
            let words = ([try BuiltProducts.trawl()] + bed.arguments(more)).shellWords
            let errors = bed.directory.file("errors").shellWord
            let status = try shell("ulimit -n 128; exec \(words) 2>\(errors)")
            #expect(status == 0, "\(bed.errors)")
            let hash = ReferenceBytes.hash(body)
            for line in 1...200 {
                let seen = try JSONDecoder().decode(
                    SeenRequest.self, from: Data(bed.directory.content("out/\(line)") ?? []))
                #expect(seen.method == "POST" && seen.value("X-Id") == "\(line)" && seen.bodyFNV1a64 == hash)
            }
        }
    }

    @Test("few descriptors are enough for many long bodies, each of a line of its own")
    func descriptorsOfOwnBodies() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let body = String(repeating: "a", count: 70_000)
            let url = origin.url("/anything?n=")
            try bed.putList((1...100).map { "{\"url\":\"\(url)\($0)\",\"method\":\"POST\",\"body\":\"\(body)\"}" })
            let words = ([try BuiltProducts.trawl()] + bed.arguments(["-j", "4", "-O"])).shellWords
            let errors = bed.directory.file("errors").shellWord
            let status = try shell("ulimit -n 64; exec \(words) 2>\(errors)")
            #expect(status == 0, "\(bed.errors)")
            #expect(try bed.records().allSatisfy { $0.status == 200 } && bed.recordCount() == 100)
        }
    }

    @Test("few descriptors are enough for many hosts, whose connections and directories are kept")
    func descriptorsOfHosts() async throws {
        let bed = try BatchBed()
        try await withOrigin(addresses: 120) { origin in
            // Longer than what is kept in memory, and open for a while.
            let target = "/drip?bytes=100000&step=70000&interval=100"
            try bed.putList((1...120).map { origin.url(target, address: $0) })
            let words = ([try BuiltProducts.trawl()] + bed.arguments(["-j", "128"])).shellWords
            let errors = bed.directory.file("errors").shellWord
            let status = try shell("ulimit -n 64; exec \(words) 2>\(errors)")
            #expect(status == 0, "\(bed.errors)")
            #expect(try bed.records().allSatisfy { $0.isFetched == true } && bed.recordCount() == 120)
        }
    }

    @Test("messages nobody reads hold up nothing")
    func unreadMessages() async throws {
        let bed = try BatchBed()
        // Far more than a pipe holds.
        try bed.putList((0..<2500).map { "http://127.0.0.1:1/\($0)" })
        let pipe = bed.directory.file("pipe").shellWord
        let words = [try BuiltProducts.trawl(), "batch", bed.list, "--no-files"].shellWords
        let status = try shell("mkfifo \(pipe); exec 3<>\(pipe)\nexec timeout 160 \(words) 2>\(pipe)")
        #expect(status == 1)
    }
}
