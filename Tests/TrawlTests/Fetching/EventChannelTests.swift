import Testing

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
}
