import Foundation
import Glibc
import Testing

/// Hosts that take no more now, in front of and among others.
@Suite("trawl batch, lines that others overtake", .serialized, .timeLimit(.minutes(10)))
struct BatchAsideTests {
    /// A list in which one host asks for rest at its first requests, and then has many lines among few of another's.
    private struct Mixture {
        let items: [BatchBed.Item]
        let slow = "127.0.0.1:"
        let others: Int

        /// - Parameters:
        ///   - rest: Seconds the first host asks for.
        ///   - lines: Of the first host.
        ///   - interval: Lines of it for each of another's.
        init(_ origin: LoopbackOriginProcess, rest: Int, lines: Int, interval: Int = 6) {
            var items = (0..<4).map {
                let url = origin.url("/status/503?n=\($0)&field=Retry-After:%20\(rest)")
                return BatchBed.Item(line: url, url: url, body: nil, isFetched: false)
            }
            for number in 0..<lines {
                items.append(.init(origin.url("/bytes/9?n=\(number)"), body: ReferenceBytes.bytes(9)))
                guard number % interval == interval - 1 else { continue }
                items.append(.init(origin.url("/bytes/8?n=\(number)", address: 2), body: ReferenceBytes.bytes(8)))
            }
            self.items = items
            others = lines / interval
        }
    }

    private static let arguments = ["--fail", "--per-host", "4", "-o", "{host}/{line}"]

    @Test("a host that rests keeps nobody waiting, and its lines come in their order when it takes them")
    func resting() async throws {
        let bed = try BatchBed()
        try await withOrigin(addresses: 2) { origin in
            let mixture = Mixture(origin, rest: 5, lines: 3000, interval: 30)
            try bed.putList(mixture.items.map(\.line))
            let run = try CommandRun(bed.arguments(Self.arguments), within: .seconds(400))
            #expect(run.status == 1 && run.errors.contains("3100 fetched, 4 failed"), "\(run.errors)")
            try bed.expectComplete(mixture.items)
            let log = try origin.log(prefix: "/bytes")
            let slow = log.filter { $0.host?.hasPrefix(mixture.slow) == true }
            let other = log.filter { $0.host?.hasPrefix(mixture.slow) == false }
            #expect(slow.count == 3000 && other.count == mixture.others)
            // Among the 1024 lines that are read ahead in any case are 33 of the other host.
            let first = slow.map(\.ms).min() ?? 0
            #expect(other.count { $0.ms < first } >= 60)
            // Four at a time, over two workers that the system runs as it likes; a connection has one after the other.
            for (connection, entries) in Dictionary(grouping: slow, by: \.connection) {
                let numbers = entries.compactMap { $0.target.split(separator: "=").last.flatMap { Int($0) } }
                #expect(numbers.count == entries.count && numbers == numbers.sorted(), "on connection \(connection)")
            }
            let lines = try bed.records().compactMap(\.line)
            #expect(Set(lines).count == mixture.items.count)
        }
    }

    @Test("what is aside when a run is killed or stopped is done by the next", arguments: [SIGKILL, SIGINT])
    func stopped(signal: Int32) async throws {
        let bed = try BatchBed()
        try await withOrigin(addresses: 2) { origin in
            let mixture = Mixture(origin, rest: 3600, lines: 1800)
            try bed.putList(mixture.items.map(\.line))
            let run = try bed.start(Self.arguments + ["--retry-after-max", "3600"])
            // The other host's are done: those of the first are aside, or wait.
            let areDone = await eventually(within: .seconds(90)) {
                bed.recordCount() == mixture.others + 4 || !run.isRunning
            }
            #expect(areDone)
            let workers = ProcessTree.children(of: run.pid)
            run.signal(signal)
            #expect(await eventually { !run.isRunning && !workers.contains(where: ProcessTree.isRunning) })
            if signal == SIGINT { #expect(run.exitStatus(within: 1) == 75, "\(bed.errors)") }
            #expect(bed.recordCount() == mixture.others + 4)
            let names = try FileManager.default.contentsOfDirectory(atPath: bed.directory.path)
            #expect(names.sorted() == ["errors", "list", "out", "results"])
            #expect(try bed.run(Self.arguments + ["--retry-after-max", "0"]).status == 1)
            try bed.expectComplete(mixture.items)
        }
    }

    @Test("without a place for them lines wait, and all is done")
    func nowhere() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin(addresses: 2) { origin in
            let mixture = Mixture(origin, rest: 1, lines: 1500)
            try directory.put("list", Array(mixture.items.map { $0.line + "\n" }.joined().utf8))
            let run = try CommandRun(
                ["batch", directory.file("list"), "--no-files", "--results", "-", "--fail", "--per-host", "4"],
                environment: ["TMPDIR": directory.file("none")])
            #expect(run.status == 1, "\(run.errors)")
            #expect(run.text.split(separator: "\n").count == mixture.items.count)
        }
    }

    @Test("a list from a closed standard input is wrong usage, and one that is not needed may be closed")
    func closedInput() async throws {
        try await withOrigin { origin in
            let bed = try BatchBed()
            try bed.putList([origin.url("/bytes/9")])
            let program = try BuiltProducts.trawl()
            func status(_ command: String) throws -> Int32? {
                unlink(bed.directory.file("errors"))
                let run = try ChildProcess(
                    "/bin/sh", ["-c", "exec '\(program)' \(command) <&-"], errors: bed.directory.file("errors"))
                return run.exitStatus(within: 30_000)
            }
            #expect(try status("batch '\(bed.list)' --no-files") == 0)
            for command in ["batch --no-files", "batch - --no-files", "pipe", "get -i -"] {
                let status = try status(command)
                #expect(status == 2 && bed.errors == "trawl: standard input is closed\n", "\(command): \(bed.errors)")
            }
        }
    }
}
