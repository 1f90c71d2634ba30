import Foundation
import Glibc
import Testing

@Suite("Commands whose workers cannot be run, or die", .serialized, .timeLimit(.minutes(2)))
struct EngineDownTests {
    private static let noWorker = ["TRAWL_WORKER_EXECUTABLE": "/bin/false"]

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
