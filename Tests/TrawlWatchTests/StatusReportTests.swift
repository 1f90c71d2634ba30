import TestSupport
import Testing
import TrawlJSON
import TrawlWatch

@Suite("A status report as JSON")
struct StatusReportTests {
    @Test("the members are those of the document, in that order")
    func members() {
        var report = StatusReport(program: "batch", process: 12, uptime: .milliseconds(1500))
        report.fetches.waiting = 3
        report.fetches.waitingForNetwork = 1
        report.fetches.inFlight = 2
        report.fetches.done = 10
        report.fetches.failed = 1
        report.traffic.received = 4096
        report.traffic.receivedRate = 1024
        report.traffic.receivedLimit = 2048
        report.traffic.isJoint = true
        report.cache.misses = 10
        report.failures = [.init(code: "timeout", count: 1)]
        report.workers = [.init(slot: 0, process: 13, state: .ready, transfers: 2, restarts: 0)]
        report.hosts = [
            .init(
                origin: "http://127.0.0.1:8080", inFlight: 2, waiting: 3, state: .snoozed, snoozedFor: .seconds(2),
                circuit: .halfOpen)
        ]
        report.hostCount = 1
        let expected = """
            {"v":1,"program":"batch","pid":12,"uptime":1.5,"stage":"running",\
            "fetches":{"waiting":3,"waiting_for_network":1,"in_flight":2,"done":10,"failed":1,"retries":0},\
            "traffic":{"received":4096,"sent":0,"received_per_second":1024,"sent_per_second":0,"received_limit":2048,\
            "sent_limit":null,"joint_limit":true,"throttled":false},\
            "cache":{"hits":0,"validated":0,"stale":0,"misses":10},\
            "errors":[{"code":"timeout","count":1}],\
            "workers":[{"slot":0,"pid":13,"state":"ready","transfers":2,"restarts":0}],\
            "host_count":1,"hosts":[{"origin":"http://127.0.0.1:8080","in_flight":2,"waiting":3,"state":"snoozed",\
            "snoozed_for":2,"circuit":"half_open"}]}

            """
        #expect(String(decoding: report.json, as: UTF8.self) == expected)
    }

    @Test("what is written is read as it was")
    func roundTrip() {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let report = StatusReport.any(&random)
            #expect(read(report.json) == .success(report), "seed \(seed)")
        }
    }

    @Test("a line of it cannot drive a terminal")
    func plain() {
        let report = StatusReport(program: "\u{1B}[2J\u{9B}\u{7F}é", process: 1)
        let text = String(decoding: report.json.dropLast(), as: UTF8.self)
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) })
    }

    @Test("members that are not known are passed over")
    func unknownMembers() {
        let report = StatusReport(program: "x", process: 1)
        let text = String(decoding: report.json, as: UTF8.self)
        let more = text.replacing("\"pid\":1", with: "\"news\":{\"a\":[1,null]},\"pid\":1")
        #expect(read(Array(more.utf8)) == .success(report))
    }

    @Test("each member is needed, and of its kind")
    func missing() {
        let whole = String(decoding: StatusReport(program: "x", process: 1).json, as: UTF8.self)
        let names = [
            "program", "pid", "uptime", "stage", "fetches", "traffic", "cache", "errors", "workers", "hosts",
            "host_count", "waiting", "waiting_for_network", "in_flight", "done", "failed", "retries", "received",
            "sent", "received_per_second", "sent_per_second", "received_limit", "sent_limit", "joint_limit",
            "throttled", "hits", "validated", "stale", "misses",
        ]
        for name in names {
            let text = whole.replacing("\"\(name)\":", with: "\"other\":", maxReplacements: 1)
            #expect(text != whole)
            #expect(read(Array(text.utf8)) == .failure(.unusable), "without \(name)")
        }
        for (old, new) in [
            ("\"pid\":1", "\"pid\":-1"), ("\"pid\":1", "\"pid\":4294967296"), ("\"pid\":1", "\"pid\":1.5"),
            ("\"done\":0", "\"done\":\"0\""), ("\"errors\":[]", "\"errors\":[1]"),
            ("\"stage\":\"running\"", "\"stage\":\"dancing\""), ("\"throttled\":false", "\"throttled\":0"),
            ("\"v\":1", "\"v\":true"),
        ] {
            let text = whole.replacing(old, with: new)
            #expect(text != whole)
            #expect(read(Array(text.utf8)) == .failure(.unusable), "\(new)")
        }
    }

    @Test("another version is told as that")
    func version() {
        let whole = String(decoding: StatusReport(program: "x", process: 1).json, as: UTF8.self)
        #expect(read(Array(whole.replacing("\"v\":1", with: "\"v\":2").utf8)) == .failure(.version(2)))
        #expect(read(Array("{\"v\":7}".utf8)) == .failure(.version(7)))
    }

    @Test("numbers beyond all bounds do no harm")
    func numbers() {
        let whole = String(decoding: StatusReport(program: "x", process: 1).json, as: UTF8.self)
        let huge = whole.replacing("\"done\":0", with: "\"done\":1e300")
            .replacing("\"waiting\":0", with: "\"waiting\":99999999999999999999")
        guard case .success(let report) = read(Array(huge.utf8)) else {
            Issue.record("it is a report")
            return
        }
        #expect(report.fetches.done == .max && report.fetches.waiting == .max)
        #expect(read(Array(whole.replacing("\"done\":0", with: "\"done\":1e999").utf8)).isFailure == false)
        #expect(
            read(Array(whole.replacing("\"uptime\":0", with: "\"uptime\":1e30").utf8)) == .failure(.unusable))
    }

    @Test("any bytes are a report or are none, and end nothing")
    func garbage() {
        for seed in 0..<2000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var bytes = StatusReport.any(&random).json
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch random.next() % 3 {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes = Array(bytes[..<place])
                }
                if bytes.isEmpty { break }
            }
            _ = read(bytes)
        }
        let deep = Array(String(repeating: "[", count: 100_000).utf8)
        #expect(read(deep).isFailure)
        #expect(read([]).isFailure)
    }
}

extension Result {
    fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
