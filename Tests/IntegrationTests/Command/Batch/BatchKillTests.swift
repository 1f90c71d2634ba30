import Foundation
import Glibc
import TestSupport
import Testing

/// Batches whose processes are killed.
///
/// The form of every day takes seconds; with TRAWL_LONG_TESTS set there are ten thousand transfers and thirty kills.
@Suite("trawl batch, killed, POOL-09", .serialized, .timeLimit(.minutes(10)))
struct BatchKillTests {
    private static let seed: UInt64 = 20

    /// Transfers that take a tenth of a second each, of different lengths.
    private func items(_ count: Int, _ origin: LoopbackOriginProcess) -> [BatchBed.Item] {
        (0..<count).map { number in
            let length = 1000 + number % 700
            return BatchBed.Item(
                origin.url("/bytes/\(length)?rate=\(length * 10)&seed=\(number)", address: number % 4 + 1),
                body: ReferenceBytes.bytes(length, seed: UInt64(number)))
        }
    }

    /// The workers of a run that have transfers now.
    private func busyWorkers(_ socket: String) -> [Int32] {
        let report = try? StatusClient.report(socket)
        let workers = report?["workers"] as? [[String: Any]] ?? []
        return workers.filter { $0["transfers"] as? Int ?? 0 > 0 }.compactMap { ($0["pid"] as? Int).map { Int32($0) } }
    }

    @Test("a worker killed every tenth of a second costs no request, and none is answered twice")
    func workers() async throws {
        let bed = try BatchBed()
        try await withOrigin(addresses: 4) { origin in
            let items = items(runsLongTests ? 10_000 : 800, origin)
            try bed.putList(items.map(\.line))
            let socket = bed.directory.file("socket")
            let run = try bed.start([
                "-j", "64", "--per-host", "16", "--workers", "4", "--status-socket", socket,
            ])
            var random = SeededGenerator(seed: Self.seed)
            var (kills, goal) = (0, 0)
            let clock = ContinuousClock()
            while run.isRunning {
                let next = clock.now + .milliseconds(100)
                // Something is done in between: on a busy machine no worker would come to its work in that time.
                let count = bed.recordCount()
                if count >= goal, let worker = busyWorkers(socket).randomElement(using: &random),
                    kill(worker, SIGKILL) == 0
                {
                    kills += 1
                    goal = count + 16
                }
                try await clock.sleep(until: next)
            }
            #expect(run.exitStatus(within: 1) == 0, "\(bed.errors.suffix(1000))")
            // In a tenth of a second no more than the 64 that are under way come to their end.
            #expect(kills >= max(5, items.count / 200), "\(kills) kills")
            // What those that were killed held, some 16 each, was asked for once more.
            let repeated = try origin.concurrency().total - items.count
            #expect(repeated >= kills, "\(kills) kills, \(repeated) requests more than URLs")
            #expect(await eventually { ProcessTree.users(of: bed.directory.path).isEmpty })
            try bed.expectComplete(items)
        }
    }

    /// Who is killed.
    enum Victim: CaseIterable {
        case coordinator
        case everyone
    }

    @Test("a run that is killed and done again completes exactly", arguments: Victim.allCases)
    func again(victim: Victim) async throws {
        let bed = try BatchBed()
        try await withOrigin(addresses: 4) { origin in
            let kills = runsLongTests ? 30 : 6
            // Its answer is kept back, and with it the end of every run: each is killed while it runs.
            let held = try HeldOrigin()
            defer { held.stop() }
            let items =
                items(runsLongTests ? 10_000 : 600, origin)
                + [BatchBed.Item(held.url("/held"), body: Array("there".utf8))]
            try bed.putList(items.map(\.line))
            var random = SeededGenerator(seed: Self.seed + 1)
            for kill in 1...kills {
                // At a moment between two kills' shares of the list, wherever the transfers are by then.
                let goal =
                    items.count * (kill - 1) / (kills + 1)
                    + Int.random(in: 0...(items.count / (kills + 1)), using: &random)
                let run = try bed.start(["-j", "64", "--per-host", "16"], leadsGroup: victim == .everyone)
                #expect(await eventually { bed.recordCount() >= goal || !run.isRunning })
                try await Task.sleep(for: .microseconds(Int.random(in: 0...30_000, using: &random)))
                let workers = ProcessTree.children(of: run.pid)
                try #require(run.isRunning, "\(bed.errors.suffix(1000))")
                switch victim {
                case .coordinator: run.signal(SIGKILL)
                // A worker leads a group, too: what is typed at a terminal is none of its business.
                case .everyone: for group in [run.pid] + workers { Glibc.kill(-group, SIGKILL) }
                }
                #expect(await eventually { !run.isRunning && !workers.contains(where: ProcessTree.isRunning) })
                #expect(run.exitStatus(within: 1) == nil, "it ended by itself")
            }
            #expect(bed.recordCount() < items.count)
            held.letGo()
            let last = try bed.start(["-j", "64", "--per-host", "16"])
            #expect(await eventually(within: .seconds(120)) { !last.isRunning })
            #expect(last.exitStatus(within: 1) == 0, "\(bed.errors.suffix(1000))")
            #expect(await eventually { ProcessTree.users(of: bed.directory.path).isEmpty })
            try bed.expectComplete(items)
        }
    }

    /// How a run is stopped.
    enum Stop: CaseIterable {
        case interrupt, terminate, hangUp, twice, thrice, killed, allKilled, workerKilled
    }

    @Test(
        "a run stopped in any way at any moment is completed by the next",
        arguments: Stop.allCases, runsLongTests ? [0, 1, 7, 30, 60, 90] : [0, 25, 70])
    func stopped(stop: Stop, after count: Int) async throws {
        let bed = try BatchBed()
        try await withOrigin(addresses: 2) { origin in
            let items = try mixed(origin)
            try bed.putList(items.map(\.line))
            let arguments = ["-O", "-j", "8", "--retry", "1", "--fail", "--per-host", "4"]
            let run = try bed.start(arguments)
            #expect(await eventually { bed.recordCount() >= count || !run.isRunning })
            if count == 0 { #expect(await eventually { !ProcessTree.children(of: run.pid).isEmpty }) }
            let workers = ProcessTree.children(of: run.pid)
            switch stop {
            case .interrupt: run.signal(SIGINT)
            case .terminate: run.signal(SIGTERM)
            case .hangUp: run.signal(SIGHUP)
            case .twice:
                run.signal(SIGINT)
                run.signal(SIGTERM)
            case .thrice:
                // The third ends the process as it stands.
                for _ in 0..<3 { run.signal(SIGINT) }
            case .killed: run.signal(SIGKILL)
            case .allKilled:
                run.signal(SIGKILL)
                for worker in workers { kill(worker, SIGKILL) }
            case .workerKilled: if let worker = workers.first { kill(worker, SIGKILL) }
            }
            #expect(await eventually { !run.isRunning && !workers.contains(where: ProcessTree.isRunning) })
            let status = run.exitStatus(within: 1)
            let before = try bed.records()
            // What has come to its end by itself has done all, of which some fails.
            let expected: Int32 = before.count == items.count ? 1 : 75
            switch stop {
            case .interrupt, .terminate, .hangUp, .twice: #expect(status == expected, "\(bed.errors)")
            // Signals of a kind that come together are one, and the third ends it by the signal.
            case .thrice: #expect(status == nil || status == expected, "\(bed.errors)")
            case .killed, .allKilled: #expect(status == nil || status == 1 && expected == 1, "\(bed.errors)")
            case .workerKilled: #expect(status == 1 && expected == 1, "\(bed.errors)")
            }
            let next = try bed.run(arguments)
            // Some requests of the list fail whoever asks for them.
            #expect(next.status == 1, "\(next.errors)")
            // A file whose worker died is taken for that of whoever wants its name and has its bytes.
            try bed.expectComplete(items, mayShare: stop == .workerKilled)
            // What had a record kept it.
            let after = try bed.records()
            #expect(after.prefix(before.count).map(\.key) == before.map(\.key))
            let third = try bed.run(arguments)
            #expect(third.status == 1 && bed.recordCount() == items.count, "\(third.errors)")
            #expect(await eventually { ProcessTree.users(of: bed.directory.path).isEmpty })
        }
    }

    /// Everything a list can hold: duplicates, equal names, redirects, errors, retries, bad lines' neighbours.
    private func mixed(_ origin: LoopbackOriginProcess) throws -> [BatchBed.Item] {
        var items: [BatchBed.Item] = []
        for number in 0..<60 {
            // All of them are called 5000 or 300: other bytes each.
            let length = number % 2 == 0 ? 5000 : 300
            items.append(
                BatchBed.Item(
                    origin.url("/bytes/\(length)?rate=\(length * 20)&seed=\(number)", address: number % 2 + 1),
                    body: ReferenceBytes.bytes(length, seed: UInt64(number))))
        }
        for number in 0..<8 {
            let target = "/bytes/100?seed=\(900 + number)"
            items.append(
                BatchBed.Item(
                    origin.url("/redirect-to?url=\(target.percentEncoded)"),
                    body: ReferenceBytes.bytes(100, seed: UInt64(900 + number))))
            // Twice in the list, so there are two files.
            let twice = BatchBed.Item(
                origin.url("/bytes/70?seed=\(number)"), body: ReferenceBytes.bytes(70, seed: UInt64(number)))
            items += [twice, twice]
            let missing = origin.url("/status/404?n=\(number)")
            items.append(BatchBed.Item(line: missing, url: missing, body: nil, isFetched: false))
            let named = origin.url("/bytes/10?seed=\(number)")
            items.append(
                BatchBed.Item(
                    line: #"{"url":"\#(named)","id":\#(number),"out":"own/\#(number)"}"#, url: named,
                    body: ReferenceBytes.bytes(10, seed: UInt64(number))))
        }
        let again = origin.url("/status/503")
        items.append(BatchBed.Item(line: again, url: again, body: nil, isFetched: false))
        let loop = origin.url("/redirect-loop")
        items.append(BatchBed.Item(line: loop, url: loop, body: nil, isFetched: false))
        return items
    }
}
