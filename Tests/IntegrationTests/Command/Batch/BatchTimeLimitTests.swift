import Foundation
import Glibc
import Testing

/// What `-m` and `timeout` count, and what a request that runs out of time leaves.
@Suite("Time limits of the commands, ASI-RTY-02", .serialized, .timeLimit(.minutes(6)))
struct BatchTimeLimitTests {
    @Test("-m runs from when a request's turn has come, not while it waits for others")
    func turns() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            // Two at a time, five seconds in all.
            try bed.putList((0..<20).map { origin.url("/delay/500?n=\($0)") })
            let run = try bed.run(["--per-host", "2", "-m", "4.5"])
            #expect(run.status == 0, "\(run.errors)")
            #expect(try bed.records().allSatisfy { $0.isFetched == true })
        }
    }

    @Test("a request of the pipe has its timeout for itself")
    func pipe() async throws {
        try await withOrigin { origin in
            let pipe = try PipeProcess(["--per-host", "2"])
            let lines = (0..<14).map { #"{"id":\#($0),"url":"\#(origin.url("/delay/600?n=\($0)"))","timeout":4}"# }
            async let writing: Void = pipe.write(lines, ends: true)
            var statuses: [Int?] = []
            while let answer = await pipe.next() { statuses.append(answer.status) }
            await writing
            #expect(statuses == Array(repeating: 200, count: 14))
        }
    }

    @Test("redirects are within it", arguments: ["/redirect-to?url=/delay/30000", "/delay/30000"])
    func redirects(target: String) async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList([origin.url(target)])
            let run = try bed.run(["-m", "0.5"])
            #expect(run.status == 1 && run.errors.contains("longer than 0.5 seconds"), "\(run.errors)")
        }
    }

    @Test(
        "what is complete when its time is up is fetched, and what is not leaves no file",
        arguments: [[], ["--retry", "2"]])
    func race(retries: [String]) async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList((0..<120).map { origin.url("/delay/\(270 + $0 % 60)?n=\($0)") })
            _ = try bed.run(["-j", "120", "--per-host", "0", "-m", "0.3"] + retries)
            let records = try bed.records()
            #expect(records.count == 120)
            let named = records.compactMap(\.file)
            #expect(Set(named).count == named.count)
            #expect(try bed.files() == named.sorted())
            #expect(records.allSatisfy { ($0.isFetched == true) == ($0.file != nil) })
        }
    }

    @Test("the time in which a run is stopped does not count")
    func stopped() async throws {
        let bed = try BatchBed()
        let origin = try HeldOrigin()
        defer { origin.stop() }
        try bed.putList([origin.url()])
        let run = try bed.start(["-m", "5"])
        #expect(await eventually { origin.count == 1 })
        let processes = ProcessTree.children(of: run.pid) + [run.pid]
        for process in processes { kill(process, SIGSTOP) }
        #expect(await eventually { processes.allSatisfy { ProcessTree.state(of: $0) == "T" } })
        origin.letGo()
        // Longer than the limit.
        try await Task.sleep(for: .seconds(5))
        for process in processes { kill(process, SIGCONT) }
        #expect(run.exitStatus(within: 60_000) == 0, "\(bed.errors)")
        #expect(try bed.records().map(\.status) == [200])
    }

    @Test("nor does it for a connection that was being made")
    func stoppedConnecting() async throws {
        let bed = try BatchBed()
        let hasBegun = Locked(false)
        let goesOn = Occasion()
        let peer = try ScriptedPeer { connection, _ in
            // TLS has begun, and is broken off once the run goes on.
            _ = connection.read(1)
            hasBegun.withLock { $0 = true }
            goesOn.wait()
        }
        defer { peer.stop() }
        try bed.putList(["https://\(peer.place)/"])
        let run = try bed.start(["--connect-timeout", "6"])
        let begins = await eventually { hasBegun.withLock { $0 } }
        #expect(begins)
        let processes = ProcessTree.children(of: run.pid) + [run.pid]
        for process in processes { kill(process, SIGSTOP) }
        let areStopped = await eventually { processes.allSatisfy { ProcessTree.state(of: $0) == "T" } }
        #expect(areStopped)
        // Longer than the limit.
        try await Task.sleep(for: .seconds(6))
        for process in processes { kill(process, SIGCONT) }
        goesOn.open()
        #expect(run.exitStatus(within: 60_000) == 1, "\(bed.errors)")
        let codes = try bed.records().map(\.code)
        #expect(codes.count == 1 && codes != ["timeout"], "\(codes)")
    }
}
