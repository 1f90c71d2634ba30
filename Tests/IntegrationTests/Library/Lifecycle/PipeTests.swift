import Foundation
import Glibc
import Testing
import Trawl

@Suite("Pipes and terminals as destinations", .timeLimit(.minutes(2)), .bed())
struct PipeTests {
    /// A pipe with a name, in a directory of its own.
    private struct Pipe {
        let directory: TemporaryDirectory
        let path: String

        init() throws {
            directory = try TemporaryDirectory()
            path = directory.file("pipe")
            try #require(mkfifo(path, 0o600) == 0)
        }

        /// The reading end, which waits for nobody.
        func reader() throws -> Int32 {
            let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            try #require(reader >= 0)
            return reader
        }
    }

    /// Reads until there are so many bytes.
    private func read(_ count: Int, from reader: Int32, pieces: Int = 64 << 10) async -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: pieces)
        _ = await eventually(within: .seconds(60)) {
            while true {
                let got = Glibc.read(reader, &buffer, min(buffer.count, count - bytes.count))
                guard got > 0 else { return bytes.count == count }
                bytes += buffer[..<got]
            }
        }
        return bytes
    }

    @Test("a pipe without a reader keeps nobody waiting but its own fetch", arguments: Engine.allCases)
    func readerComesLate(engine: Engine) async throws {
        let bed = try Bed.current
        for coded in [false, true] {
            // A new one each time: a child that is just being started may still have the last reader's descriptor.
            let pipe = try Pipe()
            let target = coded ? "/gzip?chunked=1" : "/bytes/700000?seed=4"
            let fetch = bed.coordinator(engine).start(Request(bed.url(target)), into: .file(pipe.path))
            for await event in fetch.events {
                if case .head = event { break }
            }
            for _ in 0..<3 { #expect(try await bed.get("/bytes/10", on: engine).status == 200) }
            let reader = try pipe.reader()
            defer { close(reader) }
            let expected =
                coded ? try await bed.get("/plain").body.bytes : ReferenceBytes.bytes(700_000, seed: 4)
            let bytes = await read(expected.count, from: reader)
            #expect(bytes == expected, "\(bytes.count) bytes of \(expected.count)")
            let response = try await fetch.response
            #expect(response.receivedLength == UInt64(expected.count) && response.file == pipe.path)
            #expect(try pipe.directory.names() == ["pipe"])
        }
    }

    @Test("a pipe nobody reads costs its fetch all its time, and no more", arguments: Engine.allCases)
    func noReader(engine: Engine) async throws {
        let bed = try Bed.current
        let pipe = try Pipe()
        await failure(.timeout) {
            try await bed.get("/bytes/1000000", into: .file(pipe.path), on: engine) {
                $0.timeLimits.resource = .milliseconds(400)
            }
        }
        let fetch = bed.coordinator(engine).start(Request(bed.url("/bytes/1000000")), into: .file(pipe.path))
        for await event in fetch.events {
            if case .head = event { fetch.cancel() }
        }
        await failure(.cancelled) { try await fetch.response }
        #expect(try await bed.get("/bytes/10", on: engine).status == 200)
    }

    @Test("a slow reader stops its own transfer alone, and none of its clocks runs meanwhile", arguments: [0, 1])
    func slowReader(workers: Int) async throws {
        let bed = try Bed.current
        let pipe = try Pipe()
        let reader = try pipe.reader()
        defer { close(reader) }
        try await withTestCoordinator(workers: workers) { coordinator in
            for query in ["", "&chunked=1"] {
                var request = Request(bed.url("/bytes/3000000?seed=9\(query)"))
                request.options.timeLimits.inactivity = .seconds(2)
                let fetch = coordinator.start(request, into: .file(pipe.path))
                // It comes as far as the pipe has room.
                #expect(await read(1000, from: reader) == ReferenceBytes.bytes(1000, seed: 9))
                let clock = ContinuousClock()
                let start = clock.now
                repeat {
                    let other = try await coordinator.send(Request(bed.url("/bytes/100000")))
                    #expect(other.body.count == 100_000)
                } while clock.now - start < .milliseconds(2600)
                let rest = await read(3_000_000 - 1000, from: reader, pieces: 10_000)
                #expect(rest == Array(ReferenceBytes.bytes(3_000_000, seed: 9).dropFirst(1000)))
                let response = try await fetch.response
                #expect(response.receivedLength == 3_000_000)
            }
        }
    }

    @Test("two fetches into two pipes, read in turns, are both whole")
    func two() async throws {
        let bed = try Bed.current
        let pipes = [try Pipe(), try Pipe()]
        let readers = try pipes.map { try $0.reader() }
        defer { for reader in readers { close(reader) } }
        try await withTestCoordinator(workers: 1) { coordinator in
            let fetches = pipes.enumerated().map { number, pipe in
                coordinator.start(Request(bed.url("/bytes/500000?seed=\(number)")), into: .file(pipe.path))
            }
            var bytes: [[UInt8]] = [[], []]
            for _ in 0..<10 {
                for number in 0..<2 { bytes[number] += await read(50_000, from: readers[number]) }
            }
            for number in 0..<2 {
                #expect(bytes[number] == ReferenceBytes.bytes(500_000, seed: UInt64(number)))
                let response = try await fetches[number].response
                #expect(response.receivedLength == 500_000)
            }
        }
    }

    @Test("what a reader has cannot be taken back: the fetch is not done again when its worker dies")
    func workerDies() async throws {
        let bed = try Bed.current
        let pipe = try Pipe()
        let reader = try pipe.reader()
        defer { close(reader) }
        try await withTestCoordinator(workers: 1) { coordinator in
            let before = try await coordinator.send(Request(bed.url("/bytes/10")))
            #expect(before.status == 200)
            let fetch = coordinator.start(Request(bed.url("/bytes/3000000")), into: .file(pipe.path))
            #expect(await read(1000, from: reader).count == 1000)
            coordinator.signalWorkers(SIGKILL)
            let course = await follow(fetch)
            #expect(course.code == .workerLost && course.attempts == 1)
            let after = try await coordinator.send(Request(bed.url("/bytes/10")))
            #expect(after.status == 200)
        }
    }

    @Test("an empty body ends its reader's wait when an empty file is asked for")
    func empty() async throws {
        let bed = try Bed.current
        let pipe = try Pipe()
        let cat = try ChildProcess("/bin/cat", [pipe.path])
        var options = Destination.FileOptions()
        options.createsEmptyFile = true
        let response = try await bed.get("/bytes/0", into: .file(pipe.path, options: options))
        #expect(response.receivedLength == 0)
        #expect(await eventually { !cat.isRunning })
    }

    @Test(
        "a pipe that may not be written is an error at once", .enabled(if: geteuid() != 0, "root may do it anyway"))
    func noPermission() async throws {
        let pipe = try Pipe()
        chmod(pipe.path, 0o400)
        let bed = try Bed.current
        let error = await failure(.file) { try await bed.get("/bytes/10", into: .file(pipe.path)) }
        #expect(error?.cause == .system(EACCES))
    }

    @Test("a terminal that is stopped stops its own transfer alone")
    func terminal() async throws {
        let bed = try Bed.current
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        try #require(master >= 0)
        defer { close(master) }
        var number: Int32 = 0
        // TIOCSPTLCK and TIOCGPTN: the terminal is unlocked, and has this number.
        try #require(ioctl(master, 0x4004_5431, &number) == 0 && ioctl(master, 0x8004_5430, &number) == 0)
        let path = "/dev/pts/\(number)"
        let slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(slave >= 0)
        defer { close(slave) }
        var settings = termios()
        tcgetattr(slave, &settings)
        cfmakeraw(&settings)
        tcsetattr(slave, TCSANOW, &settings)
        try await withTestCoordinator(workers: 1) { coordinator in
            let fetch = coordinator.start(Request(bed.url("/bytes/200000?seed=2")), into: .file(path))
            #expect(await read(100, from: master).count == 100)
            for _ in 0..<5 {
                let other = try await coordinator.send(Request(bed.url("/bytes/10")))
                #expect(other.status == 200)
            }
            let rest = await read(200_000 - 100, from: master)
            #expect(rest == Array(ReferenceBytes.bytes(200_000, seed: 2).dropFirst(100)))
            let response = try await fetch.response
            #expect(response.receivedLength == 200_000)
        }
    }
}
