import Glibc
import TestSupport
import Testing
import TrawlPlatform
import TrawlProtocol

@testable import TrawlTransfer
@testable import TrawlWorker

@Suite("A worker whose thread waits for a file")
struct OrphanWatchTests {
    @Test("the heart beats in a call on a file for an hour, and in each call anew")
    func pulse() {
        var pulse = FilePulse()
        func beats(_ call: UInt64?, times count: Int) -> Int {
            (0..<count).count { _ in pulse.beats(in: call) }
        }
        #expect(beats(nil, times: 1) == 0)
        for call in [UInt64(1), 3] {
            #expect(beats(call, times: Int(FilePulse.mostBeats) + 100) == Int(FilePulse.mostBeats))
            #expect(beats(nil, times: 1) == 0)
        }
        // Other calls came between two looks.
        #expect((0..<10_000 as Range<UInt64>).allSatisfy { beats(2 * $0 + 5, times: 1) == 1 })
    }

    @Test("a call on a body's file shows as long as it lasts")
    func shows() throws {
        let ends = try #require(OwnDescriptors.socketPair())
        let (writer, reader) = (ends[0], ends[1])
        defer { close(reader) }
        let calls = FileCalls()
        #expect(calls.current == nil && calls.ended == 0)
        let length = 8 << 20
        let thread = try NamedThread.start(name: "test-store") {
            let store = BodyStore(calls)
            store.useDescriptor(writer)
            [UInt8](repeating: 1, count: length).withUnsafeBytes { _ = try? store.write($0) }
            _ = try? store.finish()
        }
        // Nobody reads, so it does not come to its end.
        for _ in 0..<3_000 where calls.current == nil { usleep(10_000) }
        #expect(calls.current != nil && calls.ended == 0)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var taken = 0
        while true {
            let count = buffer.withUnsafeMutableBytes { read(reader, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            taken += count
        }
        thread.join()
        #expect(taken == length)
        #expect(calls.current == nil && calls.ended > 0)
    }

    @Test("a file's calls are seen from its making to its name")
    func file() throws {
        let scratch = try Scratch()
        let calls = FileCalls()
        let store = BodyStore(calls)
        let root = try OutputRoot(path: scratch.path)
        store.useFile(root, path: "x", isAsked: true, collision: .replace, sync: false, makesEmpty: false)
        try [UInt8](repeating: 1, count: 1000).withUnsafeBytes { try store.write($0) }
        #expect(calls.ended == 0)
        _ = try store.finish()
        // Making it, writing, naming it, closing.
        #expect(calls.current == nil && calls.ended == 4)
        #expect(scratch.content("x")?.count == 1000)
    }

    // In a process of its own, which the watch ends when the other end of the socket goes.
    @Test("the watch beats while the worker's own thread does not")
    func beats() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let pair = try ControlSocket.pair()
            let segment = try SharedSegment.create(workers: 1, transfersPerWorker: 16)
            let (line, calls) = (segment.worker(0), FileCalls())
            let watch = OrphanWatch.start(pair.there.rawValue)
            watch.beat(line, during: calls)
            calls.begin()
            for _ in 0..<3_000 where line.fileBeats < 2 { usleep(10_000) }
            // The heart's own beats are those of the worker's thread, which could read what it is told.
            exit(line.fileBeats >= 2 && line.heartbeat == 0 && pair.here.rawValue >= 0 ? 7 : 1)
        }
    }
}
