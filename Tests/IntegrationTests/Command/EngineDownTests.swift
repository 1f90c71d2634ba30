import Foundation
import Glibc
import Testing

@Suite("Commands whose workers cannot be run, or die", .serialized, .timeLimit(.minutes(2)))
struct EngineDownTests {
    private static let noWorker = ["TRAWL_WORKER_EXECUTABLE": "/bin/false"]

    /// A program that is started without arguments and speaks another version of the protocol.
    private func otherVersion(in directory: TemporaryDirectory) throws -> String {
        let path = directory.file("other")
        let script = "#!/bin/sh\nexec \(try BuiltProducts.faultyWorker().shellWord) version\n"
        // Written by a process of its own: what somebody writes cannot be executed, and one that this process is just
        // starting would have it open too.
        let made = try CommandRun(
            program: "/bin/sh", ["-c", "printf %s \"$1\" >\"$0\" && chmod 755 \"$0\"", path, script])
        #expect(made.status == 0, "\(made.errors)")
        return path
    }

    @Test("a get whose worker is missing, or is none of its own, ends with 69 and says why in one line")
    func get() throws {
        let directory = try TemporaryDirectory()
        let missing = directory.file("missing")
        let other = try otherVersion(in: directory)
        let cases = [
            (missing, "the worker executable \(missing) cannot be run: No such file or directory"),
            ("/bin/false", "/bin/false is not a worker: it ended with status 1"),
            (other, "\(other) does not fit: it speaks protocol "),
        ]
        for (program, reason) in cases {
            let run = try CommandRun(
                ["get", "http://127.0.0.1:1/"], environment: ["TRAWL_WORKER_EXECUTABLE": program])
            #expect(run.status == 69 && !run.wasSignalled && run.output.isEmpty, "\(program): \(run.errors)")
            #expect(run.errors.hasPrefix("trawl: ") && run.errors.contains(reason), "\(run.errors)")
            #expect(run.errors.hasSuffix("\n") && run.errors.split(separator: "\n").count == 1, "\(run.errors)")
        }
    }

    @Test("a batch without a worker ends with 69 and without a record, and the next one does it all")
    func batch() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList((1...3).map { origin.url("/bytes/\($0)") })
            let run = try CommandRun(bed.arguments(), environment: Self.noWorker)
            #expect(run.status == 69 && run.errors.contains("/bin/false is not a worker"), "\(run.errors)")
            #expect(bed.recordCount() == 0)
            #expect(try bed.run().status == 0)
            #expect(bed.recordCount() == 3)
        }
    }

    @Test("a pipe without a worker answers every line with engine_down, and ends with 69")
    func pipe() throws {
        let lines = (1...3).map { "{\"id\":\($0),\"url\":\"http://127.0.0.1:1/\"}\n" }
        let run = try CommandRun(["pipe"], input: lines.joined(), environment: Self.noWorker)
        #expect(run.status == 69, "\(run.errors)")
        // Told once, however many requests meet it.
        #expect(run.errors.components(separatedBy: "/bin/false is not a worker").count == 2, "\(run.errors)")
        let answers = run.output.split(separator: 0x0A).compactMap { PipeProcess.Answer(Array($0)) }
        #expect(answers.map(\.id).sorted() == ["1", "2", "3"])
        #expect(answers.allSatisfy { $0.code == "engine_down" }, "\(run.text)")
    }

    @Test("a POST whose worker is killed is answered with worker_lost, sent once, and the pipe goes on")
    func workerLost() async throws {
        try await withOrigin { origin in
            let pipe = try PipeProcess()
            pipe.write(#"{"id":1,"url":"\#(origin.url("/delay/60000"))","method":"POST","body":"once"}"#)
            #expect(await eventually { (try? origin.log(prefix: "/delay").count) == 1 })
            for worker in ProcessTree.children(of: pipe.pid) { kill(worker, SIGKILL) }
            let answer = try #require(await pipe.next())
            #expect(answer.id == "1" && answer.code == "worker_lost", "\(answer.text)")
            pipe.write(#"{"id":2,"url":"\#(origin.url("/bytes/5"))"}"#)
            #expect(await pipe.next()?.body == ReferenceBytes.bytes(5))
            #expect(await pipe.finish().isEmpty)
            #expect(await pipe.exitStatus() == 0)
            #expect(try origin.log(prefix: "/delay").count == 1)
        }
    }
}
