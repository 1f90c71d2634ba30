import Testing
import TrawlHTTP
import TrawlProtocol

@testable import Trawl

@Suite("The events of a fetch")
struct EventChannelTests {
    private func progress(_ received: UInt64) -> FetchEvent {
        .progress(FetchProgress(received: received, expected: nil, sent: 0, decoded: received))
    }

    /// All that waits in a channel whose fetch is over.
    private func all(of channel: EventChannel) -> [FetchEvent] {
        channel.post(.ended(.failure(.shutDown(url: "http://h/"))))
        var events: [FetchEvent] = []
        while let event = channel.nextBlocking() { events.append(event) }
        return events
    }

    @Test("single bytes that nobody reads become long pieces, and none is lost")
    func singleBytes() {
        let channel = EventChannel()
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
        for (index, byte) in bytes.enumerated() {
            channel.post(.data([byte]))
            if index % 100 == 0 { channel.post(progress(UInt64(index))) }
        }
        var pieces: [[UInt8]] = []
        var others = 0
        for event in all(of: channel) {
            if case .data(let piece) = event { pieces.append(piece) } else { others += 1 }
        }
        #expect(pieces.map(\.count) == [65_536, 100_000 - 65_536])
        #expect(Array(pieces.joined()) == bytes)
        // The end, and how far it was when the first piece was full, and when the second came last.
        #expect(others == 3)
    }

    @Test("pieces stay behind what came before them, and long ones as they are")
    func order() {
        let channel = EventChannel()
        let long = [UInt8](repeating: 1, count: 65_000)
        channel.post(.started)
        channel.post(.data([1]))
        channel.post(.attempt(1))
        channel.post(.data([2]))
        channel.post(.data(long))
        channel.post(.data(long))
        channel.post(.data([3]))
        let told = all(of: channel).map { event -> String in
            switch event {
            case .started: "started"
            case .attempt: "attempt"
            case .data(let piece): "\(piece.count)"
            case .ended: "ended"
            default: "other"
            }
        }
        #expect(told == ["started", "1", "attempt", "65001", "65001", "ended"])
    }

    @Test("many events are taken in their order, whatever comes between")
    func many() {
        let channel = EventChannel()
        var (posted, taken): (Int, [Int]) = (0, [])
        for round in 1...300 {
            for _ in 0..<round {
                posted += 1
                channel.post(.attempt(posted))
            }
            for _ in 0..<round * 2 / 3 {
                if case .attempt(let number)? = channel.nextBlocking() { taken.append(number) }
            }
        }
        for case .attempt(let number) in all(of: channel) { taken.append(number) }
        #expect(taken == Array(1...posted))
    }

    @Test("of attempts that fail without end, and that nobody reads of, few wait, and the latest is told")
    func retries() {
        let channel = EventChannel()
        let target = TargetURI(
            origin: Origin(scheme: "http", host: "h", port: 80), path: "/", query: nil, fragment: nil, user: nil,
            password: nil, text: "http://h/")
        let last = 10_000
        channel.post(.started)
        for number in 1...last {
            channel.record(
                SentRequest(
                    method: .get, target: target, fields: FieldLines(), bodyLength: nil, passesCache: false))
            channel.post(.attempt(number))
            channel.post(progress(UInt64(number)))
            channel.post(.retrying(FailedAttempt(number: number, status: 503, error: nil, delay: .seconds(1))))
        }
        #expect(channel.waitingCount <= 3 * EventChannel.mostRetries + 1)
        #expect(channel.sent(attempt: 1) == nil && channel.sent(attempt: last + 1) == nil)
        #expect(channel.sent(attempt: last) != nil && channel.sent(attempt: last - EventChannel.mostSent + 1) != nil)
        var numbers: [Int] = []
        for case .retrying(let failed) in all(of: channel) { numbers.append(failed.number) }
        #expect(numbers == Array(1..<EventChannel.mostRetries) + [last])
    }

    @Test("bytes of a body are not lost to an attempt that fails")
    func retriesBehindData() {
        let channel = EventChannel()
        for number in 1...EventChannel.mostRetries + 5 {
            channel.post(.attempt(number))
            channel.post(.data([1]))
            channel.post(.retrying(FailedAttempt(number: number, status: 503, error: nil, delay: .seconds(1))))
        }
        var count = 0
        for case .data(let piece) in all(of: channel) { count += piece.count }
        #expect(count == EventChannel.mostRetries + 5)
    }

    @Test("of the reports of very many hops the first and the latest are kept")
    func reports() {
        var reports = HopReports()
        for number in 1...10_000 {
            reports.append(
                HopReport(url: "http://h/\(number)", status: 503, version: "", slot: 0, metrics: HopMetrics()))
        }
        let all = reports.all
        #expect(all.first?.url == "http://h/1" && all.last?.url == "http://h/10000")
        #expect((HopReports.mostLater...2 * HopReports.mostLater + 1).contains(all.count))
    }

    @Test("a head that comes again is told once, and again where it is another answer's")
    func heads() {
        func head(_ status: UInt16) -> FetchEvent {
            .head(
                Response.ResponseHead(
                    TrawlHTTP.ResponseHead(status: status, version: .http1_1, reason: "", fields: FieldLines())))
        }
        let channel = EventChannel()
        for (attempt, status) in ([200, 200, 404, 404] as [UInt16]).enumerated() {
            channel.post(.attempt(attempt + 1))
            channel.post(head(status))
        }
        channel.post(.retrying(FailedAttempt(number: 1, status: nil, error: nil, delay: .zero)))
        channel.post(.attempt(5))
        channel.post(head(404))
        let told = all(of: channel).compactMap { event -> Int? in
            switch event {
            case .attempt(let number): number
            case .head(let head): head.status
            default: nil
            }
        }
        #expect(told == [1, 200, 2, 3, 404, 4, 5, 404])
    }
}
