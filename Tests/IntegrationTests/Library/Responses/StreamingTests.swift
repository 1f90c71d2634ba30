import Foundation
import Glibc
import TestSupport
import Testing
import Trawl

/// Memory is measured in a process that does nothing else.
@Suite("A slow reader holds back its own stream and no memory, POOL-02", .serialized)
struct StreamingTests {
    @Test("256 MiB flow through worker processes in bounded memory", .timeLimit(.minutes(5)))
    func workers() async {
        await #expect(processExitsWith: .success) { try await readSlowly(workers: 2) }
    }

    @Test("256 MiB flow through one process in bounded memory", .timeLimit(.minutes(5)))
    func inProcess() async {
        await #expect(processExitsWith: .success) { try await readSlowly(workers: 0) }
    }

    @Test("a reader that stops holds only its own fetch", .timeLimit(.minutes(2)), arguments: Engine.allCases)
    func stoppedReader(engine: Engine) async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: engine.workers) { coordinator in
                let stopped = (0..<4).map { _ in coordinator.start(Request(origin.url("/endless")), into: .stream) }
                for fetch in stopped {
                    for await event in fetch.events { if case .head = event { break } }
                }
                for round in 0..<50 as Range<UInt64> {
                    let response = try await coordinator.send(Request(origin.url("/bytes/100000?seed=\(round + 1)")))
                    #expect(response.body.bytes == ReferenceBytes.bytes(100_000, seed: round + 1))
                }
                let flowing = coordinator.start(Request(origin.url("/bytes/3000000")), into: .stream)
                #expect(try await readStream(flowing) == ReferenceBytes.bytes(3_000_000))
                for fetch in stopped { fetch.cancel() }
            }
        }
    }

    @Test("inactivity does not count while the reader is away", .timeLimit(.minutes(3)), arguments: Engine.allCases)
    func pausedClock(engine: Engine) async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: engine.workers) { coordinator in
                var request = Request(origin.url("/bytes/3000000"))
                request.options.timeLimits.inactivity = .seconds(3)
                let fetch = coordinator.start(request, into: .stream)
                var bytes: [UInt8] = []
                var slept = false
                for await event in fetch.events {
                    switch event {
                    case .data(let piece):
                        bytes += piece
                        if !slept {
                            slept = true
                            // Longer than the limit by far: that is the point.
                            try await Task.sleep(for: .seconds(4))
                        }
                    case .ended(let result): _ = try result.get()
                    default: break
                    }
                }
                #expect(bytes == ReferenceBytes.bytes(3_000_000))
            }
        }
    }
}

/// Streams 256 MiB with pauses and compares every byte with a file of the same.
private func readSlowly(workers: Int) async throws {
    let size = 256 << 20
    let directory = try TemporaryDirectory()
    try await withOrigin { origin in
        try await withTestCoordinator(workers: workers) { coordinator in
            let path = directory.file("whole")
            let target = "/bytes/\(size)?seed=11"
            let saved = try await coordinator.send(Request(origin.url(target)), into: .file(path))
            #expect(saved.receivedLength == UInt64(size))
            let whole = try #require(FileHandle(forReadingAtPath: path))
            // The file is checked where it is cheap: at its start, and by its length.
            #expect(try whole.read(upToCount: 1 << 20).map(Array.init) == ReferenceBytes.bytes(1 << 20, seed: 11))
            try whole.seek(toOffset: 0)

            let before = ProcessTree.anonymousMemory()
            var most = 0
            var mostOfWorkers = 0
            var received = 0
            var pieces = 0
            let fetch = coordinator.start(Request(origin.url(target)), into: .stream)
            for await event in fetch.events {
                switch event {
                case .data(let piece):
                    let expected = try whole.read(upToCount: piece.count) ?? Data()
                    let isSame = expected.withUnsafeBytes { expected in
                        piece.withUnsafeBytes { piece in
                            guard let left = expected.baseAddress, let right = piece.baseAddress else { return false }
                            return expected.count == piece.count && memcmp(left, right, piece.count) == 0
                        }
                    }
                    if !isSame {
                        Issue.record("the bytes after \(received) are not those of the file")
                        return
                    }
                    received += piece.count
                    pieces += 1
                    if pieces.isMultiple(of: 256) {
                        // A slow reader: what the worker may send meanwhile is bounded by credits.
                        try await Task.sleep(for: .milliseconds(20))
                        most = max(most, ProcessTree.anonymousMemory())
                        for child in ProcessTree.children() where child != origin.pid {
                            mostOfWorkers = max(mostOfWorkers, ProcessTree.anonymousMemory(of: child))
                        }
                    }
                case .ended(let result): _ = try result.get()
                default: break
                }
            }
            expectInChild(received == size, "received \(received)")
            if Sanitizer.isPresent { return }
            expectInChild(most - before < 48 << 20, "grew by \((most - before) >> 20) MiB from \(before >> 20) MiB")
            expectInChild(mostOfWorkers < 48 << 20, "a worker held \(mostOfWorkers >> 20) MiB")
        }
    }
}
