import Foundation
import Glibc
import Testing

@Suite("A program whose file is replaced while it runs", .timeLimit(.minutes(2)))
struct UpgradeTests {
    @Test("its further workers are of the program that runs", arguments: [true, false])
    func replaced(isRemoved: Bool) async throws {
        // The first workers get no answer.
        let areDead = Occasion()
        let origin = try ScriptedOrigin { seen in
            if seen.number == 1 { areDead.wait() }
            return ScriptedOrigin.Answer(200, "fetched")
        }
        defer {
            areDead.open()
            origin.stop()
        }
        let bed = try BatchBed()
        let program = bed.directory.file("trawl")
        try BuiltProducts.copy("trawl", to: program)
        try bed.putList((0..<4).map { origin.url("/\($0)") })
        let run = try ChildProcess(
            program, bed.arguments(["--no-cache"]), errors: bed.directory.file("errors"))
        #expect(await eventually { origin.seen().count == 4 && ProcessTree.children(of: run.pid).count == 2 })
        try FileManager.default.removeItem(atPath: program)
        if !isRemoved { try FileManager.default.copyItem(atPath: "/bin/true", toPath: program) }
        let workers = ProcessTree.children(of: run.pid)
        #expect(workers.count == 2)
        for worker in workers { kill(worker, SIGKILL) }
        areDead.open()
        #expect(await eventually { !run.isRunning })
        #expect(run.exitStatus(within: 1) == 0, "\(bed.errors)")
        let records = try bed.records()
        #expect(records.count == 4 && records.allSatisfy { $0.isFetched == true })
    }
}
