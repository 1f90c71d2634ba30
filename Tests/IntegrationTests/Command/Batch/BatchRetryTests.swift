import Foundation
import Glibc
import Testing

/// What is tried again, and what that means for the others.
@Suite("trawl batch, requests done again", .serialized, .timeLimit(.minutes(6)))
struct BatchRetryTests {
    @Test("a host that is down does not keep the rest of the list waiting")
    func dead() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let dead = (0..<1200).map { "http://127.0.0.1:1/\($0)" }
            try bed.putList(dead + (0..<5).map { origin.url("/bytes/9?n=\($0)") })
            let run = try bed.start(["--retry", "1", "--retry-connrefused", "--retry-delay", "120"])
            // The dead host's are tried again after two minutes, when nobody waits for them any more.
            #expect(await eventually(within: .seconds(100)) { bed.recordCount() == 5 || !run.isRunning })
            for _ in 0..<2 { run.signal(SIGINT) }
            #expect(await eventually { !run.isRunning })
            #expect(try bed.recordCount() == 5 && bed.records().allSatisfy { $0.isFetched == true }, "\(bed.errors)")
            #expect(try bed.run(["--retry", "1", "--retry-connrefused", "--retry-delay", "0.1"]).status == 1)
            #expect(bed.recordCount() == 1205)
        }
    }

    @Test(
        "what fails while a stopped run ends, and has a try left, is done by the next run",
        arguments: ["status", "truncated"])
    func stopped(ending: String) async throws {
        let gate = Occasion()
        let origin = try ScriptedOrigin { seen in
            if seen.number > 1 { return .init(200, "there") }
            gate.wait()
            var answer = ScriptedOrigin.Answer(ending == "status" ? 503 : 200, "later")
            if ending == "truncated" { answer.announced = 100 }
            return answer
        }
        defer { origin.stop() }
        let bed = try BatchBed()
        let url = origin.url("/a")
        try bed.putList([url])
        let socket = bed.directory.file("socket")
        let run = try bed.start(["--retry", "5", "--status-socket", socket])
        #expect(await eventually { origin.seen().count == 1 })
        run.signal(SIGTERM)
        #expect(await eventually { (try? StatusClient.report(socket))?["stage"] as? String == "draining" })
        gate.open()
        #expect(run.exitStatus(within: 20_000) == 75, "\(bed.errors)")
        #expect(try bed.recordCount() == 0 && bed.files().isEmpty)
        #expect(try bed.run(["--retry", "5"]).status == 0)
        try bed.expectComplete([BatchBed.Item(url, body: Array("there".utf8))])
        #expect(origin.seen().count == 2)
    }

    @Test("a status that stays one of failure after the last try is a failure, and leaves no file")
    func exhausted() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList([origin.url("/status/503?body=no"), origin.url("/status/404?body=none")])
            let run = try bed.run(["--retry", "1", "-O"])
            #expect(run.status == 1 && run.errors.contains("the response's status is 503"), "\(run.errors)")
            let records = try bed.records().sorted { ($0.line ?? 0) < ($1.line ?? 0) }
            #expect(records.map(\.isFetched) == [false, true])
            #expect(records.map(\.attempts) == [2, nil])
            #expect(try bed.files() == ["404"])
            #expect(try bed.run(["--retry", "1", "-O", "--retry-failed"]).status == 1)
            #expect(try origin.log(prefix: "/status/503").count == 4)
        }
    }

    @Test("a file with the same bytes that was there before stays, also when it is no answer")
    func anothers() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            // Those of another run, with results of its own; empty ones say that this run goes on.
            _ = try bed.directory.makeDirectory("out")
            try bed.directory.put("out/503", Array("no".utf8))
            try bed.directory.put("results", [])
            try bed.putList([origin.url("/status/503?body=no")])
            #expect(try bed.run(["--retry", "1", "-O"]).status == 1)
            #expect(bed.directory.content("out/503") == Array("no".utf8))
            #expect(try bed.records().map(\.file) == [nil])
        }
    }

    @Test("a file of an earlier record that was taken away gives its name to no other", arguments: [1, 20])
    func takenAway(count: Int) async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let first = origin.url("/bytes/5")
            try bed.putList([first])
            #expect(try bed.run(["-O", "-J"]).status == 0)
            rename(bed.directory.file("out/5"), bed.directory.file("elsewhere"))
            // The same name and bytes, several at a time.
            let others = (0..<count).map { origin.url("/bytes/5?seed=2&n=\($0)") }
            try bed.putList([first] + others)
            #expect(try bed.run(["-O", "-J", "-j", "16", "--per-host", "16"]).status == 0)
            let records = try bed.records().dropFirst()
            let names = (1...count).map { "5.\($0)" }
            #expect(records.compactMap(\.file).sorted() == names.sorted())
            #expect(try bed.files() == names.sorted())
            for name in names { #expect(bed.directory.content("out/" + name) == ReferenceBytes.bytes(5, seed: 2)) }
        }
    }

    @Test("a name of an earlier record is no other file's at any time, whatever becomes of the run")
    func takenAwayAndKilled() async throws {
        let release = Occasion()
        let origin = try ScriptedOrigin { seen in
            if seen.target == "/slow" { release.wait() }
            return ScriptedOrigin.Answer(200, seen.target, [("Content-Disposition", "attachment; filename=report")])
        }
        defer {
            release.open()
            origin.stop()
        }
        let bed = try BatchBed()
        try bed.putList([origin.url("/first")])
        #expect(try bed.run(["-O", "-J"]).status == 0)
        rename(bed.directory.file("out/report"), bed.directory.file("elsewhere"))
        try bed.putList(["/first", "/a", "/b", "/slow"].map { origin.url($0) })
        let run = try bed.start(["-O", "-J"])
        #expect(await eventually { bed.recordCount() == 3 || !run.isRunning })
        #expect(try bed.files() == ["report.1", "report.2"])
        let workers = ProcessTree.children(of: run.pid)
        run.signal(SIGKILL)
        #expect(await eventually { !run.isRunning && !workers.contains(where: ProcessTree.isRunning) })
        release.open()
        let again = try bed.run(["-O", "-J"])
        #expect(again.status == 0, "\(again.errors)")
        #expect(try bed.files() == ["report.1", "report.2", "report.3"])
        for record in try bed.records().dropFirst() {
            let target = "/" + (record.url?.split(separator: "/").last ?? "")
            #expect(bed.directory.content("out/" + (record.file ?? "")) == Array(target.utf8))
        }
    }

    @Test("a run that goes on sends each request once, however many want one name and get the same bytes")
    func sameBytes() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let first = (0..<60).map { origin.url("/bytes/9?a=\($0)") }
            let second = (0..<60).map { origin.url("/bytes/9?b=\($0)") }
            try bed.putList(first)
            #expect(try bed.run(["-O", "-j", "32", "--per-host", "32"]).status == 0)
            // Left by a run that was killed between a file and its record.
            try bed.directory.put("out/9.60", ReferenceBytes.bytes(9))
            try bed.putList(first + second)
            #expect(try bed.run(["-O", "-j", "32", "--per-host", "32"]).status == 0)
            #expect(try origin.log(prefix: "/bytes/9?b").count == 60)
            try bed.expectComplete((first + second).map { .init($0, body: ReferenceBytes.bytes(9)) })
            #expect(try bed.files().count == 120)
        }
    }

    @Test("a file whose name ends in digits gets a number behind them, in a run that goes on", arguments: 0..<5)
    func digits(round: Int) throws {
        let bed = try BatchBed()
        let origin = try ScriptedOrigin { _ in ScriptedOrigin.Answer(200, "page") }
        defer { origin.stop() }
        try bed.directory.put("results", [])
        // All get the same bytes.
        let versions = (20...24).map { origin.url("/lodash/4.17.\($0)") }
        try bed.putList(versions.flatMap { [$0, $0] } + [origin.url("/scan.007"), origin.url("/scan.007")])
        let run = try bed.run(["-j", "16", "--per-host", "16"])
        #expect(run.status == 0, "\(run.errors)")
        let host = "127.0.0.1_\(origin.port)/"
        let names = (20...24).map { "lodash/4.17.\($0)" } + ["scan.007"]
        #expect(try bed.files() == names.flatMap { [host + $0, host + $0 + ".1"] }.sorted())
        #expect(bed.recordCount() == 12)
        for record in try bed.records() {
            let target = String(record.url?.dropFirst(origin.url("/").count) ?? "")
            #expect(record.file == host + target || record.file == host + target + ".1", "\(record.members)")
        }
    }

    @Test("requests for heads make no files")
    func heads() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let own = #"{"url":"\#(origin.url("/bytes/8"))","method":"HEAD","out":"h"}"#
            try bed.putList([origin.url("/bytes/9"), own])
            #expect(try bed.run(["-I"]).status == 0)
            #expect(try bed.files().isEmpty)
            #expect(try bed.records().allSatisfy { $0.isFetched == true && $0.file == nil })
        }
    }

    @Test("a request that is given up has no file at any time, whatever becomes of the run", arguments: [false, true])
    func noFile(goesOn: Bool) async throws {
        let (isDown, release) = (Locked(true), Occasion())
        let origin = try ScriptedOrigin { seen in
            if seen.target == "/slow" { release.wait() }
            let isBusy = isDown.withLock { $0 }
            return isBusy ? ScriptedOrigin.Answer(503, "busy") : ScriptedOrigin.Answer(200, seen.target)
        }
        defer {
            release.open()
            origin.stop()
        }
        let bed = try BatchBed()
        if goesOn { try bed.directory.put("results", []) }
        let targets = (0..<10).map { "/page/\($0)" } + ["/slow"]
        try bed.putList(targets.map { origin.url($0) })
        let arguments = ["--retry", "1", "--retry-delay", "0.01", "-j", "16", "--per-host", "16"]
        let run = try bed.start(arguments)
        #expect(await eventually { bed.recordCount() == 10 || !run.isRunning })
        #expect(try bed.files().isEmpty)
        let workers = ProcessTree.children(of: run.pid)
        run.signal(SIGKILL)
        #expect(await eventually { !run.isRunning && !workers.contains(where: ProcessTree.isRunning) })
        isDown.withLock { $0 = false }
        release.open()
        let again = try bed.run(arguments + ["--retry-failed"])
        #expect(again.status == 0, "\(again.errors)")
        let host = "127.0.0.1_\(origin.port)"
        #expect(try bed.files() == targets.map { host + $0 }.sorted())
        for target in targets { #expect(bed.directory.content("out/" + host + target) == Array(target.utf8)) }
    }

    @Test("requests that are given up leave the names to others that want them, in a run that goes on")
    func takenOver() throws {
        let origin = try ScriptedOrigin { seen in
            ScriptedOrigin.Answer(seen.target.hasPrefix("/busy") ? 503 : 404, "no")
        }
        defer { origin.stop() }
        let bed = try BatchBed()
        try bed.directory.put("results", [])
        try bed.putList(
            (0..<100).flatMap { number in
                ["busy", "gone"].map { #"{"url":"\#(origin.url("/\($0)?\(number)"))","out":"page"}"# }
            })
        let run = try bed.run(
            ["--retry", "1", "--retry-delay", "0.01", "--workers", "2", "-j", "32", "--per-host", "32"])
        #expect(run.status == 1)
        let records = try bed.records()
        #expect(records.count == 200)
        for record in records {
            guard let file = record.file else { continue }
            #expect(bed.directory.content("out/" + file) == Array("no".utf8), "\(file)")
        }
        #expect(records.count { $0.status == 404 && $0.file != nil } == 100)
        #expect(try bed.files().count == 100)
    }

    @Test("bad lines behind a good one are bad lines, however many, and the rest of the list is fetched")
    func manyBadLines() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let bad = (0..<75).flatMap { ["{\"a\":\($0)}", "{\"id\":\($0)"] }
            try bed.putList([origin.url("/bytes/1")] + bad + [origin.url("/bytes/2")])
            let run = try bed.run()
            #expect(run.status == 1 && !run.errors.contains("not a list"), "\(run.errors)")
            let fetched = try bed.records().filter { $0.isFetched == true }.compactMap(\.line).sorted()
            #expect(bed.recordCount() == 152 && fetched == [1, 152])
            #expect(try bed.run().status == 1)
            #expect(bed.recordCount() == 152)
        }
    }

    @Test("objects that are no requests have a record each, however many, and the rest goes on")
    func badObjects() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let bad = (0..<300).map { $0 % 2 == 0 ? #"{"id":\#($0)}"# : #" {"a\#($0)"# }
            try bed.putList(bad + [origin.url("/bytes/10")])
            let run = try bed.run()
            #expect(run.status == 1, "\(run.errors)")
            #expect(bed.recordCount() == 301)
            #expect(try bed.records().count { $0.status == 200 } == 1)
        }
    }

    @Test("lines that are no requests, one after the other without end, are no list")
    func noList() async throws {
        let bed = try BatchBed()
        try bed.putList(Array(repeating: "http://127.0.0.1:1/\t../x", count: 5000))
        let run = try bed.run()
        #expect(run.status == 1 && run.errors.contains("not a list of URLs"), "\(run.errors)")
        #expect(bed.recordCount() == 100)
    }
}
