import Foundation
import Glibc
import Testing

/// Signals that come while a batch still reads what there is.
@Suite("trawl batch, signals before it begins", .serialized, .timeLimit(.minutes(2)))
struct BatchStartTests {
    /// Starts a batch that is held up before it begins: its results are a named pipe that nobody reads. Returns when it
    /// takes signals.
    private func start(_ bed: BatchBed, _ more: [String] = []) async throws -> ChildProcess {
        #expect(mkfifo(bed.results, 0o600) == 0)
        let run = try bed.start(more)
        #expect(await eventually { ProcessTree.threads(of: run.pid).contains("trawl-signals") })
        return run
    }

    @Test("SIGUSR1, and SIGHUP where options come from a file, are answered when it has begun")
    func kept() async throws {
        let gate = Occasion()
        let origin = try ScriptedOrigin { _ in
            gate.wait()
            return ScriptedOrigin.Answer(200, "there")
        }
        defer { origin.stop() }
        let bed = try BatchBed()
        try bed.putList([origin.url("/a")])
        try bed.directory.put("config", Array("limit-rate = 1G\n".utf8))
        let run = try await start(bed, ["-K", bed.directory.file("config")])
        try bed.directory.put("config", Array("limit-rate = 2G\n".utf8))
        run.signal(SIGUSR1)
        run.signal(SIGHUP)
        // Waits for no other end, and lets that one go on.
        let reader = open(bed.results, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        #expect(reader >= 0)
        defer { close(reader) }
        #expect(await eventually { bed.errors.contains("trawl batch \(run.pid)  up ") }, "\(bed.errors)")
        #expect(await eventually { bed.errors.contains("limit now 2147483648 bytes/s") }, "\(bed.errors)")
        gate.open()
        #expect(run.exitStatus(within: 30_000) == 0, "\(bed.errors)")
    }

    @Test(
        "what ends a run ends it at once, with the status of one that was stopped",
        arguments: [SIGINT, SIGTERM, SIGHUP])
    func stopped(signal: Int32) async throws {
        let bed = try BatchBed()
        try bed.putList(["http://127.0.0.1:1/"])
        let run = try await start(bed)
        run.signal(signal)
        #expect(run.exitStatus(within: 20_000) == 75)
        #expect(bed.errors.isEmpty, "\(bed.errors)")
    }
}
