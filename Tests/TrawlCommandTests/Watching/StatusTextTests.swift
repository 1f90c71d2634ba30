import Testing
import TrawlWatch

@testable import TrawlCommand

@Suite("A status for people")
struct StatusTextTests {
    private func report() -> StatusReport {
        var report = StatusReport(program: "batch", process: 4711, uptime: .seconds(3725))
        report.fetches.done = 1200
        report.fetches.failed = 3
        report.fetches.inFlight = 12
        report.fetches.waiting = 340
        report.fetches.waitingForNetwork = 30
        report.fetches.retries = 2
        report.traffic.receivedRate = 10 << 20
        report.traffic.sentRate = 2048
        report.traffic.received = 5 << 30
        report.traffic.sent = 1 << 20
        report.traffic.receivedLimit = 10 << 20
        report.traffic.isJoint = true
        report.traffic.isThrottled = true
        report.cache.hits = 300
        report.cache.misses = 900
        report.failures = [.init(code: "timeout", count: 2), .init(code: "dns", count: 1)]
        report.workers = [
            .init(slot: 0, process: 10, state: .ready, transfers: 12, restarts: 0),
            .init(slot: 1, process: nil, state: .waiting, transfers: 0, restarts: 4),
        ]
        report.hosts = [
            .init(origin: "https://example.org", inFlight: 6, waiting: 300, state: .inProcess),
            .init(
                origin: "http://slow.example:8080", inFlight: 0, waiting: 40, state: .snoozed,
                snoozedFor: .milliseconds(2510), circuit: .open),
        ]
        report.hostCount = 2
        return report
    }

    @Test("all of it")
    func whole() {
        let expected = """
            trawl batch 4711  up 1:02:05
            fetches   1200 done, 3 failed, 12 in flight, 340 waiting (30 for the network), 2 tried again
            traffic   in 10.0M/s, out 2.0K/s; in all in 5.0G, out 1.0M; limit 10.0M/s, reached
            cache     300 hits, 0 validated, 900 misses (25 %)
            errors    2 timeout, 1 dns
            workers   1 ready, 1 waiting, 4 restarts
              1  no process  waiting  0 in flight  4 restarts
            hosts     2  (in flight, waiting)
              6  300  https://example.org
              0   40  http://slow.example:8080  circuit open, resting 2.6s
            """
        #expect(StatusText.lines(report(), width: 200).joined(separator: "\n") == expected)
    }

    @Test("any room is enough, and none is exceeded")
    func room() {
        var report = report()
        report.hosts = (0..<64).map {
            .init(origin: "http://host\($0).example", inFlight: $0, waiting: $0 * 1000, state: .ready)
        }
        report.hostCount = 500
        for width in [-1, 0, 1, 2, 10, 79, 80, 500] {
            for height in [-1, 0, 1, 2, 7, 8, 9, 24, 100] {
                let lines = StatusText.lines(report, width: width, height: height)
                #expect(lines.count <= max(0, height) && lines.allSatisfy { $0.count <= max(0, width) })
                #expect(lines.isEmpty == (width < 1 || height < 1))
            }
        }
        #expect(StatusText.lines(report, width: 80).last == "  and 480 more")
    }

    @Test("what a stranger wrote is made plain")
    func strange() {
        var report = StatusReport(program: "\u{1B}[31m\u{202E}é", process: -1, uptime: .seconds(1 << 40))
        report.failures = [.init(code: "\u{7}\n", count: .max)]
        report.hosts = [
            .init(origin: "\u{9B}2J", inFlight: .max, waiting: .max, state: .ready, snoozedFor: .seconds(1 << 40))
        ]
        report.hostCount = 0
        report.workers = [.init(slot: .max, process: 1, state: .ready, transfers: .max, restarts: .max)]
        report.workers.append(.init(slot: .max, process: 1, state: .ready, transfers: .max, restarts: .max))
        for line in StatusText.lines(report, width: 300) {
            #expect(line.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "\(line)")
        }
    }
}
