import Foundation
import Glibc
import TestSupport
import Testing

/// How a pipe goes on and ends.
@Suite("trawl pipe, its life", .serialized, .timeLimit(.minutes(3)))
struct PipeLifeTests {
    @Test("a program that writes before it reads is answered in full")
    func writesFirst() async throws {
        try await withOrigin { origin in
            let pipe = try PipeProcess()
            let lines = (0..<1000).map { #"{"id":\#($0),"url":"\#(origin.url("/bytes/20000"))"}"# }
            async let writing: Void = pipe.write(lines, ends: true)
            // All that fits has been written: nothing moves any more until somebody reads.
            #expect(await eventually { (try? origin.concurrency().total).map { $0 >= 256 } ?? false })
            var seen = Set<String>()
            while let answer = await pipe.next() {
                #expect(answer.body == ReferenceBytes.bytes(20000))
                seen.insert(answer.id)
            }
            await writing
            #expect(seen.count == 1000)
            #expect(await pipe.exitStatus() == 0)
        }
    }

    @Test("a reader that does not read holds the input up, and memory stays bounded")
    func stoppedReader() async throws {
        try await withOrigin { origin in
            let pipe = try PipeProcess()
            let total = 1500
            let lines = (0..<total).map { #"{"id":\#($0),"url":"\#(origin.url("/bytes/60000"))"}"# }
            async let writing: Void = pipe.write(lines, ends: true)
            // 64 MiB of answers, those in flight included: some 1,080 of these.
            var before = -1
            #expect(
                await eventually(within: .seconds(90)) {
                    let now = (try? origin.concurrency().total) ?? 0
                    defer { before = now }
                    try? await Task.sleep(for: .milliseconds(300))
                    return now > 1000 && now == before
                })
            #expect(before < total)
            #expect(ProcessTree.residentMemory(of: pipe.pid) < 300 << 20)
            let answers = await pipe.beginnings()
            await writing
            #expect(answers.count == total)
            #expect(await pipe.exitStatus() == 0)
        }
    }

    @Test("long lines that are answered at once hold the input up as well")
    func longLines() async throws {
        let pipe = try PipeProcess(["--max-memory", "1M"])
        let line = #"{"url":"\#(String(repeating: "x", count: 1 << 20))","bogus":1}"#
        async let writing: Void = pipe.write(Array(repeating: line, count: 96), ends: true)
        var before = -1
        #expect(
            await eventually {
                let now = ProcessTree.anonymousMemory(of: pipe.pid)
                defer { before = now }
                try? await Task.sleep(for: .milliseconds(300))
                return now > 1 << 20 && now == before
            })
        #expect(before < 64 << 20, "\(before)")
        pipe.closeOutput()
        #expect(await pipe.exitStatus() == 0)
        await writing
    }

    @Test("long bodies that nobody reads take little more memory than short ones, files in memory included")
    func longBodies() async throws {
        try await withOrigin { origin in
            let pipe = try PipeProcess(["-j", "16", "--no-cache"])
            let total = 30
            let lines = (0..<total).map { #"{"id":\#($0),"url":"\#(origin.url("/bytes/3000000"))"}"# }
            async let writing: Void = pipe.write(lines, ends: true)
            var held = 0
            var before = -1
            #expect(
                await eventually(within: .seconds(90)) {
                    before = held
                    try? await Task.sleep(for: .milliseconds(500))
                    held = ProcessTree.mappedBodies(of: pipe.pid)
                    return held > 20 << 20 && held == before
                })
            #expect(held <= 64 << 20, "\(held)")
            let answers = await pipe.beginnings()
            await writing
            #expect(answers.count == total && answers.allSatisfy { $0.text.contains(#","status":200,"#) })
            #expect(await pipe.exitStatus() == 0)
        }
    }

    @Test("at the end of the input the rest is finished, and neither worker nor descriptor is left")
    func end() async throws {
        try await withOrigin { origin in
            let pipe = try PipeProcess()
            pipe.write(#"{"id":0,"url":"\#(origin.url("/bytes/1"))"}"#)
            #expect(await pipe.next()?.status == 200)
            let workers = ProcessTree.children(of: pipe.pid)
            let descriptors = ProcessTree.descriptorCount(of: pipe.pid)
            for round in 0..<5 {
                for id in 0..<50 { pipe.write(#"{"id":\#(id),"url":"\#(origin.url("/bytes/\(round * 50_000)"))"}"#) }
                for _ in 0..<50 { #expect(await pipe.next()?.status == 200) }
            }
            #expect(await eventually { ProcessTree.descriptorCount(of: pipe.pid) <= descriptors })
            for id in 0..<10 { pipe.write(#"{"id":\#(id),"url":"\#(origin.url("/delay/200"))"}"#) }
            #expect(await pipe.finish().count == 10)
            #expect(await pipe.exitStatus() == 0)
            #expect(await eventually { workers.allSatisfy { kill($0, 0) != 0 } })
        }
    }

    @Test("no input at all is a success")
    func empty() throws {
        let run = try CommandRun(["pipe"])
        #expect(run.status == 0 && run.output.isEmpty && run.errors.isEmpty)
    }

    @Test("fewer fetches at a time than were asked for are told, be it for want of workers or of open files")
    func fewerAtATime() throws {
        let run = try CommandRun(["pipe", "--workers", "1", "-j", "4096"], input: "")
        #expect(run.status == 0 && run.errors.contains(" fetches at a time: "), "\(run.errors)")
    }

    @Test("a last line without its end is a request, too")
    func lastLine() async throws {
        try await withOrigin { origin in
            let run = try CommandRun(["pipe"], input: #"{"url":"\#(origin.url("/bytes/1"))"}"#)
            #expect(run.status == 0 && run.text.hasPrefix(#"{"id":null,"url":"#))
        }
    }

    @Test("a closed output ends it quietly, also while nothing is to be written")
    func closedOutput() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let pipe = try PipeProcess(errors: directory.file("errors"))
            pipe.write(#"{"id":1,"url":"\#(origin.url("/stall"))"}"#)
            #expect(await eventually { (try? origin.concurrency().now) == 1 })
            let workers = ProcessTree.children(of: pipe.pid)
            pipe.closeOutput()
            #expect(await pipe.exitStatus() == 0)
            #expect(directory.content("errors")?.isEmpty ?? true)
            #expect(await eventually { workers.allSatisfy { kill($0, 0) != 0 } })
        }
    }

    @Test("a pipe between processes whose reader goes ends it quietly, while a fetch has no end")
    func closedPipe() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let lines = ["/bytes/1", "/stall"].map { #"{"url":"\#(origin.url($0))"}"# }
            let command = #"{ "$0" pipe --workers 1 2>"$3/errors"; echo $? >"$3/status"; }"#
            let run = try CommandRun(
                program: "/bin/sh",
                ["-c", #"printf '%s\n' "$1" "$2" | \#(command) | head -n 1"#, try BuiltProducts.trawl()] + lines
                    + [directory.path])
            #expect(run.text.hasPrefix(#"{"id":null,"url":"\#(origin.url("/bytes/1"))","status":200,"#), "\(run.text)")
            #expect(run.text.count { $0 == "\n" } == 1)
            #expect(directory.content("status") == Array("0\n".utf8))
            #expect(directory.content("errors") == [])
        }
    }

    @Test("a socket that is closed with answers unread ends it as quietly")
    func droppedOutput() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let pipe = try PipeProcess(["-j", "1"], errors: directory.file("errors"))
            // One after the other, so that each is written for itself, and more than a socket takes: one is being
            // written, and none of it has gone.
            let count = 60
            for id in 0..<count { pipe.write(#"{"id":\#(id),"url":"\#(origin.url("/bytes/10000?\(id)"))"}"#) }
            #expect(await eventually { (try? origin.concurrency().total) == count })
            pipe.dropOutput()
            #expect(await pipe.exitStatus() == 0)
            #expect(directory.content("errors")?.isEmpty ?? true)
        }
    }

    @Test("a socket that is input and output, and was reset, ends it quietly, whichever tells it first")
    func resetSocket() throws {
        let directory = try TemporaryDirectory()
        let ends = try #require(OwnDescriptors.socketPair())
        let socket = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        // Closed with a byte unread.
        let written = write(ends[1], "x", 1)
        close(ends[0])
        #expect(written == 1)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try BuiltProducts.trawl())
        process.arguments = ["pipe"]
        process.standardInput = socket
        process.standardOutput = socket
        try directory.put("errors", [])
        process.standardError = FileHandle(forWritingAtPath: directory.file("errors"))
        try process.runToEnd()
        #expect(process.terminationStatus == 0)
        #expect(directory.content("errors")?.isEmpty == true)
    }

    @Test("a signal lets fetches in flight end, and answers those that wait")
    func interrupt() async throws {
        let end = Occasion()
        let origin = try ScriptedOrigin { _ in
            var answer = ScriptedOrigin.Answer(200, "half")
            answer.rest = (Array("half".utf8), end)
            return answer
        }
        defer { origin.stop() }
        let pipe = try PipeProcess(["-j", "2"])
        let requests = (0..<4).map { #"{"id":\#($0),"url":"\#(origin.url("/\($0)"))"}"# }
        // In one piece: when two are at the origin, all have been read.
        pipe.write(requests.joined(separator: "\n"))
        #expect(await eventually { origin.seen().count == 2 })
        pipe.signal(SIGTERM)
        var answers: [PipeProcess.Answer] = []
        while answers.count < 2, let answer = await pipe.next() { answers.append(answer) }
        #expect(answers.allSatisfy { $0.code == "cancelled" }, "\(answers.map(\.text))")
        end.open()
        while let answer = await pipe.next() { answers.append(answer) }
        #expect(answers.count { $0.status == 200 } == 2)
        #expect(answers.count { $0.code == "cancelled" } == 2)
        #expect(await pipe.exitStatus() == 75)
    }

    @Test("a request that is cancelled is told from one that was not sent")
    func cancelled() async throws {
        try await withOrigin { origin in
            let pipe = try PipeProcess(["-j", "1"])
            let requests = (1...2).map {
                #"{"id":\#($0),"url":"\#(origin.url("/stall"))","method":"POST","body":"pay"}"#
            }
            // In one piece: when the first is at the origin, both have been read.
            pipe.write(requests.joined(separator: "\n"))
            #expect(await eventually { (try? origin.concurrency().now) == 1 })
            pipe.signal(SIGTERM)
            let unsent = try #require(await pipe.next())
            #expect(unsent.id == "2" && unsent.code == "cancelled" && unsent.kind == "shut_down", "\(unsent.text)")
            pipe.signal(SIGTERM)
            let sent = try #require(await pipe.next())
            #expect(sent.id == "1" && sent.code == "cancelled" && sent.kind == nil, "\(sent.text)")
            #expect(await pipe.exitStatus() == 75)
            let count = try origin.log(prefix: "/stall").count
            #expect(count == 1)
        }
    }

    @Test("a worker that is killed costs no answer")
    func killedWorker() async throws {
        try await withOrigin { origin in
            let pipe = try PipeProcess()
            for id in 0..<100 { pipe.write(#"{"id":\#(id),"url":"\#(origin.url("/delay/2000"))"}"#) }
            #expect(await eventually { (try? origin.log(prefix: "/delay").count) == 100 })
            if let worker = ProcessTree.children(of: pipe.pid).first { kill(worker, SIGKILL) }
            let answers = await pipe.finish()
            #expect(answers.count == 100 && answers.values.allSatisfy { $0.status == 200 })
            #expect(await pipe.exitStatus() == 0)
        }
    }

    @Test("the example clients work", arguments: ["pipe_client.py", "pipe_client.sh"])
    func examples(name: String) async throws {
        let root = Checkout.path()
        try await withOrigin { origin in
            let trawl = try BuiltProducts.trawl()
            let isPython = name.hasSuffix(".py")
            let program = [isPython ? "python3" : "bash", "\(root)/docs/examples/\(name)"]
            let urls = [origin.url("/bytes/100000"), origin.url("/status/404"), "http://127.0.0.1:1/"]
            let run = try CommandRun(
                program: "/usr/bin/env", program + (isPython ? ["--trawl", trawl] : []) + urls,
                environment: ["TRAWL": trawl, "PYTHONDONTWRITEBYTECODE": "1"])
            let lines = run.text.split(separator: "\n")
            #expect(lines.count == 3 && run.status == 1, "\(run.errors)")
            #expect(lines.contains { $0.hasPrefix("200 100000 ") } && lines.contains { $0.hasPrefix("404 ") })
            #expect(lines.contains { $0.hasPrefix("connect 0 ") })
        }
    }

    @Test("the example in Python answers what is cancelled, and what is asked when the command was killed")
    func exampleOutlivesCommand() async throws {
        let program = """
            import sys
            from pipe_client import Pipe, PipeError
            command, url, endless = sys.argv[1:]
            with Pipe([command, "pipe", "--status-socket", "none"]) as pipe:
                futures = [pipe.send(url), pipe.send(endless)]
                assert not futures[0].cancel()
                print(futures[0].result().status)
                pipe._process.kill()
                pipe._process.wait()
                futures += [pipe.send(url), pipe.send(url)]
                for future in futures[1:]:
                    try:
                        future.result()
                    except PipeError as error:
                        print(error.code)
            print(pipe.close())
            """
        try await withOrigin { origin in
            let run = try CommandRun(
                program: "/usr/bin/env",
                ["python3", "-c", program, try BuiltProducts.trawl(), origin.url("/bytes/10"), origin.url("/stall")],
                environment: ["PYTHONPATH": "\(Checkout.path())/docs/examples", "PYTHONDONTWRITEBYTECODE": "1"])
            #expect(run.text == "200\ncancelled\ncancelled\ncancelled\n-9\n", "\(run.errors)")
            #expect(run.status == 0)
        }
    }

    @Test("the example in bash fails when what it runs answers nothing", arguments: ["/nonexistent", "/bin/true"])
    func exampleWithoutAnswers(program: String) throws {
        let script = "\(Checkout.path())/docs/examples/pipe_client.sh"
        let run = try CommandRun(
            program: "/usr/bin/env", ["bash", script, "http://127.0.0.1:1/"], environment: ["TRAWL": program])
        #expect(run.status == 1 && run.output.isEmpty, "\(run.errors)")
    }
}
