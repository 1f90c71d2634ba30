import Testing
import TrawlProtocol

@Suite("Bodies in memory that is metered", .timeLimit(.minutes(10)))
struct MeteredBodyTests {
    @Test(
        "what fits a frame asks for nothing",
        arguments: ["/bytes/65536", "/bytes/65000?chunked=1", "/gzip", "/bytes/0"])
    func short(target: String) throws {
        let worker = try TestCoordinator()
        let exchange = try worker.fetch(target) { $0.options.insert(.metersBody) }
        #expect(exchange.wishes.isEmpty)
        #expect(exchange.end.outcome.isComplete)
    }

    @Test("a body of known length asks once, for all of it, before more than a frame has come")
    func whole() throws {
        let worker = try TestCoordinator()
        let exchange = try worker.fetch("/bytes/300000") { $0.options.insert(.metersBody) }
        #expect(exchange.wishes.map(\.total) == [300_000] && exchange.wishes.allSatisfy(\.isWhole))
        #expect(exchange.wishes.allSatisfy { $0.holding <= 65_536 })
        #expect(exchange.body == stream(300_000))
    }

    @Test(
        "a body of unknown length asks for some more each time",
        arguments: ["/bytes/3000000?chunked=1", "/bytes/3000000?nolength=1"])
    func parts(target: String) throws {
        let worker = try TestCoordinator()
        let exchange = try worker.fetch(target) { $0.options.insert(.metersBody) }
        #expect(exchange.wishes.count > 2 && exchange.wishes.count < 20)
        #expect(!exchange.wishes.contains { $0.isWhole })
        var room = 65_536
        for wish in exchange.wishes {
            #expect(Int(wish.holding) <= room && Int(wish.total) > room)
            room = Int(wish.total)
        }
        #expect(exchange.body == stream(3_000_000))
    }

    @Test("what a coding unfolds to is asked for as it unfolds", arguments: ["gzip", "deflate"])
    func unfolding(coding: String) throws {
        var profile = TransferProfile()
        profile.codingRatio = 0
        let worker = try TestCoordinator(profile: profile)
        let exchange = try worker.fetch("/gzip-bomb?size=6000000&coding=\(coding)") { $0.options.insert(.metersBody) }
        #expect(exchange.wishes.count > 1)
        var room = 65_536
        for wish in exchange.wishes {
            // A byte more shows that there is more.
            #expect(Int(wish.holding) <= room + 1)
            room = Int(wish.total)
        }
        #expect(exchange.body.count == 6_000_000 && exchange.body.allSatisfy { $0 == 0 })
    }

    @Test("one longer than may be kept in memory is refused before it is asked for")
    func tooLong() throws {
        var profile = TransferProfile()
        profile.memoryBytes = 200_000
        let worker = try TestCoordinator(profile: profile)
        let exchange = try worker.fetch("/bytes/300000") { $0.options.insert(.metersBody) }
        #expect(exchange.wishes.isEmpty && exchange.failure?.kind == .bodyTooLarge)
        let unknown = try worker.fetch("/bytes/300000?chunked=1") { $0.options.insert(.metersBody) }
        #expect(unknown.wishes.allSatisfy { $0.total <= 200_000 } && unknown.failure?.kind == .bodyTooLarge)
    }

    @Test("while one waits for room the others go on, its time stands still, and it can be cancelled")
    func waiting() throws {
        let worker = try TestCoordinator()
        var body: [UInt8] = []
        // With more time where the machine used it up.
        for limit in [1000, 5000, 25_000] as [UInt64] where body.isEmpty {
            let first = try worker.lease("/bytes/300000") {
                $0.options.insert(.metersBody)
                $0.timeout = limit
            }
            worker.send(.lease(first))
            guard case (.wants(first.id, _), _)? = try worker.next() else { continue }
            // Longer than its time is.
            let other = try worker.fetch("/delay/\(limit * 6 / 5)")
            #expect(other.end.outcome.isComplete)
            worker.send(.credit(lease: first.id, bytes: 300_000))
            body = try worker.collect(first.id).body
        }
        #expect(body == stream(300_000))
        let second = try worker.lease("/bytes/300000") { $0.options.insert(.metersBody) }
        worker.send(.lease(second))
        guard case (.wants(second.id, _), _)? = try worker.next() else {
            Issue.record("it does not ask")
            return
        }
        worker.send(.cancel(lease: second.id))
        #expect(try worker.collect(second.id).failure?.kind == .cancelled)
        #expect(try worker.fetch("/bytes/10").body == stream(10))
    }

    @Test("bodies that are not kept in memory ask for nothing")
    func elsewhere() throws {
        let worker = try TestCoordinator()
        for sink in [BodySink.discard, .stream(credit: 100_000)] {
            let exchange = try worker.fetch("/bytes/300000") {
                $0.options.insert(.metersBody)
                $0.sink = sink
            }
            #expect(exchange.wishes.isEmpty && exchange.end.outcome.isComplete)
        }
    }
}

extension HopOutcome {
    fileprivate var isComplete: Bool { if case .complete = self { true } else { false } }
}
