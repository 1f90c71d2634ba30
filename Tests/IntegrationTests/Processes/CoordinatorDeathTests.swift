import Foundation
import Glibc
import TestSupport
import Testing
import Trawl

@Suite("The end of a coordinator's process, POOL-04", .serialized, .timeLimit(.minutes(5)))
struct CoordinatorDeathTests {
    /// A worker that does not end is found by it: it is there for much longer.
    private static let limit = Duration.seconds(20)
    /// No worker is there for longer after its coordinator, unless a sanitizer slows it down.
    private static let promised = Sanitizer.isPresent ? limit : .seconds(1)

    /// Ends a coordinator in whatever way and expects that its workers are gone within a second.
    ///
    /// A machine that has much else to do may be late at any moment, and not each time: one of three attempts has to
    /// keep the second, and each of them the limit. A worker that leaves too late by itself does so in all of them.
    ///
    /// - Parameter end: Makes a coordinator, ends it, and says how long its workers were there afterwards.
    private func expectPrompt(
        sourceLocation: SourceLocation = #_sourceLocation, _ end: (_ attempt: Int) async throws -> Duration
    ) async throws {
        var times: [Duration] = []
        for attempt in 1...3 {
            let time = try await end(attempt)
            times.append(time)
            guard time < Self.limit else { break }
            if time < Self.promised { return }
        }
        Issue.record("workers were there for \(times) after their coordinator", sourceLocation: sourceLocation)
    }

    /// Ends a coordinator by a signal and says how long its workers were there afterwards.
    private func time(of workers: [Int32], after coordinator: ChildProcess, _ signal: Int32) async -> Duration {
        let clock = ContinuousClock()
        coordinator.signal(signal)
        // A core that is written comes before its end.
        let hasEnded = await eventually { !coordinator.isRunning }
        #expect(hasEnded)
        let begin = clock.now
        _ = await eventually(within: Self.limit) { !workers.contains(where: isRunning) }
        return clock.now - begin
    }

    @Test(
        "workers end with their coordinator, however it ends, and leave no file",
        arguments: [SIGKILL, SIGSEGV, SIGTERM])
    func dies(signal: Int32) async throws {
        let directory = try TemporaryDirectory()
        let places = [try directory.makeDirectory("rooted"), try directory.makeDirectory("opened")]
        try await withOrigin { origin in
            let urls = (0..<6).map { origin.url("/bytes/100000000?rate=1000000&seed=\($0)") }
            try await expectPrompt { _ in
                let host = try ChildProcess(
                    try BuiltProducts.product("HostProgram"), [try BuiltProducts.trawlWorker()] + places + urls,
                    environment: ["SWIFT_BACKTRACE=enable=no"])
                try #require(host.readLine() == "transferring")
                let workers = ProcessTree.children(of: host.pid)
                #expect(workers.count == 3)
                for worker in workers { #expect(getpgid(worker) == worker) }

                let time = await time(of: workers, after: host, signal)
                #expect(try directory.names() == ["opened", "rooted"])
                return time
            }
        }
    }

    @Test("an ordinary end of the process ends the workers too")
    func exits() async throws {
        let directory = try TemporaryDirectory()
        let bytes = ReferenceBytes.bytes(300_000)
        let origin = try HeldOrigin(bytes, behind: 100_000)
        defer { origin.stop() }
        let host = try ChildProcess(
            try BuiltProducts.product("HostProgram"),
            [try BuiltProducts.trawlWorker(), directory.path, directory.path, origin.url("/bytes")])
        try #require(host.readLine() == "transferring")
        let workers = ProcessTree.children(of: host.pid)
        #expect(workers.count == 3)
        origin.letGo()
        #expect(await eventually { !host.isRunning })
        #expect(await eventually(within: Self.limit) { !workers.contains(where: isRunning) })
        #expect(try directory.names() == ["0"])
        #expect(directory.content("0") == bytes)
    }

    @Test(
        "a worker that is held up by the system ends too",
        .enabled(if: RecordingOrigin.canRun, RecordingOrigin.missing))
    func heldUp() async throws {
        try await TrustScene.with { scene, _ in
            // It is given 0.7 s, so that it is gone within one.
            try await expectPrompt { attempt in
                let roots = scene.directory.file("roots-\(attempt).pem")
                try FileManager.default.copyItem(atPath: scene.authority.root, toPath: roots)
                let coordinator = try ChildProcess(
                    try BuiltProducts.trawl(),
                    ["pipe", "--workers", "1", "--no-cookies", "--no-cache", "--cacert", roots])
                // What is a file when it is looked at may be something else when a worker opens it.
                let reachesWorkers = await eventually { !ProcessTree.children(of: coordinator.pid).isEmpty }
                try #require(reachesWorkers)
                let workers = ProcessTree.children(of: coordinator.pid)
                #expect(unlink(roots) == 0 && mkfifo(roots, 0o600) == 0)
                let line = Array("{\"url\":\"\(scene.origin.url("good"))\"}\n".utf8)
                #expect(write(coordinator.input, line, line.count) == line.count)
                // Whoever reads it then waits for what never comes.
                let writer = BlockedReader.writer(of: roots)
                #expect(writer >= 0)
                defer { if writer >= 0 { close(writer) } }
                return await time(of: workers, after: coordinator, SIGKILL)
            }
        }
    }

    /// Stands between a coordinator and process 1: its orphans become children of this one, in their own session, so
    /// that the system continues none of them that is stopped.
    private static let reaper = """
        import ctypes, os, subprocess, sys
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        job = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, preexec_fn=os.setpgrp)
        print(job.pid, flush=True)
        job.wait()
        sys.stdin.read()
        """

    @Test(
        "a worker that is stopped ends too, also where the system does not continue it",
        .enabled(if: RecordingOrigin.python != nil, "python3 is not installed"))
    func stopped() async throws {
        let reaper = try ChildProcess(
            try #require(RecordingOrigin.python),
            ["-c", Self.reaper, try BuiltProducts.trawl(), "pipe", "--workers", "1", "--no-cookies", "--no-cache"])
        let coordinator = try #require(reaper.readLine().flatMap { Int32($0) })
        // The thread comes when all else is set up.
        let isReady = await eventually {
            let workers = ProcessTree.children(of: coordinator)
            return !workers.isEmpty && workers.allSatisfy { ProcessTree.threads(of: $0).contains("trawl-orphan") }
        }
        try #require(isReady)
        let workers = ProcessTree.children(of: coordinator)
        defer { for worker in workers where isRunning(worker) { kill(worker, SIGKILL) } }
        for worker in workers { kill(worker, SIGSTOP) }
        #expect(await eventually { workers.allSatisfy { ProcessTree.state(of: $0) == "T" } })
        kill(coordinator, SIGKILL)
        let areGone = await eventually(within: Self.limit) { !workers.contains(where: isRunning) }
        #expect(areGone)
    }

    /// Whether a process that is no child of this one runs.
    private func isRunning(_ pid: Int32) -> Bool {
        guard let stream = fopen("/proc/\(pid)/stat", "re") else { return false }
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let text = String(decoding: bytes[..<fread(&bytes, 1, bytes.count, stream)], as: UTF8.self)
        // A dead one may wait long for its new parent.
        let state = text[(text.lastIndex(of: ")") ?? text.endIndex)...].dropFirst(2).first
        return state.map { $0 != "Z" && $0 != "X" } ?? false
    }
}
