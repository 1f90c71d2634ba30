import Foundation
import Glibc
import TestSupport
import Testing

/// What a batch writes, and what a later run makes of it.
@Suite("trawl batch, its outputs", .serialized, .timeLimit(.minutes(3)))
struct BatchOutputTests {
    // MARK: Records of failures

    @Test("a request done again takes the place of its failed record: a second one of its kind is done as well")
    func superseded() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let url = "http://h.test/bytes/5"
            let nobody = ["--connect-to", "::127.0.0.1:1"]
            let there = ["--connect-to", "::127.0.0.1:\(origin.port)"]
            try bed.putList([url, "{\"bad\":1}"])
            #expect(try bed.run(nobody).status == 1)
            #expect(try bed.run(nobody + ["--retry-failed"]).status == 1)
            #expect(try bed.run(there + ["--retry-failed"]).status == 1)
            #expect(try bed.records().filter { $0.url == url }.map { $0.isFetched } == [false, false, true])
            #expect(try bed.records().map { $0.members["again"] as? Bool } == [nil, nil, true, true, true, true])

            try bed.putList([url, url, "#", url])
            let third = try bed.run(there)
            #expect(third.status == 0 && third.errors.contains("2 fetched, 1 done before"), "\(third.errors)")
            #expect(try bed.files() == ["h.test/bytes/5", "h.test/bytes/5.1", "h.test/bytes/5.2"])
            #expect(try bed.run(there).errors.contains("0 fetched, 3 done before"))
        }
    }

    @Test("failures beyond the hundredth are told of once, wherever failures are told", arguments: ["-q", "-sS", "-s"])
    func manyFailures(option: String) async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList([origin.url("/bytes/1")] + (0..<102).map { "{\"bad\":\($0)}" })
            let run = try bed.run(["--no-cache", option])
            #expect(run.status == 1 && bed.recordCount() == 103)
            let lines = run.errors.split(separator: "\n")
            #expect(lines.count == (option == "-s" ? 0 : 101), "\(run.errors)")
            #expect(option == "-s" || lines.last == "trawl: more failures are told in the results alone")
        }
    }

    @Test("failures of requests listed twice are done again as often as they failed")
    func failedTwice() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let url = "http://h.test/bytes/5"
            try bed.putList([url, url])
            #expect(try bed.run(["--connect-to", "::127.0.0.1:1"]).status == 1)
            let again = ["--connect-to", "::127.0.0.1:\(origin.port)", "--retry-failed"]
            #expect(try bed.run(again).status == 0)
            #expect(bed.recordCount() == 4)
            #expect(try bed.run(again).status == 0)
            #expect(bed.recordCount() == 4)
        }
    }

    // MARK: Files of a killed run

    @Test("a request listed twice finds its second file behind the first, which another record names")
    func secondFile() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            _ = try bed.directory.makeDirectory("out")
            try bed.directory.put("out/70", Array("mine".utf8))
            let url = origin.url("/bytes/70")
            try bed.putList([url])
            #expect(try bed.run(["-O"]).status == 0)
            #expect(try bed.files() == ["70", "70.1"])
            // Left by a run that was killed between the file and its record.
            try bed.directory.put("out/70.2", ReferenceBytes.bytes(70))
            try bed.putList([url, url])
            #expect(try bed.run(["-O"]).status == 0)
            #expect(try bed.records().map(\.file) == ["70.1", "70.2"])
            #expect(try bed.files() == ["70", "70.1", "70.2"])
        }
    }

    @Test("a file that is there with letters in the other case, too, is not taken over: a record may spell it so")
    func caseBlind() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let host = "127.0.0.1_\(origin.port)"
            _ = try bed.directory.makeDirectory("out/\(host)/bytes")
            // Left by a run that was killed between the file and its record.
            try bed.directory.put("out/\(host)/bytes/70", ReferenceBytes.bytes(70))
            try bed.directory.put("results", [])
            // No file system here is blind; there two names lead to one directory without this.
            #expect(symlink("bytes", "\(bed.out)/\(host)/BYTES") == 0)
            try bed.putList([origin.url("/bytes/70")])
            #expect(try bed.run().status == 0)
            #expect(try bed.records().map(\.file) == ["\(host)/bytes/70.1"])
        }
    }

    // MARK: Readers

    @Test(
        "a reader of the results that does not read holds up no signal, and one that comes back gets all",
        arguments: [true, false])
    func stoppedReader(ends: Bool) async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let count = 2500
            let query = String(repeating: "x", count: 3000)
            try bed.putList((0..<count).map { origin.url("/bytes/1?\($0)\(query)") })
            let run = try ChildProcess(
                try BuiltProducts.trawl(), ["batch", bed.list, "--no-files", "--results", "-", "--per-host", "0"],
                errors: bed.directory.file("errors"))
            #expect(try await expectStandstill(origin) < count)
            #expect(run.isRunning)
            if ends {
                run.signal(SIGTERM)
                #expect(run.exitStatus(within: 9000) == 75, "\(bed.errors)")
            } else {
                var lines = 0
                var bytes = [UInt8](repeating: 0, count: 1 << 16)
                while case let got = read(run.output, &bytes, bytes.count), got > 0 {
                    lines += bytes[..<got].count { $0 == 0x0A }
                }
                #expect(lines == count)
                #expect(run.exitStatus(within: 9000) == 0, "\(bed.errors)")
            }
        }
    }

    @Test("-w prints a line for each request, failures included")
    func writeOut() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList([origin.url("/bytes/5"), origin.url("/status/404"), "http://127.0.0.1:1/"])
            let run = try bed.run(["-f", "-w", "%{http_code} %{exitcode} %{filename_effective}\n"])
            #expect(run.status == 1)
            let host = "\(bed.out)/127.0.0.1_\(origin.port)"
            #expect(
                run.text.split(separator: "\n").map(String.init).sorted() == [
                    "000 7 \(bed.out)/127.0.0.1_1/index.html", "200 0 \(host)/bytes/5", "404 22 \(host)/status/404",
                ])
            let both = try CommandRun(["batch", bed.list, "--no-files", "--results", "-", "-w", "x"])
            #expect(both.status == 2 && both.output.isEmpty)
            let verbose = try bed.run(["-v"])
            #expect(verbose.status == 2 && verbose.errors.contains("-v is for trawl get"), "\(verbose.errors)")
        }
    }

    @Test("the jar of -c stands behind all that -w prints, however late that is read")
    func jarBehindLines() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            // All of it is more than a stream takes, and less than may wait for it: the fetches end unread.
            let line = String(repeating: "x", count: 40_000)
            let count = 20
            try bed.directory.put("format", Array((line + "\\n").utf8))
            try bed.putList((0..<count).map { origin.url("/bytes/1?\($0)") })
            let run = try ChildProcess(
                try BuiltProducts.trawl(),
                ["batch", bed.list, "--no-files", "-w", "@" + bed.directory.file("format"), "-c", "-"],
                errors: bed.directory.file("errors"))
            let areFetched = await eventually { (try? origin.log(prefix: "/bytes").count) == count }
            #expect(areFetched, "\(bed.errors)")
            var output: [UInt8] = []
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            while case let got = read(run.output, &bytes, bytes.count), got > 0 { output += bytes[..<got] }
            #expect(run.exitStatus(within: 9000) == 0, "\(bed.errors)")
            let lines = output.split(separator: 0x0A, maxSplits: count)
            #expect(lines.count == count + 1 && lines.dropLast().allSatisfy { $0.elementsEqual(line.utf8) })
            #expect(lines.last?.starts(with: "# Netscape HTTP Cookie File\n".utf8) == true)
        }
    }

    @Test("a jar on standard output is refused where records or responses go there")
    func jarAmongRecords() throws {
        let bed = try BatchBed()
        try bed.putList(["http://127.0.0.1:1/"])
        for file in ["-", "/dev/stdout"] {
            let batch = try CommandRun(["batch", bed.list, "--no-files", "--results", "-", "-c", file])
            #expect(batch.status == 2 && batch.output.isEmpty, "\(batch.errors)")
            #expect(batch.errors.contains("-c and --results cannot both have standard output"), "\(batch.errors)")
            let pipe = try CommandRun(["pipe", "-c", file], input: "")
            #expect(pipe.status == 2 && pipe.output.isEmpty, "\(pipe.errors)")
            #expect(pipe.errors == "trawl: -c -: standard output is for responses\n", "\(pipe.errors)")
        }
    }

    // MARK: Memory

    /// The most memory that a run had, in KiB, whose list is so many lines of a megabyte that are over as soon as they
    /// are read, and a request.
    private func mostMemory(longLines count: Int) async throws -> Int {
        let origin = try HeldOrigin()
        defer { origin.stop() }
        let bed = try BatchBed()
        let line = String(repeating: "x", count: 1_000_000)
        try bed.putList(Array(repeating: line, count: count) + [origin.url("/last")])
        let run = try ChildProcess(
            try BuiltProducts.trawl(),
            ["batch", bed.list, "--no-files", "--results", bed.results, "--workers", "1", "-s"],
            errors: bed.directory.file("errors"))
        // All lines before it were dealt with.
        #expect(await eventually(within: .seconds(90)) { origin.count == 1 }, "\(bed.errors)")
        let text = try #require(ProcessTree.status("VmHWM", of: run.pid))
        origin.letGo()
        #expect(run.exitStatus(within: 30_000) == 1, "\(bed.errors)")
        #expect(bed.recordCount() == count + 1)
        return try #require(Int(text.prefix { $0 != " " }))
    }

    @Test("of long lines that are over as soon as they are read, the records of a few are in memory at a time")
    func longLines() async throws {
        let few = try await mostMemory(longLines: 2)
        let grown = try await mostMemory(longLines: 24) - few
        // A sanitizer keeps what is freed.
        #expect(grown < 12 << 10 || Sanitizer.isPresent, "\(grown) KiB beyond \(few)")
    }

    // MARK: Bodies of other statuses

    @Test("with -f little is read of the bodies of errors, and nothing is kept", arguments: [true, false])
    func droppedErrors(isChunked: Bool) throws {
        let body = [UInt8](repeating: 0x61, count: 8 << 20)
        let origin = try ScriptedOrigin { _ in
            var answer = ScriptedOrigin.Answer(404)
            answer.body = body
            answer.framing = isChunked ? .chunked : .close
            return answer
        }
        defer { origin.stop() }
        let bed = try BatchBed()
        try bed.putList((0..<4).map { origin.url("/\($0)") })
        #expect(try bed.run(["-f"]).status == 1)
        let records = try bed.records()
        #expect(records.map(\.status) == [404, 404, 404, 404])
        let longest = records.compactMap { $0.members["bytes"] as? Int }.max()
        #expect((longest ?? .max) <= 64 << 10)
        #expect(try bed.files().isEmpty)
    }

    @Test("the body of a redirect that is not followed is a file, also with -f", arguments: [[], ["-f"]])
    func redirects(options: [String]) throws {
        let origin = try ScriptedOrigin { _ in ScriptedOrigin.Answer(302, "moved", [("Location", "/x")]) }
        defer { origin.stop() }
        let bed = try BatchBed()
        let url = origin.url("/r")
        try bed.putList([url])
        #expect(try bed.run(["--no-location"] + options).status == 0)
        try bed.expectComplete([BatchBed.Item(url, body: Array("moved".utf8))])
    }

    // MARK: Files of options

    @Test("a file that an option names and that cannot be read is wrong usage")
    func unreadableFiles() throws {
        let bed = try BatchBed()
        try bed.putList(["http://127.0.0.1:1/"])
        for option in ["-H@", "-d@", "-w@", "-K", "--cacert=", "--cert=", "--key="] {
            let run = try bed.run([option + "/no/such"])
            let name = option.hasPrefix("--") ? "\(option.dropLast()): " : ""
            #expect(
                run.status == 2 && run.errors == "trawl: \(name)/no/such: No such file or directory\n", "\(option)")
            if option == "-d@" || option == "-w@" { continue }
            let pipe = try CommandRun(["pipe", option + "/no/such"])
            #expect(pipe.status == 2 && pipe.errors == run.errors, "\(option)")
        }
        #expect(try CommandRun(["batch", "/no/such", "--no-files"]).status == 2)
    }

    @Test("a results file that is the list, too, is refused and left as it is, also where the shell has opened it")
    func resultsAsList() throws {
        let bed = try BatchBed()
        let content = Array((#"{"v":1,"line":1,"key":"a","ok":false}"# + "\n").utf8)
        try bed.directory.put("results", content)
        let trawl = try BuiltProducts.trawl()
        for (script, name) in [
            (#"exec "$0" batch "$1" --no-files --results "$1""#, bed.results),
            (#"exec "$0" batch --no-files --results "$1" < "$1""#, bed.results),
            (#"exec "$0" batch "$1" --no-files --results - >> "$1""#, "standard output"),
        ] {
            let run = try CommandRun(program: "/bin/sh", ["-c", script, trawl, bed.results], within: .seconds(60))
            #expect(run.status == 2 && run.errors == "trawl: \(name): list and results are one file\n", "\(run.errors)")
            #expect(bed.directory.content("results") == content)
        }
    }

    @Test("nothing is made for a list that is not there")
    func missingList() throws {
        let bed = try BatchBed()
        let run = try bed.run()
        #expect(run.status == 2 && run.errors.hasSuffix("list: No such file or directory\n"), "\(run.errors)")
        let names = try bed.directory.names()
        #expect(names.isEmpty, "\(names)")
    }

    @Test("options from standard input leave none for a list, and a pipe has none to give")
    func standardInput() throws {
        let bed = try BatchBed()
        try bed.putList(["http://127.0.0.1:1/"])
        let list = try CommandRun(["batch", "-K", "-", "--no-files"], input: "retry 1\n")
        #expect(list.status == 2 && list.errors.contains("standard input cannot be the list"), "\(list.errors)")
        let options = try CommandRun(["batch", "-K", "-", bed.list, "-q"], input: "no-files\n")
        #expect(options.status == 1, "\(options.errors)")
        // Nothing is waited for: this input does not end.
        let vault = ["--vault", bed.directory.file("vault"), "--vault-passphrase-file", "-"]
        for (arguments, option) in [
            (["-K", "-"], "-K -"), (["-H", "@-"], "-H @-"), (["--proxy-header", "@-"], "--proxy-header @-"),
            (["-b", "-"], "-b -"), (vault, "--vault-passphrase-file -"),
        ] {
            let errors = bed.directory.file(option.replacingOccurrences(of: " ", with: ""))
            let pipe = try ChildProcess(try BuiltProducts.trawl(), ["pipe"] + arguments, errors: errors)
            #expect(pipe.exitStatus(within: 30_000) == 2)
            let text = try String(contentsOfFile: errors, encoding: .utf8)
            #expect(text == "trawl: \(option): standard input is for requests\n")
        }
    }
}
